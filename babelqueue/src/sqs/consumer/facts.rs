//! What the queue says of itself, read once at the start, and what is wrong with it (SPEC §2.12,
//! §2.16).

use std::collections::HashMap;
use std::str::FromStr;
use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::{ProvideErrorMetadata as _, SdkError};
use aws_sdk_sqs::operation::get_queue_attributes::GetQueueAttributesError;
use aws_sdk_sqs::types::QueueAttributeName;
use serde::Deserialize;

use super::config::Config;
use super::error::RunError;
use crate::BoxError;
use crate::fields;
use crate::panics::fenced_async;

/// The queue's own attributes, as far as they matter here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct QueueFacts {
    pub(super) visibility_timeout: Option<Duration>,
    /// `maxReceiveCount` of the redrive policy.
    pub(super) max_receive_count: Option<u64>,
    /// `MaximumMessageSize`, in bytes.
    pub(super) max_message_bytes: Option<usize>,
    /// `FifoQueue`, which SQS leaves out where it is false.
    pub(super) fifo: bool,
    pub(super) dead_letter_queue: DeadLetterFacts,
}

/// What the configured dead-letter queue says of itself, if it was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DeadLetterFacts {
    /// Nothing is known of it: it was not asked, or the consumer may not.
    #[default]
    Unknown,
    Missing,
    /// It takes messages of so many bytes.
    Takes(usize),
}

#[derive(Deserialize)]
struct RedrivePolicy {
    #[serde(rename = "maxReceiveCount")]
    max_receive_count: Count,
}

/// SQS gives back what was set, which may be a string.
#[derive(Deserialize)]
#[serde(untagged)]
enum Count {
    Number(u64),
    Text(String),
}

/// Why the attributes were not read.
enum Unread {
    Missing(BoxError),
    Denied(BoxError),
    Failed(BoxError),
}

/// The pause after the first failed try; it doubles.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Whether the attributes must be read at all.
pub(super) fn are_needed(config: &Config) -> bool {
    config.startup_checks || (config.heartbeat && config.visibility_seconds.is_none())
}

/// How many calls the reading takes: one for the queue, one for its dead-letter queue.
pub(super) fn calls(config: &Config) -> usize {
    1 + usize::from(config.startup_checks && config.dead_letter_url.is_some())
}

