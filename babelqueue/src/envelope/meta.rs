//! The `meta` object of an envelope, as a handler may borrow it.

use std::borrow::Cow;
use std::fmt;

use super::fields::{Fields, MetaFields};
use super::json::{Cursor, Members, lookup};
use super::parts::forbidden_in_meta;

/// The `meta` object of an [`Envelope`](super::Envelope) (SPEC §1.1), borrowed from
/// it. Values are verbatim; null reads as absent.
#[derive(Clone)]
pub struct Meta {
    pub(super) body: String,
    pub(super) fields: Fields,
}

impl Meta {
    fn known(&self) -> Option<&MetaFields> {
        self.fields.meta.as_ref()
    }

    /// Whether `meta` is an object; false when it is null or absent.
    pub fn is_present(&self) -> bool {
        self.known().is_some()
    }

    /// The id of the message, by which it is deduplicated.
    pub fn id(&self) -> Option<&str> {
        let id = self.known()?.id.as_ref()?;
        Some(id.of(&self.body))
    }

    /// The queue that the message was made for.
    pub fn queue(&self) -> Option<&str> {
        let queue = self.known()?.queue.as_ref()?;
        Some(queue.of(&self.body))
    }

    /// The language of the producer, any text.
    pub fn lang(&self) -> Option<&str> {
        let lang = self.known()?.lang.as_ref()?;
        Some(lang.of(&self.body))
    }

    /// The version of the envelope; this crate accepts 1.
    pub fn schema_version(&self) -> Option<i64> {
        self.known()?.schema_version
    }

    /// When the message was made, in Unix milliseconds UTC.
    pub fn created_at(&self) -> Option<i64> {
        self.known()?.created_at
    }

    /// The raw JSON text of a member, the last one when it is repeated; the way to producer
    /// extensions. Forbidden members (SPEC §1.5) are not found. Looks through `meta` once.
    pub fn get(&self, key: &str) -> Option<&str> {
        if forbidden_in_meta(key).is_some() {
            return None;
        }
        let value = lookup(&self.body, self.known()?.span, key)?;
        Some(value.of(&self.body))
    }

    /// The raw JSON text of `meta.ext.<vendor>`, the recommended place of extensions.
    ///
    /// ```
    /// use babelqueue::envelope::Envelope;
    ///
    /// let envelope = Envelope::decode(
    ///     r#"{"job":"urn:x","meta":{"ext":{"acme":{"tier":"gold"}}}}"#,
    /// )?;
    /// assert_eq!(envelope.meta().ext("acme"), Some(r#"{"tier":"gold"}"#));
    /// # Ok::<(), babelqueue::envelope::DecodeError>(())
    /// ```
    pub fn ext(&self, vendor: &str) -> Option<&str> {
        let ext = lookup(&self.body, self.known()?.span, "ext")?;
        // A lookup in something else than an object finds nothing.
        let value = lookup(&self.body, ext, vendor)?;
        Some(value.of(&self.body))
    }

    /// All members in the order of the text, repeated and core ones included, forbidden ones
    /// excluded: unescaped name and raw JSON text.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, &str)> {
        let body = self.body.as_str();
        let start = self.known().map_or(body.len(), |fields| fields.span.start);
        let mut cursor = Cursor::starting_at(body, start);
        let mut members = Members::open(&mut cursor).ok();
        std::iter::from_fn(move || {
            loop {
                let member = members.as_mut()?.next(&mut cursor).ok()??;
                let value = cursor.skip_value().ok()?;
                let name = member.name(body);
                if forbidden_in_meta(&name).is_none() {
                    return Some((name, value.of(body)));
                }
            }
        })
    }
}

impl fmt::Debug for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meta")
            .field("id", &self.id())
            .field("queue", &self.queue())
            .field("lang", &self.lang())
            .field("schema_version", &self.schema_version())
            .field("created_at", &self.created_at())
            .finish_non_exhaustive()
    }
}
