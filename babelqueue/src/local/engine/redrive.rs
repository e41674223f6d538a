//! The redrive policy (where messages go that were received too often) and the
//! redrive allow policy (which queues may name this one as their dead-letter queue).

use serde_json::Value;

use super::error::{ApiError, ApiResult, invalid_value};
use super::limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RedrivePolicy {
    pub(crate) target_arn: String,
    pub(crate) max_receives: u32,
}

impl RedrivePolicy {
    /// Reads a policy; an empty text means none.
    pub(crate) fn parse(text: &str) -> ApiResult<Option<Self>> {
        if text.is_empty() {
            return Ok(None);
        }
        let bad = |reason: &str| invalid_value("RedrivePolicy", text, reason);
        let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
            return Err(bad("Redrive policy is not a valid JSON map."));
        };
        let mut target_arn = None;
        let mut max_receives = None;
        for (name, value) in &fields {
            match name.as_str() {
                "deadLetterTargetArn" => {
                    let arn = value.as_str().filter(|arn| limits::is_queue_arn(arn));
                    target_arn = Some(arn.ok_or_else(|| {
                        bad("Invalid value for deadLetterTargetArn: it must be the ARN of a queue.")
                    })?);
                }
                "maxReceiveCount" => {
                    // Both forms are seen in the documentation: 5 and "5".
                    let count = match value {
                        Value::String(text) => limits::decimal(text),
                        value => value.as_u64().and_then(|count| u32::try_from(count).ok()),
                    };
                    let count = count.filter(|count| (1..=1000).contains(count));
                    max_receives = Some(count.ok_or_else(|| {
                        bad("Invalid value for maxReceiveCount: it must be between 1 and 1000.")
                    })?);
                }
                _ => {
                    return Err(bad(
                        "Only following attributes are supported: [deadLetterTargetArn, maxReceiveCount].",
                    ));
                }
            }
        }
        let missing = |name| {
            bad(&format!(
                "Redrive policy does not contain mandatory attribute: {name}."
            ))
        };
        Ok(Some(Self {
            target_arn: target_arn
                .ok_or_else(|| missing("deadLetterTargetArn"))?
                .to_owned(),
            max_receives: max_receives.ok_or_else(|| missing("maxReceiveCount"))?,
        }))
    }

    pub(crate) fn text(&self) -> String {
        serde_json::json!({
            "deadLetterTargetArn": self.target_arn,
            "maxReceiveCount": self.max_receives,
        })
        .to_string()
    }

    pub(crate) fn refuse(&self, reason: &str) -> ApiError {
        invalid_value("RedrivePolicy", self.text(), reason)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RedriveAllow {
    All,
    Nobody,
    Queues(Vec<String>),
}

impl RedriveAllow {
    /// Reads a policy; an empty text means none, which allows all.
    pub(crate) fn parse(text: &str) -> ApiResult<Option<Self>> {
        if text.is_empty() {
            return Ok(None);
        }
        let bad = |reason: &str| invalid_value("RedriveAllowPolicy", text, reason);
        let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
            return Err(bad("Redrive allow policy is not a valid JSON map."));
        };
        let known = ["redrivePermission", "sourceQueueArns"];
        if fields.keys().any(|name| !known.contains(&name.as_str())) {
            return Err(bad(
                "Only following attributes are supported: [redrivePermission, sourceQueueArns].",
            ));
        }
        let no_arns = || bad("sourceQueueArns must be a list of ARNs of queues.");
        let sources = match fields.get("sourceQueueArns") {
            None => None,
            Some(Value::Array(arns)) => Some(
                arns.iter()
                    .map(|arn| {
                        Some(
                            arn.as_str()
                                .filter(|arn| limits::is_queue_arn(arn))?
                                .to_owned(),
                        )
                    })
                    .collect::<Option<Vec<_>>>()
                    .ok_or_else(no_arns)?,
            ),
            Some(_) => return Err(no_arns()),
        };
        let permission = fields.get("redrivePermission").and_then(Value::as_str);
        match (permission, sources) {
            (Some("allowAll"), None) => Ok(Some(Self::All)),
            (Some("denyAll"), None) => Ok(Some(Self::Nobody)),
            (Some("byQueue"), Some(arns)) if (1..=10).contains(&arns.len()) => {
                Ok(Some(Self::Queues(arns)))
            }
            (Some("byQueue"), _) => Err(bad("byQueue needs 1 to 10 sourceQueueArns.")),
            (Some("allowAll" | "denyAll"), Some(_)) => {
                Err(bad("sourceQueueArns can only be given with byQueue."))
            }
            _ => Err(bad(
                "redrivePermission must be allowAll, denyAll or byQueue.",
            )),
        }
    }

    pub(crate) fn allows(&self, source_arn: &str) -> bool {
        match self {
            Self::All => true,
            Self::Nobody => false,
            Self::Queues(arns) => arns.iter().any(|arn| arn == source_arn),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::All => serde_json::json!({"redrivePermission": "allowAll"}),
            Self::Nobody => serde_json::json!({"redrivePermission": "denyAll"}),
            Self::Queues(arns) => {
                serde_json::json!({"redrivePermission": "byQueue", "sourceQueueArns": arns})
            }
        }
        .to_string()
    }
}
