//! Where a publisher sends to, and publishers that cannot be built.

use babelqueue::local::{LocalSqs, Operation};
use babelqueue::prelude::*;
use babelqueue::{BuildError, PublishError};

use crate::support::{order, server, visible};

#[tokio::test(start_paused = true)]
async fn a_name_is_resolved_once() {
    let sqs = server();
    let publisher = SqsPublisher::new(sqs.client(), "orders");
    for _ in 0..3 {
        order().publish(&publisher).await.unwrap();
    }
    assert_eq!(sqs.calls().count(Operation::GetQueueUrl), 1);
    assert_eq!(visible(&sqs, "orders").len(), 3);
    assert_eq!(publisher.queue(), "orders");

    let missing = SqsPublisher::new(sqs.client(), "nowhere");
    let error = order().publish(&missing).await.expect_err("no such queue");
    assert!(
        matches!(error, PublishError::Resolve { .. }) && error.is_refused(),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_prefix_needs_no_call() {
    let sqs = server();
    let url = sqs.queue_url("orders");
    let prefix = url.strip_suffix("/orders").unwrap();
    let builder = SqsPublisher::builder(sqs.client(), "orders");
    let publisher = builder.url_prefix(prefix).build().unwrap();
    order().publish(&publisher).await.unwrap();
    assert_eq!(sqs.calls().count(Operation::GetQueueUrl), 0);
    assert_eq!(visible(&sqs, "orders").len(), 1);
}

#[test]
fn settings_that_cannot_work() {
    let sqs = LocalSqs::new();
    let orders = || SqsPublisher::builder(sqs.client(), sqs.queue_url("orders"));
    let fifo = || SqsPublisher::builder(sqs.client(), sqs.queue_url("orders.fifo"));
    let error = orders().fifo(true).build().expect_err("it is standard");
    assert!(
        matches!(error, BuildError::FifoFlag { fifo: true, .. }),
        "{error}"
    );
    let error = fifo().fifo(false).build().expect_err("it is FIFO");
    assert!(
        matches!(error, BuildError::FifoFlag { fifo: false, .. }),
        "{error}"
    );
    let error = orders()
        .content_based_deduplication(true)
        .build()
        .expect_err("FIFO only");
    assert!(matches!(error, BuildError::FifoOption { .. }), "{error}");
    for bytes in [0, 1_048_577] {
        let error = orders()
            .max_message_bytes(bytes)
            .build()
            .expect_err("range");
        assert!(matches!(error, BuildError::Range { .. }), "{error}");
    }
    let error = SqsPublisher::builder(sqs.client(), "or.ders")
        .build()
        .expect_err("dotted");
    assert!(matches!(error, BuildError::Name(_)), "{error}");
    fifo()
        .fifo(true)
        .content_based_deduplication(true)
        .build()
        .expect("all of it fits");
}
