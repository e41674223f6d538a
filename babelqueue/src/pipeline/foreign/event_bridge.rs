//! Events of Amazon EventBridge.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::unfold::is_own;
use super::{Decode, Decoded, Foreign, Inner};
use crate::BoxError;
use crate::envelope::Envelope;
use crate::message::BabelMessage;

/// Reads events of Amazon EventBridge: `detail` becomes `data`, the event's `id` becomes
/// `meta.id`. An envelope that was sent as a `detail` is read as one.
///
/// An event that is bound to no URN has one made of its source and its detail type,
/// `urn:aws-events:<source>:<detail-type>`, in which other characters than letters, digits, `.`,
/// `_` and `-` are a `-`. A handler may carry it, and the unknown-URN strategy applies to the rest.
///
/// ```
/// use babelqueue::decode::{Decode as _, Decoded, EventBridge, Foreign};
///
/// let body = r#"{"version":"0","id":"e-1","detail-type":"Order Created","source":"my.shop",
///     "time":"2026-01-01T00:00:00Z","region":"eu-west-1","resources":[],"detail":{"order_id":7}}"#;
/// let urn = |decoder: EventBridge| match decoder.decode(&Foreign::new(body)) {
///     Ok(Decoded::Message(envelope)) => envelope.urn().to_owned(),
///     other => panic!("{other:?}"),
/// };
/// assert_eq!(urn(EventBridge::new()), "urn:aws-events:my.shop:Order-Created");
/// let bound = EventBridge::new().bind("my.shop", "Order Created", "urn:babel:orders:created");
/// assert_eq!(urn(bound), "urn:babel:orders:created");
/// ```
#[derive(Clone, Debug, Default)]
pub struct EventBridge {
    /// URNs by source, then by detail type.
    bound: BTreeMap<String, BTreeMap<String, Cow<'static, str>>>,
}

#[derive(Deserialize)]
struct Event<'a> {
    id: String,
    #[serde(rename = "detail-type")]
    detail_type: String,
    source: String,
    #[serde(borrow)]
    detail: &'a RawValue,
}

impl EventBridge {
    /// Every event by the URN made of its source and detail type.
    pub fn new() -> Self {
        Self::default()
    }

    /// Binds the events of a source with a detail type to a URN.
    #[must_use]
    pub fn bind(
        mut self,
        source: impl Into<String>,
        detail_type: impl Into<String>,
        urn: impl Into<Cow<'static, str>>,
    ) -> Self {
        let types = self.bound.entry(source.into()).or_default();
        types.insert(detail_type.into(), urn.into());
        self
    }

    /// Binds them to the URN of a message.
    #[must_use]
    pub fn bind_to<T: BabelMessage>(
        self,
        source: impl Into<String>,
        detail_type: impl Into<String>,
    ) -> Self {
        self.bind(source, detail_type, T::URN)
    }

    fn urn(&self, event: &Event<'_>) -> String {
        let types = self.bound.get(&event.source);
        match types.and_then(|types| types.get(&event.detail_type)) {
            Some(urn) => urn.clone().into_owned(),
            None => {
                let (source, detail_type) = (part(&event.source), part(&event.detail_type));
                format!("urn:aws-events:{source}:{detail_type}")
            }
        }
    }
}

/// A part of a URN.
fn part(text: &str) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    text.chars()
        .map(|c| if legal(c) { c } else { '-' })
        .collect()
}

impl Decode for EventBridge {
    fn decode(&self, message: &Foreign<'_>) -> Result<Decoded, BoxError> {
        let Ok(event) = serde_json::from_str::<Event<'_>>(message.body()) else {
            return Ok(Decoded::NotMine);
        };
        let detail = event.detail.get();
        if is_own(&Envelope::read(detail.to_owned())) {
            return Ok(Inner::new(detail).into());
        }
        let builder = message.envelope(self.urn(&event)).id(event.id);
        Ok(builder.data_json(detail).build()?.into())
    }
}
