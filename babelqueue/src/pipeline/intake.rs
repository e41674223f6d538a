//! The first half of the way: from the record to an envelope that a handler may have, or to the
//! reason why none may. Pure, and blind to the router (SPEC §2.7, steps 1 to 4).

use std::sync::Arc;

#[cfg(feature = "payload-store")]
use super::attribute::Attribute;
use super::foreign::{Decode, ForeignError, Unfolded, is_own, unfold};
#[cfg(feature = "payload-store")]
use super::payloads::{Found, Payloads};
use super::record::Record;
use crate::envelope::{
    DecodeError, Envelope, Gate, NotAccepted, Undecodable, is_blank, new_id, reconcile_attempts,
    version_gate,
};
#[cfg(feature = "payload-store")]
use crate::payload_store::{PayloadError, Pointer};

/// What the first look at a record came to.
#[derive(Debug)]
pub(crate) enum Opened {
    /// Rejected by the attribute gate, undecoded.
    Gated { body: String, declared: String },
    /// A pointer, or what means to be one: to be followed.
    #[cfg(feature = "payload-store")]
    Pointer(Box<Found>),
    /// A pointer that could not be followed; the body as it came.
    #[cfg(feature = "payload-store")]
    Unfollowed { body: String, error: PayloadError },
    /// Poison; the body as it came.
    Poison { body: String, error: DecodeError },
    /// A decoder's own, and unreadable; the body as it came.
    Unreadable { body: String, error: ForeignError },
    /// A decoder's own, and not wanted.
    Skipped { body: String },
    /// Decoded, but the body's version is not 1.
    UnsupportedVersion {
        envelope: Envelope,
        /// The body as it came, when the envelope was found inside of it.
        received: Option<String>,
        error: NotAccepted,
    },
    /// Decoded, but not what a handler may rely on.
    NotAccepted {
        envelope: Envelope,
        received: Option<String>,
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

/// How bodies are read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) lenient: bool,
    /// Asked about bodies that are no acceptable envelopes.
    pub(crate) decoders: &'a [Arc<dyn Decode>],
    pub(crate) queue: &'a str,
    /// Recognises pointers in bodies that are no envelopes.
    #[cfg(feature = "payload-store")]
    pub(crate) payloads: Option<&'a Arc<Payloads>>,
}

#[cfg(feature = "payload-store")]
impl Reading<'_> {
    /// The pointer that a body is, if it is no envelope and means to be one.
    fn pointer(
        &self,
        decoded: &Result<Envelope, Undecodable>,
        attributes: &[Attribute],
    ) -> Option<(Arc<Payloads>, Result<Pointer, PayloadError>)> {
        let undecodable = decoded.as_ref().err()?;
        let payloads = self.payloads?;
        let pointer = payloads.recognise(&undecodable.body, attributes)?;
        Some((Arc::clone(payloads), pointer))
    }
}

/// Takes the body out of the record and classifies it. Attributes that were found inside of the
/// body are laid over the record's, but for messages that no handler gets: those go on as they
/// came.
pub(crate) fn open(record: &mut Record, reading: Reading<'_>) -> Opened {
    let body = std::mem::take(&mut record.body);
    if let Gate::Reject { declared } = version_gate(record.declared_version()) {
        return Opened::Gated { body, declared };
    }
    let decoded = Envelope::read(body);
    #[cfg(feature = "payload-store")]
    let decoded = match (reading.pointer(&decoded, &record.attributes), decoded) {
        (Some((payloads, pointer)), Err(undecodable)) => {
            return Opened::Pointer(Box::new(Found {
                payloads,
                pointer,
                body: undecodable.body,
                attributes: None,
            }));
        }
        (_, decoded) => decoded,
    };
    if reading.decoders.is_empty() || is_own(&decoded) {
        return classify(decoded, None, record, reading.lenient);
    }
    let body = decoded.map_or_else(|undecodable| undecodable.body, Envelope::into_body);
    match unfold(&body, record, reading.queue, reading.decoders) {
        Err(error) => Opened::Unreadable { body, error },
        Ok(Unfolded::NotMine) => classify(Envelope::read(body), None, record, reading.lenient),
        Ok(Unfolded::Skipped) => Opened::Skipped { body },
        Ok(Unfolded::Gated { declared }) => Opened::Gated { body, declared },
        Ok(Unfolded::Read { result, attributes }) => {
            #[cfg(feature = "payload-store")]
            if let Some((payloads, pointer)) = reading.pointer(&result, &attributes) {
                return Opened::Pointer(Box::new(Found {
                    payloads,
                    pointer,
                    body,
                    attributes: Some(attributes),
                }));
            }
            let opened = classify(result, Some(body), record, reading.lenient);
            if matches!(opened, Opened::Accepted { .. }) {
                record.attributes = attributes;
            }
            opened
        }
    }
}

/// `received` is the body as it came, when it is not the one that was decoded.
fn classify(
    decoded: Result<Envelope, Undecodable>,
    received: Option<String>,
    record: &Record,
    lenient: bool,
) -> Opened {
    let envelope = match decoded {
        Ok(envelope) => envelope,
        Err(undecodable) => {
            return Opened::Poison {
                body: received.unwrap_or(undecodable.body),
                error: undecodable.error,
            };
        }
    };
    envelope.warn();
    match envelope.accept() {
        Ok(()) => {}
        Err(error @ NotAccepted::UnsupportedVersion(_)) => {
            return Opened::UnsupportedVersion {
                envelope,
                received,
                error,
            };
        }
        // Decoding refuses what has no identity, so that leniency has nothing to fill in.
        Err(error) if !lenient || error == NotAccepted::NoIdentity => {
            return Opened::NotAccepted {
                envelope,
                received,
                error,
            };
        }
        Err(_) => {}
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
        open(&mut record, plainly(lenient))
    }

    fn plainly(lenient: bool) -> Reading<'static> {
        Reading {
            lenient,
            decoders: &[],
            queue: "orders",
            #[cfg(feature = "payload-store")]
            payloads: None,
        }
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
            let Opened::Accepted { attempts, .. } = open(&mut record, plainly(false)) else {
                panic!("must be accepted")
            };
            assert_eq!(attempts, expected, "{wire} {receives}");
        }
    }
}
