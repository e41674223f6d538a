//! A payload as the JSON text that stands under `data`.

use std::fmt;
use std::ops::Deref;

use serde::Serialize;

use super::{checked, finite};
use crate::envelope::error::MakeError;
use crate::envelope::json::{escape_noncharacters, kind_name};

/// The text of `data`, known to be good: an object without blanks between its tokens, which every
/// reader can hold and SQS takes. It is checked when it is made and cannot be changed afterwards,
/// so that an envelope can be written around it as it is.
#[derive(Clone, PartialEq, Eq)]
pub struct DataJson(String);

impl DataJson {
    /// Serialises a payload. It must become a JSON object; a unit struct or `()` becomes `{}`.
    ///
    /// # Errors
    /// [`MakeError`] for anything else, for NaN, infinity and numbers beyond a double, which are
    /// named by their field and never become null (SPEC §1.3), and for what serde refuses.
    pub fn of<T: Serialize + ?Sized>(payload: &T) -> Result<Self, MakeError> {
        match finite::to_json(payload) {
            // serde writes units as null; null itself is no payload.
            Ok(json) if json.text == "null" && size_of_val(payload) == 0 => Ok(Self::default()),
            Ok(json) if json.unread => Self::from_text(json.text),
            Ok(json) => Self::object(escape_noncharacters(json.text)),
            Err((path, source)) => Err(MakeError::Serialize {
                pointer: format!("/data{path}"),
                source,
            }),
        }
    }

    /// Takes JSON text. Whitespace between its tokens is removed, the spelling of numbers and
    /// strings is kept.
    ///
    /// # Errors
    /// [`MakeError`] when it is no JSON, or no object, or holds what not every reader can
    /// (SPEC §1.3).
    pub fn from_text(json: impl Into<String>) -> Result<Self, MakeError> {
        Self::object(checked(json.into(), || "/data".to_owned())?)
    }

    fn object(json: String) -> Result<Self, MakeError> {
        if json.starts_with('{') {
            return Ok(Self(json));
        }
        Err(MakeError::DataNotObject {
            found: kind_name(&json),
        })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, moved out.
    pub fn into_string(self) -> String {
        self.0
    }
}

/// `{}`.
impl Default for DataJson {
    fn default() -> Self {
        Self("{}".to_owned())
    }
}

impl Deref for DataJson {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for DataJson {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for DataJson {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Debug for DataJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for DataJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
