//! What SQS refuses, found before the network (SPEC §2.2 to §2.5). Pure.

use std::time::Duration;

use crate::envelope::{self, CONTRACT_ATTRIBUTES};
use crate::fields;
use crate::message::PublishError;
use crate::pipeline::{
    Attribute, MAX_ATTRIBUTES, check_header_name, is_library_header, refused_character,
    size_of_message,
};

/// `DelaySeconds`, or none for no delay (SPEC §2.4).
pub(super) fn delay_seconds(
    queue: &str,
    fifo: bool,
    delay: Option<Duration>,
) -> Result<Option<i32>, PublishError> {
    let Some(delay) = delay.filter(|delay| !delay.is_zero()) else {
        return Ok(None);
    };
    let refuse = |reason| PublishError::Delay {
        queue: queue.to_owned(),
        seconds: delay.as_secs_f64(),
        reason,
    };
    if fifo {
        return Err(refuse("a FIFO queue takes no delay of a single message"));
    }
    if delay > Duration::from_secs(900) {
        return Err(refuse("SQS takes up to 900 s"));
    }
    let seconds = delay.as_secs() + u64::from(delay.subsec_nanos() > 0);
    Ok(i32::try_from(seconds).ok())
}

/// Checks a `MessageGroupId` or `MessageDeduplicationId`.
pub(super) fn check_id(what: &'static str, value: &str) -> Result<(), PublishError> {
    let reason = if value.is_empty() {
        "it is empty"
    } else if value.len() > 128 {
        "it has more than 128 characters"
    } else if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
        "it may hold letters, digits and punctuation of ASCII, no blanks"
    } else {
        return Ok(());
    };
    Err(PublishError::Id {
        what,
        value: value.to_owned(),
        reason,
    })
}

/// Whether SQS takes the value as an id.
pub(super) fn is_legal_id(value: &str) -> bool {
    check_id("", value).is_ok()
}

/// Checks the contract's attributes: a value that SQS refuses is an error. Gives what SQS counts of
/// them, in bytes.
pub(super) fn check_contract<'a>(
    projected: impl IntoIterator<Item = &'a envelope::Attribute<'a>>,
) -> Result<usize, PublishError> {
    let mut size = 0;
    for attribute in projected {
        if let Some((position, character)) = refused_character(&attribute.value) {
            return Err(PublishError::Character {
                field: attribute.name,
                character,
                position,
            });
        }
        let kind = attribute.kind.as_str();
        size += attribute.name.len() + kind.len() + attribute.value.len();
    }
    Ok(size)
}

/// The caller's headers in the order of their names: empty ones skipped, contract names never
/// taken, the last of a repeated name kept, and each one checked (SPEC §2.2).
fn checked_headers(
    mut headers: Vec<(String, String)>,
) -> Result<Vec<(String, String)>, PublishError> {
    headers.retain(|(name, value)| {
        !name.is_empty() && !value.is_empty() && !CONTRACT_ATTRIBUTES.contains(&name.as_str())
    });
    for (name, value) in &headers {
        let refuse = |reason: String| PublishError::Header {
            name: name.clone(),
            reason,
        };
        check_header_name(name).map_err(|reason| refuse(reason.to_owned()))?;
        if let Some((position, character)) = refused_character(value) {
            return Err(refuse(format!(
                "its value holds {character:?} at byte {position}, which SQS refuses"
            )));
        }
    }
    // Stable, and reversed first: so the last one given comes first among equals and stays.
    headers.reverse();
    headers.sort_by(|a, b| a.0.cmp(&b.0));
    headers.dedup_by(|later, first| later.0 == first.0);
    Ok(headers)
}

/// Adds the headers to the contract's attributes.
pub(super) fn add_headers(
    attributes: &mut Vec<Attribute>,
    headers: Vec<(String, String)>,
) -> Result<(), PublishError> {
    let headers = checked_headers(headers)?;
    let (library, own): (Vec<_>, Vec<_>) = headers
        .into_iter()
        .partition(|(name, _)| is_library_header(name));
    let contract = attributes.len();
    if contract + own.len() > MAX_ATTRIBUTES {
        let names = own.into_iter().map(|(name, _)| name).collect();
        return Err(PublishError::TooManyHeaders { contract, names });
    }
    let attribute = |(name, value): (String, String)| Attribute::text(name, "String", value);
    attributes.extend(own.into_iter().map(attribute));
    for header in library {
        if attributes.len() < MAX_ATTRIBUTES {
            attributes.push(attribute(header));
        } else {
            gives_way(&header.0);
        }
    }
    Ok(())
}

/// Takes the trace off a message that is too large with it and not without it: its trace id stays
/// in the envelope.
pub(super) fn shed_trace(body: &str, attributes: &mut Vec<Attribute>, allowed: usize) {
    if size_of_message(body, attributes) <= allowed {
        return;
    }
    let is_trace = |attribute: &Attribute| matches!(&*attribute.name, "traceparent" | "tracestate");
    let (trace, others): (Vec<_>, Vec<_>) = attributes.drain(..).partition(is_trace);
    *attributes = others;
    if size_of_message(body, attributes) > allowed {
        attributes.extend(trace);
        return;
    }
    trace.iter().for_each(|header| gives_way(&header.name));
}

