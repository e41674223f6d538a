//! Rust publishes, Python handles.

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::peer::Meeting;

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    #[babel(group_id)]
    customer_id: u64,
    balance: i64,
    price: f64,
    name: String,
    note: Option<String>,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:ping"]
struct Ping;

const NAME: &str = "Zoë \u{1F380} \"quoted\" back\\slash \u{1}\t\r\n\u{2028}\u{fffe} \u{0} 漢字";

#[tokio::test]
async fn messages_of_rust_are_handled_by_the_python_sdk() {
    for meeting in Meeting::all().await {
        hand_over(&meeting, "to-python").await;
        hand_over(&meeting, "to-python.fifo").await;
    }
}

async fn hand_over(meeting: &Meeting, queue: &str) {
    let url = meeting.create_queue(queue).await;
    let publisher = SqsPublisher::new(meeting.sqs.clone(), &url);

    let mut published = Vec::new();
    for customer_id in [7, u64::MAX] {
        let order = OrderCreated {
            customer_id,
            balance: i64::MIN,
            price: 0.1,
            name: NAME.to_owned(),
            note: None,
        };
        let sent = order
            .publish(&publisher)
            .trace_id("trace é")
            .header("tenant", "acme ☕")
            .meta("ext", &json!({"acme": {"tier": "gold"}}))
            .await
            .unwrap();
        published.push(sent);
    }

    // One after the other: the order between two groups is SQS's own affair.
    let mut seen = meeting.consume(queue, 2).await;
    seen.sort_by_key(|seen| seen["envelope"]["data"]["customer_id"].as_u64());
    for ((seen, sent), customer_id) in seen.iter().zip(&published).zip([7, u64::MAX]) {
        let envelope = &seen["envelope"];
        assert_eq!(envelope["job"], "urn:babel:orders:created");
        assert_eq!(envelope["trace_id"], "trace é");
        assert_eq!(sent.trace_id, "trace é");
        assert_eq!(envelope["attempts"], 0);
        let data = json!({"customer_id": customer_id, "balance": i64::MIN, "price": 0.1,
                          "name": NAME, "note": null});
        assert_eq!(envelope["data"], data);
        let meta = &envelope["meta"];
        assert_eq!(meta["id"], *sent.message_id);
        assert_eq!(meta["queue"], queue);
        assert_eq!(meta["lang"], "rust");
        assert_eq!(meta["schema_version"], 1);
        assert_eq!(meta["ext"]["acme"]["tier"], "gold");
        assert!(
            meta["created_at"]
                .as_i64()
                .is_some_and(|at| at > 1_700_000_000_000)
        );
        assert_eq!(seen["headers"]["tenant"], "acme ☕");
    }
    meeting.assert_empty(&url).await;
}

#[tokio::test]
async fn a_unit_payload_is_an_empty_object_to_python() {
    let meeting = Meeting::local().await;
    let url = meeting.create_queue("pings").await;
    Ping.publish(&SqsPublisher::new(meeting.sqs.clone(), &url))
        .await
        .unwrap();
    let seen = meeting.consume("pings", 1).await;
    assert_eq!(seen[0]["envelope"]["data"], json!({}));
}
