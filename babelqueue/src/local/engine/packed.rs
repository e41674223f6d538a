//! The message attributes of a stored message, packed into one allocation: a
//! map of strings would take several times what the attributes themselves do.

use std::sync::Arc;

use super::attribute::{AttributeMap, AttributeRef, ValueRef, views};

/// Attributes in the order of their names. Each is the lengths of its name, type and value,
/// and then their bytes; the length of a value is doubled, and odd for a binary one.
#[derive(Clone, Debug)]
pub(crate) struct Packed(Arc<[u8]>);

impl Packed {
    /// Packs attributes; `None` when there are none.
    pub(crate) fn of(map: &AttributeMap) -> Option<Self> {
        let mut bytes = Vec::new();
        for it in views(map) {
            let (value, binary) = match it.value {
                ValueRef::Text(text) => (text.as_bytes(), 0),
                ValueRef::Binary(value) => (value, 1),
            };
            write_length(&mut bytes, it.name.len());
            write_length(&mut bytes, it.data_type.len());
            write_length(&mut bytes, value.len() * 2 + binary);
            bytes.extend_from_slice(it.name.as_bytes());
            bytes.extend_from_slice(it.data_type.as_bytes());
            bytes.extend_from_slice(value);
        }
        (!bytes.is_empty()).then(|| Self(bytes.into()))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = AttributeRef<'_>> {
        let mut rest = &*self.0;
        std::iter::from_fn(move || unpack(&mut rest))
    }
}

/// Takes the next attribute off; `None` at the end.
fn unpack<'a>(rest: &mut &'a [u8]) -> Option<AttributeRef<'a>> {
    let name = read_length(rest)?;
    let data_type = read_length(rest)?;
    let value = read_length(rest)?;
    let name = str::from_utf8(take(rest, name)?).ok()?;
    let data_type = str::from_utf8(take(rest, data_type)?).ok()?;
    let bytes = take(rest, value / 2)?;
    let value = if value % 2 == 1 {
        ValueRef::Binary(bytes)
    } else {
        ValueRef::Text(str::from_utf8(bytes).ok()?)
    };
    Some(AttributeRef {
        name,
        data_type,
        value,
    })
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

/// Seven bits a byte, the low ones first; the high bit says that more follow.
fn write_length(bytes: &mut Vec<u8>, mut length: usize) {
    while length > 0x7F {
        bytes.push((length & 0x7F) as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
}

fn read_length(rest: &mut &[u8]) -> Option<usize> {
    let mut length = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let (&byte, left) = rest.split_first()?;
        *rest = left;
        length |= usize::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::attribute::{Attribute, Value};
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        assert!(Packed::of(&AttributeMap::new()).is_none());
        let attribute = |data_type: &str, value| Attribute {
            data_type: data_type.to_owned(),
            value,
        };
        // Lengths of one, two and three bytes, and what only an injected message can have.
        let map = AttributeMap::from([
            ("".to_owned(), attribute("", Value::Text(String::new()))),
            (
                "a".to_owned(),
                attribute("Number.int", Value::Text("7".to_owned())),
            ),
            ("b".to_owned(), attribute("Binary", Value::Binary(vec![]))),
            (
                "c".repeat(200),
                attribute(&"t".repeat(300), Value::Binary(vec![0xFF; 64])),
            ),
            (
                "é😀".to_owned(),
                attribute("String", Value::Text("é".repeat(10_000))),
            ),
        ]);
        let packed = Packed::of(&map).unwrap();
        assert!(packed.iter().eq(views(&map)));
    }
}
