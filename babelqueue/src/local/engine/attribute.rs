//! Message attributes and message system attributes: their values, what SQS
//! refuses of them, their size and their MD5.

use std::collections::BTreeMap;

use md5::{Digest, Md5};

use super::error::{ApiError, ApiResult, Kind};
use super::{limits, trace};

/// One attribute of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    /// `String`, `Number` or `Binary`, with or without a label (`Number.int`).
    pub(crate) data_type: String,
    pub(crate) value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Binary(Vec<u8>),
}

impl Value {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Binary(bytes) => bytes,
        }
    }
}

pub(crate) type AttributeMap = BTreeMap<String, Attribute>;

/// An attribute as a request states it, before anything is known to be right about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawAttribute {
    pub(crate) data_type: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) binary: Option<Vec<u8>>,
    pub(crate) has_lists: bool,
}

/// Checks the attributes of a message by the documented rules.
pub(crate) fn check(raw: BTreeMap<String, RawAttribute>) -> ApiResult<AttributeMap> {
    if raw.len() > limits::MAX_ATTRIBUTES {
        return Err(Kind::InvalidParameterValue.error(format!(
            "Number of message attributes [{}] exceeds the allowed maximum [{}].",
            raw.len(),
            limits::MAX_ATTRIBUTES
        )));
    }
    raw.into_iter()
        .map(|(name, raw)| {
            limits::check_attribute_name(&name)?;
            let attribute = check_one(&name, raw)?;
            Ok((name, attribute))
        })
        .collect()
}

/// Checks the system attributes: the trace header is the only one that can be sent.
pub(crate) fn check_system(raw: BTreeMap<String, RawAttribute>) -> ApiResult<AttributeMap> {
    raw.into_iter()
        .map(|(name, raw)| {
            if name != trace::NAME {
                return Err(bad(
                    &name,
                    "is not a message system attribute that can be sent.",
                ));
            }
            let attribute = check_one(&name, raw)?;
            if attribute.data_type != "String" {
                return Err(bad(&name, "must have the type String."));
            }
            if !matches!(&attribute.value, Value::Text(text) if trace::is_header(text)) {
                return Err(bad(
                    &name,
                    "must be an X-Ray trace header, such as \
                     Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1.",
                ));
            }
            Ok((name, attribute))
        })
        .collect()
}

fn check_one(name: &str, raw: RawAttribute) -> ApiResult<Attribute> {
    if raw.has_lists {
        return Err(Kind::UnsupportedOperation.error(format!(
            "Message attribute '{name}' has a list of values, which SQS has reserved for later."
        )));
    }
    let data_type = raw
        .data_type
        .filter(|data_type| !data_type.is_empty())
        .ok_or_else(|| bad(name, "must contain a non-empty message attribute type."))?;
    if data_type.len() > 256 {
        return Err(bad(name, "has a type longer than 256 bytes."));
    }
    if let Some(c) = limits::forbidden_char(&data_type) {
        return Err(bad_char(name, c));
    }
    let (kind, label) = data_type.split_once('.').unwrap_or((&data_type, "label"));
    if label.is_empty() {
        return Err(bad(name, "has a type with an empty label."));
    }
    let empty = || bad(name, "must contain a non-empty value of its type.");
    let value = match kind {
        "String" | "Number" => {
            if raw.binary.is_some() {
                return Err(bad(
                    name,
                    "has a binary value, which its type does not allow.",
                ));
            }
            let text = raw.text.filter(|text| !text.is_empty()).ok_or_else(empty)?;
            if let Some(c) = limits::forbidden_char(&text) {
                return Err(bad_char(name, c));
            }
            if kind == "Number" && !limits::is_number(&text) {
                return Err(bad(name, "has a value that is not a number SQS can take."));
            }
            Value::Text(text)
        }
        "Binary" => {
            if raw.text.is_some() {
                return Err(bad(
                    name,
                    "has a string value, which its type does not allow.",
                ));
            }
            Value::Binary(
                raw.binary
                    .filter(|bytes| !bytes.is_empty())
                    .ok_or_else(empty)?,
            )
        }
        _ => {
            return Err(bad(
                name,
                "has an invalid type, the set of supported type prefixes is Binary, Number, and String.",
            ));
        }
    };
    Ok(Attribute { data_type, value })
}

fn bad(name: &str, reason: &str) -> ApiError {
    Kind::InvalidParameterValue.error(format!("The message attribute '{name}' {reason}"))
}

fn bad_char(name: &str, c: char) -> ApiError {
    Kind::InvalidParameterValue.error(format!(
        "Invalid binary character '#x{:X}' was found in the message attribute '{name}'.",
        c as u32
    ))
}

/// The MD5 over attributes in the order of their names, as every AWS SDK computes it.
pub(crate) fn md5<'a>(attributes: impl Iterator<Item = (&'a String, &'a Attribute)>) -> [u8; 16] {
    let mut hash = Md5::new();
    for (name, attribute) in attributes {
        framed(&mut hash, name.as_bytes());
        framed(&mut hash, attribute.data_type.as_bytes());
        hash.update(match attribute.value {
            Value::Text(_) => [1],
            Value::Binary(_) => [2],
        });
        framed(&mut hash, attribute.value.bytes());
    }
    hash.finalize().into()
}

fn framed(hash: &mut Md5, bytes: &[u8]) {
    // A message is at most 1 MiB, so that its length always fits.
    hash.update(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    hash.update(bytes);
}

pub(crate) fn md5_of(text: &str) -> [u8; 16] {
    Md5::digest(text.as_bytes()).into()
}
