//! The AWS SDK, set right whatever the user's configuration says: long polls that no timeout
//! cuts, deletes that an outage of receives does not starve, and no call without an end.

use std::time::Duration;

use aws_sdk_sqs::Client;
#[cfg(not(feature = "otel"))]
use aws_sdk_sqs::config::Builder;
use aws_sdk_sqs::config::retry::{ClientRateLimiter, RetryConfig, RetryPartition, TokenBucket};
use aws_sdk_sqs::config::timeout::TimeoutConfig;
use aws_sdk_sqs::config::{IdentityCache, StalledStreamProtectionConfig};

#[cfg(feature = "otel")]
use super::watch::watched;
use crate::telemetry::Observer;

/// How much longer than its wait a receive may take.
const RECEIVE_MARGIN: Duration = Duration::from_secs(5);

/// One attempt of a delete, a visibility change or a send.
const ATTEMPT: Duration = Duration::from_secs(5);

/// All attempts of one together.
const OPERATION: Duration = Duration::from_secs(15);

/// The clients of a consumer: one for its receives, one for everything that settles.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    pub(crate) receive: Client,
    pub(crate) settle: Client,
}

impl Clients {
    /// Derives both from the user's client. They share its HTTP connections, and one cache of
    /// credentials, with each other.
    pub(crate) fn derive(client: &Client, wait: Duration, observer: &Observer) -> Self {
        let config = client.config();
        // A long poll stands still by nature, and every other attempt has a timeout of its own.
        let mut base = watched(config.to_builder(), observer)
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
        if config.identity_cache().is_none() {
            base = base.identity_cache(IdentityCache::lazy().build());
        }
        let receive = base
            .clone()
            .timeout_config(receive_timeouts(config.timeout_config(), wait))
            // The polling loop has its own backoff, and must see each failure.
            .retry_config(RetryConfig::disabled())
            .build();
        let settle = base
            .timeout_config(bounded(config.timeout_config()))
            .retry_partition(own_partition())
            .build();
        Self {
            receive: Client::from_conf(receive),
            settle: Client::from_conf(settle),
        }
    }
}

/// A client for settling in the queue's own region, which the user's client need not have.
#[cfg(feature = "lambda")]
pub(crate) fn settling_in(client: &Client, region: &str, observer: &Observer) -> Client {
    let config = client.config();
    let own = watched(config.to_builder(), observer)
        .region(aws_sdk_sqs::config::Region::new(region.to_owned()))
        .timeout_config(bounded(config.timeout_config()))
        .retry_partition(own_partition());
    Client::from_conf(own.build())
}

/// The same for calls that are not worth another try.
#[cfg(feature = "lambda")]
pub(crate) fn once(client: &Client) -> Client {
    let config = client.config().to_builder();
    Client::from_conf(config.retry_config(RetryConfig::disabled()).build())
}

/// A client for publishing. The publisher does the retries: it knows of batches and of order, and
/// the SDK's retry tokens are shared by the whole process. It ends every attempt in time as well,
/// for less than the SDK does, so that a body which stalls needs no watching besides.
pub(crate) fn sending(client: &Client, observer: &Observer) -> Client {
    let sending = watched(client.config().to_builder(), observer)
        .retry_config(RetryConfig::disabled())
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
    Client::from_conf(sending.build())
}

/// What the user's client says of sends.
pub(crate) struct Sends {
    /// The time for one attempt: ours, where the client has none of its own that the SDK keeps.
    pub(crate) attempt: Option<Duration>,
    /// The time for all attempts.
    pub(crate) operation: Option<Duration>,
    /// There may not be more than one.
    pub(crate) once: bool,
}

impl Sends {
    pub(crate) fn of(client: &Client) -> Self {
        let config = client.config();
        let timeouts = config.timeout_config();
        let attempt = timeouts.and_then(TimeoutConfig::operation_attempt_timeout);
        let retry = config.retry_config();
        Self {
            attempt: attempt.is_none().then_some(ATTEMPT),
            operation: timeouts.and_then(TimeoutConfig::operation_timeout),
            once: retry.is_some_and(|retry| retry.max_attempts() <= 1),
        }
    }
}

#[cfg(not(feature = "otel"))]
fn watched(config: Builder, _: &Observer) -> Builder {
    config
}

