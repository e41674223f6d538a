//! The table of SPEC §3.1, on the guard alone, and the store in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::sleep;

use super::*;
use crate::BoxError;

const SECOND: Duration = Duration::from_secs(1);

async fn ok() -> Result<(), String> {
    Ok(())
}

async fn fails() -> Result<(), String> {
    Err("no".to_owned())
}

fn letter<T, E>(guarded: &Guarded<T, E>) -> char {
    match guarded {
        Guarded::Ran {
            result: Ok(_),
            unremembered: None,
        } => 'r',
        Guarded::Ran {
            result: Ok(_),
            unremembered: Some(_),
        } => 'u',
        Guarded::Ran { result: Err(_), .. } => 'f',
        Guarded::AlreadyDone => 'd',
        Guarded::Held { .. } => 'h',
        Guarded::Unknown(_) => '?',
    }
}

fn guards() -> [Idempotency; 2] {
    [
        Idempotency::new(MemoryStore::new()),
        Idempotency::claims(MemoryStore::new()),
    ]
}

#[tokio::test]
async fn a_success_is_remembered_and_a_failure_is_not() {
    for guard in guards() {
        let mut seen = String::new();
        seen.push(letter(&guard.run("a", fails).await));
        seen.push(letter(&guard.run("a", fails).await));
        seen.push(letter(&guard.run("a", ok).await));
        seen.push(letter(&guard.run("a", ok).await));
        seen.push(letter(&guard.run("b", ok).await));
        guard.forget("a").await.expect("forgotten");
        seen.push(letter(&guard.run("a", ok).await));
        assert_eq!(seen, "ffrdrr", "{guard:?}");
    }
}

#[tokio::test]
async fn without_an_id_it_always_runs() {
    for guard in guards() {
        for _ in 0..3 {
            assert_eq!(letter(&guard.run("", ok).await), 'r');
        }
    }
}

