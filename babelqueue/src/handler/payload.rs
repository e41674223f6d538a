//! From the envelope's `data` to the handler's first argument.

use serde::Deserialize;

use super::error::{ErrorKind, HandlerError, Verdict};
use super::json_path::json_path;
use crate::context::Delivery;
use crate::envelope::Envelope;
use crate::message::BabelMessage;

/// What may be the first argument of a handler: every [`BabelMessage`] that deserialises. It may
/// borrow from the body (`#[serde(borrow)] carrier: Cow<'a, str>`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the payload of a handler",
    label = "the first argument of a handler is its payload",
    note = "derive both `BabelMessage` (with `#[urn = \"urn:…:…\"]`) and `serde::Deserialize` on \
            `{Self}`; a handler of many messages, of a `Batch<T>`, is `#[babel_handler(batch)]`"
)]
pub trait Payload<'de>: BabelMessage + Deserialize<'de> {}

#[diagnostic::do_not_recommend]
impl<'de, T: BabelMessage + Deserialize<'de>> Payload<'de> for T {}

/// `data` did not deserialise into the payload (SPEC §2.12): a permanent failure, unless the
/// consumer is told to retry it.
#[derive(Debug, thiserror::Error)]
#[error("`{path}` of {urn} does not deserialise: {reason}")]
pub struct PayloadError {
    urn: String,
    path: String,
    reason: String,
}

impl PayloadError {
    fn new(urn: &str, data: &str, error: &serde_json::Error) -> Self {
        let text = error.to_string();
        // The position says nothing to who sees the URN and the path.
        let reason = text
            .rsplit_once(" at line ")
            .map_or(text.as_str(), |(reason, _)| reason);
        Self {
            urn: urn.to_owned(),
            path: json_path("data", data, error.line(), error.column()),
            reason: without_value(reason),
        }
    }

    /// The URN of the message.
    pub fn urn(&self) -> &str {
        &self.urn
    }

    /// Where in the envelope the fault lies, such as `data.items[2].price`.
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// The words of serde without the value that they quote: it is a part of the body, and errors are
/// logged. What a type of the application's says by itself is left to it.
fn without_value(reason: &str) -> String {
    let quoting = [
        "invalid type: ",
        "invalid value: ",
        "unknown variant ",
        "unknown field ",
    ];
    let found = quoting.iter().find_map(|start| {
        let rest = reason.strip_prefix(start)?;
        let value = rest.find(['"', '`'])?;
        let ends = [", expected ", ", there are no "];
        if ends.iter().any(|end| rest[..value].contains(end)) {
            return None;
        }
        // The last of them: the value may say such a thing, too.
        let end = ends.iter().filter_map(|end| rest.rfind(end)).max();
        let kind = [start, &rest[..value]].concat();
        Some([kind.trim_end(), end.map_or("", |end| &rest[end..])].concat())
    });
    found.unwrap_or_else(|| reason.to_owned())
}

/// Deserialises the payload straight from the body's slice.
///
/// # Errors
/// A permanent failure of the kind [`ErrorKind::Payload`].
#[doc(hidden)]
pub fn payload<'d, T: Payload<'d>>(delivery: &'d Delivery) -> Result<T, HandlerError> {
    let context = delivery.context();
    context.envelope().data().map_err(|error| {
        let data = context.envelope().data_json().unwrap_or("{}");
        let error = PayloadError::new(context.urn(), data, &error);
        HandlerError::of_kind(ErrorKind::Payload, error).with_verdict(Verdict::Permanent)
    })
}

/// What a fallback handler takes first.
#[diagnostic::on_unimplemented(
    message = "the first argument of a fallback handler is `&Envelope`, not `{Self}`",
    label = "write `&Envelope`",
    note = "a fallback takes every URN that has no handler, so it has no payload type"
)]
pub trait FallbackPayload<'d> {
    #[doc(hidden)]
    fn take(delivery: &'d Delivery) -> Self;
}

impl<'d> FallbackPayload<'d> for &'d Envelope {
    fn take(delivery: &'d Delivery) -> Self {
        delivery.context().envelope()
    }
}

#[doc(hidden)]
pub fn fallback<'d, T: FallbackPayload<'d>>(delivery: &'d Delivery) -> T {
    T::take(delivery)
}

#[cfg(test)]
mod tests {
    use super::without_value;

    #[test]
    fn what_serde_quotes_of_the_body_is_left_out() {
        let rows = [
            (
                "invalid type: string \"4111 1111\", expected u64",
                "invalid type: string, expected u64",
            ),
            (
                "invalid type: string \"a, expected b\\\", \", expected u64",
                "invalid type: string, expected u64",
            ),
            (
                "invalid type: integer `5`, expected a string",
                "invalid type: integer, expected a string",
            ),
            (
                "invalid type: map, expected `u64`",
                "invalid type: map, expected `u64`",
            ),
            (
                "invalid value: integer `-1`, expected u64",
                "invalid value: integer, expected u64",
            ),
            (
                "unknown variant `se`cret`, expected `a` or `b`",
                "unknown variant, expected `a` or `b`",
            ),
            (
                "unknown field `secret`, there are no fields",
                "unknown field, there are no fields",
            ),
            ("missing field `price`", "missing field `price`"),
            ("no such card", "no such card"),
        ];
        for (reason, expected) in rows {
            assert_eq!(without_value(reason), expected);
        }
    }
}
