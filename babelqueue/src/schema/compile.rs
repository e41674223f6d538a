//! [`Schema`]: the keywords that the subset knows, taken out of a schema's JSON once.

use std::collections::BTreeMap;

use serde_json::Value;

use super::error::SchemaError;
use super::number::Number;
use super::violation::Violation;
use super::walk::Walk;
use crate::message::BabelMessage;

/// A schema, ready to validate with (SPEC §3.6).
///
/// ```
/// use babelqueue::schema::Schema;
///
/// let schema = Schema::from_json(r#"{"type":"object","properties":{"n":{"minimum":1}}}"#)?;
/// assert_eq!(schema.check(r#"{"n":1.5}"#)?, None);
/// let violation = schema.check(r#"{"n":0}"#)?.unwrap();
/// assert_eq!(violation.to_string(), "n: below_minimum");
/// # Ok::<(), babelqueue::schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    root: Node,
}

/// One level of a schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    /// `false` as a schema: nothing fits.
    pub(super) never: bool,
    pub(super) constant: Option<Value>,
    pub(super) choices: Option<Vec<Value>>,
    pub(super) kind: Option<Kind>,
    pub(super) required: Vec<String>,
    pub(super) properties: BTreeMap<String, Node>,
    pub(super) closed: bool,
    pub(super) items: Option<Box<Node>>,
    pub(super) min_length: Option<u64>,
    pub(super) minimum: Option<Number>,
}

/// The values of `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    Null,
}

impl Schema {
    /// Reads a schema from JSON text.
    ///
    /// # Errors
    /// [`SchemaError::NotJson`], [`SchemaError::NotAnObject`].
    pub fn from_json(text: &str) -> Result<Self, SchemaError> {
        let value: Value = serde_json::from_str(text).map_err(SchemaError::NotJson)?;
        Self::from_value(&value)
    }

    /// Takes a schema that has been parsed before, one of `schemars` for example. Keywords of the
    /// wrong kind are ignored like unknown ones.
    ///
    /// # Errors
    /// [`SchemaError::NotAnObject`].
    pub fn from_value(schema: &Value) -> Result<Self, SchemaError> {
        if !matches!(schema, Value::Object(_) | Value::Bool(true)) {
            return Err(SchemaError::NotAnObject);
        }
        Ok(Self { root: node(schema) })
    }

    /// The schema of a message type, when it has one; see [`BabelMessage::schema`]. Parts that
    /// `schemars` moves into `$defs` are not followed.
    pub fn of<T: BabelMessage>() -> Option<Self> {
        T::schema().and_then(|schema| Self::from_value(&schema).ok())
    }

    /// The first violation in the payload's own order of members; `None` when it fits.
    ///
    /// # Errors
    /// [`SchemaError::Payload`] when `data` is not JSON text.
    pub fn check(&self, data: &str) -> Result<Option<Violation>, SchemaError> {
        let mut walk = Walk::to_the_first();
        walk.start(&self.root, data)?;
        Ok(walk.found.pop())
    }

    /// All violations, sorted by their text.
    ///
    /// # Errors
    /// [`SchemaError::Payload`] when `data` is not JSON text.
    pub fn check_all(&self, data: &str) -> Result<Vec<Violation>, SchemaError> {
        let mut walk = Walk::to_the_end();
        walk.start(&self.root, data)?;
        walk.found.sort_by_key(ToString::to_string);
        walk.found.dedup();
        Ok(walk.found)
    }
}

/// Depth is bounded: `serde_json` parses no deeper than 128 levels.
fn node(schema: &Value) -> Node {
    let Value::Object(keywords) = schema else {
        return Node {
            never: *schema == Value::Bool(false),
            ..Node::default()
        };
    };
    let is_schema = |value: &&Value| matches!(value, Value::Object(_) | Value::Bool(_));
    let texts = |value: &Value| {
        let list = value.as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    Node {
        never: false,
        constant: keywords.get("const").cloned(),
        choices: keywords.get("enum").and_then(Value::as_array).cloned(),
        kind: keywords.get("type").and_then(Value::as_str).and_then(kind),
        required: keywords.get("required").map(texts).unwrap_or_default(),
        properties: keywords
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter(|(_, schema)| is_schema(schema))
            .map(|(name, schema)| (name.clone(), node(schema)))
            .collect(),
        closed: keywords.get("additionalProperties") == Some(&Value::Bool(false)),
        items: keywords
            .get("items")
            .filter(is_schema)
            .map(|items| Box::new(node(items))),
        min_length: number(keywords.get("minLength")).and_then(Number::at_least),
        minimum: number(keywords.get("minimum")),
    }
}

fn number(value: Option<&Value>) -> Option<Number> {
    // By its text, which is exact whatever serde_json was built with.
    match value? {
        Value::Number(number) => Number::parse(&number.to_string()),
        _ => None,
    }
}

fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "object" => Kind::Object,
        "array" => Kind::Array,
        "string" => Kind::String,
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "boolean" => Kind::Boolean,
        "null" => Kind::Null,
        _ => return None,
    })
}
