//! The engine against a model of it that is plain and slow: random calls at random
//! moments, and after every one of them the two must agree.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use super::limits::MAX_BATCH;
use super::receive::Receive;
use super::send::Send;
use super::{Engine, Settings};
use crate::local::clock::{At, Clock};

#[derive(Clone, Debug)]
struct Modelled {
    group: String,
    sent: At,
    /// Until when it is delayed or in flight.
    hidden_until: At,
    in_flight: bool,
    handle: Option<String>,
}

#[derive(Default)]
struct Model {
    /// By the number that is the message's body, which is also the order of sending.
    messages: BTreeMap<u32, Modelled>,
}

impl Model {
    fn advance(&mut self, now: At, retention: u32) {
        self.messages
            .retain(|_, it| it.sent.plus_secs(retention) > now);
        for it in self.messages.values_mut() {
            if it.hidden_until <= now {
                it.in_flight = false;
            }
        }
    }

    /// What a receive could give, in order: on a FIFO queue only of groups that are not locked,
    /// and of each as far as its first message that is delayed.
    fn deliverable(&self, fifo: bool, now: At) -> BTreeSet<u32> {
        let locked: BTreeSet<&str> = self
            .messages
            .values()
            .filter(|it| it.in_flight)
            .map(|it| it.group.as_str())
            .collect();
        let mut blocked = BTreeSet::new();
        let mut deliverable = BTreeSet::new();
        for (&number, it) in &self.messages {
            let hidden = it.hidden_until > now;
            let waits = fifo && (locked.contains(it.group.as_str()) || blocked.contains(&it.group));
            if hidden {
                blocked.insert(it.group.clone());
            } else if !waits {
                deliverable.insert(number);
            }
        }
        deliverable
    }
}

fn run(seed: u64, fifo: bool) {
    let mut random = fastrand::Rng::with_seed(seed);
    let clock = Clock::new(SystemTime::UNIX_EPOCH);
    let mut now = clock.now();
    let mut engine = Engine::new(Settings::default(), clock.wall());
    let name = if fifo { "q.fifo" } else { "q" };
    let mut attributes = BTreeMap::from([
        ("MessageRetentionPeriod".to_owned(), "60".to_owned()),
        ("VisibilityTimeout".to_owned(), "5".to_owned()),
    ]);
    if fifo {
        attributes.insert("FifoQueue".to_owned(), "true".to_owned());
        attributes.insert("DelaySeconds".to_owned(), random.u32(0..3).to_string());
    }
    let delay: u32 = attributes
        .get("DelaySeconds")
        .map_or(0, |text| text.parse().unwrap());
    engine
        .create_queue(name, attributes, BTreeMap::new(), now)
        .unwrap();
    let mut model = Model::default();
    for number in 0..400 {
        now = now.plus(Duration::from_millis(random.u64(0..1500)));
        model.advance(now, 60);
        match random.u32(0..10) {
            0..=3 => {
                let delay = if fifo { delay } else { random.u32(0..4) };
                let group = format!("g{}", random.u32(0..4));
                let send = Send {
                    body: number.to_string(),
                    delay: (!fifo).then_some(i64::from(delay)),
                    group: Some(group.clone()),
                    dedup: fifo.then(|| number.to_string()),
                    ..Send::default()
                };
                engine.send(name, send, now).unwrap();
                let it = Modelled {
                    group,
                    sent: now,
                    hidden_until: now.plus_secs(delay),
                    in_flight: false,
                    handle: None,
                };
                model.messages.insert(number, it);
            }
            4..=6 => receive(&mut engine, &mut model, name, fifo, &mut random, now),
            kind => {
                let taken: Vec<u32> = model
                    .messages
                    .iter()
                    .filter(|(_, it)| it.in_flight)
                    .map(|it| *it.0)
                    .collect();
                let Some(&number) = taken.get(random.usize(..taken.len().max(1))) else {
                    continue;
                };
                let it = model.messages.get_mut(&number).unwrap();
                let handle = it.handle.clone().unwrap();
                if kind == 7 {
                    engine.delete(name, &handle, now).unwrap();
                    model.messages.remove(&number);
                } else {
                    let seconds = random.u32(0..8);
                    engine
                        .change_visibility(name, &handle, i64::from(seconds), now)
                        .unwrap();
                    it.hidden_until = now.plus_secs(seconds);
                    it.in_flight = seconds > 0;
                }
            }
        }
        agree(&mut engine, &model, name, now);
    }
}

