//! The attributes of a queue: their ranges, their defaults and their text.

use super::error::{ApiError, ApiResult, Kind};
use super::limits::{MAX_BYTES, MAX_DELAY, MAX_VISIBILITY, MAX_WAIT, decimal};
use super::redrive::{RedriveAllow, RedrivePolicy};

/// What a client may set on a queue. Times are in seconds.
#[derive(Clone, Debug)]
pub(crate) struct QueueAttributes {
    pub(crate) fifo: bool,
    pub(crate) visibility: u32,
    pub(crate) max_bytes: u32,
    pub(crate) retention: u32,
    pub(crate) delay: u32,
    pub(crate) wait: u32,
    pub(crate) content_dedup: bool,
    pub(crate) dedup_per_group: bool,
    pub(crate) limit_per_group: bool,
    pub(crate) redrive: Option<RedrivePolicy>,
    pub(crate) redrive_allow: Option<RedriveAllow>,
    pub(crate) policy: Option<String>,
    pub(crate) kms_key: Option<String>,
    kms_reuse: u32,
    managed_sse: bool,
}

/// How long a data key of KMS is used when a queue does not say, in seconds.
const DEFAULT_KMS_REUSE: u32 = 300;

/// The names that `GetQueueAttributes` knows, in the order of `All`.
pub(crate) const NAMES: [&str; 21] = [
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
    "ContentBasedDeduplication",
    "CreatedTimestamp",
    "DeduplicationScope",
    "DelaySeconds",
    "FifoQueue",
    "FifoThroughputLimit",
    "KmsDataKeyReusePeriodSeconds",
    "KmsMasterKeyId",
    "LastModifiedTimestamp",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "Policy",
    "QueueArn",
    "ReceiveMessageWaitTimeSeconds",
    "RedriveAllowPolicy",
    "RedrivePolicy",
    "SqsManagedSseEnabled",
    "VisibilityTimeout",
];

impl QueueAttributes {
    /// The defaults of a new queue.
    pub(crate) fn new(fifo: bool) -> Self {
        Self {
            fifo,
            visibility: 30,
            max_bytes: u32::try_from(MAX_BYTES).unwrap_or(u32::MAX),
            retention: 345_600,
            delay: 0,
            wait: 0,
            content_dedup: false,
            dedup_per_group: false,
            limit_per_group: false,
            redrive: None,
            redrive_allow: None,
            policy: None,
            kms_key: None,
            kms_reuse: DEFAULT_KMS_REUSE,
            managed_sse: true,
        }
    }

