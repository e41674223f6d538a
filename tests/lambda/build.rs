//! Settings that cannot work: each is refused by `build` with an error that names it.

use std::time::Duration;

use babelqueue::idempotency::MemoryStore;
use babelqueue::lambda::LambdaConsumerBuilder;
use babelqueue::payload_store::{MemoryPayloadStore, Retrieval};
use babelqueue::{Backoff, BuildError, LambdaConsumer, prelude::*};
use serde_json::json;

use crate::support::{Bench, Lab, SECOND, consumer};

fn refused(builder: LambdaConsumerBuilder<impl Routes<Lab>, Lab>) -> BuildError {
    let error = builder.build().map(|_| ()).expect_err("it must be refused");
    assert!(error.to_string().len() > 40, "{error}");
    error
}

#[test]
fn numbers_out_of_range() {
    let lab = Lab::default();
    let b = || consumer(&lab);
    let retrieval = || Retrieval::from_store(MemoryPayloadStore::new());
    let rows = [
        (refused(b().concurrency(0)), "concurrency"),
        (refused(b().max_attempts(0)), "max_attempts"),
        (refused(b().max_message_bytes(0)), "max_message_bytes"),
        (
            refused(b().max_message_bytes(1_048_577)),
            "max_message_bytes",
        ),
        (
            refused(b().handler_timeout(Duration::ZERO)),
            "handler_timeout",
        ),
        (
            refused(b().payload_store(retrieval().concurrency(0))),
            "Retrieval::concurrency",
        ),
        (
            refused(b().payload_store(retrieval().max_bytes(0))),
            "Retrieval::max_bytes",
        ),
    ];
    for (error, expected) in rows {
        let BuildError::Range { option, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(*option, expected, "{error}");
    }
}

#[test]
fn policies_that_cannot_be() {
    let bench = Bench::new();
    let b = || bench.consumer();
    for backoff in [
        Backoff::fixed(SECOND).multiplier(-1.0),
        Backoff::fixed(SECOND).multiplier(f64::NAN),
    ] {
        let error = refused(b().retry(backoff));
        assert!(matches!(error, BuildError::Backoff(_)), "{error}");
    }
    let error = refused(b().unknown_urn(UnknownUrn::DeadLetter));
    assert_eq!(error, BuildError::NoDeadLetterQueue);
    for (queue, character) in [
        (DeadLetterQueue::name("orders.dlq"), '.'),
        (DeadLetterQueue::with_suffix(".dlq"), '.'),
        (DeadLetterQueue::url("https://host/1/orders dlq"), ' '),
    ] {
        let error = refused(b().dead_letter_queue(queue));
        let BuildError::Name(name) = &error else {
            panic!("{error}")
        };
        assert!(name.to_string().contains(&format!("{character:?}")));
    }
    let error = refused(b().dead_letter_queue(DeadLetterQueue::name("")));
    assert!(matches!(error, BuildError::Name(_)), "{error}");
}

#[test]
fn two_backoffs() {
    let bench = Bench::new();
    let family = [
        bench.consumer().retry(Backoff::fixed(SECOND)),
        bench.consumer().release_delay(|_| SECOND),
    ];
    for family in family {
        let both = refused(family.clone().retry_backoff(true));
        assert_eq!(both, BuildError::TwoBackoffs);
        // One that is off is none.
        for off in [json!(false), json!(null)] {
            assert!(family.clone().retry_backoff(off).build().is_ok());
        }
    }
}

#[test]
fn what_calls_sqs_needs_a_client() {
    let lab = Lab::default();
    let b = || consumer(&lab);
    let rows = [
        (
            refused(b().dead_letter_queue(DeadLetterQueue::default_name())),
            "dead_letter_queue",
        ),
        (refused(b().retry_backoff(true)), "retry_backoff"),
        (
            refused(b().retry_backoff_with(|| Ok::<_, babelqueue::BoxError>(false))),
            "retry_backoff",
        ),
        (refused(b().retry(Backoff::fixed(SECOND))), "retry"),
        (refused(b().release_delay(|_| SECOND)), "release_delay"),
    ];
    for (error, option) in rows {
        assert_eq!(error, BuildError::NoClient { option });
        assert!(error.to_string().contains(".client("), "{error}");
    }
}

#[test]
fn what_is_possible_is_accepted() {
    let bench = Bench::new();
    let consumer = bench
        .consumer()
        .concurrency(1)
        .max_attempts(1)
        .max_message_bytes(1_048_576)
        .handler_timeout(Duration::from_nanos(1))
        .deadline_margin(Duration::MAX)
        .dead_letter_queue(DeadLetterQueue::url("http://elsewhere/1/orders-dlq"))
        .unknown_urn(UnknownUrn::DeadLetter)
        .retry_backoff(true)
        .idempotency(MemoryStore::new())
        .build();
    assert!(consumer.is_ok());
    assert!(
        LambdaConsumer::builder(Router::from_handlers![])
            .build()
            .is_ok()
    );
}
