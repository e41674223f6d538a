//! Runs cases, each in a runtime of its own under a paused clock.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::case::Case;
use crate::sections;

/// Passed, or why not.
pub type Verdict = Result<(), String>;

/// Section and id.
pub type Outcome = BTreeMap<(String, String), Verdict>;

pub fn execute(case: &Case) -> Verdict {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .map_err(|error| error.to_string())?;
    let run = async {
        let hour = Duration::from_secs(3600);
        match tokio::time::timeout(hour, sections::run(case)).await {
            Ok(verdict) => verdict,
            Err(_) => Err("it never ended".to_owned()),
        }
    };
    catch_unwind(AssertUnwindSafe(|| runtime.block_on(run)))
        .unwrap_or_else(|_| Err("it panicked".to_owned()))
}

pub fn execute_all(cases: &[Case]) -> Outcome {
    let run = |case: &Case| ((case.section.clone(), case.id.clone()), execute(case));
    cases.iter().map(run).collect()
}

/// Fails the case unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $($reason:tt)+) => {
        if !$condition {
            return Err(format!($($reason)+));
        }
    };
}
