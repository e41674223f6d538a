//! What goes out when, and in which order.

use super::*;
use crate::sqs::publisher::content::Content;
use crate::sqs::publisher::failure::Accepted;

const SECOND: Duration = Duration::from_secs(1);
const MILLIS: Duration = Duration::from_millis(1);

fn rules(fifo: bool) -> Rules {
    Rules {
        fifo,
        max_bytes: 1_000,
        max_calls: 2,
        linger: 5 * MILLIS,
        retry: Retry {
            backoff: crate::Backoff::fixed(SECOND),
            max_attempts: None,
            attempt: None,
            timeout: 30 * SECOND,
        },
        time_runs_from_arrival: true,
    }
}

struct Bench {
    outbox: Outbox<&'static str>,
    now: Instant,
}

fn bench(rules: Rules) -> Bench {
    let now = Instant::now();
    let outbox = Outbox::new(rules, now);
    Bench { outbox, now }
}

type Messages = Vec<Pending<&'static str>>;

impl Bench {
    /// Names of messages; the first letter is the group.
    fn push(&mut self, names: &str) {
        for name in names.split_whitespace() {
            let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
            let request = Request {
                content: Content::default(),
                delay_seconds: None,
                group_id: Some(name[..1].to_owned()),
                deduplication_id: None,
                size: 10,
                #[cfg(feature = "payload-store")]
                offloading: None,
            };
            self.outbox.push(Arc::new(request), name, false, self.now);
        }
    }

    fn take(&mut self) -> Option<Messages> {
        self.outbox.take(self.now)
    }

    fn wake(&self) -> Option<Duration> {
        let wake = self.outbox.next_wake(self.now)?;
        Some(wake.saturating_duration_since(self.now))
    }

    /// Settles a call: `+` sent, `?` retryable, `-` refused, per message. Gives `name+` of what
    /// was sent and `name-` of what was not.
    fn settle(&mut self, messages: Messages, fates: &str) -> String {
        let fate = |fate| match fate {
            '+' => Ok(Accepted::default()),
            '?' => Err(Failure::silent()),
            _ => Err(Failure::refused_for_good()),
        };
        self.answer(messages, Ok(fates.chars().map(fate).collect()))
    }

    fn answer(&mut self, messages: Messages, answer: Answer) -> String {
        let call = Call {
            messages,
            began: self.now,
            answer,
        };
        let ended = self.outbox.settle(call, self.now, 1.0);
        names_of_ended(&ended)
    }

    fn expire(&mut self) -> String {
        names_of_ended(&self.outbox.expire(self.now))
    }
}

fn names_of_ended(ended: &[Ended<&'static str>]) -> String {
    let name = |ended: &Ended<&'static str>| {
        let sign = if ended.fate.is_ok() { "+" } else { "-" };
        format!("{}{sign}", ended.receipt)
    };
    ended.iter().map(name).collect::<Vec<_>>().join(" ")
}

