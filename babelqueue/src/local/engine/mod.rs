//! The state machine of the embedded SQS. It takes the moment of every call as
//! an argument and knows neither sockets nor JSON; the one thing of tokio's in
//! here is the bell that tells waiting receives to look again.

pub(crate) mod attempts;
pub(crate) mod attribute;
pub(crate) mod attributes;
pub(crate) mod batch;
pub(crate) mod dedup;
pub(crate) mod error;
pub(crate) mod fifo;
pub(crate) mod handles;
pub(crate) mod limits;
pub(crate) mod message;
#[cfg(test)]
mod model_tests;
pub(crate) mod move_task;
pub(crate) mod order;
pub(crate) mod queue;
pub(crate) mod queues;
pub(crate) mod raw;
pub(crate) mod receive;
pub(crate) mod redrive;
pub(crate) mod send;
pub(crate) mod settle;
pub(crate) mod standard;
pub(crate) mod store;
pub(crate) mod tags;
pub(crate) mod timers;
pub(crate) mod trace;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use self::error::{ApiResult, no_such_queue};
use self::move_task::MoveTasks;
use self::queue::Queue;
use crate::local::clock::{At, Wall};

/// What the builder decides once for all.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) region: String,
    pub(crate) account: String,
    pub(crate) seed: u64,
    /// Whether a receipt handle of an earlier receive still acts on a standard queue.
    pub(crate) old_handles_act: bool,
    /// Whether a FIFO queue takes a message with `DelaySeconds` 0.
    pub(crate) fifo_takes_zero_delay: bool,
    /// Whether a dead letter starts again at a receive count of 0.
    pub(crate) dead_letters_start_over: bool,
    pub(crate) in_flight_limit: usize,
    /// How long the name of a deleted queue cannot be used.
    pub(crate) name_rest: Duration,
    /// How long after a purge the next one is refused.
    pub(crate) purge_rest: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            region: "us-east-1".to_owned(),
            account: "000000000000".to_owned(),
            seed: 0,
            old_handles_act: false,
            fifo_takes_zero_delay: false,
            dead_letters_start_over: false,
            in_flight_limit: limits::MAX_IN_FLIGHT,
            name_rest: Duration::from_secs(60),
            purge_rest: Duration::from_secs(60),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) settings: Settings,
    pub(crate) wall: Wall,
    queues: BTreeMap<String, Queue>,
    deleted: BTreeMap<String, At>,
    tasks: MoveTasks,
    random: fastrand::Rng,
}

impl Engine {
    pub(crate) fn new(settings: Settings, wall: Wall) -> Self {
        let random = fastrand::Rng::with_seed(settings.seed);
        Self {
            settings,
            wall,
            queues: BTreeMap::new(),
            deleted: BTreeMap::new(),
            tasks: MoveTasks::default(),
            random,
        }
    }

    /// The queue of a name, brought up to `now`.
    pub(crate) fn queue(&mut self, name: &str, now: At) -> ApiResult<&mut Queue> {
        self.run_move_tasks(now);
        let queue = self.queues.get_mut(name).ok_or_else(no_such_queue)?;
        queue.advance(now);
        Ok(queue)
    }

    /// When a receive that waits on this queue should look again by itself.
    pub(crate) fn next_due(&mut self, name: &str) -> Option<At> {
        let task = self.tasks.next_due();
        let queue = self.queues.get_mut(name).and_then(Queue::next_due);
        task.into_iter().chain(queue).min()
    }

    pub(crate) fn arn(&self, name: &str) -> Arc<str> {
        let Settings {
            region, account, ..
        } = &self.settings;
        Arc::from(format!("arn:aws:sqs:{region}:{account}:{name}"))
    }

    /// The name of the queue that an ARN of this server stands for, if there is one.
    fn name_of_arn<'a>(&self, arn: &'a str) -> Option<&'a str> {
        let (_, name) = arn.rsplit_once(':')?;
        (*self.queues.get(name)?.arn == *arn).then_some(name)
    }
}
