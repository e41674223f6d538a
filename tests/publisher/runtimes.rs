//! The buffered publisher when its runtime goes away: what callers in another one learn.

use std::sync::Arc;
use std::time::Duration;

use babelqueue::PublishError;
use babelqueue::local::Operation;
use babelqueue::prelude::*;
use tokio::time::timeout;

use crate::buffered::builder;
use crate::support::{order, server};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn callers_learn_when_the_runtime_of_the_buffer_is_gone() {
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let (first, second) = (runtime(), runtime());
    let sqs = first.block_on(async { server() });
    let publisher = first.block_on(async { builder(&sqs).linger(60 * SECOND).build().unwrap() });
    first.block_on(publisher.flush()).unwrap();
    let publisher = Arc::new(publisher);
    let waiting = {
        let publisher = Arc::clone(&publisher);
        second.spawn(async move { order().publish(&*publisher).await })
    };
    // A flush that finds it in the buffer makes the call, which never ends; one that comes before
    // it finds nothing.
    sqs.faults().on_any().hang();
    let flush = {
        let publisher = Arc::clone(&publisher);
        second.spawn(async move {
            loop {
                if let Err(lost) = publisher.flush().await {
                    return lost;
                }
                tokio::task::yield_now().await;
            }
        })
    };
    second.block_on(sqs.wait_until_called(Operation::SendMessageBatch, 1));
    first.shutdown_background();
    let error = second.block_on(waiting).unwrap().expect_err("abandoned");
    assert!(
        matches!(error, PublishError::Abandoned { refused: false, .. }),
        "{error}"
    );
    let lost = second.block_on(flush).unwrap();
    assert_eq!(lost.unknown, 1);
    let late = second.block_on(order().publish(&*publisher).into_future());
    let late = late.expect_err("nobody is there");
    assert!(
        matches!(late, PublishError::Abandoned { refused: true, .. }),
        "{late}"
    );
    second.block_on(publisher.close()).expect_err("lost");
}

#[test]
fn what_was_in_no_call_when_the_runtime_went_was_surely_not_sent() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let (first, second) = (runtime(), runtime());
    let sqs = first.block_on(async { server() });
    let publisher = builder(&sqs).linger(60 * SECOND).build().unwrap();
    first.block_on(publisher.flush()).unwrap();
    let mut publish = order().publish(&publisher).into_future();
    second.block_on(async {
        let now = timeout(Duration::ZERO, &mut publish).await;
        assert!(now.is_err(), "it lingers");
    });
    drop(first);
    let error = second.block_on(publish).expect_err("nobody sends it");
    assert!(error.is_refused(), "{error}");
    assert_eq!(sqs.calls().total(), 0);
    let closed = second.block_on(publisher.close());
    closed.expect("nothing is left whose fate is unknown");
}
