//! Comparisons of JSON: deep and typed, numbers by value (SPEC §5.4).

use serde_json::Value;

use crate::ensure;
use crate::run::Verdict;

/// Deep, typed equality: true is not 1, `{}` is not `[]`, 1 is 1.0.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i128(), b.as_i128()) {
            (Some(a), Some(b)) => a == b,
            _ => a.as_f64() == b.as_f64(),
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let pair = |(name, a): (&String, &Value)| b.get(name).is_some_and(|b| same(a, b));
            a.len() == b.len() && a.iter().all(pair)
        }
        _ => a == b,
    }
}

pub fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("not JSON: {error}: {text}"))
}

pub fn expect(what: &str, found: &Value, expected: &Value) -> Verdict {
    ensure!(
        same(found, expected),
        "{what} is {found}, expected {expected}"
    );
    Ok(())
}

/// Every pointer holds its value; nothing is asked when there is no such list.
pub fn preserved(document: &Value, pointers: &Value) -> Verdict {
    for (pointer, expected) in pointers.as_object().into_iter().flatten() {
        match document.pointer(pointer) {
            Some(found) => expect(pointer, found, expected)?,
            None => return Err(format!("{pointer} is missing")),
        }
    }
    Ok(())
}

/// None of the pointers is there.
pub fn absent(document: &Value, pointers: &Value) -> Verdict {
    for pointer in pointers.as_array().into_iter().flatten() {
        let pointer = pointer.as_str().unwrap_or_default();
        ensure!(pointer.starts_with('/'), "{pointer:?} is no pointer");
        ensure!(
            document.pointer(pointer).is_none(),
            "{pointer} is still there"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_count_and_numbers_go_by_value() {
        for (a, b) in [
            (json!(1), json!(1.0)),
            (json!({"a": [1, null]}), json!({"a": [1.0, null]})),
        ] {
            assert!(same(&a, &b), "{a} {b}");
        }
        for (a, b) in [
            (json!(1), json!(true)),
            (json!({}), json!([])),
            (json!("1"), json!(1)),
            (json!([1]), json!([1, 2])),
            (json!({"a": 1}), json!({"b": 1})),
            (json!(null), json!({})),
        ] {
            assert!(!same(&a, &b), "{a} {b}");
        }
    }
}
