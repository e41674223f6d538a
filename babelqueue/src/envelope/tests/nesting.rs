//! SPEC §1.12: depth is no reason to refuse, and costs no stack.

use serde::de::IgnoredAny;

use super::super::{DecodeError, Envelope, Patch, poison_record, verdict};
use super::{block, decode};

/// Runs on a stack that recursion would not survive.
fn on_a_small_stack(test: fn()) {
    let thread = std::thread::Builder::new()
        .stack_size(512 * 1024)
        .spawn(test);
    thread.expect("a thread").join().expect("no overflow");
}

fn nested(levels: usize, open: &str, core: &str, close: &str) -> String {
    format!("{}{core}{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn a_deep_body_is_scanned_classified_spliced_and_emitted() {
    on_a_small_stack(|| {
        for deep in [
            nested(10_000, "[", "", "]"),
            nested(10_000, "{\"a\":", "1", "}"),
            nested(5_000, "[ {\"a\": ", "1e300", "} ]"),
        ] {
            let body = format!(r#"{{"job":"x","data":{{"a":{deep}}},"deep":{deep},"attempts":0}}"#);
            let envelope = decode(&body);
            let emitted = envelope.reemit(&Patch::new().attempts(1)).expect("emits");
            assert_eq!(emitted, body.replace("\"attempts\":0", "\"attempts\":1"));
            assert_eq!(envelope.member("deep"), Some(deep.as_str()));
            // A payload that ignores it is read; one that builds it may refuse.
            envelope.data::<IgnoredAny>().expect("ignored");
            assert!(envelope.data::<serde_json::Value>().is_err());

            let poison = body.replace("\"job\":\"x\"", "\"job\":5");
            assert_eq!(verdict(poison.as_bytes()), Err(DecodeError::NoIdentity));
            let record = poison_record(poison.as_bytes(), &block());
            assert!(record.starts_with(&poison[..poison.len() - 1]));

            let unbalanced = body.replacen(&deep, &deep[..deep.len() - 1], 1);
            assert!(Envelope::decode(unbalanced).is_err());
        }
    });
}

#[test]
fn brackets_must_match_at_every_depth() {
    for depth in [1, 2, 63, 64, 65, 127, 128, 129, 1000] {
        for level in [0, depth / 3, depth / 2, depth - 1] {
            let kinds: Vec<bool> = (0..depth).map(|level| level % 3 == 0).collect();
            let open: String = kinds
                .iter()
                .map(|&o| if o { "{\"k\":" } else { "[" })
                .collect();
            let close = |flip: Option<usize>| -> String {
                let kinds = kinds.iter().enumerate().rev();
                kinds
                    .map(|(at, &object)| {
                        if object == (flip != Some(at)) {
                            '}'
                        } else {
                            ']'
                        }
                    })
                    .collect()
            };
            let body = |close: String| format!(r#"{{"job":"x","n":{open}1{close}}}"#);
            decode(&body(close(None)));
            let error = Envelope::decode(body(close(Some(level)))).expect_err("mismatch");
            assert!(matches!(error, DecodeError::NotJson { .. }));
        }
    }
}
