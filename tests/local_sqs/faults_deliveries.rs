//! The planned faults of receives: messages twice and out of order.

use babelqueue::local::{Operation, RawMessage};

use crate::faults::plain;
use crate::support::*;

#[tokio::test(start_paused = true)]
async fn a_message_is_delivered_twice() {
    let (local, client, url) = plain();
    let id = send(&client, &url, "x").await;
    local
        .faults()
        .on(Operation::ReceiveMessage)
        .once()
        .duplicate();
    let first = receive_one(&client, &url).await;
    let second = receive_one(&client, &url).await;
    assert_eq!(first.message_id(), Some(id.as_str()));
    assert_eq!(second.message_id(), Some(id.as_str()));
    delete(&client, &url, &first).await;
    assert_eq!(local.snapshot(&url).in_flight.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_delivered_once_more_is_not_doubled_again() {
    let (local, client, url) = plain();
    send(&client, &url, "x").await;
    local.faults().on(Operation::ReceiveMessage).duplicate();
    assert_eq!(receive(&client, &url, 10).await.len(), 1);
    assert_eq!(receive(&client, &url, 10).await.len(), 1);
    assert!(receive(&client, &url, 10).await.is_empty());
    assert_eq!(local.snapshot(&url).in_flight.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn no_redrive_policy_keeps_the_second_delivery_back() {
    let (local, client) = sqs();
    let (url, dlq) = with_dead_letters(&local, "q", 1, &[]);
    send(&client, &url, "x").await;
    let fault = local.faults().on(Operation::ReceiveMessage).once();
    fault.duplicate();
    let first = receive_one(&client, &url).await;
    let second = receive_one(&client, &url).await;
    assert_eq!(first.message_id(), second.message_id());
    assert!(local.snapshot(&dlq).is_empty());
    // From now on it is a message like others.
    release(&client, &url, &second).await;
    assert!(receive(&client, &url, 10).await.is_empty());
    assert_eq!(local.snapshot(&dlq).visible.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn messages_are_delivered_out_of_order() {
    let (local, client, url) = plain();
    for n in 0..10 {
        send(&client, &url, &n.to_string()).await;
    }
    local.faults().on(Operation::ReceiveMessage).shuffle();
    let received = receive(&client, &url, 10).await;
    let mut bodies = bodies(&received);
    assert!(!bodies.is_sorted());
    bodies.sort_unstable();
    assert_eq!(bodies, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
}

#[tokio::test(start_paused = true)]
async fn each_of_few_messages_is_as_likely_as_the_others() {
    let (local, client) = sqs();
    let fault = || local.faults().on(Operation::ReceiveMessage).shuffle();
    let mut firsts = [0; 3];
    for n in 0..240 {
        let url = local.create_queue(&format!("q{n}"));
        for body in ["gone", "0", "1", "2"] {
            local.inject_raw(&url, RawMessage::new(body));
        }
        // What is not there any more has no chance.
        let gone = receive_one(&client, &url).await;
        release(&client, &url, &gone).await;
        delete(&client, &url, &gone).await;
        let fault = fault();
        let first = receive_one(&client, &url).await;
        fault.lift();
        firsts[first.body().unwrap().parse::<usize>().unwrap()] += 1;
    }
    assert!(firsts.iter().all(|n| (55..=105).contains(n)), "{firsts:?}");
}
