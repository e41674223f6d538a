//! Decoding allocates next to nothing: counted, because a benchmark would not notice one more.
//! A test binary of its own, because the counter is the allocator of the whole process.

mod buffered;
mod in_flight;
mod stored;

use allocation_counter::measure;
use babelqueue::Envelope;
use serde::Deserialize;

const BODY: &str = r#"{"job":"urn:babel:orders:created","trace_id":"t-1","data":{"order_id":1042,"lines":[{"sku":"A-1","count":2},{"sku":"B-2","count":1}]},"meta":{"id":"m-1","queue":"orders","lang":"php","schema_version":1,"created_at":1749132727000,"ext":{"acme":[1,2]}},"attempts":0,"extra":{"a":[]}}"#;

#[derive(Deserialize)]
struct Order {
    order_id: u64,
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    sku: String,
    count: u32,
}

#[test]
fn a_decode_allocates_at_most_twice_beyond_its_payload() {
    // The body is there before: SQS hands a String over.
    let mut body = Some(BODY.to_owned());
    let mut decoded = None;
    let envelope = measure(|| {
        decoded = body
            .take()
            .map(|body| Envelope::decode(body).expect("an envelope"));
    });
    assert!(envelope.count_total <= 2, "{envelope:?}");
    let decoded = decoded.expect("decoded");
    let reading = measure(|| {
        let meta = decoded.meta();
        assert!(decoded.accepts() && decoded.urn().starts_with("urn:"));
        assert_eq!((meta.id(), meta.queue()), (Some("m-1"), Some("orders")));
    });
    assert_eq!(reading.count_total, 0, "{reading:?}");

    let mut order: Option<Order> = None;
    let payload = measure(|| order = decoded.data().ok());
    let order = order.expect("the payload");
    assert_eq!((order.order_id, order.lines[1].count), (1042, 1));
    assert_eq!(order.lines[0].sku, "A-1");
    let data = decoded.data_json().expect("data").to_owned();
    let plain = measure(|| drop(serde_json::from_str::<Order>(&data)));
    assert_eq!(
        payload.count_total, plain.count_total,
        "the payload's own and no other"
    );
}
