//! The X-Ray trace header of a message. It comes as the one message system
//! attribute that can be sent, or as the HTTP header of the send.

use super::attribute::{AttributeMap, Value};

/// The name of the message system attribute.
pub(crate) const NAME: &str = "AWSTraceHeader";

/// What a message carries: the system attribute, else the HTTP header of its request. An HTTP
/// header that is not well formed is passed over, as tracing must not break a send.
pub(crate) fn header_of(system: &AttributeMap, of_request: Option<String>) -> Option<Box<str>> {
    match system.get(NAME).map(|attribute| &attribute.value) {
        Some(Value::Text(text)) => Some(text.as_str().into()),
        _ => of_request
            .filter(|text| is_header(text))
            .map(String::into_boxed_str),
    }
}

/// Whether this is a trace header: fields `key=value` between semicolons, a `Root` among them,
/// and of the right form those that X-Ray defines.
pub(crate) fn is_header(text: &str) -> bool {
    let mut has_root = false;
    let fields = text.strip_suffix(';').unwrap_or(text).split(';');
    let all_good = fields
        .map(str::trim)
        .all(|field| match field.split_once('=') {
            Some(("Root", root)) => !std::mem::replace(&mut has_root, true) && is_trace_id(root),
            Some(("Parent", parent)) => is_hex(parent, 16),
            Some(("Sampled", sampled)) => matches!(sampled, "0" | "1" | "?"),
            Some((key, value)) => is_word(key) && is_word(value),
            None => false,
        });
    all_good && has_root
}

/// A version, the time in eight digits, and 24 digits of chance.
fn is_trace_id(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut next = || parts.next().unwrap_or_default();
    next() == "1" && is_hex(next(), 8) && is_hex(next(), 24) && parts.next().is_none()
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() && b != b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "Root=1-5759e988-bd862e3fe1be46a994272793";

    #[test]
    fn trace_headers_are_told_from_other_text() {
        for good in [
            ROOT,
            &format!("{ROOT};Sampled=1"),
            &format!("{ROOT};Parent=53995c3f42cd8ad8;Sampled=?"),
            &format!("{ROOT}; Parent=53995c3f42cd8ad8; Sampled=0;Lineage=a:1|b:2"),
            &format!("Self=1-5759e988-bd862e3fe1be46a994272793;{ROOT};"),
        ] {
            assert!(is_header(good), "{good}");
        }
        for bad in [
            "",
            ";",
            "hello",
            "Sampled=1",
            "Root=",
            "Root=1-5759e988",
            "Root=2-5759e988-bd862e3fe1be46a994272793",
            "Root=1-5759e98-bd862e3fe1be46a994272793",
            "Root=1-5759e988-bd862e3fe1be46a99427279x",
            "Root=1-5759e988-bd862e3fe1be46a994272793-1",
            "root=1-5759e988-bd862e3fe1be46a994272793",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            &format!("{ROOT};{ROOT}"),
            &format!("{ROOT};Parent=5399"),
            &format!("{ROOT};Sampled=yes"),
            &format!("{ROOT};;Sampled=1"),
            &format!("{ROOT};Lineage="),
            &format!("{ROOT};stray"),
        ] {
            assert!(!is_header(bad), "{bad}");
        }
    }
}
