//! Making an envelope: collecting its parts, checking them, and writing them once. The clock and
//! the generator of ids are the only things outside the arguments that this reads.

mod data;
mod finite;
mod ids;
mod write;

use std::borrow::Cow;

use serde::Serialize;

use super::blank::trim;
use super::decoded::Envelope;
use super::error::{EncodeError, MakeError};
use super::json::{Fault, check_fragment, compact, escape_noncharacters};
use super::parts::{FORBIDDEN, forbidden_in_meta};
use super::{DEFAULT_QUEUE, LANG};

pub use data::DataJson;
pub use ids::{new_id, seed_ids};

const CORE_META: [&str; 5] = ["id", "queue", "lang", "schema_version", "created_at"];
const CORE_TOP: [&str; 6] = ["job", "trace_id", "data", "meta", "attempts", "dead_letter"];

/// Collects the parts of a new envelope; see [`Envelope::builder`].
///
/// Values are serialised as they are given. The first error is kept and returned by
/// [`build`](Self::build), so that calls chain.
#[derive(Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct EnvelopeBuilder {
    urn: Cow<'static, str>,
    trace_id: Option<Cow<'static, str>>,
    data: Option<String>,
    queue: Cow<'static, str>,
    lang: Cow<'static, str>,
    id: Option<Cow<'static, str>>,
    created_at: Option<i64>,
    /// Extensions of `meta` and preserved extras, with their JSON text, in the order given.
    meta: Vec<(String, String)>,
    extras: Vec<(String, String)>,
    failure: Option<MakeError>,
}

impl Envelope {
    /// Makes a new envelope (SPEC §1.3). Both ends of `urn` are trimmed of the blank set; nothing
    /// else is asked of it.
    ///
    /// ```
    /// use babelqueue::envelope::Envelope;
    /// use serde_json::json;
    ///
    /// let envelope = Envelope::builder("urn:babel:orders:created")
    ///     .queue("orders")
    ///     .data(&json!({ "order_id": 1042 }))
    ///     .meta("ext", &json!({ "acme": { "tier": "gold" } }))
    ///     .build()?;
    /// assert_eq!(envelope.data_json(), Some(r#"{"order_id":1042}"#));
    /// assert_eq!(envelope.attempts(), Some(0));
    /// assert!(envelope.body().starts_with(r#"{"job":"urn:babel:orders:created","trace_id":""#));
    /// # Ok::<(), babelqueue::envelope::MakeError>(())
    /// ```
    pub fn builder(urn: impl Into<Cow<'static, str>>) -> EnvelopeBuilder {
        EnvelopeBuilder {
            urn: urn.into(),
            trace_id: None,
            data: None,
            queue: DEFAULT_QUEUE.into(),
            lang: LANG.into(),
            id: None,
            created_at: None,
            meta: Vec::new(),
            extras: Vec::new(),
            failure: None,
        }
    }
}

impl EnvelopeBuilder {
    /// The payload, serialised now. It must become a JSON object; a unit struct or `()` becomes
    /// `{}`. NaN, infinity and numbers beyond a double are errors that name the field, never null.
    /// Without a payload `data` is `{}`.
    pub fn data<T: Serialize + ?Sized>(self, payload: &T) -> Self {
        self.data_made(DataJson::of(payload))
    }

    /// The payload as JSON text. Whitespace between its tokens is removed, the spelling of numbers
    /// and strings is kept.
    pub fn data_json(self, json: impl Into<String>) -> Self {
        self.data_made(DataJson::from_text(json))
    }

    /// The payload as text that is known to be good.
    pub(crate) fn data_made(mut self, data: Result<DataJson, MakeError>) -> Self {
        match data {
            Ok(data) => {
                self.data = Some(data.into_string());
                self
            }
            Err(error) => self.fail(error),
        }
    }

    /// The queue that the message is for; neither trimmed nor checked. Default `default`.
    pub fn queue(mut self, queue: impl Into<Cow<'static, str>>) -> Self {
        self.queue = queue.into();
        self
    }

    /// The trace that the message belongs to, trimmed of the blank set; any text will do. Blank
    /// text counts as none, and none becomes a new UUID.
    pub fn trace_id(mut self, trace_id: impl Into<Cow<'static, str>>) -> Self {
        self.trace_id = Some(trace_id.into());
        self
    }

    /// The language tag of the producer. Default `rust`; override it for consumers that validate
    /// against the enum of the family's schema (SPEC §1.7).
    pub fn lang(mut self, lang: impl Into<Cow<'static, str>>) -> Self {
        self.lang = lang.into();
        self
    }

