//! From options to a checked configuration: every mistake is found here, before anything runs.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::Client;

use super::error::BuildError;
use super::handle::Control;
use super::options::Options;
use super::shared::Shared;
use crate::pipeline::{
    Clock, Counters, DeadLetterTarget, Dispatch, Handling, Next, Pipeline, Reporter, Wrap,
};
use crate::policy::{MAX_VISIBILITY_SECONDS, Rules, UnknownUrn, check_name, is_fifo, queue_name};
use crate::sqs::client::Clients;
use crate::sqs::endpoint;

/// No message outlives it, so that no stop needs longer.
const LONGEST_STOP: Duration = Duration::from_secs(MAX_VISIBILITY_SECONDS as u64);

/// What the driver goes by.
#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) queue_url: String,
    pub(super) fifo: bool,
    pub(super) dead_letter_url: Option<String>,
    pub(super) concurrency: usize,
    pub(super) max_in_flight: usize,
    pub(super) max_in_flight_bytes: Option<usize>,
    pub(super) batch_size: usize,
    pub(super) wait_seconds: i32,
    pub(super) visibility_seconds: Option<i32>,
    pub(super) heartbeat: bool,
    pub(super) max_handling_time: Duration,
    pub(super) shutdown_timeout: Duration,
    pub(super) shutdown_linger: Duration,
    pub(super) startup_checks: bool,
    /// Whether a failing message is given up at some time: for the start-up warning.
    pub(super) ends_failures: bool,
    pub(super) max_attempts: Option<u32>,
    /// Whether a failing message is retried without any pause: for the same warning.
    pub(super) retries_at_once: bool,
}

#[cfg(test)]
impl Config {
    /// The defaults, for a standard queue.
    pub(super) fn for_tests() -> Self {
        check("http://localhost/0/orders", &Options::default()).expect("the defaults are fine")
    }
}

/// Checks everything and puts the consumer's parts together.
pub(super) fn assemble(
    client: Client,
    queue_url: String,
    options: Options,
    dispatch: Arc<dyn Dispatch>,
) -> Result<Shared, BuildError> {
    let config = check(&queue_url, &options)?;
    endpoint::check(&client, &queue_url)?;
    if let Some(url) = &config.dead_letter_url {
        endpoint::check(&client, url)?;
    }
    let queue: Arc<str> = queue_name(&queue_url).into();
    let observer = options.telemetry.observer(&queue);
    let counters = Arc::new(Counters::observed(&observer));
    let reporter = Reporter::new(
        Arc::clone(&queue),
        options.error_hook,
        Arc::clone(&counters),
    )
    .redacting(options.redact);
    let handling = Arc::new(Handling {
        dispatch,
        timeout: options.handler_timeout,
        #[cfg(feature = "schema")]
        validation: options.schemas.map(|schemas| crate::pipeline::Validation {
            schemas,
            permanent: options.permanent_schema_errors,
        }),
    });
    let pipeline = Pipeline {
        queue,
        middleware: layered(&handling, &options.layers),
        decoders: options.decoders,
        handling,
        rules: Rules {
            unknown_urn: options.unknown_urn,
            dead_letter_queue: config.dead_letter_url.is_some(),
            max_attempts: options.max_attempts,
            retry_payload_errors: options.retry_payload_errors,
        },
        backoff: options.backoff,
        release_delay: options.release_delay,
        dead_letters: config
            .dead_letter_url
            .as_deref()
            .map(|url| DeadLetterTarget {
                fifo: is_fifo(url),
                max_bytes: options.max_message_bytes,
            }),
        lenient: options.lenient,
        lang: options.lang,
        #[cfg(feature = "idempotency")]
        guard: options.guard,
        unknown_hook: options.unknown_hook,
        reporter,
        observer: observer.clone(),
        clock: Clock::new(),
    };
    let clients = Clients::derive(&client, options.wait_time, &observer);
    Ok(Shared::new(
        config,
        pipeline,
        clients,
        Control::new(counters),
    ))
}

/// The layers around the handlers, the first one outside of all others.
fn layered(handling: &Arc<Handling>, layers: &[Wrap]) -> Option<Next> {
    let inside_out = layers.iter().rev();
    let wrapped = |next: Option<Next>, wrap: &Wrap| {
        Some(wrap(
            next.unwrap_or_else(|| Next::new(Arc::clone(handling))),
        ))
    };
    inside_out.fold(None, wrapped)
}

