//! From options to a checked configuration: every mistake is found here, before anything runs.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::Client;

use super::handle::Control;
use super::options::Options;
use super::shared::Shared;
use crate::aws::BuildError;
use crate::aws::client::Clients;
use crate::aws::endpoint;
use crate::pipeline::{Counters, Dispatch};
use crate::policy::{MAX_VISIBILITY_SECONDS, check_name, is_fifo, queue_name};

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
    pub(super) handler_batch: usize,
    pub(super) handler_linger: Duration,
    pub(super) takes_batches: bool,
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
    let mut config = check(&queue_url, &options)?;
    config.takes_batches = dispatch.takes_batches();
    check_batches(&config)?;
    endpoint::check(&client, &queue_url)?;
    if let Some(url) = &config.dead_letter_url {
        endpoint::check(&client, url)?;
    }
    let queue: Arc<str> = queue_name(&queue_url).into();
    let settings = options.settings;
    let observer = settings
        .telemetry
        .observer(&queue, settings.redact.as_ref());
    let counters = Arc::new(Counters::observed(&observer));
    let handling = settings.handling(dispatch);
    let dead_letter_url = config.dead_letter_url.as_deref();
    let pipeline = settings.pipeline(queue, handling, dead_letter_url, Arc::clone(&counters));
    let clients = Clients::derive(&client, options.wait_time, &observer);
    Ok(Shared::new(
        config,
        pipeline,
        clients,
        Control::new(counters),
    ))
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
    options.settings.check()?;
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
    let wait_seconds = whole_seconds("wait_time", options.wait_time, 20, "whole seconds, 0 to 20")?;
    let visibility = |timeout| {
        let range = "whole seconds, 0 to 43200 (12 h)";
        whole_seconds("visibility_timeout", timeout, MAX_VISIBILITY_SECONDS, range)
    };
    let visibility_seconds = options.visibility_timeout.map(visibility).transpose()?;
    let settings = &options.settings;
    let dead_letter_url = settings.dead_letter_url(queue_url)?;
    Ok(Config {
        queue_url: queue_url.to_owned(),
        fifo: is_fifo(queue),
        ends_failures: settings.max_attempts.is_some() && dead_letter_url.is_some(),
        max_attempts: settings.max_attempts,
        retries_at_once: settings.backoff.unwrap_or_default().is_none()
            && settings.release_delay.is_none(),
        dead_letter_url,
        concurrency: options.concurrency,
        max_in_flight,
        max_in_flight_bytes: options.max_in_flight_bytes,
        batch_size: options.batch_size,
        handler_batch: options.handler_batch,
        handler_linger: options.handler_linger,
        takes_batches: false,
        wait_seconds,
        visibility_seconds,
        heartbeat: options.heartbeat,
        max_handling_time: options.max_handling_time,
        shutdown_timeout: options.shutdown_timeout,
        shutdown_linger: options.shutdown_linger,
        startup_checks: options.startup_checks,
    })
}

/// Refuses what batch handlers cannot have.
fn check_batches(config: &Config) -> Result<(), BuildError> {
    if !config.takes_batches {
        return Ok(());
    }
    if config.fifo {
        return Err(BuildError::BatchOnFifo {
            queue: queue_name(&config.queue_url).to_owned(),
        });
    }
    at_least_one("handler_batch", config.handler_batch)?;
    if config.handler_batch > config.max_in_flight {
        let range = "at most `max_in_flight`, or more can never come together";
        return Err(BuildError::range(
            "handler_batch",
            config.handler_batch,
            range,
        ));
    }
    if config.handler_linger > LONGEST_STOP {
        let linger = format!("{:?}", config.handler_linger);
        return Err(BuildError::range("handler_batch", linger, "up to 12 h"));
    }
    Ok(())
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
