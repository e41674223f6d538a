//! One pass over a body: where the members of the contract stand, and what is wrong with them.
//! Nothing is copied; repeated members follow last-wins here and nowhere else.

use super::error::DecodeError;
use super::json::{Cursor, Expected, Member, Members, Span, Str};

/// What a body holds of the contract. A member of the wrong type reads as absent; the first such
/// fault is kept in `defect`.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) job: Candidate,
    pub(super) urn: Candidate,
    pub(super) trace_id: Option<Str>,
    pub(super) data: Option<Span>,
    pub(super) meta: Option<MetaParts>,
    pub(super) attempts: Option<i64>,
    pub(super) dead_letter: Option<Span>,
    /// A top-level `dead_letter` member exists, whatever its type.
    pub(super) dead_letter_present: bool,
    pub(super) forbidden: ForbiddenSet,
    pub(super) defect: Option<DecodeError>,
}

/// A member that may carry the identity: `job` or `urn`.
#[derive(Clone, Copy, Default)]
pub(super) enum Candidate {
    #[default]
    Absent,
    NotAString,
    Text(Str),
}

/// The effective `meta` object.
#[derive(Clone, Copy)]
pub(super) struct MetaParts {
    pub(super) span: Span,
    pub(super) id: Option<Str>,
    pub(super) queue: Option<Str>,
    pub(super) lang: Option<Str>,
    pub(super) schema_version: Option<i64>,
    pub(super) created_at: Option<i64>,
}

/// The members that the contract forbids, in the order in which an encoder tests them.
pub(super) const FORBIDDEN: [&str; 5] = [
    "/timestamp",
    "/meta/max_retries",
    "/meta/attempts",
    "/meta/source",
    "/meta/ts",
];

/// Whether a `meta` key is forbidden, and its place in [`FORBIDDEN`].
pub(super) fn forbidden_in_meta(name: &str) -> Option<usize> {
    match name {
        "max_retries" => Some(1),
        "attempts" => Some(2),
        "source" => Some(3),
        "ts" => Some(4),
        _ => None,
    }
}

/// Which of the [`FORBIDDEN`] members occur.
#[derive(Clone, Copy, Default)]
pub(super) struct ForbiddenSet(u8);

impl ForbiddenSet {
    fn insert(&mut self, index: usize) {
        self.0 |= 1 << index;
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn pointers(self) -> impl Iterator<Item = &'static str> {
        let indices = FORBIDDEN.iter().enumerate();
        indices
            .filter(move |(index, _)| self.0 & (1 << index) != 0)
            .map(|(_, pointer)| *pointer)
    }
}

/// Scans `text`. Fails when it is not one JSON object; every other fault goes into
/// [`Parts::defect`].
pub(super) fn scan(text: &str) -> Result<Parts, DecodeError> {
    let mut cursor = Cursor::new(text);
    let mut parts = Parts::default();
    let object = match read_root(&mut cursor, text, &mut parts) {
        Ok(object) => object,
        Err(expected) => {
            return Err(DecodeError::NotJson {
                offset: cursor.at(),
                expected: expected.text(),
            });
        }
    };
    if !object {
        return Err(DecodeError::NotAnObject);
    }
    if let Some(offset) = cursor.lone_surrogate {
        // No text can be read out of such a body, so this comes before the faults of members.
        parts.defect = Some(DecodeError::LoneSurrogate { offset });
    } else if let Some(offset) = cursor.not_finite {
        parts
            .defect
            .get_or_insert(DecodeError::NotFinite { offset });
    }
    Ok(parts)
}

/// Reads the whole text and says whether its root is an object.
fn read_root(cursor: &mut Cursor<'_>, text: &str, parts: &mut Parts) -> Result<bool, Expected> {
    cursor.skip_blanks();
    let object = cursor.peek() == Some(b'{');
    if object {
        let mut members = Members::open(cursor)?;
        while let Some(member) = members.next(cursor)? {
            top_member(cursor, text, parts, member)?;
        }
    } else {
        cursor.skip_value()?;
    }
    cursor.end()?;
    Ok(object)
}

fn top_member(
    cursor: &mut Cursor<'_>,
    text: &str,
    parts: &mut Parts,
    member: Member,
) -> Result<(), Expected> {
    let mut typed = Typed {
        defect: &mut parts.defect,
    };
    match &*member.name(text) {
        "job" => parts.job = candidate(cursor)?,
        "urn" => parts.urn = candidate(cursor)?,
        "trace_id" => parts.trace_id = typed.string(cursor, "/trace_id")?,
        "data" => parts.data = typed.data(cursor)?,
        "meta" => parts.meta = meta(cursor, text, parts)?,
        "attempts" => parts.attempts = typed.integer(cursor, "/attempts")?,
        "dead_letter" => {
            parts.dead_letter_present = true;
            parts.dead_letter = dead_letter(cursor, text, &mut typed)?;
        }
        "timestamp" => {
            parts.forbidden.insert(0);
            cursor.skip_value()?;
        }
        _ => {
            cursor.skip_value()?;
        }
    }
    Ok(())
}

