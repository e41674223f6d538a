//! The verdict of SPEC §1.8 once more, in slow and plain words over serde_json's raw values, every
//! occurrence of a repeated member included.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, repeated ones included.
struct Members<'a>(Vec<(String, &'a str)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    members.push((name, value.get()));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Collect)
    }
}

/// Whether the body is an envelope that can be decoded.
pub fn is_fine(body: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(body) else {
        return false;
    };
    let Some(members) = members(text) else {
        return false;
    };
    let well_typed = members.iter().all(|(name, value)| fits(name, value));
    let identity = |name: &str| {
        let last = members.iter().rev().find(|(other, _)| other == name);
        let text = last.and_then(|(_, value)| serde_json::from_str::<String>(value).ok());
        text.is_some_and(|text| !text.bytes().all(|byte| matches!(byte, b' ' | 9..=13)))
    };
    well_typed && has_whole_pairs(text) && (identity("job") || identity("urn"))
}

fn members(text: &str) -> Option<Vec<(String, &str)>> {
    serde_json::from_str(text)
        .ok()
        .map(|Members(members)| members)
}

fn fits(path: &str, value: &str) -> bool {
    value == "null"
        || match path {
            "trace_id" | "meta.id" | "meta.queue" | "meta.lang" => value.starts_with('"'),
            "dead_letter.reason" | "dead_letter.error" | "dead_letter.exception" => {
                value.starts_with('"')
            }
            "dead_letter.original_queue" | "dead_letter.lang" => value.starts_with('"'),
            "attempts" | "meta.schema_version" | "meta.created_at" => value.parse::<i64>().is_ok(),
            "dead_letter.failed_at" | "dead_letter.attempts" => value.parse::<i64>().is_ok(),
            "data" => value.starts_with('{') && is_finite(value),
            "meta" | "dead_letter" => members(value).is_some_and(|members| {
                let mut members = members.iter();
                members.all(|(name, value)| fits(&format!("{path}.{name}"), value))
            }),
            _ => true,
        }
}

/// Whether a double holds every number in JSON text: what stands outside of its strings and is no
/// word.
fn is_finite(json: &str) -> bool {
    // Without its escapes, so that every quote is one that opens or closes.
    let json = json.replace("\\\\", "").replace("\\\"", "");
    let outside = json.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    let tokens = outside.split(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
    tokens
        .filter(|token| token.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
        .all(|token| token.parse::<f64>().is_ok_and(f64::is_finite))
}

/// Whether no escape is half of a surrogate pair.
fn has_whole_pairs(json: &str) -> bool {
    let mut units = Vec::new();
    let mut characters = json.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            units.push(u16::MIN);
        } else if characters.next() == Some('u') {
            let digits: String = characters.by_ref().take(4).collect();
            units.push(u16::from_str_radix(&digits, 16).unwrap_or_default());
        } else {
            units.push(u16::MIN);
        }
    }
    char::decode_utf16(units).all(|character| character.is_ok())
}
