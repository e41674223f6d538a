//! Which attributes a receive wants to see.

use crate::local::engine::attributes::{NAMES as QUEUE_NAMES, unknown};
use crate::local::engine::error::{ApiResult, invalid_value};
use crate::local::engine::limits::{self, MAX_NAME};

/// The system attributes that a message can have.
pub(crate) const SYSTEM_NAMES: [&str; 9] = [
    "SenderId",
    "SentTimestamp",
    "ApproximateReceiveCount",
    "ApproximateFirstReceiveTimestamp",
    "SequenceNumber",
    "MessageDeduplicationId",
    "MessageGroupId",
    "AWSTraceHeader",
    "DeadLetterQueueSourceArn",
];

#[derive(Debug, Default)]
pub(crate) struct Filter {
    system: Vec<String>,
    message: Vec<String>,
}

impl Filter {
    /// `legacy` is `AttributeNames`, which newer clients call `MessageSystemAttributeNames`.
    pub(crate) fn new(
        legacy: Option<Vec<String>>,
        system: Option<Vec<String>>,
        message: Option<Vec<String>>,
    ) -> ApiResult<Self> {
        let mut wanted = system.unwrap_or_default();
        // Its older clients may name the attributes of queues, which a message does not have.
        let legacy = legacy.unwrap_or_default().into_iter();
        wanted.extend(legacy.filter(|name| !QUEUE_NAMES.contains(&name.as_str())));
        for name in &wanted {
            if name != "All" && !SYSTEM_NAMES.contains(&name.as_str()) {
                return Err(unknown(name));
            }
        }
        let message = message.unwrap_or_default();
        message.iter().try_for_each(|name| check_wanted(name))?;
        Ok(Self {
            system: wanted,
            message,
        })
    }

    pub(crate) fn wants_system(&self, name: &str) -> bool {
        self.system
            .iter()
            .any(|wanted| wanted == "All" || wanted == name)
    }

    /// Names, `All`, and beginnings of names such as `foo.*`, which stands for `foobar` too.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.message.iter().any(|wanted| match wanted.as_str() {
            "All" | "*" => true,
            wanted => match wanted.strip_suffix(".*") {
                Some(beginning) => name.starts_with(beginning),
                None => wanted == name,
            },
        })
    }
}

/// Refuses what cannot be meant as the name of a message attribute. Names that no attribute can
/// have for other reasons, such as `AWS.x` or `a..b`, are names of nothing: SQS takes them.
fn check_wanted(wanted: &str) -> ApiResult<()> {
    let name = match wanted {
        "*" => "",
        wanted => wanted.strip_suffix(".*").unwrap_or(wanted),
    };
    let all = wanted == "*" || wanted == ".*";
    let reason = if name.len() > MAX_NAME || (name.is_empty() && !all) {
        "Its length must be between 1 and 256."
    } else if !limits::has_name_characters(name) {
        "It can only include letters, digits, hyphens, underscores and periods, and .* at its end."
    } else {
        return Ok(());
    };
    Err(invalid_value("MessageAttributeNames", wanted, reason))
}
