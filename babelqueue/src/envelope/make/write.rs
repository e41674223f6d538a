//! Writing a new envelope: one buffer, one pass, and the places of the members noted on the way,
//! so that nothing has to be read again.

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

/// What the fixed text takes before the payload, and with the numbers behind it, at most.
const HEAD: usize = 32;
const TAIL: usize = 112;

/// From this length on the envelope is written around its payload, in the payload's own buffer:
/// moving it by the length of the head is cheaper than a second buffer of its size.
const IN_PLACE: usize = 4096;

impl EnvelopeBuilder {
    /// Writes the checked parts.
    pub(super) fn write(mut self) -> Envelope {
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
        let mut payload = self.data.take().unwrap_or_else(|| "{}".to_owned());

        let urn = trim(&self.urn);
        let head = HEAD + urn.len() + trace_id.len();
        let tail = self.tail_hint(id);
        let in_place = payload.len() >= IN_PLACE;
        let mut out = Out::with_capacity(if in_place {
            head
        } else {
            head + payload.len() + tail
        });
        let urn = out.string("{\"job\":", urn);
        let trace_id = out.string(",\"trace_id\":", trace_id);
        out.0.push_str(",\"data\":");
        let start = out.0.len();
        if in_place {
            payload.reserve(start + tail);
            payload.insert_str(0, &out.0);
            out.0 = payload;
        } else {
            out.0.push_str(&payload);
        }
        let end = out.0.len();
        let data = Span { start, end };

        out.0.push_str(",\"meta\":");
        let start = out.0.len();
        let id = out.string("{\"id\":", id);
        let queue = out.string(",\"queue\":", &self.queue);
        let lang = out.string(",\"lang\":", &self.lang);
        out.integer(",\"schema_version\":", SCHEMA_VERSION);
        out.integer(",\"created_at\":", created_at);
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

    /// What stands behind the payload takes so many bytes, unless something has to be escaped.
    fn tail_hint(&self, id: &str) -> usize {
        let members = self.meta.iter().chain(&self.extras);
        let members: usize = members.map(|(key, json)| key.len() + json.len() + 4).sum();
        TAIL + id.len() + self.queue.len() + self.lang.len() + members
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

    fn integer(&mut self, name: &str, value: i64) {
        self.0.push_str(name);
        self.0.push_str(itoa::Buffer::new().format(value));
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
