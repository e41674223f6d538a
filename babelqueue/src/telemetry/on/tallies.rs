//! What is counted beside spans. A message only costs additions here: the counters and levels are
//! told when somebody reads them, because finding its place by labels costs an instrument more
//! than all the rest of it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, UpDownCounter};

use super::attributes::{OPERATION_NAME, OUTCOME, URN};
use super::metrics::Instruments;
use super::observer::Observed;
use super::urns::{OTHER, Urns};
use super::{Counted, Ended};

/// Counted, and not told yet.
#[derive(Default)]
pub(super) struct Tally(AtomicI64);

impl Tally {
    pub(super) fn add(&self, n: i64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    fn tell(&self, counter: &Counter<u64>, labels: &[KeyValue]) {
        match u64::try_from(self.0.swap(0, Ordering::Relaxed)) {
            Ok(0) | Err(_) => {}
            Ok(n) => counter.add(n, labels),
        }
    }
}

/// Something that goes up and down; told from its first change on, be it back at zero.
#[derive(Default)]
pub(super) struct Level(OnceLock<Tally>);

impl Level {
    pub(super) fn add(&self, n: i64) {
        self.0.get_or_init(Tally::default).add(n);
    }

    fn tell(&self, level: &UpDownCounter<i64>, labels: &[KeyValue]) {
        if let Some(Tally(pending)) = self.0.get() {
            level.add(pending.swap(0, Ordering::Relaxed), labels);
        }
    }
}

/// Counted under labels of its own.
pub(super) struct Labelled {
    pub(super) labels: Vec<KeyValue>,
    pub(super) tally: Tally,
}

impl Labelled {
    fn new(labels: Vec<KeyValue>) -> Self {
        let tally = Tally::default();
        Self { labels, tally }
    }
}

/// The messages of one URN that a consumer has.
pub(super) struct OfUrn {
    pub(super) labels: Vec<KeyValue>,
    ended: [Labelled; Ended::ALL.len()],
    /// How long handlers take has one label more.
    timed: [Vec<KeyValue>; Ended::ALL.len()],
}

impl OfUrn {
    pub(super) fn ended(&self, ended: Ended) -> &Labelled {
        // There is one for each.
        &self.ended[ended as usize]
    }

    /// The labels of its duration.
    pub(super) fn timed(&self, ended: Ended) -> &[KeyValue] {
        &self.timed[ended as usize]
    }
}

/// All that is counted of one queue.
#[derive(Default)]
pub(super) struct Tallies {
    pub(super) counted: [Tally; Counted::ALL.len()],
    pub(super) in_flight: Level,
    pub(super) running: Level,
    pub(super) buffered: Level,
    consumed: Urns<OfUrn>,
    sent: Urns<Labelled>,
}

impl Observed {
    /// The messages of this URN for a consumer. Those that its router does not name are one.
    pub(super) fn consumed(&self, urn: Option<&str>) -> Arc<OfUrn> {
        let make = |urn: Arc<str>| {
            let labels = self.labelled([KeyValue::new(URN, urn)]);
            let ended = Ended::ALL.map(|ended| {
                let mut labels = labels.clone();
                labels.push(KeyValue::new(OUTCOME, ended.as_str()));
                Labelled::new(labels)
            });
            let timed = ended.each_ref().map(|ended| {
                let process = KeyValue::new(OPERATION_NAME, "process");
                [&ended.labels[..], &[process]].concat()
            });
            OfUrn {
                labels,
                ended,
                timed,
            }
        };
        self.tallies.consumed.of(urn.unwrap_or(OTHER), true, make)
    }

    /// The messages of this URN that a publisher has sent.
    pub(super) fn sent(&self, urn: &str, named: bool) -> Arc<Labelled> {
        self.tallies.sent.of(urn, named, |urn| {
            let more = [
                KeyValue::new(OPERATION_NAME, "send"),
                KeyValue::new(URN, urn),
            ];
            Labelled::new(self.labelled(more))
        })
    }

    /// Tells the instruments what they have not been told yet.
    fn tell(&self) {
        let Some(instruments) = &self.telemetry.instruments else {
            return;
        };
        let tallies = &self.tallies;
        let received = self.labelled([KeyValue::new(OPERATION_NAME, "receive")]);
        for counted in Counted::ALL {
            let counter = instruments.counted(counted);
            let labels = match counted {
                Counted::Received => &received[..],
                _ => &self.labels,
            };
            tallies.counted[counted as usize].tell(counter, labels);
        }
        tallies.in_flight.tell(&instruments.in_flight, &self.labels);
        tallies.running.tell(&instruments.running, &self.labels);
        tallies.buffered.tell(&instruments.buffered, &self.labels);
        for of_urn in tallies.consumed.all() {
            for ended in &of_urn.ended {
                ended.tally.tell(&instruments.handled, &ended.labels);
            }
        }
        for sent in tallies.sent.all() {
            sent.tally.tell(&instruments.sent, &sent.labels);
        }
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.tell();
    }
}

/// All that have something to tell to the same instruments.
#[derive(Clone, Default)]
pub(super) struct Tellers(Arc<Mutex<Vec<Weak<Observed>>>>);

impl Tellers {
    pub(super) fn add(&self, observed: &Arc<Observed>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Perhaps nobody ever reads: those that are gone must not add up.
        if all.len() == all.capacity() {
            all.retain(|one| one.strong_count() > 0);
        }
        all.push(Arc::downgrade(observed));
    }

    /// Those that are left.
    fn all(&self) -> Vec<Arc<Observed>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.strong_count() > 0);
        all.iter().filter_map(Weak::upgrade).collect()
    }

    /// Somebody reads: all of them tell.
    pub(super) fn tell(&self) {
        for observed in self.all() {
            observed.tell();
        }
    }
}

impl Instruments {
    fn counted(&self, counted: Counted) -> &Counter<u64> {
        &self.counted[counted as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Telemetry;
    use super::Tellers;

    #[test]
    fn what_is_gone_is_forgotten_though_nobody_reads() {
        let meters = opentelemetry::global::meter_provider();
        let telemetry = Telemetry::builder().meter_provider(&*meters).build();
        let kept = telemetry.observer("orders", None);
        for _ in 0..1000 {
            drop(telemetry.observer("orders", None));
        }
        let observed = kept.observed.as_ref().expect("telemetry is on");
        let instruments = observed.telemetry.instruments.as_ref();
        let Tellers(all) = &instruments.expect("there are meters").tellers;
        let all = all.lock().expect("nobody panicked");
        assert!(all.len() < 10, "{}", all.len());
        assert_eq!(all.iter().filter(|one| one.strong_count() > 0).count(), 1);
    }
}