fn gives_way(header: &str) {
    tracing::debug!(
        { fields::HEADER } = header,
        "no place left for this header of the library"
    );
}

/// Adds the attribute that goes with a pointer, in place of one of its name. The library's headers
/// stand last and give way; the caller's own do not.
#[cfg(feature = "payload-store")]
pub(super) fn add_size_attribute(
    attributes: &mut Vec<Attribute>,
    size: Attribute,
) -> Result<(), PublishError> {
    attributes.retain(|other| other.name != size.name);
    if attributes.len() >= MAX_ATTRIBUTES {
        match attributes.pop_if(|last| is_library_header(&last.name)) {
            Some(header) => gives_way(&header.name),
            None => {
                let is_contract = |name: &str| CONTRACT_ATTRIBUTES.contains(&name);
                let names = attributes
                    .iter()
                    .map(|attribute| attribute.name.to_string());
                let (contract, names): (Vec<_>, Vec<_>) = names.partition(|name| is_contract(name));
                return Err(PublishError::TooManyHeaders {
                    contract: contract.len() + 1,
                    names,
                });
            }
        }
    }
    attributes.push(size);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(seconds: f64) -> Option<Duration> {
        Some(Duration::from_secs_f64(seconds))
    }

    #[test]
    fn c_008_a_delay_on_a_fifo_publish() {
        let delay = |fifo, delay| delay_seconds("q", fifo, delay).ok();
        assert_eq!(delay(false, None), Some(None));
        assert_eq!(delay(false, secs(0.0)), Some(None));
        assert_eq!(delay(false, secs(0.2)), Some(Some(1)));
        assert_eq!(delay(false, secs(1.0)), Some(Some(1)));
        assert_eq!(delay(false, secs(900.0)), Some(Some(900)));
        assert_eq!(delay(false, secs(900.2)), None);
        assert_eq!(delay(true, secs(0.0)), Some(None));
        assert_eq!(delay(true, None), Some(None));
        assert_eq!(delay(true, secs(3.0)), None);
    }

    fn headers(names: &[&str]) -> Vec<(String, String)> {
        names
            .iter()
            .map(|name| ((*name).to_owned(), "v".to_owned()))
            .collect()
    }

    #[test]
    fn headers_are_sorted_and_the_last_of_a_name_stays() {
        let mut attributes = Vec::new();
        let mut given = headers(&["b", "a", "", "bq-job"]);
        given.push(("b".to_owned(), "second".to_owned()));
        given.push(("empty".to_owned(), String::new()));
        add_headers(&mut attributes, given).expect("they fit");
        let pairs: Vec<_> = attributes
            .iter()
            .map(|a| (&*a.name, a.as_text().unwrap_or("")))
            .collect();
        assert_eq!(pairs, [("a", "v"), ("b", "second")]);
    }

    #[test]
    fn the_callers_headers_come_first_and_are_never_lost() {
        let six = || {
            (0..6)
                .map(|i| Attribute::text(format!("c{i}"), "String", "v"))
                .collect()
        };
        let mut attributes: Vec<Attribute> = six();
        let names = ["traceparent", "tracestate", "w", "x", "y"];
        add_headers(&mut attributes, headers(&names)).expect("the library's own give way");
        let added: Vec<_> = attributes[6..].iter().map(|a| &*a.name).collect();
        assert_eq!(added, ["w", "x", "y", "traceparent"]);

        let mut attributes: Vec<Attribute> = six();
        let error = add_headers(&mut attributes, headers(&["e", "a", "b", "c", "d"]))
            .expect_err("five do not fit");
        let PublishError::TooManyHeaders { contract: 6, names } = error else {
            panic!("{error}")
        };
        assert_eq!(names, ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn c_075_a_bad_header_is_named() {
        for bad in ["bad:key", "two words", ".dot", "AWS.mine", &"n".repeat(300)] {
            let error = add_headers(&mut Vec::new(), headers(&[bad])).expect_err(bad);
            assert!(error.to_string().contains(bad), "{error}");
        }
        let given = vec![("ok".to_owned(), "a\u{ffff}".to_owned())];
        let error = add_headers(&mut Vec::new(), given).expect_err("a refused character");
        assert!(error.to_string().contains("at byte 1"), "{error}");
    }

    #[test]
    fn ids_are_one_to_128_printable_characters() {
        for good in ["a", "g-1!~", &"x".repeat(128)] {
            assert!(is_legal_id(good), "{good}");
        }
        for bad in ["", " ", "a b", "ä", "a\n", &"x".repeat(129)] {
            assert!(!is_legal_id(bad), "{bad}");
        }
    }
}
