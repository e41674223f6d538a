//! Finished spans as trees, one for each trace.

use std::fmt::Write as _;

use opentelemetry::trace::{SpanId, Status};
use opentelemetry_sdk::trace::SpanData;

/// Roots are the spans whose parents are not among them.
pub(crate) fn of(spans: &[SpanData]) -> String {
    let known = |id: SpanId| spans.iter().any(|span| span.span_context.span_id() == id);
    let mut roots: Vec<_> = spans
        .iter()
        .filter(|span| !known(span.parent_span_id))
        .collect();
    roots.sort_by_key(|span| span.start_time);
    let mut text = String::new();
    for root in roots {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "trace {}", root.span_context.trace_id());
        branch(spans, root, "", true, &mut text);
    }
    text
}

fn branch(spans: &[SpanData], span: &SpanData, indent: &str, last: bool, text: &mut String) {
    let (knee, below) = if last {
        ("└─ ", "   ")
    } else {
        ("├─ ", "│  ")
    };
    let _ = write!(text, "{indent}{knee}{} ({:?}", span.name, span.span_kind);
    for (key, label) in [
        ("messaging.babelqueue.attempts", "attempts"),
        ("babelqueue.outcome", "outcome"),
    ] {
        if let Some(pair) = span.attributes.iter().find(|pair| pair.key.as_str() == key) {
            let _ = write!(text, ", {label} {}", pair.value);
        }
    }
    text.push(')');
    if let Status::Error { description } = &span.status {
        let _ = write!(text, " ERROR {description}");
    }
    text.push('\n');
    let id = span.span_context.span_id();
    let mut children: Vec<_> = spans
        .iter()
        .filter(|child| child.parent_span_id == id)
        .collect();
    children.sort_by_key(|child| child.start_time);
    let indent = format!("{indent}{below}");
    for (place, child) in children.iter().enumerate() {
        branch(spans, child, &indent, place + 1 == children.len(), text);
    }
}
