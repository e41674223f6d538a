//! Numbers as validation compares them: by value, and exactly where both sides are integers, so
//! that 2^53 and 2^53 + 1 stay two numbers.

use std::cmp::Ordering;

/// A JSON number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    /// An integer literal, or a value that is one.
    Whole(i128),
    /// Anything else, as far as a double holds it.
    Real(f64),
}

/// From here on doubles are beyond `i128`.
const BEYOND: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;

impl Number {
    /// Reads the text of a JSON number; `None` for anything else and for what no double holds.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Ok(whole) = text.parse() {
            return Some(Self::Whole(whole));
        }
        let real: f64 = text.parse().ok()?;
        if !real.is_finite() {
            return None;
        }
        // In range, so the cast is exact.
        let whole = real.fract() == 0.0 && real.abs() < BEYOND;
        Some(if whole {
            Self::Whole(real as i128)
        } else {
            Self::Real(real)
        })
    }

    /// Whether it has no fraction; `1.0` has none.
    pub(super) fn is_whole(self) -> bool {
        match self {
            Self::Whole(_) => true,
            Self::Real(real) => real.fract() == 0.0,
        }
    }

    /// As the least count that is not below it; `None` when it bounds nothing.
    pub(super) fn at_least(self) -> Option<u64> {
        match self {
            Self::Whole(whole) => (whole > 0).then(|| u64::try_from(whole).unwrap_or(u64::MAX)),
            // The cast saturates.
            Self::Real(real) => (real > 0.0).then(|| real.ceil() as u64),
        }
    }

    pub(super) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(&b),
            (Self::Real(a), Self::Real(b)) => a.total_cmp(&b),
            (Self::Whole(a), Self::Real(b)) => whole_to_real(a, b),
            (Self::Real(a), Self::Whole(b)) => whole_to_real(b, a).reverse(),
        }
    }
}

fn whole_to_real(whole: i128, real: f64) -> Ordering {
    if real.abs() >= BEYOND {
        return if real > 0.0 {
            Ordering::Less
        } else {
            Ordering::Greater
        };
    }
    // In range, so the cast only drops the fraction.
    whole
        .cmp(&(real as i128))
        .then(0.0_f64.total_cmp(&real.fract()))
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.compare(*other).is_eq()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(a: &str, b: &str) -> Ordering {
        let number = |text| Number::parse(text).unwrap_or(Number::Real(f64::NAN));
        number(a).compare(number(b))
    }

    #[test]
    fn numbers_compare_by_value() {
        for (a, b) in [
            ("1", "1.0"),
            ("100", "1e2"),
            ("-0", "0.0"),
            ("0", "-0.0"),
            ("0.5", "5e-1"),
        ] {
            assert_eq!(compare(a, b), Ordering::Equal, "{a} {b}");
        }
        for (less, more) in [
            ("1", "1.5"),
            ("-1.5", "-1"),
            ("-2", "-1.5"),
            ("9007199254740992", "9007199254740993"),
            ("18446744073709551615", "18446744073709551616"),
            ("170141183460469231731687303715884105727", "1e300"),
            ("-1e300", "-170141183460469231731687303715884105728"),
        ] {
            assert_eq!(compare(less, more), Ordering::Less, "{less} {more}");
            assert_eq!(compare(more, less), Ordering::Greater, "{more} {less}");
        }
    }

    #[test]
    fn whole_numbers_are_told_by_value() {
        for (text, whole) in [
            ("1", true),
            ("1.0", true),
            ("1e400", false),
            ("1.5", false),
            ("1e40", true),
        ] {
            let number = Number::parse(text);
            assert_eq!(number.is_some_and(Number::is_whole), whole, "{text}");
        }
    }
}
