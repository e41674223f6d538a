//! The limits that SQS documents for what a client sends: characters, names,
//! numbers and ranges. Sizes are in bytes of UTF-8.

use super::error::{ApiError, ApiResult, Kind, invalid_value};

/// The largest message, and the largest batch, in bytes.
pub(crate) const MAX_BYTES: usize = 1_048_576;
/// The most entries in a batch and the most messages in a receive.
pub(crate) const MAX_BATCH: usize = 10;
/// The longest visibility timeout, counted from the receive, in seconds.
pub(crate) const MAX_VISIBILITY: u32 = 43_200;
/// The longest delay, in seconds.
pub(crate) const MAX_DELAY: u32 = 900;
/// The longest wait of a receive, in seconds.
pub(crate) const MAX_WAIT: u32 = 20;
/// The most messages of one queue that may be in flight.
pub(crate) const MAX_IN_FLIGHT: usize = 120_000;
/// The most message attributes.
pub(crate) const MAX_ATTRIBUTES: usize = 10;
/// The longest name of a message attribute, in bytes.
pub(crate) const MAX_NAME: usize = 256;

/// The first character that a message must not hold.
pub(crate) fn forbidden_char(text: &str) -> Option<char> {
    text.chars().find(|&c| {
        !matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
    })
}

/// Checks a message's body: not empty, and only characters that SQS takes.
pub(crate) fn check_body(body: &str) -> ApiResult<()> {
    if body.is_empty() {
        return Err(super::error::missing("MessageBody"));
    }
    match forbidden_char(body) {
        None => Ok(()),
        Some(c) => Err(Kind::InvalidMessageContents.error(format!(
            "Invalid binary character '#x{:X}' was found in the message body, the set of allowed \
             characters is #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF",
            c as u32
        ))),
    }
}

/// Checks an integer parameter against its range.
pub(crate) fn in_range(parameter: &str, value: i64, low: u32, high: u32) -> ApiResult<u32> {
    u32::try_from(value)
        .ok()
        .filter(|value| (low..=high).contains(value))
        .ok_or_else(|| {
            invalid_value(
                parameter,
                value,
                format_args!("Must be between {low} and {high}, if provided."),
            )
        })
}

/// A whole number in decimal digits and nothing else: no sign, no blank, no leading zero.
pub(crate) fn decimal(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (digits && (text == "0" || !text.starts_with('0')))
        .then(|| text.parse().ok())
        .flatten()
}

/// Whether this is the ARN of a queue, be it there or not.
pub(crate) fn is_queue_arn(arn: &str) -> bool {
    let parts: Vec<_> = arn.split(':').collect();
    let &["arn", partition, "sqs", region, account, name] = parts.as_slice() else {
        return false;
    };
    let word = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    word(partition) && word(region) && word(account) && check_queue_name(name).is_ok()
}

/// Group ids, deduplication ids and attempt ids: 1 to 128 letters, digits and punctuation of ASCII.
pub(crate) fn check_token(parameter: &str, token: &str) -> ApiResult<()> {
    if (1..=128).contains(&token.len()) && token.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(());
    }
    Err(invalid_value(
        parameter,
        token,
        format_args!(
            "{parameter} can only include alphanumeric and punctuation characters. 1 to 128 in length."
        ),
    ))
}

/// Queue names: 1 to 80 letters, digits, hyphens and underscores, and `.fifo` on FIFO queues.
pub(crate) fn check_queue_name(name: &str) -> ApiResult<()> {
    let stem = name.strip_suffix(".fifo").unwrap_or(name);
    let fits = (1..=80).contains(&name.len()) && !stem.is_empty();
    if fits
        && stem
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    {
        return Ok(());
    }
    Err(Kind::InvalidParameterValue.error(
        "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length",
    ))
}

/// Ids of batch entries: 1 to 80 letters, digits, hyphens and underscores.
pub(crate) fn check_entry_id(id: &str) -> ApiResult<()> {
    let fits = (1..=80).contains(&id.len());
    if fits
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    {
        return Ok(());
    }
    Err(Kind::InvalidBatchEntryId.error(
        "A batch entry id can only contain alphanumeric characters, hyphens and underscores. \
         It can be at most 80 letters long.",
    ))
}

pub(crate) fn too_large(limit: usize) -> ApiError {
    Kind::InvalidParameterValue.error(format!(
        "One or more parameters are invalid. Reason: Message must be shorter than {limit} bytes."
    ))
}

