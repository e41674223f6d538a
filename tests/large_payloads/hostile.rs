//! Pointers and objects that are not what they should be: each harms its own message at most.

use babelqueue::ReportKind;
use babelqueue::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Bench, Note, SECOND, Whim, envelope, stub};

#[tokio::test(start_paused = true)]
async fn c_086_one_bad_pointer_spoils_no_other_message() {
    let bench = Bench::new();
    let note = |name: &str| envelope(&Note::new(name, ""));
    bench.put(note("first"));
    bench.put(stub("memory", "payloads/missing"));
    bench.put(bench.store.keep("denied", &note("denied")));
    bench.put(bench.store.keep("slow", &note("slow")));
    bench.put(bench.store.keep("panics", &note("panics")));
    bench.put(r#"{"contentS3Location":{"bucketName":7,"path":"payloads/malformed"}}"#);
    bench.put(note("last"));
    bench.store.whim("denied", Whim::Refuse);
    bench.store.whim("slow", Whim::Hang);
    bench.store.whim("panics", Whim::Panic);

    let consumer = bench.consumer().build().unwrap();
    let came = consumer.poll().await.unwrap();
    assert_eq!((came.received, came.handled, came.failed), (7, 2, 0));
    assert_eq!((came.dead_lettered, came.released), (2, 3));
    assert_eq!(bench.log.sorted(), ["first", "last"]);
    assert_eq!(
        bench
            .log
            .reports(ReportKind::Poison, "memory/payloads/missing"),
        1
    );
    assert_eq!(
        bench.log.reports(ReportKind::Poison, "contentS3Location"),
        1
    );
    for (key, why) in [
        ("denied", "AccessDenied"),
        ("slow", "within 5s"),
        ("panics", "panicked"),
    ] {
        let named = format!("memory/payloads/{key}");
        assert_eq!(
            bench.log.reports(ReportKind::PayloadStore, &named),
            1,
            "{key}"
        );
        assert_eq!(bench.log.reports(ReportKind::PayloadStore, why), 1, "{why}");
    }
    assert_eq!(bench.left().len(), 3);

    bench.store.calm();
    bench.run(bench.consumer(), 90 * SECOND).await;
    assert_eq!(
        bench.log.sorted(),
        ["denied", "first", "last", "panics", "slow"]
    );
    assert!(bench.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn c_086_a_refusal_never_leads_to_a_delete() {
    let bench = Bench::new();
    bench.put(
        bench
            .store
            .keep("denied", &envelope(&Note::new("denied", ""))),
    );
    bench.store.whim("denied", Whim::Refuse);
    let consumer = bench
        .consumer()
        .unknown_urn(UnknownUrn::Delete)
        .max_attempts(1);
    bench.run(consumer, 600 * SECOND).await;
    assert!(bench.store.reads() >= 10);
    assert_eq!((bench.left().len(), bench.dead().len()), (1, 0));
    assert_eq!(bench.store.memory.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn c_087_the_message_does_not_decide_which_bucket_is_read() {
    let bench = Bench::new();
    bench
        .store
        .memory
        .insert("other", "payloads/1", envelope(&Note::new("other", "")));
    bench
        .store
        .memory
        .insert("memory", "../x", envelope(&Note::new("up", "")));
    bench.put(stub("other", "payloads/1"));
    bench.put(stub("memory", "../x"));
    bench.put(stub("memory", "payloads/../../x"));
    bench.put(stub("memory", &format!("payloads/{}", "k".repeat(2000))));
    bench.put(stub("memory", "elsewhere/1"));
    bench.run(bench.consumer(), SECOND).await;
    assert_eq!((bench.store.reads(), bench.log.names().len()), (0, 0));
    assert_eq!(bench.log.reports(ReportKind::Poison, ""), 5);
    assert_eq!(bench.dead().len(), 5);
    assert!(bench.left().is_empty());
    assert_eq!(
        bench.store.memory.len(),
        2,
        "what may not be read is not deleted"
    );
}

#[tokio::test(start_paused = true)]
async fn c_088_an_object_that_is_not_what_the_pointer_says_never_reaches_the_handler() {
    let bench = Bench::new();
    let good = envelope(&Note::new("good", "as it was"));
    let other = good.replace("as it was", "tampered!");
    let digest = Sha256::digest(good.as_bytes());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(good.len(), other.len());
    let put = |name: &str, content: &str, length: bool, sha256: bool| {
        let body = bench.store.keep(name, content);
        let mut body: Value = serde_json::from_str(&body).unwrap();
        if length {
            body["contentLength"] = json!(good.len());
        }
        if sha256 {
            body["contentSha256"] = json!(digest);
        }
        bench.put(body.to_string());
    };
    put("right", &good, true, true);
    put("truncated", &good[..good.len() - 1], true, false);
    put("replaced", &other, true, true);
    put("replaced-too", &other, false, true);
    put("huge", &" ".repeat(2_000_000), false, false);
    // The extended clients' pointer has its digest in the key.
    let key = format!("payloads/x.sha256-{digest}");
    bench.store.memory.insert("memory", &key, &*other);
    let class = "software.amazon.payloadoffloading.PayloadS3Pointer";
    bench.put(json!([class, { "s3BucketName": "memory", "s3Key": key }]).to_string());

    let consumer = bench
        .plain()
        .payload_store(bench.retrieval().max_bytes(1_000_000));
    bench.run(consumer, SECOND).await;
    assert_eq!(bench.log.names(), ["good"]);
    assert_eq!(bench.log.reports(ReportKind::Poison, "in place of"), 1);
    assert_eq!(bench.log.reports(ReportKind::Poison, "SHA-256"), 3);
    assert_eq!(
        bench.log.reports(
            ReportKind::Poison,
            "limit of 1000000 bytes: it takes 2000000"
        ),
        1
    );
    assert_eq!((bench.dead().len(), bench.left().len()), (5, 0));
}

#[tokio::test(start_paused = true)]
async fn what_is_read_is_judged_as_any_body() {
    let bench = Bench::new();
    bench
        .store
        .memory
        .insert("memory", "payloads/bytes", vec![0xff, 0xfe]);
    bench.put(stub("memory", "payloads/bytes"));
    bench.put(bench.store.keep("empty", ""));
    bench.put(bench.store.keep("text", "no json"));
    let pointer = bench.store.keep("1", &envelope(&Note::new("n", "")));
    bench.put(bench.store.keep("nested", &pointer));
    let unknown = envelope(&Note::new("n", "")).replace(Note::URN, "urn:test:unknown");
    bench.put(bench.store.keep("unknown", &unknown));
    let version =
        envelope(&Note::new("n", "")).replace("\"schema_version\":1", "\"schema_version\":2");
    bench.put(bench.store.keep("version", &version));

    bench.run(bench.consumer(), SECOND).await;
    assert_eq!(bench.log.names().len(), 0);
    assert_eq!(bench.log.reports(ReportKind::Poison, ""), 4);
    assert_eq!(bench.log.reports(ReportKind::Poison, "another pointer"), 1);
    assert_eq!(bench.log.reports(ReportKind::UnknownUrn, ""), 1);
    assert_eq!(bench.log.reports(ReportKind::UnsupportedVersion, ""), 1);
    // Without a strategy an unknown URN stays.
    assert_eq!((bench.dead().len(), bench.left().len()), (5, 1));
}