fn receive(
    engine: &mut Engine,
    model: &mut Model,
    name: &str,
    fifo: bool,
    random: &mut fastrand::Rng,
    now: At,
) {
    let visibility = random.u32(1..8);
    let request = Receive {
        max: random.usize(1..=MAX_BATCH),
        visibility: Some(visibility),
        ..Receive::default()
    };
    let possible = model.deliverable(fifo, now);
    let received = engine.receive(name, &request, now).unwrap();
    assert_eq!(received.len(), possible.len().min(request.max));
    let mut last_of_group = BTreeMap::new();
    for it in &received {
        let number: u32 = it.message.body.parse().unwrap();
        assert!(possible.contains(&number), "{number} is not deliverable");
        let modelled = model.messages.get_mut(&number).unwrap();
        if fifo {
            let before = last_of_group.insert(modelled.group.clone(), number);
            assert!(before.is_none_or(|before| before < number), "out of order");
        }
        modelled.in_flight = true;
        modelled.hidden_until = now.plus_secs(visibility);
        modelled.handle = Some(it.handle.clone());
    }
    // Nothing of a group was skipped.
    for (group, last) in last_of_group {
        let skipped = possible.iter().find(|&&number| {
            let it = &model.messages[&number];
            number < last && it.group == group && !it.in_flight
        });
        assert_eq!(skipped, None);
    }
}

fn agree(engine: &mut Engine, model: &Model, name: &str, now: At) {
    let due = engine.next_due(name);
    let counts = engine.queue(name, now).unwrap().counts;
    let in_flight = model.messages.values().filter(|it| it.in_flight).count();
    let delayed = model
        .messages
        .values()
        .filter(|it| !it.in_flight && it.hidden_until > now)
        .count();
    assert_eq!(counts.in_flight, in_flight);
    assert_eq!(counts.delayed, delayed);
    assert_eq!(counts.visible, model.messages.len() - in_flight - delayed);
    let shown = model
        .messages
        .values()
        .map(|it| it.hidden_until)
        .filter(|&at| at > now);
    let expired = model.messages.values().map(|it| it.sent.plus_secs(60));
    assert_eq!(due, shown.chain(expired).min());
}

#[test]
fn a_standard_queue_does_what_its_model_does() {
    for seed in 0..200 {
        run(seed, false);
    }
}

#[test]
fn a_fifo_queue_does_what_its_model_does() {
    for seed in 0..200 {
        run(seed, true);
    }
}

/// What a queue holds on to must not grow with what has passed through it.
#[test]
fn a_queue_forgets_what_has_passed_through_it() {
    let clock = Clock::new(SystemTime::UNIX_EPOCH);
    let now = clock.now();
    let mut engine = Engine::new(Settings::default(), clock.wall());
    engine
        .create_queue("q", BTreeMap::new(), BTreeMap::new(), now)
        .unwrap();
    let request = Receive {
        max: 1,
        ..Receive::default()
    };
    let send = |engine: &mut Engine, body: &str| {
        let send = Send {
            body: body.to_owned(),
            ..Send::default()
        };
        engine.send("q", send, now).unwrap();
    };
    send(&mut engine, "stays");
    let stays = engine.receive("q", &request, now).unwrap();
    for _ in 0..10_000 {
        send(&mut engine, "passes");
        let received = engine.receive("q", &request, now).unwrap();
        engine.delete("q", &received[0].handle, now).unwrap();
    }
    let queue = engine.queue("q", now).unwrap();
    assert_eq!(queue.counts.in_flight, 1);
    assert!(queue.footprint() < 500, "{}", queue.footprint());
    let later = now.plus_secs(30);
    let again = engine.receive("q", &request, later).unwrap();
    assert_eq!(again[0].message.id, stays[0].message.id);
}
