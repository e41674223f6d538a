//! Where every member of a body stands, commas included: read again for each rewrite, because
//! decoding, which happens far more often, should not have to note it.

use super::super::json::{Cursor, Expected, Member, Members, Span};

/// The members of one object, in the order of the text.
pub(super) struct Object {
    pub(super) slots: Vec<Slot>,
    /// Offset of the closing brace.
    pub(super) close: usize,
}

/// One member.
pub(super) struct Slot {
    pub(super) name: String,
    /// The name token with its quotes.
    pub(super) token: Span,
    pub(super) value: Span,
    /// Offset of the comma before the member.
    pub(super) comma: Option<usize>,
    pub(super) removed: bool,
}

/// A whole body.
pub(super) struct Layout {
    pub(super) top: Object,
    /// Every `meta` that is an object.
    pub(super) metas: Vec<Object>,
}

impl Layout {
    /// Reads a body that has been scanned before.
    pub(super) fn read(body: &str) -> Option<Self> {
        let mut cursor = Cursor::new(body);
        cursor.skip_blanks();
        let mut metas = Vec::new();
        let top = object(&mut cursor, body, |cursor, name| {
            if name == "meta" && cursor.peek() == Some(b'{') {
                metas.push(object(cursor, body, |cursor, _| {
                    cursor.skip_value().map(drop)
                })?);
                return Ok(());
            }
            cursor.skip_value().map(drop)
        });
        Some(Self {
            top: top.ok()?,
            metas,
        })
    }
}

/// Reads the object that the cursor stands on; `read_value` steps over each value.
fn object<'a>(
    cursor: &mut Cursor<'a>,
    body: &str,
    mut read_value: impl FnMut(&mut Cursor<'a>, &str) -> Result<(), Expected>,
) -> Result<Object, Expected> {
    let mut slots = Vec::with_capacity(8);
    let mut members = Members::open(cursor)?;
    while let Some(member) = members.next(cursor)? {
        let Member { name: token, comma } = member;
        let name = member.name(body).into_owned();
        let start = cursor.at();
        read_value(cursor, &name)?;
        slots.push(Slot {
            name,
            token: Span {
                start: token.inner.start - 1,
                end: token.inner.end + 1,
            },
            value: Span {
                start,
                end: cursor.at(),
            },
            comma,
            removed: false,
        });
    }
    let close = cursor.at() - 1;
    Ok(Object { slots, close })
}
