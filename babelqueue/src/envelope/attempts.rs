//! How often a message was tried: what the body says against what SQS counted.

/// Reconciles the `attempts` of a body with `ApproximateReceiveCount` (SPEC §2.9): the larger of
/// `body` and the count − 1, never lower than the body, and never below 0.
///
/// A count that is absent, not made of digits only, or at most 1 is ignored. The number of the
/// delivery is the result + 1.
///
/// ```
/// use babelqueue::envelope::reconcile_attempts;
///
/// assert_eq!(reconcile_attempts(2, Some("5")), 4);
/// assert_eq!(reconcile_attempts(5, Some("1")), 5);
/// assert_eq!(reconcile_attempts(4, Some("not-a-number")), 4);
/// ```
pub fn reconcile_attempts(body: i64, receive_count: Option<&str>) -> i64 {
    let counted = receive_count.and_then(parse_count).unwrap_or_default();
    body.max(counted.saturating_sub(1)).max(0)
}

/// A count of decimal digits; one beyond 64 bits is the largest.
fn parse_count(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(i64::MAX))
}
