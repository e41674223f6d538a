//! Integers as JSON strings, for ids that must survive languages whose numbers are doubles:
//! `#[serde(with = "babelqueue::envelope::integer_string")]`. Reads both forms.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Paid {
//!     #[serde(with = "babelqueue::envelope::integer_string")]
//!     id: u64,
//!     #[serde(default, with = "babelqueue::envelope::integer_string::option")]
//!     refund: Option<u64>,
//! }
//!
//! let paid: Paid = serde_json::from_str(r#"{"id":9007199254740993}"#)?;
//! assert_eq!(paid.id, 9_007_199_254_740_993);
//! assert_eq!(serde_json::to_string(&paid)?, r#"{"id":"9007199254740993","refund":null}"#);
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::Serializer;

/// The primitive integers.
pub trait Integer: Display + FromStr + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl sealed::Sealed for $integer {}
        impl Integer for $integer {}
    )*};
}

integers!(i8, i16, i32, i64, i128, u8, u16, u32, u64, u128);

/// Writes an integer as a string of decimal digits.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<T: Integer, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Reads an integer from a string of decimal digits or from a number.
///
/// # Errors
/// When the text is no integer of the type's range, and when the number has been read as a double
/// already: it may have lost digits (`serde_json` does so with numbers beyond 64 bits unless its
/// feature `arbitrary_precision` is on).
pub fn deserialize<'de, T: Integer, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(Either(PhantomData))
}

struct Either<T>(PhantomData<T>);

impl<T: Integer> Either<T> {
    fn parse<E: Error>(text: &str) -> Result<T, E> {
        text.parse().map_err(|_| {
            let wanted = std::any::type_name::<T>();
            E::custom(format_args!("`{text}` is not an integer of type {wanted}"))
        })
    }
}

impl<'de, T: Integer> Visitor<'de> for Either<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer, as a string or as a number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        Self::parse(text)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        Self::parse(&value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        Self::parse(&value.to_string())
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<T, E> {
        Self::parse(&value.to_string())
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<T, E> {
        Self::parse(&value.to_string())
    }

    /// With `arbitrary_precision`, `serde_json` hands a number over as a map that its own `Number`
    /// understands.
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        let number = serde_json::Number::deserialize(MapAccessDeserializer::new(map))?;
        Self::parse(&number.to_string())
    }
}

/// The same for an `Option`: null is `None`. Add `#[serde(default)]`, or the field becomes
/// required.
pub mod option {
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::Serializer;

    use super::Integer;

    /// Writes `None` as null and an integer as a string of decimal digits.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: Integer, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.collect_str(value),
            None => serializer.serialize_none(),
        }
    }

    /// Reads null, a string of decimal digits, or a number.
    ///
    /// # Errors
    /// As for the integer itself.
    pub fn deserialize<'de, T: Integer, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        let value = Option::<Wrapped<T>>::deserialize(deserializer)?;
        Ok(value.map(|Wrapped(value)| value))
    }

    struct Wrapped<T>(T);

    impl<'de, T: Integer> Deserialize<'de> for Wrapped<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            super::deserialize(deserializer).map(Self)
        }
    }
}
