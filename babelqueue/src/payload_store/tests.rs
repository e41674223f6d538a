//! Pointers, places and contents, by tables.

use std::time::Duration;

use proptest::prelude::*;

use super::policy::{check_content, check_location, digest_of_key, object_name};
use super::*;
use crate::digest::sha256_hex;

const JAVA: &str = "software.amazon.payloadoffloading.PayloadS3Pointer";

fn location(bucket: &str, region: Option<&str>, key: &str) -> Location {
    Location {
        bucket: bucket.to_owned(),
        region: region.map(str::to_owned),
        key: key.to_owned(),
    }
}

fn parse(body: &str) -> Result<Option<Pointer>, PayloadError> {
    Pointer::parse(body, "home", None)
}

fn found(body: &str) -> Location {
    parse(body).expect(body).expect(body).location
}

#[test]
fn stubs_are_recognised_in_every_shape_of_the_ecosystem() {
    let full = r#"{"bucketName":"b","region":"eu-west-1","path":"a/k"}"#;
    let whole = location("b", Some("eu-west-1"), "a/k");
    assert_eq!(found(&format!(r#"{{"contentS3Location":{full}}}"#)), whole);
    assert_eq!(
        found(&format!(r#" {{"id":1,"contentS3Path":{full}}}"#)),
        whole
    );
    let both = format!(r#"{{"contentS3Path":"other","contentS3Location":{full}}}"#);
    assert_eq!(found(&both), whole);
    let plain = found(r#"{"contentS3Path":"a\/k"}"#);
    assert_eq!(plain, location("home", None, "a/k"));
    let regionless = found(r#"{"contentS3Location":{"bucketName":"b","path":"k"}}"#);
    assert_eq!(regionless, location("b", None, "k"));
}

#[test]
fn what_is_no_pointer_is_left_alone() {
    for body in [
        "",
        "null",
        "{",
        "[",
        "[]",
        "[1,2]",
        r#"{"job":"urn:x"}"#,
        r#"{"contentS3Location":null}"#,
        r#"{"contentS3Location":false,"contentS3Path":""}"#,
        r#"{"contentS3Location":{ }}"#,
        r#"{"data":{"contentS3Location":{"bucketName":"b","path":"k"}}}"#,
        r#"["com.example.Other",{"s3BucketName":"b","s3Key":"k"}]"#,
        r#""software.amazon.payloadoffloading.PayloadS3Pointer""#,
    ] {
        assert_eq!(parse(body).expect(body), None, "{body}");
    }
}

#[test]
fn what_means_to_be_a_pointer_and_is_none_is_an_error() {
    for body in [
        r#"{"contentS3Location":true}"#,
        r#"{"contentS3Location":7}"#,
        r#"{"contentS3Location":{"path":"k"}}"#,
        r#"{"contentS3Location":{"bucketName":"b"}}"#,
        r#"{"contentS3Location":{"bucketName":1,"path":"k"}}"#,
        r#"{"contentS3Path":"k","contentLength":-1}"#,
        r#"{"contentS3Path":"k","contentSha256":"abc"}"#,
        &format!(r#"["{JAVA}"]"#),
        &format!(r#"["{JAVA}",{{"s3Key":"k"}}]"#),
        &format!(r#"["{JAVA}",{{"s3BucketName":"b","s3Key":"k"}},1]"#),
    ] {
        let error = parse(body).expect_err(body);
        assert!(matches!(error, PayloadError::Malformed { .. }), "{body}");
        assert!(!error.is_retryable());
    }
}

#[test]
fn pointers_of_the_extended_clients_are_recognised_with_their_length() {
    for class in [JAVA, "com.amazon.sqs.javamessaging.MessageS3Pointer"] {
        let body = format!(r#"["{class}",{{"s3BucketName":"b","s3Key":"k"}}]"#);
        for (size, length) in [(Some("12"), Some(12)), (Some("x"), None), (None, None)] {
            let pointer = Pointer::parse(&body, "home", size)
                .expect("a pointer")
                .expect("one");
            assert_eq!(pointer.location, location("b", None, "k"));
            assert_eq!((pointer.length, pointer.sha256), (length, None));
            assert_eq!(pointer.format, PointerFormat::ExtendedClient);
        }
    }
}

#[test]
fn the_extended_pointer_is_written_as_the_clients_of_aws_do() {
    let pointer = Pointer {
        location: location("b", Some("eu-west-1"), "k"),
        length: Some(1),
        sha256: None,
        format: PointerFormat::ExtendedClient,
    };
    let expected = format!(r#"["{JAVA}",{{"s3BucketName":"b","s3Key":"k"}}]"#);
    assert_eq!(pointer.to_body(), expected);
}

proptest! {
    #[test]
    fn a_pointer_survives_the_wire(
        (bucket, key) in ("[a-z0-9-]{3,20}", "\\PC{1,40}"),
        region in proptest::option::of("[a-z0-9-]{3,12}"),
        content in ".*",
        extended in any::<bool>(),
    ) {
        let digest = sha256_hex(content.as_bytes());
        let pointer = Pointer {
            location: Location {
                bucket,
                region: region.filter(|_| !extended),
                key: format!("{key}/{}", object_name("id", &digest)),
            },
            length: Some(content.len() as u64),
            sha256: Some(digest),
            format: if extended {
                PointerFormat::ExtendedClient
            } else {
                PointerFormat::ContentLocation
            },
        };
        let size = content.len().to_string();
        let again = Pointer::parse(&pointer.to_body(), "home", Some(&size)).expect("a pointer");
        prop_assert_eq!(again, Some(pointer.clone()));
        prop_assert_eq!(check_content(content.as_bytes(), &pointer), Ok(()));
        let other = format!("{content}x");
        prop_assert!(check_content(other.as_bytes(), &pointer).is_err());
    }

    #[test]
    fn no_body_makes_the_parser_panic(body in "\\PC*") {
        let _ = parse(&body);
        let _ = parse(&format!(r#"{{"contentS3Location":{body}}}"#));
        let _ = parse(&format!(r#"["{JAVA}",{body}]"#));
    }
}

#[test]
fn c_088_length_and_digest_are_each_checked() {
    let content = b"{}";
    let pointer = |length, sha256: Option<String>| Pointer {
        location: location("b", None, "k"),
        length,
        sha256,
        format: PointerFormat::ContentLocation,
    };
    let right = Some(sha256_hex(content));
    let wrong = Some(sha256_hex(b"[]"));
    for (length, digest, fits) in [
        (None, None, true),
        (Some(2), None, true),
        (Some(2), right.clone(), true),
        (None, right.clone(), true),
        (Some(3), right, false),
        (Some(2), wrong.clone(), false),
        (None, wrong, false),
    ] {
        let pointer = pointer(length, digest);
        assert_eq!(
            check_content(content, &pointer).is_ok(),
            fits,
            "{pointer:?}"
        );
    }
}

#[test]
fn c_087_places_that_no_store_can_have() {
    let long = "k".repeat(1025);
    for (place, legal) in [
        (location("b", None, "k"), true),
        (location("b", Some("us-gov-west-1"), "a/b/..c"), true),
        (location("b", None, &long[1..]), true),
        (location("", None, "k"), false),
        (location("b\n", None, "k"), false),
        (location("b", None, ""), false),
        (location("b", None, &long), false),
        (location("b", None, "../x"), false),
        (location("b", None, "payloads/../x"), false),
        (location("b", None, "payloads/."), false),
        (location("b", None, "a\u{0}"), false),
        (location("b", Some("evil.example#"), "k"), false),
        (location("b", Some(""), "k"), false),
    ] {
        assert_eq!(check_location(&place).is_ok(), legal, "{place:?}");
    }
}

#[test]
fn only_a_whole_digest_counts() {
    let digest = sha256_hex(b"x");
    assert_eq!(
        digest_of_key(&format!("p/{}", object_name("id", &digest))),
        Some(&*digest)
    );
    for key in [
        "k",
        "k.sha256-",
        "k.sha256-abc",
        &format!("k.sha256-{}", digest.to_uppercase()),
    ] {
        assert_eq!(digest_of_key(key), None, "{key}");
    }
}

fn stub(bucket: &str, key: &str) -> Pointer {
    Pointer {
        location: location(bucket, None, key),
        length: None,
        sha256: None,
        format: PointerFormat::ContentLocation,
    }
}

#[tokio::test]
async fn c_087_only_the_places_it_was_told_of_are_read() {
    let store = MemoryPayloadStore::new();
    for (bucket, key) in [("memory", "payloads/1"), ("memory", "x"), ("other", "in/1")] {
        store.insert(bucket, key, "text");
    }
    let places = [
        ("memory", "payloads/1"),
        ("memory", "x"),
        ("other", "in/1"),
        ("other", "1"),
    ];
    let readable = async |retrieval: Retrieval| {
        let mut answers = String::new();
        for (bucket, key) in places {
            answers.push(match retrieval.fetch(&stub(bucket, key)).await {
                Ok(_) => 'r',
                Err(PayloadError::NotAllowed { .. }) => '-',
                Err(PayloadError::Missing { .. }) => 'm',
                Err(error) => panic!("{error}"),
            });
        }
        answers
    };
    let own = Retrieval::from_store(store);
    assert_eq!(readable(own.clone()).await, "r---");
    assert_eq!(readable(own.clone().allow("other", "in/")).await, "r-r-");
    assert_eq!(readable(own.clone().allow("other", "")).await, "r-rm");
    assert_eq!(readable(own.allow_anywhere()).await, "rrrm");
}

/// Answers whatever it is told to.
struct Stubborn(fn() -> Result<Vec<u8>, StoreError>);

impl PayloadStore for Stubborn {
    fn home(&self) -> Home {
        MemoryPayloadStore::new().home()
    }

    async fn put(&self, _: &Location, _: &str) -> Result<(), StoreError> {
        std::future::pending().await
    }

    async fn get(&self, _: &Location, _: usize) -> Result<Vec<u8>, StoreError> {
        (self.0)()
    }

    async fn delete(&self, _: &Location) -> Result<(), StoreError> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn c_088_a_read_is_bounded_in_size_and_time_whatever_the_store_does() {
    let fetch = async |answer| {
        let retrieval = Retrieval::from_store(Stubborn(answer)).max_bytes(4);
        retrieval.fetch(&stub("memory", "payloads/1")).await
    };
    assert_eq!(
        fetch(|| Ok(b"four".to_vec())).await.expect("four bytes"),
        "four"
    );
    let error = fetch(|| Ok(b"fives".to_vec()))
        .await
        .expect_err("more than asked for");
    assert!(matches!(
        error,
        PayloadError::TooLarge {
            actual: Some(5),
            allowed: 4,
            ..
        }
    ));
    let error = fetch(|| Ok(vec![0xff])).await.expect_err("no text");
    assert!(matches!(error, PayloadError::Altered { .. }), "{error}");
    let error = fetch(|| Err(StoreError::failed("AccessDenied")))
        .await
        .expect_err("refused");
    assert!(
        error.is_retryable() && error.to_string().contains("memory/payloads/1"),
        "{error}"
    );

    let declared = Pointer {
        length: Some(5 << 30),
        ..stub("memory", "payloads/1")
    };
    let unread = Retrieval::from_store(Stubborn(|| panic!("must not be read")));
    let error = unread
        .fetch(&declared)
        .await
        .expect_err("declared too large");
    assert!(matches!(error, PayloadError::TooLarge { .. }), "{error}");

    let begun = tokio::time::Instant::now();
    let deleted = unread.delete(&declared.location).await;
    assert!(matches!(deleted, Err(StoreError::Failed(_))));
    assert_eq!(begun.elapsed(), Duration::from_secs(5));
}
