//! The calls about queues as a whole: attributes, tags, purges, creating and deleting.

use std::collections::BTreeMap;

use aws_sdk_sqs::types::QueueAttributeName as Name;
use serde_json::Value;

use super::op::Op;
use super::side::{Side, said};

impl Side {
    /// Carries out a call that is about no message, and says what came of it.
    pub(super) async fn call_about_queues(&mut self, op: &Op) -> String {
        let done = "done".to_owned();
        match op {
            Op::Purge { fifo } => {
                let url = self.url(*fifo).to_owned();
                for receipt in &mut self.receipts {
                    receipt.spent |= receipt.url == url;
                }
                let purge = self.client.purge_queue().queue_url(url);
                said(purge.send().await, |_| done)
            }
            Op::SetAttribute { fifo, attribute } => {
                let set = self.client.set_queue_attributes();
                let set = set.queue_url(self.url(*fifo));
                let set = set.attributes(Name::from(attribute.0), attribute.1);
                said(set.send().await, |_| done)
            }
            Op::Attributes { fifo } => {
                let get = self.client.get_queue_attributes();
                let get = get.queue_url(self.url(*fifo)).attribute_names(Name::All);
                said(get.send().await, |it| {
                    let all = it.attributes.unwrap_or_default().into_iter();
                    let all: BTreeMap<_, _> = all
                        .filter_map(|(name, value)| shared(&name, &value))
                        .collect();
                    format!("{all:?}")
                })
            }
            Op::Tag { fifo, key, value } => {
                let tag = self.client.tag_queue().queue_url(self.url(*fifo));
                let tag = tag.tags(format!("k{key}"), "v".repeat((*value).into()));
                said(tag.send().await, |_| done)
            }
            Op::Untag { fifo, key } => {
                let untag = self.client.untag_queue().queue_url(self.url(*fifo));
                said(untag.tag_keys(format!("k{key}")).send().await, |_| done)
            }
            Op::Tags { fifo } => {
                let list = self.client.list_queue_tags().queue_url(self.url(*fifo));
                said(list.send().await, |it| {
                    let all: BTreeMap<_, _> = it.tags.unwrap_or_default().into_iter().collect();
                    format!("{all:?}")
                })
            }
            Op::Create { queue, attribute } => {
                let create = self.client.create_queue().queue_name(self.name(*queue));
                let create = create.attributes(Name::from(attribute.0), attribute.1);
                said(create.send().await, |it| last(it.queue_url))
            }
            Op::DeleteQueue { queue } => {
                // Through its URL, so that both sides find out the same way whether it is there.
                let url = self
                    .url(false)
                    .replace(&format!("alive-{}", self.tag), &self.name(*queue));
                let delete = self.client.delete_queue().queue_url(url);
                said(delete.send().await, |_| done)
            }
            Op::FindQueue { queue } => {
                let find = self.client.get_queue_url().queue_name(self.name(*queue));
                said(find.send().await, |it| last(it.queue_url))
            }
            Op::ListQueues => {
                let list = self.client.list_queues();
                let list = list.queue_name_prefix(format!("{}-", self.tag));
                said(list.send().await, |it| {
                    let urls = it.queue_urls.unwrap_or_default().into_iter();
                    let mut names: Vec<_> = urls.map(|url| last(Some(url))).collect();
                    names.sort();
                    format!("{names:?}")
                })
            }
            op => unreachable!("{op:?} is about messages"),
        }
    }

    /// The name of a queue that comes and goes.
    fn name(&self, queue: u8) -> String {
        format!("{}-{queue}", self.tag)
    }
}

/// The name in a queue URL, whose host differs.
fn last(url: Option<String>) -> String {
    let url = url.unwrap_or_default();
    url.rsplit('/').next().unwrap_or_default().to_owned()
}

/// An attribute in the words that both sides share; `None` for those that differ by their nature.
fn shared(name: &Name, value: &str) -> Option<(String, String)> {
    let value = match name {
        Name::CreatedTimestamp | Name::LastModifiedTimestamp | Name::QueueArn => return None,
        // ministack does not show these where a client has not set them; SQS does.
        Name::SqsManagedSseEnabled | Name::DeduplicationScope | Name::FifoThroughputLimit => {
            return None;
        }
        Name::RedrivePolicy => {
            let policy: Value = serde_json::from_str(value).unwrap();
            policy["maxReceiveCount"].to_string()
        }
        _ => value.to_owned(),
    };
    Some((name.to_string(), value))
}
