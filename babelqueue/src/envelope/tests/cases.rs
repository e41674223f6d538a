//! Faults seen in the field, each named by its id.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::{DecodeError, Envelope, integer_string, projection, verdict};
use super::{WHOLE, decode, parse};

#[test]
fn c_064_one_unreadable_body_takes_the_consumer_down() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let surplus = format!("{WHOLE}}}");
    let poll = [
        (WHOLE, true),
        ("hello", false),
        ("", false),
        (WHOLE, true),
        ("null", false),
        ("[]", false),
        ("{", false),
        (r#"{"job":1}"#, false),
        (&deep, false),
        (&surplus, false),
        (WHOLE, true),
    ];
    for (body, fine) in poll {
        assert_eq!(verdict(body.as_bytes()).is_ok(), fine, "{body}");
        match Envelope::decode(body) {
            Ok(envelope) => assert!(fine && envelope.accepts()),
            // The reason is there, and does not repeat the body.
            Err(error) => {
                assert!(!fine);
                assert!(
                    body.is_empty() || !error.to_string().contains(body),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn c_066_characters_that_sqs_refuses_turn_up_in_rare_data() {
    let text = "\0 \u{7} \u{fffe} \u{ffff} 😀 \t \r \n";
    let made = Envelope::builder("urn:x")
        .queue(text)
        .data(&json!({ "text": text, text: 1 }))
        .meta("ext", &json!({ "acme": text }))
        .extra("raw", format!("\"{}\"", '\u{fffe}'))
        .build()
        .expect("made");
    let body = made.body();
    let refused = |c: char| matches!(c, '\0'..'\u{20}' | '\u{fffe}' | '\u{ffff}');
    assert!(!body.contains(refused), "{body}");
    assert!(
        body.contains(r#""text":"\u0000 \u0007 \ufffe \uffff 😀 \t \r \n""#),
        "{body}"
    );

    let back = decode(body);
    let data: serde_json::Value = back.data().expect("read");
    assert_eq!(data, json!({ "text": text, text: 1 }));
    assert_eq!(back.meta().queue(), Some(text));
    assert_eq!(parse(back.meta().ext("acme").expect("ext")), text);
    // Near ones pass as they are.
    let near = json!({ "text": "\u{fffd}\u{ffbe}\u{1fffe}\u{ff}" });
    let made = Envelope::builder("urn:x")
        .data(&near)
        .build()
        .expect("made");
    assert_eq!(made.data_json(), Some(near.to_string().as_str()));
    // Attributes are projected verbatim: who sends them refuses what SQS refuses.
    let odd = Envelope::builder("urn:\u{ffff}").build().expect("made");
    let first = projection(&odd).into_iter().next().expect("bq-job");
    assert_eq!(first.value, "urn:\u{ffff}");
}

#[test]
fn c_068_an_envelope_wrapped_by_sns() {
    let wrapped = json!({
        "Type": "Notification", "MessageId": "m", "TopicArn": "arn:aws:sns:eu-west-1:1:t",
        "Message": WHOLE, "MessageAttributes": {},
    });
    let error = Envelope::decode(wrapped.to_string()).expect_err("wrapped");
    assert_eq!(error, DecodeError::SnsNotification);
    assert!(error.to_string().contains("SNS"), "{error}");
    let alike = WHOLE.replace(
        r#"{"a":1}"#,
        r#"{"Type":"Notification","TopicArn":"t","Message":"m"}"#,
    );
    assert!(decode(&alike).accepts());
    let other = r#"{"Type":"Other","TopicArn":"t","Message":"m"}"#;
    assert_eq!(
        Envelope::decode(other).expect_err("poison"),
        DecodeError::NoIdentity
    );
}

/// Holds in both builds of `serde_json`; the other one runs with
/// `--features serde_json/arbitrary_precision`.
#[test]
fn c_069_large_numbers_break_when_the_payload_is_buffered() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Numbers {
        wide: u128,
        low: i64,
        odd: u64,
        float: f64,
    }
    let numbers = Numbers {
        wide: u128::from(u64::MAX) + 1,
        low: i64::MIN,
        odd: (1 << 53) + 1,
        float: 1e308,
    };
    let made = Envelope::builder("urn:x")
        .data(&numbers)
        .build()
        .expect("made");
    let json = made.data_json().expect("data");
    assert!(json.contains(
        r#""wide":18446744073709551616,"low":-9223372036854775808,"odd":9007199254740993"#
    ));
    let emitted = decode(made.body()).redriven().expect("emits");
    assert_eq!(decode(&emitted).data::<Numbers>().expect("read"), numbers);
}

#[test]
fn c_070_64_bit_ids_rounded_on_the_way() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Order {
        #[serde(with = "integer_string")]
        id: u64,
    }
    let order = Order {
        id: 9_007_199_254_740_993,
    };
    let made = Envelope::builder("urn:x")
        .data(&order)
        .build()
        .expect("made");
    // A string survives a language whose numbers are doubles.
    assert_eq!(made.data_json(), Some(r#"{"id":"9007199254740993"}"#));
    assert_eq!(decode(made.body()).data::<Order>().expect("read"), order);
    // And the number form is taken, exactly as it stands.
    for id in [9_007_199_254_740_992, 9_007_199_254_740_993] {
        let body = format!(r#"{{"job":"x","data":{{"id":{id}}}}}"#);
        assert_eq!(decode(&body).data::<Order>().expect("read"), Order { id });
    }
}

#[test]
fn c_071_an_optional_field_becomes_required() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Invoice {
        id: u64,
        #[serde(default, with = "seconds")]
        paid_at: Option<Paid>,
    }
    for (data, paid_at) in [
        (r#"{"id":1}"#, None),
        (r#"{"id":1,"paid_at":null}"#, None),
        (r#"{"later":[{}],"id":1,"paid_at":7,"x":1}"#, Some(Paid(7))),
    ] {
        let envelope = decode(&format!(r#"{{"job":"x","data":{data}}}"#));
        let invoice: Invoice = envelope.data().expect("read");
        assert_eq!(invoice, Invoice { id: 1, paid_at });
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Paid(u64);
mod seconds {
    use super::Paid;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        paid: &Option<Paid>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        paid.as_ref().map(|paid| paid.0).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Paid>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Paid))
    }
}