/// The name of a message attribute.
pub(crate) fn check_attribute_name(name: &str) -> ApiResult<()> {
    let lower = name.to_ascii_lowercase();
    let reason = if name.is_empty() || name.len() > MAX_NAME {
        "Its length must be between 1 and 256."
    } else if !has_name_characters(name) {
        "It can only include letters, digits, hyphens, underscores and periods."
    } else if name.starts_with('.') || name.ends_with('.') || name.contains("..") {
        "It must not start or end with a period or have periods in succession."
    } else if lower.starts_with("aws.") || lower.starts_with("amazon.") {
        "It must not start with AWS-reserved prefixes such as AWS. or Amazon."
    } else {
        return Ok(());
    };
    Err(Kind::InvalidParameterValue.error(format!(
        "The message attribute name '{name}' is invalid. {reason}"
    )))
}

/// Whether all characters may stand in the name of a message attribute.
pub(crate) fn has_name_characters(name: &str) -> bool {
    name.bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// Whether `text` is a number that SQS takes: up to 38 digits, between 10^-128 and 10^126.
pub(crate) fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => match exponent.parse::<i32>() {
            Ok(exponent) => (mantissa, exponent),
            Err(_) => return false,
        },
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if digits().count() == 0 || !digits().all(|b| b.is_ascii_digit()) {
        return false;
    }
    let Some(first) = digits().position(|b| b != b'0') else {
        return true; // zero
    };
    let last = digits().count() - digits().rev().position(|b| b != b'0').unwrap_or(0);
    // The power of ten of the first digit that counts.
    let (Ok(whole), Ok(first_place)) = (i32::try_from(whole.len()), i32::try_from(first)) else {
        return false;
    };
    let magnitude = i64::from(whole) - 1 - i64::from(first_place) + i64::from(exponent);
    last - first <= 38 && (-128..=126).contains(&magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_that_sqs_takes() {
        for good in ["0", "1", "-1.5", "007", "1e10", "1E-128", "+3", ".5", "5."] {
            assert!(is_number(good), "{good}");
        }
        let long = "1".repeat(39);
        for bad in [
            "", "-", ".", "abc", "1x", "NaN", "1e127", "1e-129", "1e", &long, " 1",
        ] {
            assert!(!is_number(bad), "{bad}");
        }
    }

    #[test]
    fn decimals_are_digits_alone() {
        for (text, number) in [("0", 0), ("5", 5), ("1048576", 1_048_576)] {
            assert_eq!(decimal(text), Some(number));
        }
        for bad in [
            "",
            "+5",
            "-5",
            "-0",
            " 5",
            "5 ",
            "05",
            "00",
            "5.0",
            "5e1",
            "0x5",
            "5_0",
            "٥",
            "4294967296",
        ] {
            assert_eq!(decimal(bad), None, "{bad}");
        }
    }

    #[test]
    fn arns_of_queues() {
        for good in [
            "arn:aws:sqs:us-east-1:000000000000:q",
            "arn:aws-cn:sqs:cn-north-1:123456789012:q.fifo",
        ] {
            assert!(is_queue_arn(good), "{good}");
        }
        for bad in [
            "",
            "q",
            "arn:aws:sns:us-east-1:000000000000:q",
            "arn:aws:sqs:us-east-1:q",
            "arn:aws:sqs:us-east-1::q",
            "arn:aws:sqs::000000000000:q",
            "arn:aws:sqs:us-east-1:000000000000:",
            "arn:aws:sqs:us-east-1:000000000000:a b",
            "arn:aws:sqs:us-east-1:000000000000:*",
            "arn:aws:sqs:us-east-1:000000000000:q:x",
            "http://sqs.local/000000000000/q",
        ] {
            assert!(!is_queue_arn(bad), "{bad}");
        }
    }

    #[test]
    fn forbidden_characters_are_found() {
        assert_eq!(forbidden_char("a\t\r\n é😀\u{FFFD}"), None);
        for c in ['\0', '\u{1}', '\u{B}', '\u{1F}', '\u{FFFE}', '\u{FFFF}'] {
            assert_eq!(forbidden_char(&format!("a{c}b")), Some(c));
        }
    }

    #[test]
    fn names_of_attributes() {
        for good in ["a", "a.b", "a-b_c.9", "aws"] {
            assert!(check_attribute_name(good).is_ok(), "{good}");
        }
        for bad in [
            "", ".a", "a.", "a..b", "sp ace", "AWS.x", "aws.x", "Amazon.y", "é",
        ] {
            assert!(check_attribute_name(bad).is_err(), "{bad}");
        }
    }
}
