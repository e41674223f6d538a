//! The delays and settings of the retry backoff.

use serde_json::json;

use super::*;

fn plain() -> RetryBackoff {
    RetryBackoff::new().jitter_ratio(0.0)
}

#[test]
fn b9_the_table_of_the_defaults() {
    let backoff = RetryBackoff::new();
    let rows = [
        (1, 60, 72),
        (2, 120, 144),
        (3, 240, 288),
        (4, 480, 576),
        (5, 900, 900),
    ];
    for (attempt, least, most) in rows {
        let at = |uniform| backoff.applied(attempt, RetryOptions::new(), uniform, Duration::ZERO);
        assert_eq!((at(0.0), at(0.999_999)), (least, most), "attempt {attempt}");
    }
    for attempt in [6, 70, 3000, u64::MAX] {
        let at = backoff.applied(attempt, RetryOptions::new(), 0.5, Duration::ZERO);
        assert_eq!(at, 900, "attempt {attempt}");
    }
    let minimum = RetryOptions::new().min_delay_seconds(300.0);
    let waits = [1, 2, 3, 4].map(|n| backoff.applied(n, minimum, 0.0, Duration::ZERO));
    assert_eq!(waits, [300, 300, 300, 480]);
}

#[test]
fn b11_the_base_is_the_floor_and_jitter_only_lengthens() {
    let long = RetryBackoff::new().max_delay_seconds(43_200.0);
    for attempt in 1..12 {
        let at = |uniform| long.applied(attempt, RetryOptions::new(), uniform, Duration::ZERO);
        let nominal = (60.0 * 2_f64.powi(attempt as i32 - 1)).min(42_870.0) as i32;
        assert!(at(0.0) == nominal && at(0.9) >= nominal);
    }
    for low in [-5.0, 0.0, 3.0, 59.9] {
        let exact = RetryOptions::new().delay_seconds(low);
        assert_eq!(long.applied(4, exact, 0.9, Duration::ZERO), 60);
    }
}

#[test]
fn b13_an_exact_delay_has_neither_formula_nor_minimum_nor_jitter() {
    let options = RetryOptions::new()
        .delay_seconds(100.2)
        .min_delay_seconds(500.0);
    assert_eq!(
        RetryBackoff::new().applied(7, options, 0.9, Duration::ZERO),
        101
    );
    let options = RetryOptions::new().delay_seconds(5_000.0);
    assert_eq!(
        RetryBackoff::new().applied(1, options, 0.9, Duration::ZERO),
        900
    );
    // What is not finite is not there.
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let options = RetryOptions::new()
            .delay_seconds(odd)
            .min_delay_seconds(odd);
        assert_eq!(plain().applied(2, options, 0.0, Duration::ZERO), 120);
    }
}

#[test]
fn b14_a_wait_ends_within_twelve_hours_of_the_receive() {
    let long = plain().max_delay_seconds(43_200.0);
    let at = |seconds| long.applied(40, RetryOptions::new(), 0.0, Duration::from_secs(seconds));
    assert_eq!((at(0), at(100), at(900)), (42_870, 42_770, 41_970));
    assert_eq!(at(90_000), 1, "nothing is left");
    let small = plain().base_delay_seconds(0.2).max_delay_seconds(0.5);
    assert_eq!(
        small.applied(1, RetryOptions::new(), 0.0, Duration::ZERO),
        1
    );
}

#[test]
fn b18_the_public_calculation() {
    let defaults = retry_delay_seconds(2, None, None).expect("the defaults are valid");
    assert!((120.0..=144.0).contains(&defaults));
    assert_eq!(
        retry_delay_seconds(0, Some(&plain()), None).ok(),
        Some(60.0)
    );
    assert_eq!(
        retry_delay_seconds(1, Some(&plain()), Some(300.0)).ok(),
        Some(300.0)
    );
    let long = plain().max_delay_seconds(43_200.0);
    let uncapped = retry_delay_seconds(40, Some(&long), None).ok();
    assert_eq!(uncapped, Some(43_200.0), "the invocation caps nothing here");
    let invalid = RetryBackoff::new().base_delay_seconds(1_000.0);
    let error = retry_delay_seconds(1, Some(&invalid), None).expect_err("above the max");
    assert!(
        error.to_string().contains("base_delay_seconds of 1000"),
        "{error}"
    );
}

#[test]
fn b8_the_bounds_of_the_settings() {
    let new = RetryBackoff::new;
    for good in [
        new(),
        new().base_delay_seconds(0.1),
        new().max_delay_seconds(43_200.0),
        new().base_delay_seconds(900.0),
        new().jitter_ratio(0.999),
        new().base_delay_seconds(0.1).max_delay_seconds(0.5),
    ] {
        assert!(good.validate().is_ok(), "{good:?}");
    }
    for bad in [
        new().base_delay_seconds(0.0),
        new().base_delay_seconds(-1.0),
        new().base_delay_seconds(f64::NAN),
        new().base_delay_seconds(901.0),
        new().max_delay_seconds(43_201.0),
        new().max_delay_seconds(f64::INFINITY),
        new().max_delay_seconds(30.0),
        new().jitter_ratio(1.0),
        new().jitter_ratio(-0.1),
        new().jitter_ratio(f64::NAN),
    ] {
        assert!(bad.validate().is_err(), "{bad:?}");
    }
}

#[test]
fn b7_the_forms_of_the_setting() {
    let read = |value: Value| RetrySetting::from(value).validate();
    for off in [json!(null), json!(false)] {
        assert!(matches!(read(off), Ok(None)));
    }
    for on in [json!(true), json!({})] {
        assert_eq!(read(on).ok().flatten(), Some(RetryBackoff::default()));
    }
    let part = read(json!({ "baseDelaySeconds": 30, "jitter_ratio": 0 }));
    let expected = RetryBackoff::new()
        .base_delay_seconds(30.0)
        .jitter_ratio(0.0);
    assert_eq!(part.ok().flatten(), Some(expected));
    for bad in [
        json!(60),
        json!("on"),
        json!([]),
        json!({ "base_delay_seconds": "60" }),
        json!({ "max_delay_seconds": null }),
        json!({ "base_delay_seconds": 1000 }),
    ] {
        assert!(read(bad.clone()).is_err(), "{bad}");
    }
    assert!(RetrySetting::from(false).is_off() && RetrySetting::from(None).is_off());
    assert!(!RetrySetting::from(true).is_off());
}
