//! Where a publisher sends to: a queue URL, or a name that becomes one (SPEC §2.1).

use std::sync::Arc;

use aws_sdk_sqs::Client;
use tokio::sync::OnceCell;

use super::failure::Failure;
use crate::policy::{NameError, check_name, is_fifo, queue_name};

#[derive(Clone, Debug)]
pub(super) struct Target {
    name: Arc<str>,
    url: Url,
}

#[derive(Clone, Debug)]
enum Url {
    Known(Arc<str>),
    /// Under a prefix, or asked for once and kept.
    Named {
        prefix: Option<String>,
        resolved: Arc<OnceCell<Arc<str>>>,
    },
}

impl Target {
    /// A queue URL; whatever has no scheme is a name.
    pub(super) fn new(queue: &str) -> Self {
        let url = if queue.contains("://") {
            Url::Known(queue.into())
        } else {
            Url::Named {
                prefix: None,
                resolved: Arc::default(),
            }
        };
        Self {
            name: queue_name(queue).into(),
            url,
        }
    }

    pub(super) fn set_prefix(&mut self, new: String) {
        if let Url::Named { prefix, .. } = &mut self.url {
            *prefix = Some(new);
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn is_fifo(&self) -> bool {
        is_fifo(&self.name)
    }

    pub(super) fn check(&self) -> Result<(), NameError> {
        check_name(&self.name)
    }

    /// The URL, when no call is needed to know it.
    pub(super) fn known_url(&self) -> Option<Arc<str>> {
        match &self.url {
            Url::Known(url) => Some(Arc::clone(url)),
            Url::Named {
                prefix: Some(prefix),
                ..
            } => Some(format!("{}/{}", prefix.trim_end_matches('/'), self.name).into()),
            Url::Named { resolved, .. } => resolved.get().cloned(),
        }
    }

    /// The URL; asks SQS at most once, whatever the number of publishes that wait for it.
    pub(super) async fn url(&self, client: &Client) -> Result<Arc<str>, Failure> {
        if let Some(url) = self.known_url() {
            return Ok(url);
        }
        let Url::Named { resolved, .. } = &self.url else {
            return Ok(Arc::clone(&self.name));
        };
        let ask = || async {
            let call = client.get_queue_url().queue_name(&*self.name).send();
            let answer = Box::pin(call).await;
            let answer = answer.map_err(|error| Failure::of_call(error).while_resolving())?;
            Ok(answer.queue_url.unwrap_or_default().into())
        };
        resolved.get_or_try_init(ask).await.cloned()
    }
}
