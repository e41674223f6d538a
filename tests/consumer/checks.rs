//! The start-up checks: what they cost, and what is done with what they find.

use babelqueue::local::Operation;
use babelqueue::prelude::*;

use crate::support::{Bench, SECOND};

#[tokio::test(start_paused = true)]
async fn they_take_one_call_a_queue() {
    let count = async |set: fn(&Bench) -> SqsConsumer| {
        let bench = Bench::new();
        let consumer = set(&bench);
        let handle = consumer.handle();
        consumer
            .run_until(tokio::time::sleep(60 * SECOND))
            .await
            .unwrap();
        let calls = bench.sqs.calls().count(Operation::GetQueueAttributes);
        assert_eq!(handle.stats().other_calls, calls);
        calls
    };
    let plain = |bench: &Bench| bench.consumer().build().unwrap();
    assert_eq!(count(plain).await, 1);
    let ending = |bench: &Bench| {
        let ending = bench
            .consumer()
            .dead_letter_queue(DeadLetterQueue::default_name());
        ending.build().unwrap()
    };
    assert_eq!(count(ending).await, 2, "the dead-letter queue has its own");
    let unchecked = |bench: &Bench| {
        let unchecked = bench
            .consumer()
            .startup_checks(false)
            .dead_letter_queue(DeadLetterQueue::default_name());
        unchecked.build().unwrap()
    };
    assert_eq!(count(unchecked).await, 1, "for the visibility timeout");
}

/// The copy loses the text of its error for a queue that takes no more (SPEC §2.15).
#[tokio::test(start_paused = true)]
async fn a_dead_letter_copy_is_as_large_as_its_queue_takes() {
    use aws_sdk_sqs::types::QueueAttributeName::MaximumMessageSize;
    for (most, told) in [("2048", true), ("1024", false)] {
        let bench = Bench::new();
        let client = bench.sqs.client();
        let set = client.set_queue_attributes();
        set.queue_url(bench.sqs.queue_url(&bench.dlq()))
            .attributes(MaximumMessageSize, most)
            .send()
            .await
            .unwrap();
        bench.put(&"x".repeat(300), &["sleep=100 permanent"]);
        let consumer = bench
            .consumer()
            .dead_letter_queue(DeadLetterQueue::default_name());
        bench.run(consumer, 5 * SECOND).await;
        let dead = bench.dead_json();
        assert_eq!(dead.len(), 1, "{most}");
        let error = dead[0]["dead_letter"]["error"].as_str();
        assert_eq!(error.is_some(), told, "{most}: {error:?}");
        assert!(bench.left().is_empty());
    }
}
