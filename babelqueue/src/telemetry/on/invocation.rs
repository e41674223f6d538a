//! The span of one invocation of a Lambda function (SPEC §4.1). It points to the X-Ray trace that
//! Lambda keeps of the same invocation. Messages are parts of their producers' traces, not of it.

use opentelemetry::trace::{
    Link, SpanBuilder, SpanContext, SpanId, SpanKind, TraceContextExt as _, TraceFlags, TraceId,
    TraceState, Tracer as _,
};
use opentelemetry::{Context as OtelContext, KeyValue};

use super::attributes::{BATCH_COUNT, INVOCATION_ID, TRIGGER};
use super::scope::Scoped;
use super::settings::Telemetry;

/// An invocation that runs; the span ends with it.
#[must_use]
pub(crate) struct Invoked {
    context: Option<OtelContext>,
}

impl Telemetry {
    /// An invocation begins, with so many records.
    pub(crate) fn invocation(
        &self,
        request_id: &str,
        xray_trace: Option<&str>,
        records: usize,
    ) -> Invoked {
        let context = self.tracer().map(|tracer| {
            let count = i64::try_from(records).unwrap_or(i64::MAX);
            let link = xray_trace.and_then(xray_context).map(Link::with_context);
            let builder = SpanBuilder::from_name("invocation")
                .with_kind(SpanKind::Consumer)
                .with_links(link.into_iter().collect())
                .with_attributes([
                    KeyValue::new(TRIGGER, "pubsub"),
                    KeyValue::new(INVOCATION_ID, request_id.to_owned()),
                    KeyValue::new(BATCH_COUNT, count),
                ]);
            let none = OtelContext::new();
            none.with_span(tracer.build_with_context(builder, &none))
        });
        Invoked { context }
    }
}

impl Invoked {
    /// Runs a future with the span as the current one.
    pub(crate) fn scope<F>(&self, future: F) -> Scoped<'_, F> {
        Scoped::new(self.context.as_ref(), future)
    }

    /// Does something with the span as the current one.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let _current = self.context.clone().map(OtelContext::attach);
        work()
    }
}

impl Drop for Invoked {
    fn drop(&mut self) {
        if let Some(context) = &self.context {
            context.span().end();
        }
    }
}

/// What an X-Ray trace header points to: `Root=1-<8 hex>-<24 hex>;Parent=<16 hex>;Sampled=1`, its
/// fields in any order, unknown ones among them.
fn xray_context(header: &str) -> Option<SpanContext> {
    let field = |name: &str| {
        let mut fields = header.split(';').filter_map(|field| field.split_once('='));
        let found = fields.find(|(key, _)| key.trim() == name);
        found.map(|(_, value)| value.trim())
    };
    let (epoch, rest) = field("Root")?.strip_prefix("1-")?.split_once('-')?;
    let hex = |text: &str, digits| {
        text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let parent = field("Parent")?;
    if !hex(epoch, 8) || !hex(rest, 24) || !hex(parent, 16) {
        return None;
    }
    let sampled = field("Sampled") == Some("1");
    let context = SpanContext::new(
        TraceId::from_hex(&format!("{epoch}{rest}")).ok()?,
        SpanId::from_hex(parent).ok()?,
        TraceFlags::default().with_sampled(sampled),
        true,
        TraceState::NONE,
    );
    context.is_valid().then_some(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_xray() {
        let root = "Root=1-5759e988-bd862e3fe1be46a994272793";
        let found = |header: &str| {
            let context = xray_context(header)?;
            let (trace, span) = (context.trace_id(), context.span_id());
            Some((format!("{trace} {span}"), context.is_sampled()))
        };
        let ids = "5759e988bd862e3fe1be46a994272793 53995c3f42cd8ad8".to_owned();
        for (tail, sampled) in [
            ("Sampled=1", true),
            ("Sampled=0;Lineage=a:1|b:2", false),
            ("Sampled=?", false),
            ("", false),
        ] {
            let header = format!("{root};Parent=53995c3f42cd8ad8;{tail}");
            assert_eq!(found(&header), Some((ids.clone(), sampled)), "{header}");
        }
        let turned = format!("Sampled=1; Parent=53995c3f42cd8ad8; {root}");
        assert_eq!(found(&turned), Some((ids, true)));
        for none in [
            "",
            root,
            "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=",
            "Root=1-5759e988;Parent=53995c3f42cd8ad8",
            "Root=2-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8",
            "Root=1-5759e98x-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8",
            "Root=1-5759e98-8bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8",
            "Root=1-00000000-000000000000000000000000;Parent=53995c3f42cd8ad8",
            "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=0000000000000000",
            "Root=1-5759e988-bd862e3fe1be46a99427279é;Parent=53995c3f42cd8ad8",
        ] {
            assert_eq!(found(none), None, "{none}");
        }
    }
}