/// A receive may take its wait and a margin; a longer timeout of the user's stands.
fn receive_timeouts(users: Option<&TimeoutConfig>, wait: Duration) -> TimeoutConfig {
    let least = wait + RECEIVE_MARGIN;
    let larger = |users: Option<Duration>| users.map_or(least, |users| users.max(least));
    let mut timeouts = TimeoutConfig::builder()
        .read_timeout(larger(users.and_then(TimeoutConfig::read_timeout)))
        .operation_attempt_timeout(larger(
            users.and_then(TimeoutConfig::operation_attempt_timeout),
        ))
        .operation_timeout(larger(users.and_then(TimeoutConfig::operation_timeout)));
    timeouts.set_connect_timeout(users.and_then(TimeoutConfig::connect_timeout));
    timeouts.build()
}

/// The user's timeouts where there are any, ours where there are none.
fn bounded(users: Option<&TimeoutConfig>) -> TimeoutConfig {
    let users = users
        .cloned()
        .unwrap_or_else(|| TimeoutConfig::builder().build());
    let mut timeouts = users.to_builder();
    if users.operation_attempt_timeout().is_none() {
        timeouts.set_operation_attempt_timeout(Some(ATTEMPT));
    }
    if users.operation_timeout().is_none() {
        timeouts.set_operation_timeout(Some(OPERATION));
    }
    timeouts.build()
}

/// Retry tokens are shared by all clients of a process and region: failing polls, or another
/// part of the service, would leave none for the deletes. So they get a bucket of their own.
fn own_partition() -> RetryPartition {
    RetryPartition::custom("babelqueue")
        .token_bucket(TokenBucket::default())
        .client_rate_limiter(ClientRateLimiter::default())
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Duration = Duration::from_secs(20);

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn c_091_a_receive_has_the_larger_of_both_timeouts() {
        let short = TimeoutConfig::builder()
            .connect_timeout(secs(1))
            .read_timeout(secs(3))
            .operation_attempt_timeout(secs(2))
            .operation_timeout(secs(60))
            .build();
        let timeouts = receive_timeouts(Some(&short), WAIT);
        assert_eq!(timeouts.connect_timeout(), Some(secs(1)));
        assert_eq!(timeouts.read_timeout(), Some(secs(25)));
        assert_eq!(timeouts.operation_attempt_timeout(), Some(secs(25)));
        assert_eq!(timeouts.operation_timeout(), Some(secs(60)));
        let none = receive_timeouts(None, WAIT);
        assert_eq!(none.operation_timeout(), Some(secs(25)));
        assert_eq!(none.read_timeout(), Some(secs(25)));
    }

    #[test]
    fn settling_calls_end_in_time() {
        assert_eq!(bounded(None).operation_timeout(), Some(OPERATION));
        assert_eq!(bounded(None).operation_attempt_timeout(), Some(ATTEMPT));
        let users = TimeoutConfig::builder().operation_timeout(secs(2)).build();
        assert_eq!(bounded(Some(&users)).operation_timeout(), Some(secs(2)));
    }

    #[test]
    fn both_clients_are_set_right_whatever_the_users_config_says() {
        let config = aws_sdk_sqs::Config::builder()
            .behavior_version_latest()
            .region(aws_sdk_sqs::config::Region::new("eu-west-1"))
            .retry_config(RetryConfig::standard().with_max_attempts(7))
            .timeout_config(TimeoutConfig::builder().operation_timeout(secs(1)).build())
            .build();
        let clients = Clients::derive(&Client::from_conf(config), WAIT, &Observer::default());
        let receive = clients.receive.config();
        assert_eq!(
            receive.retry_config().map(RetryConfig::max_attempts),
            Some(1)
        );
        let timeouts = receive.timeout_config().expect("set");
        assert_eq!(timeouts.operation_timeout(), Some(secs(25)));
        let settle = clients.settle.config();
        for config in [receive, settle] {
            let protection = config.stalled_stream_protection().expect("set");
            assert!(!protection.download_enabled() && !protection.upload_enabled());
        }
        assert_eq!(
            settle.retry_config().map(RetryConfig::max_attempts),
            Some(7)
        );
        assert!(settle.retry_partition().is_some());
    }
}
