//! What a handler may return, and what becomes of it.

use std::time::Duration;

use babelqueue::handler::{ErrorKind, Verdict};
use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

use crate::run;

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:x"]
struct X {}

#[derive(Debug, PartialEq)]
struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("broken")
    }
}

impl std::error::Error for Broken {}

/// Runs a handler with the given return type and body.
macro_rules! answer {
    ($ret:ty, $body:expr) => {{
        #[babel_handler]
        async fn handler(_x: X) -> $ret {
            $body
        }
        run(Router::from_handlers![handler], &(), "urn:babel:x", "{}").await
    }};
}

#[tokio::test]
async fn every_return_type() {
    assert_eq!(answer!((), ()).unwrap(), Outcome::Done);
    assert_eq!(
        answer!(Outcome, Outcome::retry()).unwrap(),
        Outcome::Retry { after: None }
    );
    assert_eq!(answer!(Result<(), Broken>, Ok(())).unwrap(), Outcome::Done);
    assert_eq!(
        answer!(Result<Outcome, Broken>, Ok(Outcome::Discard)).unwrap(),
        Outcome::Discard
    );
    let boxed = answer!(Result<(), Box<dyn std::error::Error + Send + Sync>>, Err("b".into()));
    assert_eq!(boxed.unwrap_err().to_string(), "b");
    let text = answer!(Result<(), String>, Err("s".to_owned()));
    assert_eq!(text.unwrap_err().to_string(), "s");
    assert_eq!(
        answer!(Result<(), &'static str>, Err("t"))
            .unwrap_err()
            .to_string(),
        "t"
    );
    let anyhow = answer!(
        anyhow::Result<()>,
        Err(anyhow::anyhow!("a").context("outer"))
    );
    assert_eq!(anyhow.unwrap_err().to_string(), "outer");
}

#[tokio::test]
async fn an_error_is_retryable_and_keeps_its_type() {
    let error = answer!(Result<(), Broken>, Err(Broken)).unwrap_err();
    assert_eq!(
        (error.verdict(), error.kind()),
        (Verdict::Retry, ErrorKind::Handler)
    );
    assert_eq!(error.downcast_ref::<Broken>(), Some(&Broken));
    assert!(
        error.type_name().ends_with("outcomes::Broken"),
        "{}",
        error.type_name()
    );
}

#[tokio::test]
async fn a_handlers_error_says_what_it_asks_for() {
    let permanent = answer!(Result<(), HandlerError>, Err(HandlerError::permanent(Broken)));
    assert_eq!(permanent.unwrap_err().verdict(), Verdict::Permanent);

    let later = answer!(Result<(), HandlerError>, {
        "x".parse::<u8>().retry_after(Duration::from_secs(9))?;
        Ok(())
    });
    assert_eq!(
        later.unwrap_err().verdict(),
        Verdict::RetryAfter(Duration::from_secs(9))
    );

    let converted = answer!(Result<(), HandlerError>, {
        "x".parse::<u8>()?;
        Ok(())
    });
    assert_eq!(converted.unwrap_err().verdict(), Verdict::Retry);
}

#[test]
fn a_handlers_error_survives_a_box() {
    let error = HandlerError::retry_after(Broken, Duration::from_secs(3));
    let boxed: babelqueue::BoxError = error.into();
    assert_eq!(boxed.to_string(), "broken");
    let back = HandlerError::from_boxed(boxed);
    assert_eq!(back.verdict(), Verdict::RetryAfter(Duration::from_secs(3)));
    assert_eq!(back.downcast_ref::<Broken>(), Some(&Broken));
}

#[test]
fn c_047_a_permanent_failure_stays_one_inside_an_error_of_a_middleware() {
    #[derive(Debug)]
    struct Wrapped(babelqueue::BoxError);
    impl std::fmt::Display for Wrapped {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("middleware")
        }
    }
    impl std::error::Error for Wrapped {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&*self.0)
        }
    }
    let inner = HandlerError::permanent(Broken).into();
    let outer = HandlerError::from_boxed(Box::new(Wrapped(Box::new(Wrapped(inner)))));
    assert!(outer.is_permanent());
    assert_eq!(outer.to_string(), "middleware");
    let ordinary = HandlerError::from_boxed(Box::new(Wrapped(Box::new(Broken))));
    assert_eq!(ordinary.verdict(), Verdict::Retry);
}

#[tokio::test]
async fn the_fn_stays_callable() {
    #[babel_handler]
    async fn double(_x: X, State(n): State<u64>) -> Result<(), String> {
        Err(format!("{}", n * 2))
    }
    assert_eq!(double(X {}, State(21)).await, Err("42".to_owned()));
}
