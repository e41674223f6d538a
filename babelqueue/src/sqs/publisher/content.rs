//! What SQS gets of a message: the body, and the attributes beside it. Pure.

use crate::envelope::{self, Envelope, projection};
use crate::pipeline::Attribute;

#[derive(Clone, Debug)]
pub(super) enum Content {
    /// An envelope of our own making with the contract's attributes and no others. They are read
    /// from it for each attempt, so that nothing is kept twice.
    Envelope(Envelope),
    Listed(Listed),
}

/// Any body, and any attributes.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed {
    pub(super) body: String,
    pub(super) attributes: Vec<Attribute>,
    /// `meta.id` and `trace_id`, empty when there is none.
    pub(super) message_id: String,
    pub(super) trace_id: String,
}

impl Content {
    pub(super) fn body(&self) -> &str {
        match self {
            Self::Envelope(envelope) => envelope.body(),
            Self::Listed(listed) => &listed.body,
        }
    }

    /// `meta.id`.
    pub(super) fn message_id(&self) -> &str {
        match self {
            Self::Envelope(envelope) => envelope.meta().id().unwrap_or_default(),
            Self::Listed(listed) => &listed.message_id,
        }
    }

    pub(super) fn trace_id(&self) -> &str {
        match self {
            Self::Envelope(envelope) => envelope.trace_id().unwrap_or_default(),
            Self::Listed(listed) => &listed.trace_id,
        }
    }

    pub(super) fn attributes(&self) -> impl Iterator<Item = Attribute> + '_ {
        let (projected, listed) = match self {
            Self::Envelope(envelope) => (Some(projection(envelope)), None),
            Self::Listed(listed) => (None, Some(listed.attributes.iter().cloned())),
        };
        let projected = projected.into_iter().flatten().map(plain);
        projected.chain(listed.into_iter().flatten())
    }

    /// To change the body, or what stands beside it.
    pub(super) fn into_listed(self) -> Listed {
        match self {
            Self::Envelope(envelope) => Listed {
                attributes: projection(&envelope).into_iter().map(plain).collect(),
                message_id: envelope.meta().id().unwrap_or_default().to_owned(),
                trace_id: envelope.trace_id().unwrap_or_default().to_owned(),
                body: envelope.into_body(),
            },
            Self::Listed(listed) => listed,
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Listed(Listed::default())
    }
}

/// A contract attribute as any other.
pub(super) fn plain(attribute: envelope::Attribute<'_>) -> Attribute {
    Attribute::text(attribute.name, attribute.kind.as_str(), attribute.value)
}
