//! [`Schema`]: the keywords that the subset knows, taken out of a schema's JSON once.

use std::collections::BTreeMap;

use serde_json::Value;

use super::constant::Constant;
use super::error::SchemaError;
use super::json::{Members, elements};
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
    pub(super) constant: Option<Constant>,
    pub(super) choices: Option<Vec<Constant>>,
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
        // Bounds the depth and finds what is no JSON; the text is exact where values are not.
        let value: Value = serde_json::from_str(text).map_err(SchemaError::NotJson)?;
        check_kind(&value)?;
        let root = node(text.trim_ascii()).map_err(SchemaError::NotJson)?;
        Ok(Self { root })
    }

    /// Takes a schema that has been parsed before, one of `schemars` for example. Keywords of the
    /// wrong kind are ignored like unknown ones.
    ///
    /// # Errors
    /// [`SchemaError::NotAnObject`].
    pub fn from_value(schema: &Value) -> Result<Self, SchemaError> {
        check_kind(schema)?;
        let root = node(&schema.to_string()).map_err(SchemaError::NotJson)?;
        Ok(Self { root })
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

fn check_kind(schema: &Value) -> Result<(), SchemaError> {
    match schema {
        Value::Object(_) | Value::Bool(true) => Ok(()),
        _ => Err(SchemaError::NotAnObject),
    }
}

/// Reads one level. Depth is bounded: `serde_json` parses no deeper than 128 levels.
fn node(schema: &str) -> Result<Node, serde_json::Error> {
    if !schema.starts_with('{') {
        return Ok(Node {
            never: schema == "false",
            ..Node::default()
        });
    }
    let keywords = Members::parse(schema)?;
    let of_kind = |name, first: &[char]| keywords.get(name).filter(|text| text.starts_with(first));
    let list = |name| of_kind(name, &['[']).map(elements).transpose();
    let number = |name| keywords.get(name).and_then(Number::parse);

    let mut properties = BTreeMap::new();
    if let Some(members) = of_kind("properties", &['{']) {
        let members = Members::parse(members)?;
        for (name, schema) in members.iter().filter(|(_, schema)| is_schema(schema)) {
            properties.insert(name.to_owned(), node(schema)?);
        }
    }
    let mut choices = None;
    if let Some(values) = list("enum")? {
        let values = values.into_iter().map(|value| Constant::parse(value.get()));
        choices = Some(values.collect::<Result<_, _>>()?);
    }
    let items = keywords.get("items").filter(|schema| is_schema(schema));
    let kind_name = of_kind("type", &['"']).map(serde_json::from_str::<String>);
    Ok(Node {
        never: false,
        constant: keywords.get("const").map(Constant::parse).transpose()?,
        choices,
        kind: kind_name.transpose()?.and_then(|name| kind(&name)),
        required: list("required")?
            .into_iter()
            .flatten()
            .filter_map(|name| serde_json::from_str(name.get()).ok())
            .collect(),
        properties,
        closed: keywords.get("additionalProperties") == Some("false"),
        items: items.map(node).transpose()?.map(Box::new),
        min_length: number("minLength").and_then(|least| least.at_least()),
        minimum: number("minimum"),
    })
}

fn is_schema(schema: &str) -> bool {
    schema.starts_with(['{', 't', 'f'])
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
