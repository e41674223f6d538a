//! The receive, which may wait. A waiting receive sleeps until it is rung for,
//! until the next thing on its queue is due, or until its wait is over.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::dispatch::Call;
use super::filter::Filter;
use super::input::{self, parse};
use super::output;
use crate::local::engine::error::{ApiResult, invalid_value};
use crate::local::engine::limits::{self, MAX_BATCH, MAX_VISIBILITY, MAX_WAIT};
use crate::local::engine::receive::{Quirks, Receive};
use crate::local::service::Service;

impl Service {
    pub(crate) async fn receive(&self, call: &Call<'_>, quirks: Quirks) -> ApiResult<Vec<u8>> {
        let input: input::ReceiveMessage = parse(call.body)?;
        let queue = self.queue_of(call, input.queue_url)?;
        let filter = Filter::new(
            input.attribute_names,
            input.message_system_attribute_names,
            input.message_attribute_names,
        )?;
        let max = match input.max_number_of_messages {
            None => 1,
            Some(max @ 1..=10) => usize::try_from(max).unwrap_or(MAX_BATCH),
            Some(max) => {
                return Err(invalid_value(
                    "MaxNumberOfMessages",
                    max,
                    "Must be between 1 and 10, if provided.",
                ));
            }
        };
        let seconds = |name, value: Option<i64>, high| {
            value
                .map(|value| limits::in_range(name, value, 0, high))
                .transpose()
        };
        let visibility = seconds(
            "VisibilityTimeout",
            input.visibility_timeout,
            MAX_VISIBILITY,
        )?;
        let wait = seconds("WaitTimeSeconds", input.wait_time_seconds, MAX_WAIT)?;
        if let Some(attempt) = &input.receive_request_attempt_id {
            limits::check_token("ReceiveRequestAttemptId", attempt)?;
        }
        let (bell, wait) = self.look(|engine, now| {
            let queue = engine.queue(&queue, now)?;
            Ok((
                Arc::clone(&queue.bell),
                wait.unwrap_or(queue.attributes.wait),
            ))
        })?;
        let request = Receive {
            max,
            visibility,
            short: wait == 0,
            attempt: input.receive_request_attempt_id,
            quirks,
        };
        let until = Instant::now() + Duration::from_secs(u64::from(wait));
        loop {
            let mut rung = pin!(bell.notified());
            // From here on a bell is not missed.
            rung.as_mut().enable();
            let (received, due) = self.with(|engine, now| {
                let received = engine.receive(&queue, &request, now)?;
                let due = received
                    .is_empty()
                    .then(|| engine.next_due(&queue))
                    .flatten();
                Ok((received, due))
            })?;
            if !received.is_empty() || Instant::now() >= until {
                return Ok(output::messages(&received, &filter, self.wall()));
            }
            let wake = due.map_or(until, |due| self.instant(due).min(until));
            tokio::select! {
                biased;
                () = rung => {}
                () = sleep_until(wake) => {}
            }
        }
    }
}
