//! Dead-letter queues that send their own dead letters on, round and round.

use std::sync::mpsc;
use std::time::Duration;

use aws_sdk_sqs::types::{MessageSystemAttributeName as System, QueueAttributeName};
use babelqueue::local::{LocalSqs, Operation};
use tokio::time::{Instant, timeout};

use crate::support::*;

/// Queues of which each is the dead-letter queue of the one before it.
async fn ring(local: &LocalSqs, names: &[&str], max_receives: u32) -> Vec<String> {
    let client = local.client();
    let urls: Vec<_> = names
        .iter()
        .map(|name| queue(local, name, &[("VisibilityTimeout", "5")]))
        .collect();
    for (n, url) in urls.iter().enumerate() {
        let next = names[(n + 1) % names.len()];
        let set = client.set_queue_attributes().queue_url(url);
        let policy = redrive(local, next, max_receives);
        let set = set.attributes(QueueAttributeName::RedrivePolicy, policy);
        set.send().await.unwrap();
    }
    urls
}

/// Runs a test on a thread of its own: a ring that spins would never come back.
fn in_time<F: Future<Output = ()>>(test: impl FnOnce() -> F + Send + 'static) {
    let (ended, end) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build().unwrap();
        runtime.block_on(test());
        ended.send(()).unwrap();
    });
    if let Err(mpsc::RecvTimeoutError::Timeout) = end.recv_timeout(Duration::from_secs(60)) {
        panic!("the paused clock stands still: something spins");
    }
    thread.join().unwrap();
}

/// One message that nobody deletes goes round while every queue is waited on; gives on which
/// queues it was delivered, and when.
async fn rounds(names: &[&str], max_receives: u32, secs: u64) -> Vec<(usize, u64)> {
    let local = LocalSqs::new();
    let client = local.client();
    let urls = ring(&local, names, max_receives).await;
    let group = names[0].ends_with(".fifo").then_some("g".to_owned());
    let send = client.send_message().queue_url(&urls[0]).message_body("x");
    let send = send.set_message_group_id(group.clone());
    let send = send.set_message_deduplication_id(group).send();
    let id = send.await.unwrap().message_id;
    let start = Instant::now();
    let (seen, mut deliveries) = tokio::sync::mpsc::unbounded_channel();
    let polls = urls.iter().enumerate().map(|(n, url)| {
        let (client, seen, url, id) = (client.clone(), seen.clone(), url.clone(), id.clone());
        tokio::spawn(async move {
            loop {
                for message in receive_with(&client, &url, 10, 20, None).await {
                    assert_eq!(message.message_id, id);
                    let count = system(&message, System::ApproximateReceiveCount);
                    let count: usize = count.unwrap().parse().unwrap();
                    seen.send((n, start.elapsed().as_secs(), count)).unwrap();
                }
            }
        })
    });
    let polls: Vec<_> = polls.collect();
    let mut all = Vec::new();
    let collect = async {
        while let Some((n, at, count)) = deliveries.recv().await {
            all.push((n, at));
            // What is shown counts on from queue to queue.
            assert_eq!(count, all.len());
        }
    };
    assert!(timeout(Duration::from_secs(secs), collect).await.is_err());
    for poll in polls {
        poll.abort();
    }
    // It waits in between, and does not look again and again.
    let calls = local.calls().count(Operation::ReceiveMessage);
    assert!(calls < 60, "{calls} receives");
    all
}

#[test]
fn a_ring_of_two_delivers_by_turns() {
    in_time(|| async {
        for names in [["a", "b"], ["a.fifo", "b.fifo"]] {
            let seen = rounds(&names, 1, 18).await;
            assert_eq!(seen, [(0, 0), (1, 5), (0, 10), (1, 15)]);
        }
    });
}

#[test]
fn every_queue_of_a_ring_counts_its_own_receives() {
    in_time(|| async {
        let seen = rounds(&["a", "b", "c"], 2, 33).await;
        let places: Vec<_> = seen.iter().map(|(n, _)| *n).collect();
        assert_eq!(places, [0, 0, 1, 1, 2, 2, 0]);
    });
}
