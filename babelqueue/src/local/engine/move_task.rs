//! Message move tasks: what brings dead letters back. A task moves one message
//! at a time at its rate; the moves that are due are made when anybody looks.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Engine;
use super::error::{ApiError, ApiResult, Kind, invalid_value};
use super::limits;
use super::message::{State, id_text};
use crate::local::clock::At;

/// The rate that SQS may choose when none is asked for, and the highest: messages per second.
const MAX_RATE: u32 = 500;
/// How many tasks of a queue are remembered.
const REMEMBERED: usize = 10;
/// How many tasks of an account run at a time.
const MAX_ACTIVE: usize = 100;
/// How long a task may run.
const MAX_RUN: Duration = Duration::from_secs(36 * 3600);

/// Why a task fails whose source or destination is not there any more.
const NO_QUEUE: &str = "AWS.SimpleQueueService.NonExistentQueue";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Running,
    Completed,
    Cancelled,
    Failed,
}

impl Status {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
            Self::Cancelled => "CANCELLED",
            Self::Failed => "FAILED",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) handle: String,
    pub(crate) source_arn: String,
    pub(crate) destination_arn: Option<String>,
    pub(crate) rate: Option<u32>,
    pub(crate) started: At,
    pub(crate) moved: u64,
    pub(crate) to_move: usize,
    pub(crate) status: Status,
    pub(crate) failure: Option<&'static str>,
    next: At,
}

impl Task {
    /// When it must be looked at: for its next move, or because its time is over.
    fn due(&self) -> At {
        self.next.min(self.ends())
    }

    fn ends(&self) -> At {
        self.started.plus(MAX_RUN)
    }
}

#[derive(Debug, Default)]
pub(crate) struct MoveTasks {
    all: Vec<Task>,
}

impl MoveTasks {
    pub(crate) fn next_due(&self) -> Option<At> {
        self.running().map(|(_, task)| task.due()).min()
    }

    fn running(&self) -> impl Iterator<Item = (usize, &Task)> {
        self.all
            .iter()
            .enumerate()
            .filter(|(_, task)| task.status == Status::Running)
    }
}

enum Step {
    Moved,
    Nothing,
    Failed(&'static str),
}

impl Engine {
    /// Starts a task and gives its handle.
    pub(crate) fn start_move_task(
        &mut self,
        source_arn: &str,
        destination_arn: Option<&str>,
        rate: Option<i64>,
        now: At,
    ) -> ApiResult<String> {
        self.run_move_tasks(now);
        let rate = rate
            .map(|rate| limits::in_range("MaxNumberOfMessagesPerSecond", rate, 1, MAX_RATE))
            .transpose()?;
        let source = self
            .name_of_arn(source_arn)
            .ok_or_else(|| no_resource("SourceArn"))?
            .to_owned();
        if self.dead_letter_sources(&source, "")?.next().is_none() {
            return Err(invalid_value(
                "SourceArn",
                source_arn,
                "Source queue must be configured as a Dead Letter Queue.",
            ));
        }
        if let Some(arn) = destination_arn {
            let destination = self
                .name_of_arn(arn)
                .ok_or_else(|| no_resource("DestinationArn"))?;
            if destination == source {
                return Err(invalid_value(
                    "DestinationArn",
                    arn,
                    "Source queue arn and destination queue arn cannot be the same.",
                ));
            }
            if destination.ends_with(".fifo") != source.ends_with(".fifo") {
                return Err(invalid_value(
                    "DestinationArn",
                    arn,
                    "Destination queue must be same type of queue as the source.",
                ));
            }
        }
        if self
            .tasks
            .running()
            .any(|(_, task)| task.source_arn == source_arn)
        {
            return Err(Kind::InvalidParameterValue.error(
                "There is already a task running. Only one active task is allowed for a source queue arn at a given time.",
            ));
        }
        if self.tasks.running().count() >= MAX_ACTIVE {
            return Err(Kind::UnsupportedOperation.error(format!(
                "At most {MAX_ACTIVE} message movement tasks of an account can be active."
            )));
        }
        let id = id_text(self.random.u128(..));
        let handle = handle_of(&id, source_arn);
        let to_move = self.queue(&source, now)?.counts.visible;
        self.tasks.all.push(Task {
            handle: handle.clone(),
            source_arn: source_arn.to_owned(),
            destination_arn: destination_arn.map(str::to_owned),
            rate,
            started: now,
            moved: 0,
            to_move,
            status: Status::Running,
            failure: None,
            next: now,
        });
        self.forget_old_tasks(source_arn);
        // Whoever waits at a destination must see the new dates.
        for queue in self.queues.values() {
            queue.bell.notify_waiters();
        }
        Ok(handle)
    }

