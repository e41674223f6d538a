//! A real S3 in place of the store: ministack, started by `tests/run` and named in
//! `MINISTACK_ENDPOINT`, and therefore ignored by default:
//!
//! ```text
//! BIND_HOST=127.0.0.1 GATEWAY_PORT=4566 ministack &
//! MINISTACK_ENDPOINT=http://127.0.0.1:4566 \
//!     cargo test --features tests --test large_payloads -- --ignored s3
//! ```

use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_s3::types::{BucketLocationConstraint, CreateBucketConfiguration};
use babelqueue::ReportKind;
use babelqueue::payload_store::{
    Location, Offload, PayloadStore as _, PointerFormat, Retrieval, S3PayloadStore, StoreError,
};
use babelqueue::prelude::*;
use serde_json::{Value, json};

use crate::support::{Bench, Note, stub};

const MIB: usize = 1_048_576;

/// A client of the server, and a new bucket there.
async fn bucket(name: &str) -> (Client, String) {
    let endpoint = std::env::var("MINISTACK_ENDPOINT")
        .expect("MINISTACK_ENDPOINT names a running ministack, such as http://127.0.0.1:4566");
    let config = aws_sdk_s3::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(endpoint)
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "test"))
        .force_path_style(true)
        .build();
    let client = Client::from_conf(config);
    let bucket = format!("{name}-{}", std::process::id());
    client
        .create_bucket()
        .bucket(&bucket)
        .send()
        .await
        .expect("ministack makes a bucket");
    (client, bucket)
}

async fn keys(client: &Client, bucket: &str) -> Vec<String> {
    let listed = client
        .list_objects_v2()
        .bucket(bucket)
        .send()
        .await
        .expect("a list");
    let key = |object: &aws_sdk_s3::types::Object| object.key().unwrap_or_default().to_owned();
    listed.contents().iter().map(key).collect()
}

async fn put(client: &Client, bucket: &str, key: &str, content: Vec<u8>) {
    let call = client
        .put_object()
        .bucket(bucket)
        .key(key)
        .body(content.into());
    call.send().await.expect("an object");
}

