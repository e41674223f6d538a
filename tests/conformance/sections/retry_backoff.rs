//! Section `retry_backoff`: the pure formula.

use babelqueue::{Backoff, Jitter};
use serde_json::json;

use crate::case::Case;
use crate::compare::expect;
use crate::ensure;
use crate::run::Verdict;

pub fn run(case: &Case) -> Verdict {
    let number = |name: &str| {
        let number = case.value[name].as_f64();
        number.ok_or_else(|| format!("the case has no number {name:?}"))
    };
    let jitter = match case.text("retry_jitter")? {
        "none" => Jitter::None,
        "full" => Jitter::Full,
        other => return Err(format!("unknown jitter {other}")),
    };
    let (base, multiplier) = (
        number("retry_backoff")?,
        number("retry_backoff_multiplier")?,
    );
    let backoff = Backoff::from_seconds(base, multiplier, number("retry_backoff_max")?, jitter);
    backoff.validate().map_err(|error| error.to_string())?;
    let n = case.value["n"].as_u64().ok_or("no n")?;
    if jitter == Jitter::None {
        // Whatever is drawn.
        for uniform in [0.0, 0.3, 1.0] {
            let delay = json!(backoff.delay_seconds(n, uniform));
            expect("the delay", &delay, &case.value["expect_delay_seconds"])?;
        }
        return Ok(());
    }
    let range = &case.value["expect_delay_range_seconds"];
    expect(
        "the least",
        &json!(backoff.delay_seconds(n, 0.0)),
        &range["min"],
    )?;
    expect(
        "the most",
        &json!(backoff.delay_seconds(n, 1.0)),
        &range["max"],
    )?;
    let (min, max) = (range["min"].as_f64(), range["max"].as_f64());
    for _ in 0..100 {
        let delay = Some(backoff.delay_seconds(n, fastrand::f64()));
        ensure!(min <= delay && delay <= max, "{delay:?} is not in {range}");
    }
    Ok(())
}