/// Reads the attributes. `Ok(None)` when they cannot be read for good, which is told. A failure
/// that may pass is tried again for as long as it takes, because without the timeout there is no
/// heartbeat; `count` is told of each try.
pub(super) async fn read(
    client: &Client,
    config: &Config,
    count: impl Fn(),
) -> Result<Option<QueueFacts>, RunError> {
    let mut pause = FIRST_PAUSE;
    loop {
        count();
        let error = match read_once(client, config).await {
            Ok(facts) => return Ok(Some(facts)),
            Err(error) => error,
        };
        if let Unread::Missing(source) = error {
            let queue_url = config.queue_url.clone();
            return Err(RunError::QueueDoesNotExist { queue_url, source });
        }
        if pause == FIRST_PAUSE {
            tell_unreadable(config, &error);
        }
        if matches!(error, Unread::Denied(_)) {
            return Ok(None);
        }
        tokio::time::sleep(pause).await;
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

async fn read_once(client: &Client, config: &Config) -> Result<QueueFacts, Unread> {
    let call = client
        .get_queue_attributes()
        .queue_url(&config.queue_url)
        .attribute_names(QueueAttributeName::VisibilityTimeout)
        .attribute_names(QueueAttributeName::RedrivePolicy)
        .attribute_names(QueueAttributeName::MaximumMessageSize)
        .attribute_names(QueueAttributeName::FifoQueue)
        .send();
    let answer = match fenced_async(Box::pin(call)).await {
        Ok(Ok(answer)) => answer,
        Err(panicked) => return Err(Unread::Failed(panicked.into())),
        Ok(Err(error)) if is_missing_queue(&error) => return Err(Unread::Missing(error.into())),
        Ok(Err(error)) if is_denied(&error) => return Err(Unread::Denied(error.into())),
        Ok(Err(error)) => return Err(Unread::Failed(error.into())),
    };
    let attributes = answer.attributes.unwrap_or_default();
    let policy = attributes.get(&QueueAttributeName::RedrivePolicy);
    Ok(QueueFacts {
        visibility_timeout: number(&attributes, &QueueAttributeName::VisibilityTimeout)
            .map(Duration::from_secs),
        max_receive_count: policy.and_then(|json| max_receive_count(json)),
        max_message_bytes: number(&attributes, &QueueAttributeName::MaximumMessageSize),
        fifo: attributes
            .get(&QueueAttributeName::FifoQueue)
            .is_some_and(|text| text == "true"),
        dead_letter_queue: ask_dead_letter_queue(client, config).await,
    })
}

fn tell_unreadable(config: &Config, error: &Unread) {
    let (Unread::Missing(source) | Unread::Denied(source) | Unread::Failed(source)) = error;
    let error = crate::pipeline::error_text(&**source);
    tracing::info!(
        { fields::QUEUE_URL } = config.queue_url,
        { fields::ERROR } = error,
        "the queue's attributes cannot be read (sqs:GetQueueAttributes): until they are, no \
         start-up checks, and no heartbeat unless a visibility timeout is set"
    );
}

fn number<T: FromStr>(
    attributes: &HashMap<QueueAttributeName, String>,
    name: &QueueAttributeName,
) -> Option<T> {
    attributes.get(name)?.parse().ok()
}

/// Whether the dead-letter queue exists, and what it takes. A lack of rights says nothing.
async fn ask_dead_letter_queue(client: &Client, config: &Config) -> DeadLetterFacts {
    let Some(url) = config
        .dead_letter_url
        .as_ref()
        .filter(|_| config.startup_checks)
    else {
        return DeadLetterFacts::Unknown;
    };
    let call = client
        .get_queue_attributes()
        .queue_url(url)
        .attribute_names(QueueAttributeName::MaximumMessageSize)
        .send();
    match fenced_async(Box::pin(call)).await {
        Ok(Err(error)) if is_missing_queue(&error) => DeadLetterFacts::Missing,
        Ok(Err(_)) | Err(_) => DeadLetterFacts::Unknown,
        Ok(Ok(answer)) => {
            let attributes = answer.attributes.unwrap_or_default();
            number(&attributes, &QueueAttributeName::MaximumMessageSize)
                .map_or(DeadLetterFacts::Unknown, DeadLetterFacts::Takes)
        }
    }
}

fn max_receive_count(json: &str) -> Option<u64> {
    let policy: RedrivePolicy = serde_json::from_str(json).ok()?;
    match policy.max_receive_count {
        Count::Number(count) => Some(count),
        Count::Text(text) => text.parse().ok(),
    }
}

fn is_missing_queue(error: &SdkError<GetQueueAttributesError>) -> bool {
    error
        .as_service_error()
        .is_some_and(GetQueueAttributesError::is_queue_does_not_exist)
}

/// Whether it will fail again until somebody changes the policies.
fn is_denied(error: &SdkError<GetQueueAttributesError>) -> bool {
    error
        .code()
        .is_some_and(|code| code.contains("AccessDenied"))
}

/// What to warn about at the start, at most one line for each misfit. Pure.
pub(super) fn misfits(config: &Config, facts: &QueueFacts) -> Vec<String> {
    let mut misfits = Vec::new();
    if facts.max_receive_count.is_none() && !config.ends_failures {
        let pause = if config.retries_at_once {
            ", and it is retried without a pause: set `.retry(Backoff::exponential(…))`"
        } else {
            ""
        };
        misfits.push(format!(
            "a failing message has no end: the queue has no redrive policy, and `max_attempts` \
             and `dead_letter_queue` are not both set{pause}"
        ));
    }
    if let (Some(native), Some(own)) = (facts.max_receive_count, config.max_attempts)
        && native < u64::from(own)
    {
        misfits.push(format!(
            "the queue's redrive policy takes a message away after {native} receives, before \
             `max_attempts` of {own} is reached"
        ));
    }
    if let Some(url) = config
        .dead_letter_url
        .as_ref()
        .filter(|_| facts.dead_letter_queue == DeadLetterFacts::Missing)
    {
        misfits.push(format!(
            "the dead-letter queue `{url}` does not exist: create it; until then what should go \
             there is left on the queue"
        ));
    }
    if config.fifo && (config.max_attempts.is_some() || facts.max_receive_count.is_some()) {
        misfits.push(
            "on a FIFO queue a message that waits behind a failing one of its group may lose a \
             receive, which counts as an attempt: leave room for one in `max_attempts` and in \
             `maxReceiveCount`"
                .to_owned(),
        );
    }
    if let (Some(own), DeadLetterFacts::Takes(dead)) =
        (facts.max_message_bytes, facts.dead_letter_queue)
        && dead < own
    {
        misfits.push(format!(
            "the dead-letter queue takes messages of {dead} bytes and the queue of {own}: larger \
             ones cannot be dead-lettered and are left on the queue; raise its MaximumMessageSize"
        ));
    }
    if config.fifo != facts.fifo {
        let (name, is) = if config.fifo {
            ("a FIFO", "a standard")
        } else {
            ("a standard", "a FIFO")
        };
        misfits.push(format!(
            "the queue has the name of {name} queue and its attributes say that it is {is} one: \
             it is consumed as {name} queue, by its name"
        ));
    }
    let configured = config.visibility_seconds.map(|seconds| seconds == 0);
    let own = facts.visibility_timeout.map(|timeout| timeout.is_zero());
    if configured.or(own) == Some(true) {
        misfits.push(
            "the visibility timeout is 0 s: messages come again while they are handled, and \
             there is no heartbeat; set `.visibility_timeout(…)`"
                .to_owned(),
        );
    }
    misfits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_redrive_policy_is_read_in_both_spellings() {
        assert_eq!(
            max_receive_count(r#"{"deadLetterTargetArn":"a","maxReceiveCount":3}"#),
            Some(3)
        );
        assert_eq!(max_receive_count(r#"{"maxReceiveCount":"5"}"#), Some(5));
        assert_eq!(max_receive_count("{}"), None);
        assert_eq!(max_receive_count(""), None);
    }

    fn told(config: impl FnOnce(&mut Config), facts: QueueFacts) -> Vec<String> {
        let mut checked = Config::for_tests();
        config(&mut checked);
        misfits(&checked, &facts)
    }

    #[test]
    fn c_048_a_failing_message_without_an_end_is_told_once() {
        let bare = || QueueFacts {
            visibility_timeout: Some(Duration::from_secs(30)),
            ..QueueFacts::default()
        };
        let redriven = |count| QueueFacts {
            max_receive_count: Some(count),
            ..bare()
        };
        let endless = told(|_| {}, bare());
        assert_eq!(endless.len(), 1, "{endless:?}");
        assert!(endless[0].contains("no end") && endless[0].contains("without a pause"));
        let paused = told(|config| config.retries_at_once = false, bare());
        assert!(paused[0].contains("no end") && !paused[0].contains("without a pause"));
        assert!(told(|config| config.ends_failures = true, bare()).is_empty());
        assert!(told(|_| {}, redriven(5)).is_empty());
        let early = told(|config| config.max_attempts = Some(5), redriven(3));
        assert!(
            early.len() == 1 && early[0].contains("after 3 receives"),
            "{early:?}"
        );
        assert!(told(|config| config.max_attempts = Some(3), redriven(3)).is_empty());
    }

    #[test]
    fn c_004_the_cost_of_waiting_behind_a_failing_message_is_told() {
        let facts = |fifo| QueueFacts {
            max_receive_count: Some(3),
            fifo,
            ..QueueFacts::default()
        };
        let told_of = |fifo| told(|config| config.fifo = fifo, facts(fifo));
        assert!(told_of(true)[0].contains("behind a failing one"));
        assert!(told_of(false).is_empty());
    }

    #[test]
    fn a_missing_dead_letter_queue_is_told() {
        let facts = QueueFacts {
            max_receive_count: Some(3),
            dead_letter_queue: DeadLetterFacts::Missing,
            ..QueueFacts::default()
        };
        let url = || Some("http://localhost/0/orders-dlq".to_owned());
        let told = told(|config| config.dead_letter_url = url(), facts);
        assert!(
            told.len() == 1 && told[0].contains("orders-dlq` does not exist"),
            "{told:?}"
        );
    }

    #[test]
    fn a_dead_letter_queue_that_takes_less_is_told() {
        let told_of = |own, dead| {
            let facts = QueueFacts {
                max_receive_count: Some(3),
                max_message_bytes: own,
                dead_letter_queue: dead,
                ..QueueFacts::default()
            };
            told(|_| {}, facts)
        };
        let told = told_of(Some(262_144), DeadLetterFacts::Takes(1024));
        assert!(
            told.len() == 1 && told[0].contains("of 1024 bytes"),
            "{told:?}"
        );
        assert!(told_of(Some(1024), DeadLetterFacts::Takes(1024)).is_empty());
        assert!(told_of(None, DeadLetterFacts::Takes(1024)).is_empty());
        assert!(told_of(Some(1024), DeadLetterFacts::Unknown).is_empty());
    }

    #[test]
    fn a_queue_of_another_type_than_its_name_is_told() {
        let facts = |fifo| QueueFacts {
            fifo,
            ..QueueFacts::default()
        };
        let told_of = |named, is| {
            let set = |config: &mut Config| (config.fifo, config.ends_failures) = (named, true);
            told(set, facts(is))
        };
        assert!(told_of(true, false)[0].contains("say that it is a standard one"));
        assert!(told_of(false, true)[0].contains("say that it is a FIFO one"));
        assert!(told_of(true, true).is_empty() && told_of(false, false).is_empty());
    }

    #[test]
    fn c_033_a_visibility_timeout_of_zero_is_told() {
        let facts = |seconds| QueueFacts {
            visibility_timeout: Some(Duration::from_secs(seconds)),
            max_receive_count: Some(3),
            ..QueueFacts::default()
        };
        assert!(told(|_| {}, facts(0))[0].contains("0 s"));
        assert!(told(|config| config.visibility_seconds = Some(30), facts(0)).is_empty());
        let own = told(|config| config.visibility_seconds = Some(0), facts(30));
        assert_eq!(own.len(), 1);
    }
}
