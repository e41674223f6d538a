//! Writing a new envelope: one buffer, one pass, and the places of the members noted on the way,
//! so that nothing has to be read again.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use uuid::fmt::Hyphenated;

use super::super::SCHEMA_VERSION;
use super::super::blank::trim;
use super::super::decoded::Envelope;
use super::super::fields::{Fields, MetaFields};
use super::super::identity::Source;
use super::super::json::{Span, write_string};
use super::super::text::Text;
use super::EnvelopeBuilder;
use super::ids::write_id;

/// What the fixed text and the numbers of an envelope take at most.
const FIXED: usize = 200;

impl EnvelopeBuilder {
    /// Writes the checked parts.
    pub(super) fn write(&self) -> Envelope {
        let (mut trace_buffer, mut id_buffer) = ([0; Hyphenated::LENGTH], [0; Hyphenated::LENGTH]);
        let trace_id = match self.trace_id.as_deref().map(trim) {
            Some(trace_id) if !trace_id.is_empty() => trace_id,
            _ => write_id(&mut trace_buffer),
        };
        let id = match &self.id {
            Some(id) => id,
            None => write_id(&mut id_buffer),
        };
        let created_at = self.created_at.unwrap_or_else(now);
        let data = self.data.as_deref().unwrap_or("{}");

        let mut out = Out::with_capacity(self.size_hint(data));
        let urn = out.string("{\"job\":", trim(&self.urn));
        let trace_id = out.string(",\"trace_id\":", trace_id);
        let data = out.raw(",\"data\":", data);
        out.0.push_str(",\"meta\":");
        let start = out.0.len();
        let id = out.string("{\"id\":", id);
        let queue = out.string(",\"queue\":", &self.queue);
        let lang = out.string(",\"lang\":", &self.lang);
        // Writing to a String cannot fail.
        let _ = write!(
            out.0,
            ",\"schema_version\":{SCHEMA_VERSION},\"created_at\":{created_at}"
        );
        out.members(&self.meta);
        out.0.push('}');
        let end = out.0.len();
        out.0.push_str(",\"attempts\":0");
        out.members(&self.extras);
        out.0.push('}');

        let meta = MetaFields {
            span: Span { start, end },
            id: Some(id),
            queue: Some(queue),
            lang: Some(lang),
            schema_version: Some(SCHEMA_VERSION),
            created_at: Some(created_at),
        };
        let fields = Fields {
            source: Source::Job,
            urn: Some(urn),
            trace_id: Some(trace_id),
            data: Some(data),
            meta: Some(meta),
            attempts: Some(0),
            dead_letter: None,
            warnings: Vec::new(),
            unfolded: false,
        };
        Envelope::new(out.0, fields)
    }

    fn size_hint(&self, data: &str) -> usize {
        let members = self.meta.iter().chain(&self.extras);
        let members: usize = members.map(|(key, json)| key.len() + json.len() + 4).sum();
        let trace_id = self.trace_id.as_ref().map_or(0, |text| text.len());
        let id = self.id.as_ref().map_or(0, |text| text.len());
        let texts = self.urn.len() + trace_id + id + self.queue.len() + self.lang.len();
        FIXED + data.len() + texts + members
    }
}

struct Out(String);

impl Out {
    fn with_capacity(capacity: usize) -> Self {
        Self(String::with_capacity(capacity))
    }

    /// Writes a string member and says where its text is.
    fn string(&mut self, name: &str, text: &str) -> Text {
        self.0.push_str(name);
        let start = self.0.len() + 1;
        if write_string(&mut self.0, text) {
            return Text::Owned(text.into());
        }
        let end = self.0.len() - 1;
        Text::Span(Span { start, end })
    }

    fn raw(&mut self, name: &str, json: &str) -> Span {
        self.0.push_str(name);
        let start = self.0.len();
        self.0.push_str(json);
        let end = self.0.len();
        Span { start, end }
    }

    fn members(&mut self, members: &[(String, String)]) {
        for (key, json) in members {
            self.0.push(',');
            write_string(&mut self.0, key);
            self.0.push(':');
            self.0.push_str(json);
        }
    }
}

/// Unix milliseconds UTC.
fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = elapsed
        .map(|elapsed| elapsed.as_millis())
        .unwrap_or_default();
    i64::try_from(millis).unwrap_or(i64::MAX)
}