/// Polls until nothing waits on the queue; a short poll need not bring all of it.
async fn consume(bench: &Bench, retrieval: Retrieval) {
    let consumer = bench
        .plain()
        .payload_store(retrieval)
        .wait_time(Duration::ZERO);
    let consumer = consumer.build().unwrap();
    while !bench.sqs.snapshot(bench.queue).visible.is_empty() {
        consumer.poll().await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs a running ministack"]
async fn s3_takes_large_bodies_gives_them_back_and_loses_them_when_handled() {
    let (client, bucket) = bucket("round-trip").await;
    let store = S3PayloadStore::new(client.clone(), &bucket).prefix("orders/");
    for format in [
        PointerFormat::ContentLocation,
        PointerFormat::ExtendedClient,
    ] {
        let bench = Bench::new();
        let offload = Offload::to(store.clone()).pointer(format);
        let publisher = SqsPublisher::builder(bench.sqs.client(), &bench.url).offload(offload);
        let publisher = publisher.build().unwrap();
        let notes = [
            Note::new("a", "ä\u{0}\u{1F980}".repeat(MIB / 4)),
            Note::new("b", "x".repeat(2 * MIB)),
        ];
        publisher.publish_batch(&notes).await.unwrap();
        let stored = keys(&client, &bucket).await;
        assert_eq!(stored.len(), 2);
        assert!(
            stored.iter().all(|key| key.starts_with("orders/")),
            "{stored:?}"
        );

        let retrieval = Retrieval::from_store(store.clone()).delete_when_handled(true);
        consume(&bench, retrieval).await;
        assert_eq!(bench.log.sorted(), ["a", "b"]);
        for note in notes {
            assert!(
                bench.log.text(&note.name) == Some(note.text),
                "byte for byte"
            );
        }
        assert_eq!(bench.log.errors(), []);
        assert_eq!(keys(&client, &bucket).await, [""; 0]);
    }
}

#[tokio::test]
#[ignore = "needs a running ministack"]
async fn s3_faults_are_told_apart() {
    let (client, bucket) = bucket("faults").await;
    put(&client, &bucket, "babelqueue/large", vec![b' '; 2 * MIB]).await;
    let store = S3PayloadStore::new(client, &bucket);
    let at = |bucket: &str, key: &str| Location {
        bucket: bucket.to_owned(),
        region: Some("us-east-1".to_owned()),
        key: key.to_owned(),
    };
    let missing = store.get(&at(&bucket, "babelqueue/none"), MIB).await;
    assert!(matches!(missing, Err(StoreError::NotFound)), "{missing:?}");
    let large = store.get(&at(&bucket, "babelqueue/large"), MIB).await;
    let Err(StoreError::TooLarge { actual, allowed }) = large else {
        panic!("{large:?}")
    };
    assert_eq!((actual, allowed), (Some(2 * MIB as u64), MIB));
    let whole = store
        .get(&at(&bucket, "babelqueue/large"), 2 * MIB)
        .await
        .unwrap();
    assert_eq!(whole.len(), 2 * MIB);
    // No bucket is a mistake that can be put right: nothing is known of the object.
    let no_bucket = store
        .get(&at("no-such-bucket-1", "babelqueue/large"), MIB)
        .await;
    assert!(
        matches!(no_bucket, Err(StoreError::Failed(_))),
        "{no_bucket:?}"
    );
    store
        .delete(&at(&bucket, "babelqueue/none"))
        .await
        .expect("nothing to delete is no error");
}

#[tokio::test]
#[ignore = "needs a running ministack"]
async fn s3_is_asked_in_the_region_that_the_pointer_names() {
    let (client, bucket) = bucket("home").await;
    let abroad = format!("abroad-{bucket}");
    let region = Region::new("eu-central-1");
    let there = client.config().to_builder().region(region).build();
    let there = Client::from_conf(there);
    let place = CreateBucketConfiguration::builder()
        .location_constraint(BucketLocationConstraint::EuCentral1)
        .build();
    let call = there
        .create_bucket()
        .bucket(&abroad)
        .create_bucket_configuration(place);
    call.send().await.expect("a bucket abroad");
    put(&there, &abroad, "k", b"text".to_vec()).await;

    let retrieval = Retrieval::from_store(S3PayloadStore::new(client, &bucket)).allow(&abroad, "");
    let read = async |region: &str| {
        let stub = json!({ "contentS3Location": {
            "bucketName": abroad, "region": region, "path": "k",
        } });
        let pointer = retrieval.recognise(&stub.to_string(), None).unwrap();
        retrieval.fetch(&pointer.unwrap()).await
    };
    assert_eq!(read("eu-central-1").await.unwrap(), "text");
    assert_eq!(
        read("eu-central-1").await.unwrap(),
        "text",
        "by the client that is kept"
    );
    let error = read("us-east-1").await.expect_err("it is not there");
    assert!(error.is_retryable(), "{error}");
}

#[tokio::test]
#[ignore = "needs a running ministack"]
async fn s3_objects_that_were_tampered_with_are_poison_and_a_dead_server_is_not() {
    let (client, bucket) = bucket("tampered").await;
    let bench = Bench::new();
    let store = S3PayloadStore::new(client.clone(), &bucket);
    let publisher = SqsPublisher::builder(bench.sqs.client(), &bench.url)
        .offload(Offload::to(store.clone()).threshold(1))
        .build()
        .unwrap();
    Note::new("n", "good").publish(&publisher).await.unwrap();
    let [key] = &keys(&client, &bucket).await[..] else {
        panic!("one object")
    };
    put(&client, &bucket, key, b"{}".to_vec()).await;
    bench.put(stub(&bucket, "babelqueue/missing"));
    consume(&bench, Retrieval::from_store(store)).await;
    assert_eq!(bench.log.names(), [""; 0]);
    assert_eq!(bench.log.reports(ReportKind::Poison, key), 1);
    assert_eq!(
        bench.log.reports(ReportKind::Poison, "babelqueue/missing"),
        1
    );
    let dead: Vec<Value> = bench.dead_json();
    assert_eq!(dead.len(), 2);
    assert!(
        dead.iter()
            .all(|body| body["contentS3Location"]["bucketName"] == *bucket)
    );
    assert!(
        keys(&client, &bucket).await.contains(key),
        "kept for whoever looks into it"
    );

    // Nobody listens there.
    let config = client
        .config()
        .to_builder()
        .endpoint_url("http://127.0.0.1:9");
    let gone = S3PayloadStore::new(Client::from_conf(config.build()), &bucket);
    bench.put(stub(&bucket, "babelqueue/1"));
    consume(&bench, Retrieval::from_store(gone)).await;
    assert_eq!(
        bench.log.reports(ReportKind::PayloadStore, "babelqueue/1"),
        1,
        "{:?}",
        bench.log.errors()
    );
    assert_eq!(bench.left().len(), 1);
}
