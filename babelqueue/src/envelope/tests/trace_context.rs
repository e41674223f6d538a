//! SPEC §3.5: ids of traces and the `traceparent` header.

use super::super::trace_context::{
    ParentSource, extract, fallback_span_id, format_traceparent, parse_traceparent, trace_id_of,
    uuid_text,
};

const HEADER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE_ID: &str = "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7a8b";

#[test]
fn a_well_formed_header_is_the_parent_and_keeps_its_flags() {
    let parent = extract(Some(HEADER), TRACE_ID);
    assert_eq!(parent.source, ParentSource::Traceparent);
    assert_eq!(parent.source.as_str(), "traceparent");
    assert_eq!(parent.flags, 1);
    let again = format_traceparent(parent.trace_id, parent.span_id, parent.flags);
    assert_eq!(again, HEADER);
    let unsampled = extract(Some(&HEADER.replace("-01", "-fe")), TRACE_ID);
    assert_eq!(unsampled.flags, 0xFE);
}

#[test]
fn a_malformed_header_falls_back_to_the_trace_id() {
    let zero_trace = HEADER.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32));
    let zero_span = HEADER.replace("00f067aa0ba902b7", &"0".repeat(16));
    for header in [
        "",
        "not-a-traceparent",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        &format!("{HEADER}-extra"),
        &format!(" {HEADER}"),
        &format!("{HEADER} "),
        &HEADER.replacen("00", "01", 1),
        &HEADER.replacen("00", "ff", 1),
        &HEADER.replace("4bf9", "4b"),
        &HEADER.replace("4bf9", "4bf9ab"),
        &HEADER.replace("4bf9", "4bg9"),
        &HEADER.replace("4bf9", "4BF9"),
        &HEADER.replace("a9", "A9"),
        &HEADER.replace("02b7", "02"),
        &HEADER.replace("-01", "-1"),
        &HEADER.replace("-01", "-0x"),
        &zero_trace,
        &zero_span,
    ] {
        assert_eq!(parse_traceparent(header), None, "{header}");
        let parent = extract(Some(header), TRACE_ID);
        assert_eq!(parent, extract(None, TRACE_ID), "{header}");
        assert_eq!(parent.source, ParentSource::TraceId);
        assert_eq!(uuid_text(parent.trace_id), TRACE_ID);
        assert_eq!(parent.flags, 1);
    }
}

#[test]
fn a_trace_id_of_32_hex_digits_is_the_id_itself() {
    let id = trace_id_of(TRACE_ID);
    assert_eq!(uuid_text(id), TRACE_ID);
    assert_eq!(trace_id_of(&TRACE_ID.to_uppercase()), id);
    assert_eq!(trace_id_of(&TRACE_ID.replace('-', "")), id);
    assert_eq!(trace_id_of("-7b3f9c2ae41d4f88-9b2a1c0d5e6f7a8b--"), id);
}

#[test]
fn any_other_trace_id_is_hashed() {
    // The first 16 bytes of `printf … | sha256sum`.
    for (text, hash) in [
        ("", "e3b0c442-98fc-1c14-9afb-f4c8996fb924"),
        ("abc", "ba7816bf-8f01-cfea-4141-40de5dae2223"),
    ] {
        assert_eq!(uuid_text(trace_id_of(text)), hash);
    }
    let zero = "0".repeat(32);
    let long = format!("{TRACE_ID}0");
    for other in [
        zero.as_str(),
        &long,
        &TRACE_ID[1..],
        "7b3f9c2a-e41d-4f88-9b2a-1c0d5e6f7aéx",
    ] {
        assert_ne!(trace_id_of(other), [0; 16]);
        assert_ne!(uuid_text(trace_id_of(other)), TRACE_ID);
    }
}

#[test]
fn the_fallback_span_depends_on_the_trace_id() {
    use sha2::{Digest as _, Sha256};
    let hash = Sha256::digest(format!("babelqueue-span:{TRACE_ID}"));
    assert_eq!(fallback_span_id(TRACE_ID)[..], hash[..8]);
    assert_eq!(extract(None, TRACE_ID).span_id, fallback_span_id(TRACE_ID));
}