    /// Sets one attribute.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> ApiResult<()> {
        let number = |low: u32, high: u32| {
            decimal(value)
                .filter(|number| (low..=high).contains(number))
                .ok_or_else(|| bad_value(name))
        };
        let flag = || match value.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(bad_value(name)),
        };
        let text = || (!value.is_empty()).then(|| value.to_owned());
        match name {
            "VisibilityTimeout" => self.visibility = number(0, MAX_VISIBILITY)?,
            "MaximumMessageSize" => {
                self.max_bytes = number(1024, u32::try_from(MAX_BYTES).unwrap_or(u32::MAX))?;
            }
            "MessageRetentionPeriod" => self.retention = number(60, 1_209_600)?,
            "DelaySeconds" => self.delay = number(0, MAX_DELAY)?,
            "ReceiveMessageWaitTimeSeconds" => self.wait = number(0, MAX_WAIT)?,
            "RedrivePolicy" => self.redrive = RedrivePolicy::parse(value)?,
            "RedriveAllowPolicy" => self.redrive_allow = RedriveAllow::parse(value)?,
            "Policy" => {
                if !value.is_empty()
                    && !matches!(
                        serde_json::from_str(value),
                        Ok(serde_json::Value::Object(_))
                    )
                {
                    return Err(bad_value(name));
                }
                self.policy = text();
            }
            "KmsMasterKeyId" => self.kms_key = text(),
            "KmsDataKeyReusePeriodSeconds" => self.kms_reuse = number(60, 86_400)?,
            "SqsManagedSseEnabled" => self.managed_sse = flag()?,
            // Whether a queue is FIFO can be said again, but not changed.
            "FifoQueue" if self.fifo && value == "true" => {}
            "FifoQueue" if self.fifo => return Err(bad_value(name)),
            "ContentBasedDeduplication" if self.fifo => self.content_dedup = flag()?,
            "DeduplicationScope" if self.fifo => {
                self.dedup_per_group = match value {
                    "messageGroup" => true,
                    "queue" => false,
                    _ => return Err(bad_value(name)),
                };
            }
            "FifoThroughputLimit" if self.fifo => {
                self.limit_per_group = match value {
                    "perMessageGroupId" => true,
                    "perQueue" => false,
                    _ => return Err(bad_value(name)),
                };
            }
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    /// Sets several attributes, and checks what concerns more than one.
    pub(crate) fn set_all<'a>(
        &mut self,
        attributes: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> ApiResult<()> {
        let mut wants_kms = false;
        let mut wants_managed = false;
        for (name, value) in attributes {
            self.set(name, value)?;
            wants_kms |= name == "KmsMasterKeyId" && self.kms_key.is_some();
            wants_managed |= name == "SqsManagedSseEnabled" && self.managed_sse;
        }
        match (wants_kms, wants_managed) {
            (true, true) => {
                return Err(Kind::InvalidAttributeName.error(
                    "A queue has one kind of server-side encryption at a time: by a key of KMS or \
                     managed by SQS.",
                ));
            }
            // The one that is asked for takes the place of the other.
            (true, false) => self.managed_sse = false,
            (false, true) => {
                self.kms_key = None;
                self.kms_reuse = DEFAULT_KMS_REUSE;
            }
            (false, false) => {}
        }
        if self.limit_per_group && !self.dedup_per_group {
            return Err(Kind::InvalidAttributeValue.error(
                "FifoThroughputLimit can be perMessageGroupId only when DeduplicationScope is messageGroup.",
            ));
        }
        Ok(())
    }

    /// Whether two queues differ in an attribute, shown to clients or not.
    pub(crate) fn differ(&self, other: &Self, name: &str) -> bool {
        match name {
            "KmsDataKeyReusePeriodSeconds" => self.kms_reuse != other.kms_reuse,
            name => self.get(name) != other.get(name),
        }
    }

    /// The text of an attribute that a client can set; `None` when the queue does not have it.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let fifo = |text: &str| self.fifo.then(|| text.to_owned());
        match name {
            "VisibilityTimeout" => Some(self.visibility.to_string()),
            "MaximumMessageSize" => Some(self.max_bytes.to_string()),
            "MessageRetentionPeriod" => Some(self.retention.to_string()),
            "DelaySeconds" => Some(self.delay.to_string()),
            "ReceiveMessageWaitTimeSeconds" => Some(self.wait.to_string()),
            "RedrivePolicy" => self.redrive.as_ref().map(RedrivePolicy::text),
            "RedriveAllowPolicy" => self.redrive_allow.as_ref().map(RedriveAllow::text),
            "Policy" => self.policy.clone(),
            "KmsMasterKeyId" => self.kms_key.clone(),
            "KmsDataKeyReusePeriodSeconds" => {
                self.kms_key.as_ref().map(|_| self.kms_reuse.to_string())
            }
            "SqsManagedSseEnabled" => Some(self.managed_sse.to_string()),
            "FifoQueue" => fifo("true"),
            "ContentBasedDeduplication" => fifo(if self.content_dedup { "true" } else { "false" }),
            "DeduplicationScope" => fifo(if self.dedup_per_group {
                "messageGroup"
            } else {
                "queue"
            }),
            "FifoThroughputLimit" => fifo(if self.limit_per_group {
                "perMessageGroupId"
            } else {
                "perQueue"
            }),
            _ => None,
        }
    }
}

pub(crate) fn unknown(name: &str) -> ApiError {
    Kind::InvalidAttributeName.error(format!("Unknown Attribute {name}."))
}

fn bad_value(name: &str) -> ApiError {
    Kind::InvalidAttributeValue.error(format!("Invalid value for the parameter {name}."))
}
