//! Timing: the candidates take turns, so that whatever else the machine does hits all of them, and
//! of each the best turn counts. Turns are shorter than what a scheduler gives at once, and many:
//! on a busy machine some of them still have a core to themselves.

use std::time::{Duration, Instant};

const TURNS: usize = 800;
const TURN: Duration = Duration::from_micros(600);

/// Nanoseconds per call of each.
pub fn compare<const N: usize>(mut candidates: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut calls = [1_u32; N];
    // How many calls fill a turn; this warms up too.
    for (candidate, calls) in candidates.iter_mut().zip(&mut calls) {
        while turn(candidate, *calls) < TURN {
            *calls *= 2;
        }
    }
    let mut best = [f64::INFINITY; N];
    for _ in 0..TURNS {
        for ((candidate, calls), best) in candidates.iter_mut().zip(calls).zip(&mut best) {
            let time = turn(candidate, calls).as_nanos() as f64 / f64::from(calls);
            *best = best.min(time);
        }
    }
    best
}

fn turn(candidate: &mut dyn FnMut(), calls: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        candidate();
    }
    start.elapsed()
}

/// One line of the table; a bound that is no number is no bound.
pub fn verdict(name: &str, this: f64, reference: f64, bound: f64) {
    let ratio = this / reference;
    let (this, reference) = (nanos(this), nanos(reference));
    let bound = if bound.is_nan() {
        String::new()
    } else if ratio <= bound {
        format!("≤ {bound}")
    } else {
        format!("≤ {bound} MISSED")
    };
    println!("  {name:<32} {this:>11} {reference:>11} {ratio:>6.2}  {bound}");
}

pub fn nanos(nanos: f64) -> String {
    if nanos < 10_000.0 {
        format!("{nanos:.0} ns")
    } else {
        format!("{:.1} µs", nanos / 1000.0)
    }
}
