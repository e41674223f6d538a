//! Numbers as validation compares them: by value and exactly, whatever their spelling, so that
//! 2^53 and 2^53 + 1 stay two numbers and 10^25 stays one.

use std::cmp::Ordering;

/// A JSON number: `0.digits · 10^point`. There is one form for each value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    negative: bool,
    /// The significant digits, as characters; none for zero.
    digits: Vec<u8>,
    point: i64,
}

impl Number {
    /// Reads the text of a JSON number; `None` for anything else and for what no double holds.
    pub(super) fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|real: &f64| real.is_finite())?;
        let (negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits = [whole, fraction].concat().into_bytes();
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..zeros);
        while digits.pop_if(|digit| *digit == b'0').is_some() {}
        if digits.is_empty() {
            let (negative, point) = (false, 0);
            return Some(Self {
                negative,
                digits,
                point,
            });
        }
        // A finite number has no exponent beyond 64 bits but a negative one.
        let exponent: i64 = exponent.parse().unwrap_or(i64::MIN);
        let places = i64::try_from(whole.len()).ok()? - i64::try_from(zeros).ok()?;
        let point = exponent.saturating_add(places);
        Some(Self {
            negative,
            digits,
            point,
        })
    }

    /// Whether it has no fraction; `1.0` has none.
    pub(super) fn is_whole(&self) -> bool {
        usize::try_from(self.point).is_ok_and(|point| point >= self.digits.len())
    }

    /// As the least count that is not below it; `None` when it bounds nothing.
    pub(super) fn at_least(&self) -> Option<u64> {
        if self.negative || self.digits.is_empty() {
            return None;
        }
        let places = usize::try_from(self.point).unwrap_or(0);
        let digits = self.digits.iter().chain(std::iter::repeat(&b'0'));
        let below = digits.take(places).try_fold(0_u64, |count, digit| {
            count.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        });
        let count = below.and_then(|below| below.checked_add(u64::from(!self.is_whole())));
        Some(count.unwrap_or(u64::MAX))
    }

    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, negative) => 1 - 2 * i8::from(negative),
        }
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sign().cmp(&other.sign()).then_with(|| {
            let order = (self.point, &self.digits).cmp(&(other.point, &other.digits));
            if self.negative {
                order.reverse()
            } else {
                order
            }
        })
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(a: &str, b: &str) -> Ordering {
        let number = |text| Number::parse(text).expect("a number");
        number(a).cmp(&number(b))
    }

    #[test]
    fn numbers_compare_by_value() {
        for (a, b) in [
            ("1", "1.0"),
            ("100", "1e2"),
            ("-0", "0.0"),
            ("0", "-0.0"),
            ("0.5", "5e-1"),
            ("10000000000000000000000000", "1e25"),
            ("-0.00120e3", "-12E-1"),
            ("0e99999999999999999999", "0"),
        ] {
            assert_eq!(compare(a, b), Ordering::Equal, "{a} {b}");
        }
        for (less, more) in [
            ("1", "1.5"),
            ("-1.5", "-1"),
            ("-2", "-1.5"),
            ("9007199254740992", "9007199254740993"),
            ("18446744073709551615", "18446744073709551616"),
            ("10000000000000000000000000", "10000000000000000000000001"),
            ("0", "1e-99999999999999999999"),
            ("0.1", "0.10000000000000000000001"),
            ("-0.1", "0"),
            ("99", "100"),
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
            ("1.5e1", true),
            ("15e-1", false),
            ("0.0", true),
        ] {
            let number = Number::parse(text);
            assert_eq!(
                number.is_some_and(|number| number.is_whole()),
                whole,
                "{text}"
            );
        }
    }

    #[test]
    fn counts_are_rounded_up_and_saturate() {
        for (text, count) in [
            ("0", None),
            ("-2", None),
            ("2", Some(2)),
            ("20", Some(20)),
            ("1.5", Some(2)),
            ("0.01", Some(1)),
            ("18446744073709551615", Some(u64::MAX)),
            ("1e300", Some(u64::MAX)),
        ] {
            let number = Number::parse(text).expect("a number");
            assert_eq!(number.at_least(), count, "{text}");
        }
    }
}
