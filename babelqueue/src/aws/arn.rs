//! The ARN of a queue, and the URL that goes with it.

/// The parts of an SQS queue's ARN that a URL needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueueArn {
    pub(crate) region: String,
    pub(crate) account: String,
    pub(crate) queue: String,
}

impl QueueArn {
    /// Reads `arn:<partition>:sqs:<region>:<account>:<name>`; all parts are required.
    pub(crate) fn parse(arn: &str) -> Option<Self> {
        let parts: Vec<_> = arn.split(':').collect();
        let ["arn", partition, "sqs", region, account, queue] = parts[..] else {
            return None;
        };
        let all = [partition, region, account, queue];
        all.iter().all(|part| !part.is_empty()).then(|| Self {
            region: region.to_owned(),
            account: account.to_owned(),
            queue: queue.to_owned(),
        })
    }

    /// The queue's URL under the endpoint that a client calls.
    pub(crate) fn url(&self, endpoint: &str) -> String {
        let endpoint = endpoint.trim_end_matches('/');
        format!("{endpoint}/{}/{}", self.account, self.queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_has_all_its_parts() {
        let arn = QueueArn::parse("arn:aws-cn:sqs:cn-north-1:1234:orders.fifo");
        let arn = arn.expect("all parts are there");
        assert_eq!(
            arn.url("https://sqs.cn-north-1.amazonaws.com.cn/"),
            "https://sqs.cn-north-1.amazonaws.com.cn/1234/orders.fifo"
        );
        for bad in [
            "",
            "orders",
            "arn:aws:sqs:eu-west-1:1234",
            "arn:aws:sqs::1234:orders",
            "arn::sqs:eu-west-1:1234:orders",
            "arn:aws:sqs:eu-west-1::orders",
            "arn:aws:sqs:eu-west-1:1234:",
            "arn:aws:sns:eu-west-1:1234:orders",
            "arn:aws:sqs:eu-west-1:1234:orders:more",
        ] {
            assert_eq!(QueueArn::parse(bad), None, "{bad}");
        }
    }
}
