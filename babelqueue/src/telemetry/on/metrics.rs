//! The instruments: names, units and descriptions of all metrics. They follow OpenTelemetry's
//! messaging conventions where those have one.

use opentelemetry::metrics::{Counter, Histogram, Meter, UpDownCounter};

use super::Counted;
use super::tallies::Tellers;

/// The buckets that the conventions advise for durations, in seconds.
const DURATIONS: [f64; 14] = [
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
];

/// Long polls take up to 20 s.
const CALLS: [f64; 15] = [
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0,
];

/// Messages wait for milliseconds, or for hours.
const WAITS: [f64; 14] = [
    0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 43_200.0,
];

pub(super) struct Instruments {
    pub(super) sent: Counter<u64>,
    pub(super) handled: Counter<u64>,
    pub(super) handling: Histogram<f64>,
    pub(super) waited: Histogram<f64>,
    pub(super) calls: Histogram<f64>,
    pub(super) in_flight: UpDownCounter<i64>,
    pub(super) running: UpDownCounter<i64>,
    pub(super) buffered: UpDownCounter<i64>,
    pub(super) counted: [Counter<u64>; Counted::ALL.len()],
    pub(super) tellers: Tellers,
}

impl Instruments {
    pub(super) fn new(meter: &Meter) -> Self {
        let counter = |name: &'static str, unit: &'static str, text: &'static str| {
            let counter = meter.u64_counter(name).with_unit(unit);
            counter.with_description(text).build()
        };
        let seconds = |name: &'static str, buckets: &[f64], text: &'static str| {
            let histogram = meter.f64_histogram(name).with_unit("s");
            let histogram = histogram.with_boundaries(buckets.to_vec());
            histogram.with_description(text).build()
        };
        let level = |name: &'static str, text: &'static str| {
            let level = meter.i64_up_down_counter(name).with_unit("{message}");
            level.with_description(text).build()
        };
        let tellers = Tellers::default();
        let all = tellers.clone();
        // It never has a value: it is there to be asked before the others are read.
        let asked = meter.u64_observable_gauge("babelqueue.asked");
        asked.with_callback(move |_| all.tell()).build();
        Self {
            tellers,
            sent: counter(
                "messaging.client.sent.messages",
                "{message}",
                "Messages published, by URN; those that failed have an error.type.",
            ),
            handled: counter(
                "babelqueue.consumer.handled",
                "{message}",
                "Messages decided about, by URN and outcome.",
            ),
            handling: seconds(
                "messaging.process.duration",
                &DURATIONS,
                "How long handlers take, by URN and outcome.",
            ),
            waited: seconds(
                "babelqueue.consumer.time_in_queue",
                &WAITS,
                "From the send of a message to the start of its handler, by URN.",
            ),
            calls: seconds(
                "messaging.client.operation.duration",
                &CALLS,
                "How long calls of SQS take, by operation; those that failed have an error.type.",
            ),
            in_flight: level(
                "babelqueue.consumer.in_flight",
                "Messages received and not settled.",
            ),
            running: level("babelqueue.consumer.running", "Handlers running."),
            buffered: level(
                "babelqueue.publisher.buffered",
                "Messages in the buffer of a publisher, those in a call included.",
            ),
            counted: Counted::ALL.map(|counted| {
                let (name, unit, text) = counted.described();
                counter(name, unit, text)
            }),
        }
    }
}