fn names(messages: &Option<Messages>) -> String {
    let names = messages.iter().flatten().map(|message| message.receipt);
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_lone_message_waits_for_the_linger_and_a_full_request_does_not() {
    let mut bench = bench(rules(false));
    bench.push("a1");
    assert!(bench.take().is_none());
    assert_eq!(bench.wake(), Some(5 * MILLIS));
    bench.now += 3 * MILLIS;
    bench.push("a2 a3 a4 a5 a6 a7 a8 a9 b1 b2");
    assert_eq!(names(&bench.take()), "a1 a2 a3 a4 a5 a6 a7 a8 a9 b1");
    assert_eq!(bench.wake(), Some(5 * MILLIS), "the rest lingers");
    bench.now += 5 * MILLIS;
    assert_eq!(names(&bench.take()), "b2");
    bench.push("b3");
    bench.outbox.hurry();
    assert!(bench.take().is_none(), "two calls are all there may be");
}

#[test]
fn who_is_in_a_hurry_does_not_linger() {
    let mut bench = bench(rules(false));
    bench.push("a1");
    bench.outbox.hurry();
    assert_eq!(bench.wake(), Some(Duration::ZERO));
    assert_eq!(names(&bench.take()), "a1");
    bench.push("a2");
    assert!(bench.take().is_none(), "it came later");
}

#[test]
fn a_failed_entry_rests_and_goes_by_itself() {
    let mut bench = bench(rules(false));
    bench.push("a1 a2 a3");
    bench.outbox.hurry();
    let call = bench.take().expect("a call");
    assert_eq!(bench.settle(call, "+?-"), "a1+ a3-");
    bench.push("a4");
    bench.now += SECOND;
    assert_eq!(names(&bench.take()), "a2");
    assert_eq!(names(&bench.take()), "a4");
}

#[test]
fn after_a_failed_call_nothing_goes_out_for_a_while() {
    let mut bench = bench(rules(false));
    bench.push("a1");
    bench.outbox.hurry();
    let call = bench.take().expect("a call");
    assert_eq!(bench.answer(call, Err(Failure::late())), "");
    bench.push("a2");
    bench.outbox.hurry();
    assert!(bench.take().is_none());
    assert_eq!(bench.wake(), Some(SECOND));
    bench.now += SECOND;
    assert_eq!(names(&bench.take()), "a1");
}

#[test]
fn calls_that_fail_side_by_side_count_as_one_failure() {
    let mut doubling = rules(false);
    doubling.retry.backoff = crate::Backoff::exponential(SECOND);
    doubling.linger = Duration::ZERO;
    let mut bench = bench(doubling);
    bench.push("a1");
    let one = bench.take().expect("a call");
    bench.push("a2");
    let other = bench.take().expect("a call");
    let began = bench.now;
    bench.now += MILLIS;
    for messages in [one, other] {
        let answer = Err(Failure::late());
        let call = Call {
            messages,
            began,
            answer,
        };
        bench.outbox.settle(call, bench.now, 1.0);
    }
    assert_eq!(bench.wake(), Some(SECOND), "not two");
}

#[test]
fn c_058_nothing_of_a_group_overtakes_what_is_under_way() {
    let mut bench = bench(rules(true));
    bench.push("a1 a2 b1");
    bench.outbox.hurry();
    let call = bench.take().expect("a call");
    bench.push("a3 c1 b2");
    bench.outbox.hurry();
    let other = bench.take();
    assert_eq!(names(&other), "c1", "a and b are in a call");
    assert_eq!(bench.settle(call, "??+"), "b1+");
    assert_eq!(bench.settle(other.expect("c1"), "+"), "c1+");
    let b2 = bench.take();
    assert_eq!(names(&b2), "b2", "a rests, and a3 waits behind it");
    assert_eq!(bench.settle(b2.expect("b2"), "+"), "b2+");
    assert!(bench.take().is_none());
    bench.now += SECOND;
    let again = bench.take();
    assert_eq!(names(&again), "a1 a2");
    assert_eq!(bench.settle(again.expect("a1 a2"), "++"), "a1+ a2+");
    assert_eq!(names(&bench.take()), "a3");
}

#[test]
fn c_058_behind_a_message_that_was_not_sent_nothing_of_its_group_goes_out() {
    let mut bench = bench(rules(true));
    bench.push("a1 a2 b1");
    bench.outbox.hurry();
    let call = bench.take().expect("a call");
    bench.push("a3 b2 a4");
    bench.outbox.hurry();
    assert_eq!(bench.settle(call, "-?+"), "a1- a3- a4- a2- b1+");
    assert_eq!(names(&bench.take()), "b2");
    bench.push("a5");
    bench.outbox.hurry();
    assert_eq!(names(&bench.take()), "a5", "who comes later may go");
}

#[test]
fn a_second_try_of_a_group_that_was_split_keeps_its_order() {
    let mut bench = bench(rules(true));
    bench.push("a1 a2");
    bench.outbox.hurry();
    let call = bench.take().expect("a call");
    assert_eq!(bench.settle(call, "??"), "");
    bench.now += SECOND;
    bench.outbox.entries_per_call = 1;
    let first = bench.take();
    assert_eq!(names(&first), "a1");
    assert!(bench.take().is_none(), "a1 is in a call");
    assert_eq!(bench.settle(first.expect("a1"), "?"), "");
    assert!(bench.take().is_none(), "a2 is due, and behind a1");
    assert_eq!(bench.wake(), Some(SECOND), "and it wakes nobody");
    bench.now += SECOND;
    let first = bench.take();
    assert_eq!(bench.settle(first.expect("a1"), "-"), "a1- a2-");
    assert_eq!(bench.outbox.len(), 0);
}

#[test]
fn a_message_has_its_time_and_no_more() {
    let mut bench = bench(rules(false));
    bench.push("a1");
    bench.outbox.hurry();
    let call = bench.take().expect("a call");
    bench.now += 29 * SECOND;
    assert_eq!(
        bench.settle(call, "?"),
        "a1-",
        "the pause would end too late"
    );
    bench.push("a2");
    bench.now += 30 * SECOND;
    assert_eq!(bench.expire(), "a2-");
    assert_eq!((bench.outbox.len(), bench.wake()), (0, None));
}

#[test]
fn a_batch_has_time_as_long_as_it_moves() {
    let mut bench = bench(Rules {
        time_runs_from_arrival: false,
        max_calls: 1,
        linger: Duration::ZERO,
        ..rules(false)
    });
    bench.push("a1 a2 a3");
    bench.outbox.entries_per_call = 1;
    for _ in 0..2 {
        let call = bench.take().expect("a call");
        bench.now += 20 * SECOND;
        bench.settle(call, "+");
    }
    assert_eq!(bench.expire(), "");
    bench.now += 30 * SECOND;
    assert_eq!(bench.expire(), "a3-");
}

#[test]
fn a_request_that_sqs_finds_too_large_goes_out_in_halves() {
    let mut bench = bench(rules(true));
    bench.push("a1 a2 a3 b1 b2");
    bench.outbox.hurry();
    let call = bench.take().expect("a call");
    assert_eq!(bench.answer(call, Err(Failure::request_too_large())), "");
    bench.push("a4");
    let half = bench.take();
    assert_eq!(names(&half), "a1 a2 a3");
    assert_eq!(names(&bench.take()), "b1 b2");
    assert_eq!(bench.settle(half.expect("a"), "+++"), "a1+ a2+ a3+");
    bench.outbox.hurry();
    assert_eq!(names(&bench.take()), "a4");
}

#[test]
fn what_is_abandoned_leaves_nothing_behind() {
    let mut bench = bench(rules(true));
    bench.push("a1 b1");
    bench.outbox.hurry();
    let call = bench.take().expect("a call");
    bench.settle(call, "?+");
    bench.push("a2 c1");
    let ended = bench.outbox.abandon("why");
    assert_eq!(names_of_ended(&ended), "a1- a2- c1-");
    assert!(ended[0].unknown && !ended[1].unknown);
    assert_eq!((bench.outbox.len(), bench.wake()), (0, None));
    bench.push("a3");
    bench.outbox.hurry();
    assert_eq!(names(&bench.take()), "a3");
}

/// Looks as the buffered publisher does: what leaves, and when the next look has to be.
fn look(bench: &mut Bench, calls: &mut Vec<Messages>, wake: &mut Option<Instant>) {
    bench.expire();
    calls.extend(std::iter::from_fn(|| bench.take()));
    *wake = bench
        .outbox
        .next_wake(bench.now)
        .into_iter()
        .chain(*wake)
        .min();
}

#[test]
fn a_look_that_is_left_out_would_have_found_nothing_and_the_next_one_comes_in_time() {
    for seed in 0..400 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bench = bench(rules(seed % 2 == 0));
        let (mut calls, mut wake) = (Vec::new(), None::<Instant>);
        for _ in 0..200 {
            match random.u8(..8) {
                0 if !calls.is_empty() => {
                    let call: Messages = calls.swap_remove(random.usize(..calls.len()));
                    let fates: String = call
                        .iter()
                        .filter_map(|_| random.choice(["+", "+", "?", "-"]))
                        .collect();
                    bench.settle(call, &fates);
                    look(&mut bench, &mut calls, &mut wake);
                }
                1 => bench.now += random.u32(..4) * MILLIS,
                _ => {
                    bench.push(["a", "b", "c"][random.usize(..3)]);
                    if bench.outbox.may_leave(bench.now) {
                        look(&mut bench, &mut calls, &mut wake);
                    } else {
                        let new = bench.outbox.wake_for_new(bench.now);
                        wake = Some(wake.map_or(new, |wake| wake.min(new)));
                    }
                }
            }
            if wake.is_some_and(|wake| wake <= bench.now) {
                wake = None;
                look(&mut bench, &mut calls, &mut wake);
            }
            assert!(bench.take().is_none(), "{seed}: a request was missed");
            let exact = bench.outbox.next_wake(bench.now);
            let in_time = exact.is_none_or(|exact| wake.is_some_and(|wake| wake <= exact));
            assert!(in_time, "{seed}: {wake:?} is later than {exact:?}");
        }
    }
}
