//! The wrapper that Amazon SNS puts around a message when raw delivery is off.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::{Decode, Decoded, Foreign, Inner};
use crate::BoxError;

/// Takes messages out of Amazon SNS notifications. The wrapper's attributes count as the
/// message's own: the version gate reads them, and handlers see them as headers.
///
/// Raw message delivery on the subscription does without it, and costs less. What is inside may be
/// an envelope, or something that a decoder after it reads:
///
/// ```no_run
/// # fn builder(sqs: aws_sdk_sqs::Client) {
/// use babelqueue::decode::{PlainJson, Sns};
/// use babelqueue::prelude::*;
///
/// # let router = Router::from_handlers![];
/// SqsConsumer::builder(sqs, "https://sqs.eu-west-1.amazonaws.com/1234/uploads", router)
///     .decoder(Sns)
///     .decoder(PlainJson::new("urn:aws:s3:event"));
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Sns;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Notification {
    r#type: String,
    topic_arn: String,
    message: String,
    #[serde(default)]
    message_attributes: BTreeMap<String, Attribute>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Attribute {
    r#type: String,
    value: String,
}

impl Decode for Sns {
    fn decode(&self, message: &Foreign<'_>) -> Result<Decoded, BoxError> {
        let Ok(notification) = serde_json::from_str::<Notification>(message.body()) else {
            return Ok(Decoded::NotMine);
        };
        if notification.r#type != "Notification" || notification.topic_arn.is_empty() {
            return Ok(Decoded::NotMine);
        }
        let mut inner = Inner::new(notification.message);
        for (name, attribute) in notification.message_attributes {
            inner = if attribute.r#type == "Binary" {
                inner.binary_attribute(name, STANDARD.decode(attribute.value)?)
            } else {
                inner.attribute(name, attribute.r#type, attribute.value)
            };
        }
        Ok(inner.into())
    }
}
