//! Between the contract's trace context and OpenTelemetry's: the remote parent of a delivery, and
//! what a producer's span puts beside its message (SPEC §3.5). Pure.

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

use crate::envelope::trace_context::{
    ParentSource, RemoteParent, extract, format_traceparent, parse_traceparent,
};

pub(super) const TRACEPARENT: &str = "traceparent";
pub(super) const TRACESTATE: &str = "tracestate";

/// The parent that a message names: by its header, else by its trace id.
pub(super) fn of_message(
    traceparent: Option<&str>,
    tracestate: Option<&str>,
    trace_id: &str,
) -> SpanContext {
    span_context(extract(traceparent, trace_id), tracestate)
}

/// The parent that headers name, if they do.
pub(super) fn of_headers(headers: &[(String, String)]) -> Option<SpanContext> {
    let value = |name| {
        let mut named = headers.iter().rev().filter(|(key, _)| key == name);
        named.next().map(|(_, value)| value.as_str())
    };
    of_header(value(TRACEPARENT)?, value(TRACESTATE))
}

/// The parent that a header names, if it is one.
pub(super) fn of_header(traceparent: &str, tracestate: Option<&str>) -> Option<SpanContext> {
    Some(span_context(parse_traceparent(traceparent)?, tracestate))
}

fn span_context(parent: RemoteParent, tracestate: Option<&str>) -> SpanContext {
    let state = match parent.source {
        ParentSource::Traceparent => tracestate.and_then(|text| text.parse().ok()),
        // It belongs to a header that is not there.
        ParentSource::TraceId => None,
    };
    SpanContext::new(
        TraceId::from_bytes(parent.trace_id),
        SpanId::from_bytes(parent.span_id),
        TraceFlags::new(parent.flags),
        true,
        state.unwrap_or(TraceState::NONE),
    )
}

/// Puts the context of a span into the headers of a message, over what they said before.
pub(super) fn inject(span: &SpanContext, headers: &mut Vec<(String, String)>) {
    headers.retain(|(name, _)| name != TRACEPARENT && name != TRACESTATE);
    let traceparent = format_traceparent(
        span.trace_id().to_bytes(),
        span.span_id().to_bytes(),
        span.trace_flags().to_u8(),
    );
    headers.push((TRACEPARENT.to_owned(), traceparent));
    let state = span.trace_state().header();
    // What SQS would refuse must not fail a message that is none the worse without it.
    if !state.is_empty() && state.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        headers.push((TRACESTATE.to_owned(), state));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn pairs(headers: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        headers.iter().map(owned).collect()
    }

    #[test]
    fn what_is_injected_is_what_is_extracted() {
        let parent = of_message(Some(HEADER), Some("vendor=a:b,other=1"), "t");
        assert!(parent.is_remote() && parent.is_sampled());
        let mut headers = pairs(&[
            ("traceparent", "old"),
            ("tenant", "acme"),
            ("tracestate", "x=1"),
        ]);
        inject(&parent, &mut headers);
        let expected = [
            ("tenant", "acme"),
            ("traceparent", HEADER),
            ("tracestate", "vendor=a:b,other=1"),
        ];
        assert_eq!(headers, pairs(&expected));
        assert_eq!(of_headers(&headers), Some(parent));
    }

    #[test]
    fn a_tracestate_goes_only_with_its_header_and_never_fails_it() {
        for header in [None, Some(""), Some("00-zz"), Some("garbage")] {
            let parent = of_message(header, Some("vendor=a"), "t");
            assert_eq!(parent.trace_state(), &TraceState::NONE, "{header:?}");
            assert!(parent.is_valid() && parent.is_sampled());
        }
        let parent = of_message(Some(HEADER), Some("=,;no state"), "t");
        assert_eq!(
            parent.trace_id().to_string(),
            "4bf92f3577b34da6a3ce929d0e0e4736"
        );
        let odd = of_message(Some(HEADER), Some("vendor=\u{7}"), "t");
        let mut headers = Vec::new();
        inject(&odd, &mut headers);
        assert_eq!(headers, pairs(&[("traceparent", HEADER)]));
        assert_eq!(of_headers(&pairs(&[("traceparent", "00-zz")])), None);
    }
}
