//! The first half of the way: from the record to an envelope that a handler may have, or to the
//! reason why none may. Pure, and blind to the router (SPEC §2.7, steps 1 to 4).

use super::record::Record;
use crate::envelope::{
    DecodeError, Envelope, Gate, NotAccepted, is_blank, new_id, reconcile_attempts, version_gate,
};

/// What the first look at a record came to.
#[derive(Debug)]
pub(crate) enum Opened {
    /// Rejected by the attribute gate, undecoded.
    Gated { body: String, declared: String },
    /// Poison; the body as it came.
    Poison { body: String, error: DecodeError },
    /// Decoded, but the body's version is not 1.
    UnsupportedVersion {
        envelope: Envelope,
        error: NotAccepted,
    },
    /// Decoded, but not what a handler may rely on.
    NotAccepted {
        envelope: Envelope,
        error: NotAccepted,
    },
    /// Ready to be routed.
    Accepted {
        envelope: Envelope,
        attempts: u64,
        /// Stands in for a missing trace id (lenient acceptance).
        trace_id: Option<String>,
    },
}

/// Takes the body out of the record and classifies it.
pub(crate) fn open(record: &mut Record, lenient: bool) -> Opened {
    let body = std::mem::take(&mut record.body);
    if let Gate::Reject { declared } = version_gate(record.declared_version()) {
        return Opened::Gated { body, declared };
    }
    let envelope = match Envelope::try_decode(body) {
        Ok(envelope) => envelope,
        Err(undecodable) => {
            return Opened::Poison {
                body: undecodable.body,
                error: undecodable.error,
            };
        }
    };
    match envelope.accept() {
        Ok(()) => {}
        Err(error @ NotAccepted::UnsupportedVersion(_)) => {
            return Opened::UnsupportedVersion { envelope, error };
        }
        Err(NotAccepted::NoIdentity) if lenient => {
            // Decoding refuses what has no identity, so that leniency has nothing to fill in.
            return Opened::NotAccepted {
                envelope,
                error: NotAccepted::NoIdentity,
            };
        }
        Err(_) if lenient => {}
        Err(error) => return Opened::NotAccepted { envelope, error },
    }
    let trace_id = match envelope.trace_id() {
        Some(trace_id) if !is_blank(trace_id) => None,
        _ => Some(new_id()),
    };
    let wire = envelope.attempts().unwrap_or_default();
    let attempts = reconcile_attempts(wire, record.receive_count.as_deref());
    Opened::Accepted {
        envelope,
        attempts: attempts.unsigned_abs(),
        trace_id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Attribute;

    const GOOD: &str =
        r#"{"job":"urn:x","trace_id":"t","data":{},"meta":{"schema_version":1},"attempts":0}"#;

    fn opened(body: &str, version: Option<&str>, lenient: bool) -> Opened {
        let mut record = Record {
            body: body.to_owned(),
            ..Record::default()
        };
        let attribute = |value| Attribute::text("bq-schema-version", "Number", value);
        record.attributes.extend(version.map(attribute));
        open(&mut record, lenient)
    }

    #[test]
    fn the_gate_comes_before_the_body() {
        for body in [GOOD, "not json", ""] {
            assert!(
                matches!(opened(body, Some("2"), true), Opened::Gated { .. }),
                "{body}"
            );
        }
        assert!(matches!(
            opened(GOOD, Some("1"), false),
            Opened::Accepted { .. }
        ));
        assert!(matches!(
            opened(GOOD, Some(" \t"), false),
            Opened::Accepted { .. }
        ));
    }

    #[test]
    fn the_body_version_comes_before_the_other_conditions_and_is_never_lenient() {
        let body = r#"{"job":"urn:x","meta":{"schema_version":2}}"#;
        for lenient in [false, true] {
            let opened = opened(body, None, lenient);
            assert!(
                matches!(opened, Opened::UnsupportedVersion { .. }),
                "{opened:?}"
            );
        }
    }

    #[test]
    fn leniency_fills_in_memory() {
        let bodies = [
            r#"{"job":"urn:x"}"#,
            r#"{"job":"urn:x","trace_id":null,"data":null,"meta":null,"attempts":null}"#,
            r#"{"job":"urn:x","trace_id":" ","data":{},"meta":{},"attempts":0}"#,
        ];
        for body in bodies {
            assert!(
                matches!(opened(body, None, false), Opened::NotAccepted { .. }),
                "{body}"
            );
            let Opened::Accepted {
                envelope,
                attempts,
                trace_id,
            } = opened(body, None, true)
            else {
                panic!("{body} must be accepted")
            };
            assert_eq!((envelope.body(), attempts), (body, 0));
            assert_eq!(trace_id.map(|id| id.len()), Some(36));
        }
        for poison in ["", "null", "{", r#"{"job":1}"#] {
            assert!(
                matches!(opened(poison, None, true), Opened::Poison { .. }),
                "{poison}"
            );
        }
    }

    #[test]
    fn attempts_are_reconciled_and_never_negative() {
        let rows = [
            ("0", "1", 0),
            ("0", "3", 2),
            ("2", "5", 4),
            ("5", "1", 5),
            ("4", "x", 4),
            ("-3", "1", 0),
        ];
        for (wire, receives, expected) in rows {
            let body = GOOD.replace("\"attempts\":0", &format!("\"attempts\":{wire}"));
            let mut record = Record {
                body,
                ..Record::default()
            };
            record.receive_count = Some(receives.to_owned());
            let Opened::Accepted { attempts, .. } = open(&mut record, false) else {
                panic!("must be accepted")
            };
            assert_eq!(attempts, expected, "{wire} {receives}");
        }
    }
}
