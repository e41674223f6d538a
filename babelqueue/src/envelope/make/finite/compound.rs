//! Sequences, maps and structs under the check: they hand their elements on, each wrapped again,
//! and name the element when it fails.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use super::{Element, Path};

pub(super) struct Compound<'p, C> {
    inner: C,
    path: &'p Path,
    /// Index of the next element of a sequence.
    index: usize,
    /// Key of the value that comes next in a map.
    key: Option<String>,
    /// Name of the enum variant around the elements.
    variant: Option<&'static str>,
}

impl<'p, C> Compound<'p, C> {
    pub(super) fn new(inner: C, path: &'p Path, variant: Option<&'static str>) -> Self {
        Self {
            inner,
            path,
            index: 0,
            key: None,
            variant,
        }
    }

    fn element<'v, T: ?Sized>(&self, value: &'v T) -> Element<'p, 'v, T> {
        Element {
            value,
            path: self.path,
        }
    }

    #[cold]
    fn failed_at(&self, key: &str) {
        self.path.push(key);
        if let Some(variant) = self.variant {
            self.path.push(variant);
        }
    }

    fn next_index(&mut self) -> usize {
        self.index += 1;
        self.index - 1
    }
}

macro_rules! sequence {
    ($trait:ident, $method:ident) => {
        impl<C: $trait> $trait for Compound<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
                let index = self.next_index();
                let element = self.element(value);
                let result = self.inner.$method(&element);
                result.inspect_err(|_| self.failed_at(&index.to_string()))
            }

            #[inline]
            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        }
    };
}

sequence!(SerializeSeq, serialize_element);
sequence!(SerializeTuple, serialize_element);
sequence!(SerializeTupleStruct, serialize_field);
sequence!(SerializeTupleVariant, serialize_field);

macro_rules! structure {
    ($trait:ident) => {
        impl<C: $trait> $trait for Compound<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), C::Error> {
                let element = self.element(value);
                let result = self.inner.serialize_field(key, &element);
                result.inspect_err(|_| self.failed_at(key))
            }

            fn skip_field(&mut self, key: &'static str) -> Result<(), C::Error> {
                self.inner.skip_field(key)
            }

            #[inline]
            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        }
    };
}

structure!(SerializeStruct);
structure!(SerializeStructVariant);

impl<C: SerializeMap> SerializeMap for Compound<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), C::Error> {
        self.key = None;
        self.inner.serialize_key(key)?;
        // The value comes in a call of its own (flattened structs do that), so its key is kept.
        self.key = Some(key_text(key));
        Ok(())
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        let element = self.element(value);
        let result = self.inner.serialize_value(&element);
        result.inspect_err(|_| self.failed_at(self.key.as_deref().unwrap_or_default()))
    }

    #[inline]
    fn serialize_entry<K, V>(&mut self, key: &K, value: &V) -> Result<(), C::Error>
    where
        K: Serialize + ?Sized,
        V: Serialize + ?Sized,
    {
        let element = self.element(value);
        let result = self.inner.serialize_entry(key, &element);
        result.inspect_err(|_| self.failed_at(&key_text(key)))
    }

    #[inline]
    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}

/// A map key as text, as far as that is possible.
fn key_text<K: Serialize + ?Sized>(key: &K) -> String {
    match serde_json::to_value(key) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}
