//! The tags of a queue and what SQS refuses of them.

use std::collections::BTreeMap;

use super::Engine;
use super::error::{ApiResult, Kind, invalid_value};
use super::queue::Queue;
use crate::local::clock::At;

/// The most tags of a queue.
const MAX_TAGS: usize = 50;
/// The longest key and the longest value, in characters.
const MAX_KEY: usize = 128;
const MAX_VALUE: usize = 256;

impl Engine {
    pub(crate) fn tag(
        &mut self,
        name: &str,
        tags: BTreeMap<String, String>,
        now: At,
    ) -> ApiResult<()> {
        add(self.queue(name, now)?, tags)
    }

    pub(crate) fn untag(&mut self, name: &str, keys: &[String], now: At) -> ApiResult<()> {
        let queue = self.queue(name, now)?;
        keys.iter().try_for_each(|key| check_key(key))?;
        for key in keys {
            queue.tags.remove(key);
        }
        Ok(())
    }
}

/// Adds tags to a queue, all of them or none.
pub(crate) fn add(queue: &mut Queue, tags: BTreeMap<String, String>) -> ApiResult<()> {
    for (key, value) in &tags {
        check_key(key)?;
        check("Tag.Value", value, 0, MAX_VALUE)?;
    }
    let new = tags.keys().filter(|key| !queue.tags.contains_key(*key));
    if queue.tags.len() + new.count() > MAX_TAGS {
        return Err(
            Kind::InvalidParameterValue.error(format!("A queue can have at most {MAX_TAGS} tags."))
        );
    }
    queue.tags.extend(tags);
    Ok(())
}

fn check_key(key: &str) -> ApiResult<()> {
    check("Tag.Key", key, 1, MAX_KEY)
}

fn check(parameter: &str, text: &str, min: usize, max: usize) -> ApiResult<()> {
    let reason = if !(min..=max).contains(&text.chars().count()) {
        format!("It must have {min} to {max} characters.")
    } else if !text.chars().all(may_stand_in_a_tag) {
        "It can only include letters, digits, spaces and _ . : / = + - @".to_owned()
    } else if text
        .get(..4)
        .is_some_and(|it| it.eq_ignore_ascii_case("aws:"))
    {
        "The prefix aws: is reserved.".to_owned()
    } else {
        return Ok(());
    };
    Err(invalid_value(parameter, text, reason))
}

fn may_stand_in_a_tag(c: char) -> bool {
    c.is_alphanumeric()
        || (c.is_whitespace() && !c.is_control())
        || matches!(c, '_' | '.' | ':' | '/' | '=' | '+' | '-' | '@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_judged_by_length_characters_and_prefix() {
        let (longest, too_long) = ("é".repeat(128), "é".repeat(129));
        for good in [
            "a",
            "Kosten stelle",
            "日本",
            "a_.:/=+-@9",
            "awsx",
            "x:aws:",
            &longest,
        ] {
            assert!(check_key(good).is_ok(), "{good}");
        }
        for bad in [
            "", "aws:x", "AWS:x", "aWs:", "a#b", "a\tb", "a\0", "a*", "a,b", "(a)", "😀", &too_long,
        ] {
            assert!(check_key(bad).is_err(), "{bad}");
        }
        assert!(check("Tag.Value", "", 0, MAX_VALUE).is_ok());
        assert!(check("Tag.Value", &"v".repeat(256), 0, MAX_VALUE).is_ok());
        assert!(check("Tag.Value", &"v".repeat(257), 0, MAX_VALUE).is_err());
    }
}
