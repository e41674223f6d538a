//! A record: what SQS handed over, before anybody has looked into it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use super::attribute::Attribute;
use crate::context::Source;
use crate::envelope::Headers;
use crate::lease::Lease;

/// The attribute that the version gate reads.
const SCHEMA_VERSION: &str = "bq-schema-version";

/// Tells deliveries apart in this process, those of one message too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DeliveryNumber(u64);

impl DeliveryNumber {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    #[cfg(feature = "idempotency")]
    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

/// One received message. The attributes are in the order of their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) delivery: DeliveryNumber,
    pub(crate) message_id: String,
    pub(crate) body: String,
    pub(crate) attributes: Vec<Attribute>,
    /// `ApproximateReceiveCount`, as text.
    pub(crate) receive_count: Option<String>,
    pub(crate) group_id: Option<String>,
    /// When SQS shows it to others again, from now; if that is known.
    pub(crate) visible_after: Option<Duration>,
    /// The hold on it, for its handler to watch.
    pub(crate) lease: Lease,
    /// The invocation that brought it, for its handler to have.
    #[cfg(feature = "lambda")]
    pub(crate) invocation: Option<crate::invocation::Invocation>,
    /// Where its body really was.
    #[cfg(feature = "payload-store")]
    pub(crate) offloaded: Option<Box<super::payloads::Offloaded>>,
    /// `SentTimestamp` in Unix milliseconds.
    pub(crate) sent_at: Option<u64>,
    /// `ApproximateFirstReceiveTimestamp` in Unix milliseconds.
    pub(crate) first_received_at: Option<u64>,
}

impl Record {
    /// Id of the Lambda invocation that brought it, if one did.
    pub(crate) fn request_id(&self) -> Option<&str> {
        #[cfg(feature = "lambda")]
        return self
            .invocation
            .as_ref()
            .map(|invocation| invocation.request_id());
        #[cfg(not(feature = "lambda"))]
        None
    }

    /// The receive count as a number of at least 1.
    pub(crate) fn receives(&self) -> Option<u64> {
        let text = self.receive_count.as_deref()?;
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // More digits than fit still count as very often.
        digits
            .then(|| text.parse().unwrap_or(u64::MAX))
            .filter(|count| *count > 0)
    }

    /// The declared schema version, whatever its data type.
    pub(crate) fn declared_version(&self) -> Option<&str> {
        declared_version(&self.attributes)
    }

    /// The attributes that are text, as a handler sees them (SPEC §3.4).
    pub(crate) fn headers(&self) -> Headers {
        let text =
            |attribute: &Attribute| Some((attribute.name.clone(), attribute.as_text()?.to_owned()));
        self.attributes.iter().filter_map(text).collect()
    }

    /// What a handler may know of the delivery.
    pub(crate) fn source(&self, queue: &Arc<str>) -> Source {
        let at = |millis: u64| UNIX_EPOCH.checked_add(Duration::from_millis(millis));
        let mut source = Source::new(Arc::clone(queue));
        source.message_id.clone_from(&self.message_id);
        source.receive_count = self.receives();
        source.group_id.clone_from(&self.group_id);
        source.sent_at = self.sent_at.and_then(at);
        source.first_received_at = self.first_received_at.and_then(at);
        source
    }
}

/// The schema version that attributes declare.
pub(super) fn declared_version(attributes: &[Attribute]) -> Option<&str> {
    attributes
        .iter()
        .find(|attribute| attribute.name == SCHEMA_VERSION)?
        .as_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_receive_count_is_a_positive_decimal() {
        let receives = |text: Option<&str>| {
            Record {
                receive_count: text.map(str::to_owned),
                ..Record::default()
            }
            .receives()
        };
        assert_eq!(receives(Some("3")), Some(3));
        assert_eq!(receives(Some("99999999999999999999999")), Some(u64::MAX));
        for odd in [
            None,
            Some(""),
            Some("0"),
            Some("-1"),
            Some("+1"),
            Some("x"),
            Some("1.0"),
        ] {
            assert_eq!(receives(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn a_gate_attribute_of_any_text_type_counts_and_a_binary_one_does_not() {
        let mut record = Record::default();
        assert_eq!(record.declared_version(), None);
        record
            .attributes
            .push(Attribute::text("bq-schema-version", "String.x", "2"));
        assert_eq!(record.declared_version(), Some("2"));
        record.attributes[0].value = super::super::Value::Binary(b"2".to_vec());
        assert_eq!(record.declared_version(), None);
        assert!(record.headers().is_empty());
    }
}
