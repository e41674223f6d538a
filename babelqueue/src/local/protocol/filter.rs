//! Which attributes a receive wants to see.

use crate::local::engine::attributes::unknown;
use crate::local::engine::error::ApiResult;

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
        let mut all = legacy.unwrap_or_default();
        all.extend(system.unwrap_or_default());
        for name in &all {
            if name != "All" && !SYSTEM_NAMES.contains(&name.as_str()) {
                return Err(unknown(name));
            }
        }
        Ok(Self {
            system: all,
            message: message.unwrap_or_default(),
        })
    }

    pub(crate) fn wants_system(&self, name: &str) -> bool {
        self.system
            .iter()
            .any(|wanted| wanted == "All" || wanted == name)
    }

    /// Names, `All`, `.*`, and prefixes such as `foo.*`.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.message.iter().any(|wanted| match wanted.as_str() {
            "All" | ".*" => true,
            wanted => match wanted.strip_suffix('*') {
                Some(prefix) if prefix.ends_with('.') => name.starts_with(prefix),
                _ => wanted == name,
            },
        })
    }
}