    /// Stops a task; gives how many messages it has moved.
    pub(crate) fn cancel_move_task(&mut self, handle: &str, now: At) -> ApiResult<u64> {
        self.run_move_tasks(now);
        let source_arn = source_of_handle(handle).ok_or_else(|| {
            Kind::InvalidParameterValue.error("Value for parameter TaskHandle is invalid.")
        })?;
        if self.name_of_arn(&source_arn).is_none() {
            return Err(no_resource("SourceArn"));
        }
        let of_handle = |task: &&mut Task| task.handle == handle;
        let task = self.tasks.all.iter_mut().find(of_handle);
        let task = task.ok_or_else(|| Kind::ResourceNotFound.error("Task does not exist."))?;
        if task.status != Status::Running {
            return Err(Kind::UnsupportedOperation
                .error("Only a message movement task that is running can be cancelled."));
        }
        task.status = Status::Cancelled;
        Ok(task.moved)
    }

    /// The newest tasks of a source, newest first.
    pub(crate) fn move_tasks(
        &mut self,
        source_arn: &str,
        max: usize,
        now: At,
    ) -> ApiResult<Vec<Task>> {
        self.run_move_tasks(now);
        self.name_of_arn(source_arn)
            .ok_or_else(|| no_resource("SourceArn"))?;
        let of_source = self
            .tasks
            .all
            .iter()
            .rev()
            .filter(|task| task.source_arn == source_arn);
        Ok(of_source.take(max).cloned().collect())
    }

    /// Makes every move that is due at `now`, in the order of time.
    pub(crate) fn run_move_tasks(&mut self, now: At) {
        while let Some((index, at)) = self
            .tasks
            .running()
            .map(|(index, task)| (index, task.due()))
            .min_by_key(|&(index, at)| (at, index))
            .filter(|&(_, at)| at <= now)
        {
            let task = self.tasks.all[index].clone();
            let step = if at < task.ends() {
                self.move_one(&task, at)
            } else {
                Step::Failed("The task ran for 36 hours, which is the longest that it may.")
            };
            let task = &mut self.tasks.all[index];
            match step {
                Step::Moved => {
                    task.moved += 1;
                    task.next = at.plus(Duration::from_secs(1) / task.rate.unwrap_or(MAX_RATE));
                }
                Step::Nothing => task.status = Status::Completed,
                Step::Failed(reason) => {
                    task.status = Status::Failed;
                    task.failure = Some(reason);
                }
            }
        }
    }

    fn move_one(&mut self, task: &Task, at: At) -> Step {
        let Some(source) = self.name_of_arn(&task.source_arn).map(str::to_owned) else {
            return Step::Failed(NO_QUEUE);
        };
        let Some(queue) = self.queues.get_mut(&source) else {
            return Step::Failed(NO_QUEUE);
        };
        queue.advance(at);
        let Some(ticket) = queue.next_visible(0) else {
            queue.finish();
            return Step::Nothing;
        };
        let origin = queue
            .store
            .get(ticket)
            .and_then(|it| it.dead_letter_source.clone());
        let destination = match (&task.destination_arn, origin) {
            (Some(arn), _) => self.name_of_arn(arn).ok_or(NO_QUEUE),
            (None, Some(arn)) => self
                .queues
                .get_key_value(arn.rsplit_once(':').map_or("", |it| it.1))
                .filter(|(_, queue)| queue.arn == arn)
                .map(|(name, _)| name.as_str())
                .ok_or(NO_QUEUE),
            (None, None) => Err("CouldNotDetermineMessageSource"),
        }
        .map(str::to_owned);
        let id = self.random.u128(..);
        let Some(queue) = self.queues.get_mut(&source) else {
            return Step::Failed(NO_QUEUE);
        };
        let destination = match destination {
            Ok(destination) => destination,
            Err(reason) => {
                queue.put_back(ticket);
                queue.finish();
                return Step::Failed(reason);
            }
        };
        let message = queue.pull(ticket);
        queue.finish();
        if let (Some(mut message), Some(queue)) = (message, self.queues.get_mut(&destination)) {
            queue.advance(at);
            // What comes back is a new message: new id, new age, no receives.
            message.id = id;
            message.sent = at;
            message.enqueued = at;
            message.first_received = None;
            message.receives = 0;
            message.dead_letter_source = None;
            message.state = State::Visible;
            if queue.attributes.fifo {
                message.sequence = queue.next_sequence();
            }
            queue.put(message);
        }
        Step::Moved
    }

    fn forget_old_tasks(&mut self, source_arn: &str) {
        let of_source = self
            .tasks
            .all
            .iter()
            .filter(|task| task.source_arn == source_arn)
            .count();
        let mut surplus = of_source.saturating_sub(REMEMBERED);
        self.tasks.all.retain(|task| {
            let old = task.source_arn == source_arn && surplus > 0;
            surplus -= usize::from(old);
            !old
        });
    }
}

fn handle_of(task_id: &str, source_arn: &str) -> String {
    let parts = serde_json::json!({"taskId": task_id, "sourceArn": source_arn});
    STANDARD.encode(parts.to_string())
}

fn source_of_handle(handle: &str) -> Option<String> {
    let parts = STANDARD.decode(handle).ok()?;
    let parts: serde_json::Value = serde_json::from_slice(&parts).ok()?;
    parts.get("taskId")?.as_str()?;
    Some(parts.get("sourceArn")?.as_str()?.to_owned())
}

fn no_resource(parameter: &str) -> ApiError {
    Kind::ResourceNotFound.error(format!(
        "The resource that you specified for the {parameter} parameter doesn't exist."
    ))
}
