//! Decoding never panics, never loops, and agrees with itself, with a slow reference, and with
//! `serde_json` where that can represent the input.
#![no_main]

mod reference;

use babelqueue::Envelope;
use babelqueue::envelope::{DecodeError, projection, projection_of, verdict};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|body: &[u8]| {
    let verdict = verdict(body);
    let decoded = Envelope::decode_bytes(body);
    assert_eq!(verdict.is_ok(), decoded.is_ok());
    assert_eq!(verdict.is_ok(), reference::is_fine(body), "{verdict:?}");
    let Ok(text) = std::str::from_utf8(body) else {
        assert!(
            matches!(verdict, Err(DecodeError::InvalidUtf8 { .. })),
            "{verdict:?}"
        );
        return;
    };
    match (serde_json::from_str::<Value>(text), &decoded) {
        (Ok(value), Ok(envelope)) => assert_eq!(Some(envelope.urn()), identity(&value)),
        (Ok(Value::Object(value)), Err(error)) => match error {
            DecodeError::NoIdentity | DecodeError::SnsNotification => {
                assert_eq!(identity(&Value::Object(value)), None);
            }
            DecodeError::WrongType { .. } => {}
            other => panic!("serde_json reads it: {other:?}"),
        },
        (Ok(_), Err(error)) => assert_eq!(*error, DecodeError::NotAnObject),
        (Err(error), Ok(_)) => {
            // Only what it cannot hold: depth, and numbers in members that nobody knows.
            let error = error.to_string();
            let beyond = ["recursion limit exceeded", "number out of range"];
            assert!(beyond.iter().any(|text| error.contains(text)), "{error}");
        }
        (Err(_), Err(_)) => {}
    }
    let lenient = Envelope::decode_lenient(text);
    let Ok(envelope) = decoded else {
        let undecodable = Envelope::try_decode(text.to_owned()).expect_err("it is poison");
        assert_eq!(undecodable.body, text, "the body comes back as it was");
        return;
    };
    assert_eq!(lenient.expect("leniency only widens").urn(), envelope.urn());
    assert_eq!(envelope.body(), text);
    assert!(!envelope.urn().is_empty());

    // Everything that can be read, is.
    let _ = (
        envelope.accept(),
        envelope.trace_id(),
        envelope.attempts(),
        envelope.dead_letter(),
    );
    let meta = envelope.meta();
    let _ = (
        meta.queue(),
        meta.lang(),
        meta.schema_version(),
        meta.created_at(),
        meta.ext("v"),
    );
    for (name, value) in meta.iter() {
        assert!(meta.get(&name).is_some());
        let _: &serde_json::value::RawValue = serde_json::from_str(value).expect("a value");
    }
    if let Some(data) = envelope.data_json() {
        assert!(data.starts_with('{') && data.ends_with('}'));
        let _: &serde_json::value::RawValue = serde_json::from_str(data).expect("an object");
        let _ = envelope.data::<Value>();
    }
    assert!(projection(&envelope).into_iter().count() <= 6);
    let _ = projection_of(body);
});

/// The identity by the rules of the contract, on a parsed body (the last of a repeated member).
fn identity(value: &Value) -> Option<&str> {
    let blank = |text: &str| text.bytes().all(|byte| matches!(byte, b' ' | 9..=13));
    let valid = |name: &str| value.get(name)?.as_str().filter(|text| !blank(text));
    valid("job").or_else(|| valid("urn"))
}
