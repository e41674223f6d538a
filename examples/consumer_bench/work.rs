//! The messages and their handler: typed, and as good as empty.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Notify;

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
pub(crate) struct Order {
    pub(crate) order_id: usize,
    pub(crate) customer: String,
    pub(crate) sent_at: u64,
    pub(crate) slow: bool,
    pub(crate) lines: Vec<Line>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) sku: String,
    pub(crate) count: u32,
}

/// An envelope of some 400 bytes.
pub(crate) fn body(i: usize, micros: u128, slow: bool) -> String {
    let lines = [("A-1", 2), ("B-22", 1), ("C-333", 7)];
    let lines = lines.map(|(sku, count)| json!({ "sku": sku, "count": count }));
    let data = json!({
        "order_id": i, "customer": "Ada Lovelace", "sent_at": micros as u64, "slow": slow,
        "lines": lines,
    });
    let meta = json!({
        "id": format!("0190a1b2-0000-7000-8000-{i:012}"), "queue": "bench", "lang": "rust",
        "schema_version": 1, "created_at": 1_749_132_727_000_u64,
    });
    json!({
        "job": Order::URN, "trace_id": "4bf92f35-77b3-4da6-a3ce-929d0e0e4736", "data": data,
        "meta": meta, "attempts": 0,
    })
    .to_string()
}

/// What the handlers have done so far.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    done: AtomicUsize,
    expected: AtomicUsize,
    complete: Notify,
    latencies: Mutex<Vec<u64>>,
}

impl Tally {
    pub(crate) fn expecting(messages: usize) -> Self {
        let tally = Self::default();
        tally.inner.expected.store(messages, Ordering::Relaxed);
        tally
    }

    pub(crate) fn count(&self, order: &Order) {
        std::hint::black_box(&order.lines);
        let done = self.inner.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done >= self.inner.expected.load(Ordering::Relaxed) {
            self.inner.complete.notify_one();
        }
    }

    pub(crate) fn done(&self) -> usize {
        self.inner.done.load(Ordering::Relaxed)
    }

    pub(crate) async fn complete(&self) {
        self.inner.complete.notified().await;
    }

    /// Milliseconds at 50 and 99 of 100.
    pub(crate) fn percentiles(&self) -> (f64, f64) {
        let mut latencies = match self.inner.latencies.lock() {
            Ok(latencies) => latencies.clone(),
            Err(poison) => poison.into_inner().clone(),
        };
        latencies.sort_unstable();
        let at = |percent: usize| {
            let place = latencies.len() * percent / 100;
            latencies.get(place).copied().unwrap_or_default() as f64 / 1000.0
        };
        (at(50), at(99))
    }
}

#[babel_handler]
pub(crate) async fn count(order: Order, State(tally): State<Tally>) {
    tally.count(&order);
}

/// Never ends.
#[babel_handler]
pub(crate) async fn hold(order: Order, State(tally): State<Tally>) {
    tally.count(&order);
    std::future::pending::<()>().await;
}

/// Slow when the message says so; the others tell how old they are.
#[babel_handler]
pub(crate) async fn latency(order: Order, State(tally): State<Tally>) {
    if order.slow {
        tokio::time::sleep(Duration::from_secs(3)).await;
        return;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let age = (now.unwrap_or_default().as_micros() as u64).saturating_sub(order.sent_at);
    if let Ok(mut latencies) = tally.inner.latencies.lock() {
        latencies.push(age);
    }
    tally.count(&order);
}