fn candidate(cursor: &mut Cursor<'_>) -> Result<Candidate, Expected> {
    if cursor.peek() == Some(b'"') {
        cursor.string().map(Candidate::Text)
    } else {
        cursor.skip_value().map(|_| Candidate::NotAString)
    }
}

fn meta(
    cursor: &mut Cursor<'_>,
    text: &str,
    parts: &mut Parts,
) -> Result<Option<MetaParts>, Expected> {
    let mut typed = Typed {
        defect: &mut parts.defect,
    };
    let start = cursor.at();
    if !typed.opens_object(cursor, "/meta")? {
        return Ok(None);
    }
    let mut meta = MetaParts {
        span: Span { start, end: start },
        id: None,
        queue: None,
        lang: None,
        schema_version: None,
        created_at: None,
    };
    let mut members = Members::open(cursor)?;
    while let Some(member) = members.next(cursor)? {
        match &*member.name(text) {
            "id" => meta.id = typed.string(cursor, "/meta/id")?,
            "queue" => meta.queue = typed.string(cursor, "/meta/queue")?,
            "lang" => meta.lang = typed.string(cursor, "/meta/lang")?,
            "schema_version" => {
                meta.schema_version = typed.integer(cursor, "/meta/schema_version")?;
            }
            "created_at" => meta.created_at = typed.integer(cursor, "/meta/created_at")?,
            other => {
                if let Some(index) = forbidden_in_meta(other) {
                    parts.forbidden.insert(index);
                }
                cursor.skip_value()?;
            }
        }
    }
    meta.span.end = cursor.at();
    Ok(Some(meta))
}

/// Checks the types inside a `dead_letter`; its values are only read on demand.
fn dead_letter(
    cursor: &mut Cursor<'_>,
    text: &str,
    typed: &mut Typed<'_>,
) -> Result<Option<Span>, Expected> {
    let start = cursor.at();
    if !typed.opens_object(cursor, "/dead_letter")? {
        return Ok(None);
    }
    let mut members = Members::open(cursor)?;
    while let Some(member) = members.next(cursor)? {
        let string = match &*member.name(text) {
            "reason" => "/dead_letter/reason",
            "error" => "/dead_letter/error",
            "exception" => "/dead_letter/exception",
            "original_queue" => "/dead_letter/original_queue",
            "lang" => "/dead_letter/lang",
            "failed_at" => {
                typed.integer(cursor, "/dead_letter/failed_at")?;
                continue;
            }
            "attempts" => {
                typed.integer(cursor, "/dead_letter/attempts")?;
                continue;
            }
            _ => {
                cursor.skip_value()?;
                continue;
            }
        };
        typed.string(cursor, string)?;
    }
    let end = cursor.at();
    Ok(Some(Span { start, end }))
}

/// Reads values whose type the contract fixes, null always tolerated.
struct Typed<'d> {
    defect: &'d mut Option<DecodeError>,
}

impl Typed<'_> {
    fn string(
        &mut self,
        cursor: &mut Cursor<'_>,
        pointer: &'static str,
    ) -> Result<Option<Str>, Expected> {
        if cursor.peek() == Some(b'"') {
            return cursor.string().map(Some);
        }
        self.null(cursor, pointer, "a string")
    }

    fn integer(
        &mut self,
        cursor: &mut Cursor<'_>,
        pointer: &'static str,
    ) -> Result<Option<i64>, Expected> {
        const EXPECTED: &str = "an integer of 64 bits, without fraction or exponent";
        if let Some(b'-' | b'0'..=b'9') = cursor.peek() {
            let number = cursor.number()?;
            let value = cursor.integer(number);
            if value.is_none() {
                self.wrong(pointer, EXPECTED);
            }
            return Ok(value);
        }
        self.null(cursor, pointer, EXPECTED)
    }

    fn data(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Span>, Expected> {
        if cursor.peek() == Some(b'{') {
            return cursor.skip_value_finite().map(Some);
        }
        self.null(cursor, "/data", "an object")
    }

    /// Whether the cursor stands on an object; any other value is stepped over.
    fn opens_object(
        &mut self,
        cursor: &mut Cursor<'_>,
        pointer: &'static str,
    ) -> Result<bool, Expected> {
        if cursor.peek() == Some(b'{') {
            return Ok(true);
        }
        self.null::<()>(cursor, pointer, "an object")?;
        Ok(false)
    }

    /// Steps over a value that is null or a fault.
    #[cold]
    fn null<T>(
        &mut self,
        cursor: &mut Cursor<'_>,
        pointer: &'static str,
        expected: &'static str,
    ) -> Result<Option<T>, Expected> {
        let null = cursor.peek() == Some(b'n');
        cursor.skip_value()?;
        if !null {
            self.wrong(pointer, expected);
        }
        Ok(None)
    }

    fn wrong(&mut self, pointer: &'static str, expected: &'static str) {
        self.defect
            .get_or_insert(DecodeError::WrongType { pointer, expected });
    }
}
