//! Serialisation to JSON that refuses NaN and infinity, which `serde_json` would write as null.
//!
//! [`Checked`] wraps any serializer and hands every call on, so that 128-bit integers, raw JSON
//! and arbitrary-precision numbers pass as `serde_json` has them. When an element fails, the way
//! to it is recorded while the error travels up; success records nothing.

mod compound;

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::ser::{Serialize, Serializer};

use compound::Compound;

/// JSON text, and how far it is to be trusted.
pub(super) struct Json {
    pub(super) text: String,
    /// A part of it was given as JSON text (a `RawValue`, a number kept as text) and has been
    /// written unread.
    pub(super) unread: bool,
}

/// What `serde_json` calls the structs that stand for text to be written as it is.
const VERBATIM: &str = "$serde_json::private::";

/// Serialises `value`. An error comes with the RFC 6901 pointer to its place, `""` for the root.
pub(super) fn to_json<T: Serialize + ?Sized>(
    value: &T,
) -> Result<Json, (String, serde_json::Error)> {
    let path = Path::default();
    let root = Element { value, path: &path };
    match serde_json::to_string(&root) {
        Ok(text) => Ok(Json {
            text,
            unread: path.unread.get(),
        }),
        Err(error) => Err((path.pointer(), error)),
    }
}

/// What is noted on the way.
#[derive(Default)]
struct Path {
    /// The keys from the failed element up to the root.
    keys: RefCell<Vec<String>>,
    unread: Cell<bool>,
}

impl Path {
    fn push(&self, key: &str) {
        let key = key.replace('~', "~0").replace('/', "~1");
        self.keys.borrow_mut().push(key);
    }

    fn pointer(&self) -> String {
        let keys = self.keys.borrow();
        keys.iter()
            .rev()
            .flat_map(|key| ["/", key.as_str()])
            .collect()
    }
}

/// A serializer that refuses what has no JSON form.
struct Checked<'p, S> {
    inner: S,
    path: &'p Path,
}

/// A value that is serialised through [`Checked`] in its turn.
struct Element<'p, 'v, T: ?Sized> {
    value: &'v T,
    path: &'p Path,
}

impl<T: Serialize + ?Sized> Serialize for Element<'_, '_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(Checked {
            inner: serializer,
            path: self.path,
        })
    }
}

/// Hands plain values on.
macro_rules! forward {
    ($($method:ident: $type:ty),* $(,)?) => {$(
        #[inline]
        fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
            self.inner.$method(value)
        }
    )*};
}

impl<'p, S: Serializer> Serializer for Checked<'p, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Compound<'p, S::SerializeSeq>;
    type SerializeTuple = Compound<'p, S::SerializeTuple>;
    type SerializeTupleStruct = Compound<'p, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Compound<'p, S::SerializeTupleVariant>;
    type SerializeMap = Compound<'p, S::SerializeMap>;
    type SerializeStruct = Compound<'p, S::SerializeStruct>;
    type SerializeStructVariant = Compound<'p, S::SerializeStructVariant>;

    forward! {
        serialize_bool: bool,
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128,
        serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_unit_struct: &'static str,
    }

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            self.inner.serialize_f32(value)
        } else {
            Err(not_finite())
        }
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            self.inner.serialize_f64(value)
        } else {
            Err(not_finite())
        }
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let path = self.path;
        self.inner.serialize_some(&Element { value, path })
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let path = self.path;
        self.inner
            .serialize_newtype_struct(name, &Element { value, path })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let path = self.path;
        self.inner
            .serialize_newtype_variant(name, index, variant, &Element { value, path })
            .inspect_err(|_| path.push(variant))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        let inner = self.inner.serialize_seq(len)?;
        Ok(Compound::new(inner, self.path, None))
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        let inner = self.inner.serialize_tuple(len)?;
        Ok(Compound::new(inner, self.path, None))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        let inner = self.inner.serialize_tuple_struct(name, len)?;
        Ok(Compound::new(inner, self.path, None))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        let inner = self
            .inner
            .serialize_tuple_variant(name, index, variant, len)?;
        Ok(Compound::new(inner, self.path, Some(variant)))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        let inner = self.inner.serialize_map(len)?;
        Ok(Compound::new(inner, self.path, None))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        if name.starts_with(VERBATIM) {
            self.path.unread.set(true);
        }
        let inner = self.inner.serialize_struct(name, len)?;
        Ok(Compound::new(inner, self.path, None))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        let inner = self
            .inner
            .serialize_struct_variant(name, index, variant, len)?;
        Ok(Compound::new(inner, self.path, Some(variant)))
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

#[cold]
fn not_finite<E: serde::ser::Error>() -> E {
    E::custom("NaN and infinity have no JSON form")
}