    /// The message id, in place of a new UUID: for tests and simulations.
    pub fn id(mut self, id: impl Into<Cow<'static, str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// When the message was made, in Unix milliseconds UTC, in place of now.
    pub fn created_at(mut self, unix_millis: i64) -> Self {
        self.created_at = Some(unix_millis);
        self
    }

    /// Adds one extension to `meta`, after the core keys, in the order given. Vendors put theirs
    /// whole into one `ext` entry: `meta.ext.<vendor>`.
    ///
    /// Core keys, the keys that the contract forbids and a key given twice are errors.
    pub fn meta<T: Serialize + ?Sized>(self, key: impl Into<String>, value: &T) -> Self {
        let key = key.into();
        if forbidden_in_meta(&key).is_some() {
            let pointer = pointer("/meta", &key);
            return self.fail(MakeError::ForbiddenKey { pointer });
        }
        match finite::to_json(value) {
            Ok(json) => self.meta_extra(key, json.text),
            Err((path, source)) => {
                let pointer = pointer("/meta", &key) + &path;
                self.fail(MakeError::Serialize { pointer, source })
            }
        }
    }

    /// Adds a member to `meta` that another message carried, as JSON text. Forbidden keys are
    /// found when the envelope is built (SPEC §1.4).
    pub fn meta_extra(mut self, key: impl Into<String>, json: impl Into<String>) -> Self {
        match extra("/meta", &CORE_META, &self.meta, key.into(), json.into()) {
            Ok(entry) => {
                self.meta.push(entry);
                self
            }
            Err(error) => self.fail(error),
        }
    }

    /// Adds a top-level member that another message carried, as JSON text, behind the core ones.
    /// Forbidden keys are found when the envelope is built (SPEC §1.4).
    pub fn extra(mut self, key: impl Into<String>, json: impl Into<String>) -> Self {
        match extra("", &CORE_TOP, &self.extras, key.into(), json.into()) {
            Ok(entry) => {
                self.extras.push(entry);
                self
            }
            Err(error) => self.fail(error),
        }
    }

    /// Writes the envelope. Its [`body`](Envelope::body) is what goes on the wire.
    ///
    /// # Errors
    /// The first thing that was wrong with the arguments, in the order in which they were given;
    /// then a blank urn; then a preserved extra that the contract forbids on the wire.
    pub fn build(mut self) -> Result<Envelope, MakeError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if trim(&self.urn).is_empty() {
            return Err(MakeError::BlankUrn);
        }
        self.refuse_forbidden()?;
        Ok(self.write())
    }

    /// Tests the extras in the order that SPEC §1.4 gives.
    fn refuse_forbidden(&self) -> Result<(), EncodeError> {
        let top = |name: &str| self.extras.iter().any(|(key, _)| key == name);
        let meta = |index: usize| {
            let keys = self
                .meta
                .iter()
                .filter_map(|(key, _)| forbidden_in_meta(key));
            keys.into_iter().any(|found| found == index)
        };
        for (index, pointer) in FORBIDDEN.into_iter().enumerate() {
            if meta(index) || (index == 0 && top("timestamp")) {
                return Err(EncodeError::Forbidden { pointer });
            }
        }
        if top("urn") {
            return Err(EncodeError::Forbidden { pointer: "/urn" });
        }
        Ok(())
    }

    fn fail(mut self, error: MakeError) -> Self {
        self.failure.get_or_insert(error);
        self
    }
}

/// Serialises an extension as [`EnvelopeBuilder::meta`] does, for an envelope that is made later.
///
/// # Errors
/// Those of the builder: a core key, a forbidden key, what serde refuses.
pub fn meta_to_json<T: Serialize + ?Sized>(key: &str, value: &T) -> Result<String, MakeError> {
    let mut builder = Envelope::builder("").meta(key, value);
    match (builder.failure.take(), builder.meta.pop()) {
        (Some(failure), _) => Err(failure),
        (None, json) => Ok(json.map(|(_, json)| json).unwrap_or_default()),
    }
}

/// An extra with its JSON text checked, unless the key cannot be taken.
fn extra(
    parent: &str,
    core: &[&str],
    taken: &[(String, String)],
    key: String,
    json: String,
) -> Result<(String, String), MakeError> {
    let pointer = || pointer(parent, &key);
    if core.contains(&key.as_str()) {
        return Err(MakeError::CoreKey { pointer: pointer() });
    }
    if taken.iter().any(|(other, _)| *other == key) {
        return Err(MakeError::RepeatedKey { pointer: pointer() });
    }
    let json = checked(json, pointer)?;
    Ok((key, json))
}

/// JSON text that every reader can hold, compact and within the characters of SQS.
fn checked(json: String, pointer: impl FnOnce() -> String) -> Result<String, MakeError> {
    let blanks = check_fragment(&json).map_err(|fault| {
        let pointer = pointer();
        match fault {
            Fault::Syntax { offset, expected } => MakeError::NotJson {
                pointer,
                offset,
                expected: expected.text(),
            },
            Fault::LoneSurrogate { offset } => MakeError::LoneSurrogate { pointer, offset },
            Fault::NotFinite { offset } => MakeError::NotFinite { pointer, offset },
        }
    })?;
    let json = if blanks { compact(&json) } else { json };
    Ok(escape_noncharacters(json))
}

/// Appends one key to an RFC 6901 pointer.
fn pointer(parent: &str, key: &str) -> String {
    format!("{parent}/{}", key.replace('~', "~0").replace('/', "~1"))
}