fn check(queue_url: &str, options: &Options) -> Result<Config, BuildError> {
    let queue = queue_name(queue_url);
    check_name(queue)?;
    at_least_one("concurrency", options.concurrency)?;
    let max_in_flight = options
        .max_in_flight
        .unwrap_or(options.concurrency.saturating_add(20));
    at_least_one("max_in_flight", max_in_flight)?;
    if let Some(bytes) = options.max_in_flight_bytes {
        at_least_one("max_in_flight_bytes", bytes)?;
    }
    if !(1..=10).contains(&options.batch_size) {
        return Err(BuildError::range(
            "batch_size",
            options.batch_size,
            "1 to 10 messages",
        ));
    }
    if options.max_attempts == Some(0) {
        return Err(BuildError::range(
            "max_attempts",
            0,
            "at least 1, or leave it out",
        ));
    }
    if !(1..=1_048_576).contains(&options.max_message_bytes) {
        let bytes = options.max_message_bytes;
        return Err(BuildError::range(
            "max_message_bytes",
            bytes,
            "1 to 1048576 bytes",
        ));
    }
    if options
        .handler_timeout
        .is_some_and(|timeout| timeout.is_zero())
    {
        return Err(BuildError::range(
            "handler_timeout",
            "0 s",
            "more than zero, or leave it out",
        ));
    }
    let longest = Duration::from_secs(MAX_VISIBILITY_SECONDS as u64 - 60);
    if options.max_handling_time > longest || options.max_handling_time.is_zero() {
        let time = format!("{:?}", options.max_handling_time);
        return Err(BuildError::range(
            "max_handling_time",
            time,
            "more than zero, up to 11 h 59 min",
        ));
    }
    for (option, time) in [
        ("shutdown_timeout", options.shutdown_timeout),
        ("shutdown_linger", options.shutdown_linger),
    ] {
        if time > LONGEST_STOP {
            let time = format!("{time:?}");
            return Err(BuildError::range(option, time, "up to 12 h"));
        }
    }
    options.backoff.validate()?;
    let wait_seconds = whole_seconds("wait_time", options.wait_time, 20, "whole seconds, 0 to 20")?;
    let visibility = |timeout| {
        let range = "whole seconds, 0 to 43200 (12 h)";
        whole_seconds("visibility_timeout", timeout, MAX_VISIBILITY_SECONDS, range)
    };
    let visibility_seconds = options.visibility_timeout.map(visibility).transpose()?;
    let dead_letter_url = dead_letter_url(queue_url, options)?;
    Ok(Config {
        queue_url: queue_url.to_owned(),
        fifo: is_fifo(queue),
        ends_failures: options.max_attempts.is_some() && dead_letter_url.is_some(),
        max_attempts: options.max_attempts,
        retries_at_once: options.backoff.is_none() && options.release_delay.is_none(),
        dead_letter_url,
        concurrency: options.concurrency,
        max_in_flight,
        max_in_flight_bytes: options.max_in_flight_bytes,
        batch_size: options.batch_size,
        wait_seconds,
        visibility_seconds,
        heartbeat: options.heartbeat,
        max_handling_time: options.max_handling_time,
        shutdown_timeout: options.shutdown_timeout,
        shutdown_linger: options.shutdown_linger,
        startup_checks: options.startup_checks,
    })
}

fn dead_letter_url(queue_url: &str, options: &Options) -> Result<Option<String>, BuildError> {
    let Some(target) = &options.dead_letter_queue else {
        if options.unknown_urn == Some(UnknownUrn::DeadLetter) {
            return Err(BuildError::NoDeadLetterQueue);
        }
        return Ok(None);
    };
    let url = target.resolve(queue_url)?;
    let (queue, dead_letters) = (queue_name(queue_url), queue_name(&url));
    // The same name in another account is another queue.
    if url.trim_end_matches('/') == queue_url.trim_end_matches('/') {
        return Err(BuildError::OwnDeadLetterQueue {
            queue: queue.to_owned(),
        });
    }
    if is_fifo(queue) != is_fifo(dead_letters) {
        return Err(BuildError::DeadLetterQueueType {
            queue: queue.to_owned(),
            dead_letter_queue: dead_letters.to_owned(),
        });
    }
    Ok(Some(url))
}

fn at_least_one(option: &'static str, value: usize) -> Result<(), BuildError> {
    if value == 0 {
        Err(BuildError::range(option, value, "at least 1"))
    } else {
        Ok(())
    }
}

fn whole_seconds(
    option: &'static str,
    duration: Duration,
    most: i32,
    range: &'static str,
) -> Result<i32, BuildError> {
    match i32::try_from(duration.as_secs()) {
        Ok(seconds) if seconds <= most && duration.subsec_nanos() == 0 => Ok(seconds),
        _ => Err(BuildError::range(option, format!("{duration:?}"), range)),
    }
}

#[cfg(all(test, feature = "local"))]
#[path = "config_tests.rs"]
mod tests;