/// Fails where it is told to.
struct Broken(&'static str);

impl Broken {
    fn at<T>(&self, step: &str, value: T) -> Result<T, BoxError> {
        if self.0 == step {
            Err("down".into())
        } else {
            Ok(value)
        }
    }
}

impl IdempotencyStore for Broken {
    async fn seen(&self, _: &str) -> Result<bool, BoxError> {
        self.at("seen", false)
    }

    async fn remember(&self, _: &str) -> Result<(), BoxError> {
        self.at("remember", ())
    }

    async fn forget(&self, _: &str) -> Result<(), BoxError> {
        self.at("forget", ())
    }
}

#[tokio::test]
async fn a_store_that_fails_before_or_after_the_run() {
    let runs = AtomicUsize::new(0);
    let counted = || async {
        runs.fetch_add(1, Ordering::Relaxed);
        ok().await
    };
    let before = Idempotency::new(Broken("seen")).run("a", counted).await;
    assert_eq!((letter(&before), runs.load(Ordering::Relaxed)), ('?', 0));
    let after = Idempotency::new(Broken("remember")).run("a", counted).await;
    assert_eq!((letter(&after), runs.load(Ordering::Relaxed)), ('u', 1));
    assert!(
        Idempotency::new(Broken("forget"))
            .forget("a")
            .await
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn of_two_runs_at_the_same_time_the_second_is_told_to_wait() {
    let guard = Idempotency::claims(MemoryStore::new()).lease(10 * SECOND);
    let slow = || async {
        sleep(4 * SECOND).await;
        ok().await
    };
    let second = async {
        sleep(3 * SECOND).await;
        guard.run("a", ok).await
    };
    let (first, second) = tokio::join!(guard.run("a", slow), second);
    assert_eq!(letter(&first), 'r');
    assert!(
        matches!(second, Guarded::Held { remaining } if remaining == 7 * SECOND),
        "{second:?}"
    );
    assert_eq!(letter(&guard.run("a", ok).await), 'd');
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_ran_out_can_be_taken_and_its_loss_is_told() {
    let guard = Idempotency::claims(MemoryStore::new()).lease(SECOND);
    let slow = || async {
        sleep(4 * SECOND).await;
        ok().await
    };
    let second = async {
        sleep(2 * SECOND).await;
        guard.run("a", ok).await
    };
    let (first, second) = tokio::join!(guard.run("a", slow), second);
    assert_eq!(letter(&second), 'r');
    let Guarded::Ran {
        unremembered: Some(error),
        ..
    } = first
    else {
        panic!("must be told: {first:?}")
    };
    assert!(error.is::<ClaimLost>(), "{error}");

    // Nobody took it: then it is still the first one's.
    let alone = guard.run("b", slow).await;
    assert_eq!(letter(&alone), 'r');
}

#[tokio::test]
async fn tokens_are_compared() {
    let store = Arc::new(MemoryStore::new());
    let lease = Duration::from_secs(60);
    assert_eq!(
        store.claim("a", "one", lease).await.expect("won"),
        Claim::Won
    );
    for token in ["two", ""] {
        assert!(!store.renew("a", token, lease).await.expect("answered"));
        assert!(!store.complete("a", token).await.expect("answered"));
        assert!(!store.release("a", token).await.expect("answered"));
    }
    assert!(!store.seen("a").await.expect("answered"));
    assert!(store.complete("a", "one").await.expect("answered"));
    assert!(store.seen("a").await.expect("answered"));
    assert_eq!(
        store.claim("a", "two", lease).await.expect("answered"),
        Claim::Done
    );
    assert!(!store.release("a", "one").await.expect("answered"));
}

#[tokio::test(start_paused = true)]
async fn the_memory_is_bounded_in_number_and_time() {
    let store = MemoryStore::new().capacity(2).time_to_live(10 * SECOND);
    for id in ["a", "b", "a", "c"] {
        store.remember(id).await.expect("remembered");
    }
    // `a` was remembered again after `b`.
    let seen = async |id| store.seen(id).await.expect("answered");
    assert_eq!(
        (seen("a").await, seen("b").await, seen("c").await),
        (true, false, true)
    );
    sleep(10 * SECOND).await;
    assert!(store.is_empty());
    assert!(!seen("a").await);
}

/// A store whose claims are taken before it panics.
struct Panicking(MemoryStore);

impl IdempotencyStore for Panicking {
    async fn seen(&self, id: &str) -> Result<bool, BoxError> {
        self.0.seen(id).await
    }

    async fn remember(&self, id: &str) -> Result<(), BoxError> {
        self.0.remember(id).await
    }

    async fn forget(&self, id: &str) -> Result<(), BoxError> {
        self.0.forget(id).await
    }
}

impl ClaimStore for Panicking {
    async fn claim(&self, id: &str, token: &str, lease: Duration) -> Result<Claim, BoxError> {
        self.0.claim(id, token, lease).await?;
        panic!("claimed and gone")
    }

    async fn renew(&self, id: &str, token: &str, lease: Duration) -> Result<bool, BoxError> {
        self.0.renew(id, token, lease).await
    }

    async fn complete(&self, id: &str, token: &str) -> Result<bool, BoxError> {
        self.0.complete(id, token).await
    }

    async fn release(&self, id: &str, token: &str) -> Result<bool, BoxError> {
        self.0.release(id, token).await
    }
}

#[tokio::test]
async fn a_store_that_panics_after_the_claim_is_an_error_and_leaks_no_claim() {
    let memory = MemoryStore::new();
    let guard = Idempotency::claims(Panicking(memory.clone()));
    let guarded = guard.run("a", ok).await;
    let Guarded::Unknown(error) = guarded else {
        panic!("{guarded:?}")
    };
    assert_eq!(error.to_string(), "panicked: claimed and gone");
    let others = Idempotency::claims(memory);
    assert_eq!(letter(&others.run("a", ok).await), 'r', "nobody holds it");
}

#[tokio::test]
async fn work_that_panics_leaks_no_claim() {
    let guard = Idempotency::claims(MemoryStore::new());
    let request = || Request {
        id: "a",
        owner: Some(7),
        lease: None,
    };
    let panicking = |_: Option<&str>| async { panic!("in the middle") };
    let run = guard.run_claimed::<(), String, _, _>(request(), panicking);
    let ended = crate::panics::fenced_async(run).await;
    let panicked = ended.expect_err("the panic goes on");
    assert_eq!(panicked.to_string(), "panicked: in the middle");
    assert!(!guard.holds(7), "not renewed any more");
    let again = guard.run_claimed(request(), |_| ok()).await;
    assert_eq!(letter(&again), 'r');
}
