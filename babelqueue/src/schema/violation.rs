//! What is wrong with a payload: where, and by which of the family's codes.

use std::fmt;

/// One violation of a schema; its text is `<path>: <code>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Violation {
    /// Where: member names joined by dots, `[i]` for elements, empty for the payload itself.
    pub path: String,
    /// What.
    pub code: Code,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "<root>"
        } else {
            &self.path
        };
        write!(f, "{path}: {}", self.code)
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The codes of the family (SPEC §3.6).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// The code as text.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

codes! {
    /// Additional members are not allowed and this is one.
    AdditionalNotAllowed = "additional_not_allowed",
    /// Less than `minLength` code points.
    BelowMinLength = "below_min_length",
    /// Less than `minimum`.
    BelowMinimum = "below_minimum",
    /// A required member is missing; the path names it.
    MissingRequired = "missing_required",
    /// Not a boolean.
    NotABoolean = "not_a_boolean",
    /// Not a number.
    NotANumber = "not_a_number",
    /// Not a string.
    NotAString = "not_a_string",
    /// Not an array.
    NotAnArray = "not_an_array",
    /// Not a number without a fraction.
    NotAnInteger = "not_an_integer",
    /// Not an object.
    NotAnObject = "not_an_object",
    /// None of the values of `enum`.
    NotInEnum = "not_in_enum",
    /// Not null.
    NotNull = "not_null",
    /// Not the value of `const`.
    WrongConst = "wrong_const",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
