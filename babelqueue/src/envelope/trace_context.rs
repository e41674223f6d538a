//! Trace identity without OpenTelemetry: how a `trace_id` becomes ids, and how a `traceparent`
//! header is read (SPEC §3.5). Pure; the telemetry layer turns the result into a span context.

use sha2::{Digest as _, Sha256};

/// The parent of the span of one delivery. It is always remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteParent {
    /// Where the ids come from.
    pub source: ParentSource,
    /// The trace id, never all zero.
    pub trace_id: [u8; 16],
    /// The span id of the parent, never all zero.
    pub span_id: [u8; 8],
    /// The trace flags; bit 0 means sampled.
    pub flags: u8,
}

/// Where a [`RemoteParent`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParentSource {
    /// A well-formed `traceparent` header; `tracestate` goes with it.
    Traceparent,
    /// Derived from the `trace_id` of the envelope.
    TraceId,
}

impl ParentSource {
    /// `traceparent` or `trace_id`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Traceparent => "traceparent",
            Self::TraceId => "trace_id",
        }
    }
}

/// Finds the remote parent of a delivery: the header when it is well-formed, else one derived from
/// the `trace_id`, sampled. Never an error.
///
/// ```
/// use babelqueue::envelope::trace_context::{ParentSource, extract};
///
/// let parent = extract(None, "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b");
/// assert_eq!(parent.source, ParentSource::TraceId);
/// assert_eq!(parent.trace_id[..2], [0x7b, 0x3f]);
/// ```
pub fn extract(traceparent: Option<&str>, trace_id: &str) -> RemoteParent {
    traceparent
        .and_then(parse_traceparent)
        .unwrap_or_else(|| RemoteParent {
            source: ParentSource::TraceId,
            trace_id: trace_id_of(trace_id),
            span_id: fallback_span_id(trace_id),
            flags: 1,
        })
}

/// Reads `00-<32 hex>-<16 hex>-<2 hex>`, in lower case. `None` for anything else: other versions,
/// ids that are all zero, whitespace around.
pub fn parse_traceparent(header: &str) -> Option<RemoteParent> {
    let mut fields = header.split('-');
    let (version, trace, span, flags) = (
        fields.next()?,
        fields.next()?,
        fields.next()?,
        fields.next()?,
    );
    if version != "00" || fields.next().is_some() {
        return None;
    }
    let lower = |text: &str| !text.bytes().any(|byte| byte.is_ascii_uppercase());
    if !(lower(trace) && lower(span) && lower(flags)) {
        return None;
    }
    let [flags] = hex(flags.bytes())?;
    Some(RemoteParent {
        source: ParentSource::Traceparent,
        trace_id: hex(trace.bytes()).filter(|id| *id != [0; 16])?,
        span_id: hex(span.bytes()).filter(|id| *id != [0; 8])?,
        flags,
    })
}

/// The text of a `traceparent` header.
pub fn format_traceparent(trace_id: [u8; 16], span_id: [u8; 8], flags: u8) -> String {
    let mut header = String::with_capacity(55);
    header.push_str("00-");
    push_hex(&mut header, &trace_id);
    header.push('-');
    push_hex(&mut header, &span_id);
    header.push('-');
    push_hex(&mut header, &[flags]);
    header
}

/// The TraceId of a `trace_id`: its 32 hex digits (hyphens removed, either case) unless they are
/// all zero, else the first 16 bytes of its SHA-256.
pub fn trace_id_of(trace_id: &str) -> [u8; 16] {
    hex(trace_id.bytes().filter(|byte| *byte != b'-'))
        .filter(|id| *id != [0; 16])
        .unwrap_or_else(|| digest(&[trace_id]))
}

/// The SpanId of the parent that a `trace_id` stands for: the first 8 bytes of the SHA-256 of
/// `babelqueue-span:` and the `trace_id`.
pub fn fallback_span_id(trace_id: &str) -> [u8; 8] {
    digest(&["babelqueue-span:", trace_id])
}

/// Whether a `trace_id` is what [`uuid_text`] makes of its own TraceId.
#[cfg(feature = "otel")]
pub(crate) fn is_uuid_text(trace_id: &str) -> bool {
    let mut groups = trace_id.as_bytes().split(|byte| *byte == b'-');
    let lengths = [8, 4, 4, 4, 12];
    let lower = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    trace_id.len() == 36
        && lengths.into_iter().all(|length| {
            let group = groups.next().unwrap_or_default();
            group.len() == length && group.iter().all(lower)
        })
        && trace_id.bytes().any(|byte| !matches!(byte, b'0' | b'-'))
}

/// A TraceId as UUID text, lower case: what a producer puts into `trace_id`.
pub fn uuid_text(trace_id: [u8; 16]) -> String {
    uuid::Uuid::from_bytes(trace_id).hyphenated().to_string()
}

/// The leading bytes of a SHA-256; all zero, which ids may not be, becomes 1.
fn digest<const N: usize>(pieces: &[&str]) -> [u8; N] {
    let mut hasher = Sha256::new();
    for piece in pieces {
        hasher.update(piece.as_bytes());
    }
    let mut id = [0; N];
    for (byte, hashed) in id.iter_mut().zip(hasher.finalize()) {
        *byte = hashed;
    }
    nonzero(id)
}

fn nonzero<const N: usize>(mut id: [u8; N]) -> [u8; N] {
    if id == [0; N]
        && let Some(last) = id.last_mut()
    {
        *last = 1;
    }
    id
}

/// Exactly `2 * N` hex digits.
fn hex<const N: usize>(mut digits: impl Iterator<Item = u8>) -> Option<[u8; N]> {
    let mut id = [0; N];
    for byte in &mut id {
        let high = nibble(digits.next()?)?;
        *byte = high << 4 | nibble(digits.next()?)?;
    }
    digits.next().is_none().then_some(id)
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

fn push_hex(out: &mut String, bytes: &[u8]) {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "otel")]
    use super::is_uuid_text;
    use super::{nonzero, trace_id_of, uuid_text};

    #[test]
    fn the_text_of_a_trace_is_known_by_its_form() {
        let texts = [
            ("7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b", true),
            ("7b3f9c2ae41d4f889b2a1c0d5e6f7a8b", false),
            ("7B3F9C2A-E41D-4F88-9B2A-1C0D5E6F7A8B", false),
            ("7b3f9c2a-e41d-4f88-9b2a1-c0d5e6f7a8b", false),
            ("7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8g", false),
            ("-7b3f9c2a-e41d-4f88-9b2a1c0d5e6f7a8b", false),
            ("7b3f9c2ae41d4f889b2a1c0d5e6f7a8b----", false),
            ("00000000-0000-0000-0000-000000000000", false),
            ("order-1042", false),
            ("", false),
        ];
        for (text, is) in texts {
            assert_eq!(uuid_text(trace_id_of(text)) == text, is, "{text}");
            #[cfg(feature = "otel")]
            assert_eq!(is_uuid_text(text), is, "{text}");
        }
    }

    #[test]
    fn an_all_zero_digest_becomes_one() {
        assert_eq!(nonzero([0; 8]), [0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(nonzero([0, 2]), [0, 2]);
    }
}
