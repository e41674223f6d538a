//! The contract attributes: what of an envelope is repeated beside the body, for routing and for
//! the version gate.

use std::borrow::Cow;

use super::SCHEMA_VERSION;
use super::decoded::Envelope;
use super::identity;
use super::json::Str;
use super::parts::{Parts, scan};
use super::text::Text;

/// The names of the six contract attributes, in emission order (SPEC §2.1). No rider may use them.
pub const CONTRACT_ATTRIBUTES: [&str; 6] = [
    "bq-job",
    "bq-trace-id",
    "bq-message-id",
    "bq-schema-version",
    "bq-source-lang",
    "bq-created-at",
];

/// The `DataType` of a contract attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeKind {
    /// `String`.
    String,
    /// `Number`.
    Number,
}

impl AttributeKind {
    /// The name that SQS has for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::String => "String",
            Self::Number => "Number",
        }
    }
}

/// One contract attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// One of [`CONTRACT_ATTRIBUTES`].
    pub name: &'static str,
    /// Its data type.
    pub kind: AttributeKind,
    /// Its text, never empty.
    pub value: Cow<'a, str>,
}

/// The contract attributes of one envelope, at most six, in emission order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection<'a> {
    slots: [Option<Attribute<'a>>; 6],
}

impl<'a> Projection<'a> {
    /// The attributes that are emitted, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Attribute<'a>> {
        self.slots.iter().flatten()
    }

    /// How many attributes are emitted.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether none is emitted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> IntoIterator for Projection<'a> {
    type Item = Attribute<'a>;
    type IntoIter = std::iter::Flatten<std::array::IntoIter<Option<Attribute<'a>>, 6>>;

    fn into_iter(self) -> Self::IntoIter {
        self.slots.into_iter().flatten()
    }
}

/// [`SCHEMA_VERSION`], which nearly every envelope has.
const SCHEMA_VERSION_TEXT: &str = "1";

/// The contract attributes of an envelope (SPEC §2.1). Strings that are empty and values that are
/// null or absent are not projected. Allocates only for numbers.
pub fn projection(envelope: &Envelope) -> Projection<'_> {
    let meta = envelope.meta();
    project(Sources {
        job: Some(envelope.urn().into()),
        trace_id: envelope.trace_id().map(Cow::from),
        id: meta.id().map(Cow::from),
        schema_version: meta.schema_version(),
        lang: meta.lang().map(Cow::from),
        created_at: meta.created_at(),
    })
}

/// The contract attributes of bytes that are sent as they are (SPEC §2.1). Nothing is required of
/// them: what is of the wrong type is not projected, nor what holds half of a surrogate pair, and
/// bytes that are no JSON object project nothing.
pub fn projection_of(body: &[u8]) -> Projection<'static> {
    let sources = std::str::from_utf8(body).ok().and_then(|text| {
        let parts = scan(text).ok()?;
        Some(Sources::read(&parts, text))
    });
    project(sources.unwrap_or_default())
}

#[derive(Default)]
struct Sources<'a> {
    job: Option<Cow<'a, str>>,
    trace_id: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
    schema_version: Option<i64>,
    lang: Option<Cow<'a, str>>,
    created_at: Option<i64>,
}

impl Sources<'static> {
    fn read(parts: &Parts, text: &str) -> Self {
        let string = |token: Str| {
            let value = || Cow::Owned(Text::from_token(token, text).of(text).to_owned());
            token.is_text(text).then(value)
        };
        let meta = parts.meta;
        Self {
            job: identity::fold(parts, text).token.and_then(string),
            trace_id: parts.trace_id.and_then(string),
            id: meta.and_then(|meta| meta.id).and_then(string),
            schema_version: meta.and_then(|meta| meta.schema_version),
            lang: meta.and_then(|meta| meta.lang).and_then(string),
            created_at: meta.and_then(|meta| meta.created_at),
        }
    }
}

fn project(sources: Sources<'_>) -> Projection<'_> {
    let number = |value: Option<i64>| {
        value.map(|value| match value {
            SCHEMA_VERSION => Cow::Borrowed(SCHEMA_VERSION_TEXT),
            _ => Cow::Owned(itoa::Buffer::new().format(value).to_owned()),
        })
    };
    let values = [
        sources.job,
        sources.trace_id,
        sources.id,
        number(sources.schema_version),
        sources.lang,
        number(sources.created_at),
    ];
    let mut names = CONTRACT_ATTRIBUTES.into_iter();
    let slots = values.map(|value| {
        let name = names.next()?;
        let value = value.filter(|value| !value.is_empty())?;
        let kind = match name {
            "bq-schema-version" | "bq-created-at" => AttributeKind::Number,
            _ => AttributeKind::String,
        };
        Some(Attribute { name, kind, value })
    });
    Projection { slots }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_version_has_its_text() {
        assert_eq!(SCHEMA_VERSION_TEXT, SCHEMA_VERSION.to_string());
    }
}
