//! How a fault is planned: which requests it happens to, how often, and what it is.

use std::sync::Arc;
use std::time::Duration;

use super::{Fault, PlannedFault, Refusal, Rule, RuleState};
use crate::local::protocol::operation::Operation;
use crate::local::service::Service;

/// The fault plan of a server, from [`LocalSqs::faults`](super::super::LocalSqs::faults).
///
/// The first planned fault that fits a request happens to it; a request has one fault at most.
/// With the same seed and the same requests the same faults happen.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), aws_sdk_sqs::Error> {
/// use babelqueue::local::{LocalSqs, Operation};
///
/// let local = LocalSqs::new();
/// let url = local.create_queue("orders");
/// // The message arrives, and the client never hears of it: the SDK sends it again.
/// local.faults().on(Operation::SendMessage).once().lose_response();
/// local.client().send_message().queue_url(&url).message_body("hello").send().await?;
/// assert_eq!(local.snapshot(&url).visible.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Faults {
    service: Arc<Service>,
}

impl Faults {
    pub(crate) fn new(service: Arc<Service>) -> Self {
        Self { service }
    }

    /// Plans a fault of one operation.
    pub fn on(&self, operation: Operation) -> FaultBuilder {
        self.on_each_of([operation])
    }

    /// Plans a fault of several operations.
    pub fn on_each_of(&self, operations: impl IntoIterator<Item = Operation>) -> FaultBuilder {
        FaultBuilder::new(self.clone(), Some(operations.into_iter().collect()))
    }

    /// Plans a fault of any operation.
    pub fn on_any(&self) -> FaultBuilder {
        FaultBuilder::new(self.clone(), None)
    }

    /// Takes back everything that was planned.
    pub fn clear(&self) {
        self.service.faults().clear();
    }
}

/// One fault being planned. The methods that say what goes wrong end it; until then nothing is planned.
#[derive(Debug)]
#[must_use = "say what goes wrong, or nothing is planned"]
pub struct FaultBuilder {
    faults: Faults,
    operations: Option<Vec<Operation>>,
    queue: Option<String>,
    skip: u64,
    times: Option<u64>,
    probability: f64,
}

impl FaultBuilder {
    fn new(faults: Faults, operations: Option<Vec<Operation>>) -> Self {
        Self {
            faults,
            operations,
            queue: None,
            skip: 0,
            times: None,
            probability: 1.0,
        }
    }

    /// Only on this queue, given by name or URL. It fits requests that name the queue in any way:
    /// by its URL, by its name (`CreateQueue`, `GetQueueUrl`), or as the source of a move task.
    pub fn queue(mut self, queue: &str) -> Self {
        self.queue = Some(queue.rsplit('/').next().unwrap_or(queue).to_owned());
        self
    }

    /// Only after as many fitting requests have passed.
    pub fn after(mut self, requests: u64) -> Self {
        self.skip = requests;
        self
    }

    /// At most so often; without a limit when not said.
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// One time only.
    pub fn once(self) -> Self {
        self.times(1)
    }

    /// With this probability for each fitting request, between 0 and 1, by the server's seed.
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = probability;
        self
    }

    /// The connection closes before the request arrives: nothing is done, nothing is answered.
    pub fn lose_request(self) -> PlannedFault {
        self.plan(Fault::LoseRequest)
    }

    /// The request is carried out, and the connection closes before its answer.
    pub fn lose_response(self) -> PlannedFault {
        self.plan(Fault::LoseResponse)
    }

    /// The connection is reset: as [`lose_request`](Self::lose_request), with the error of a reset
    /// (over HTTP by a TCP reset).
    pub fn reset(self) -> PlannedFault {
        self.plan(Fault::Reset)
    }

    /// Nothing is done and no answer ever comes: the client's timeout decides.
    pub fn hang(self) -> PlannedFault {
        self.plan(Fault::Hang)
    }

    /// The request is carried out, and no answer ever comes.
    pub fn hang_after_effect(self) -> PlannedFault {
        self.plan(Fault::HangAfter)
    }

    /// The request is carried out that much later, even when the client has given up by then:
    /// a send arrives behind its retry, and a receive takes messages that nobody gets.
    pub fn delay(self, time: Duration) -> PlannedFault {
        self.plan(Fault::Delay(time))
    }

    /// The request is carried out at once, and answered that much later.
    pub fn delay_response(self, time: Duration) -> PlannedFault {
        self.plan(Fault::DelayResponse(time))
    }

    /// Nothing is done, and SQS answers with an error of its own.
    pub fn refuse(self, refusal: Refusal) -> PlannedFault {
        self.plan(Fault::Refuse(refusal))
    }

    /// The request is carried out, and the answer is not JSON.
    pub fn garbage(self) -> PlannedFault {
        self.plan(Fault::Garbage)
    }

    /// Entries of a batch fail with `code`, given by their place in the request from 0. They are
    /// not carried out; the others are. Checks of the whole request come first, and refuse it as
    /// ever. On other operations nothing goes wrong.
    pub fn fail_entries(
        self,
        places: impl IntoIterator<Item = usize>,
        code: impl Into<String>,
        sender_fault: bool,
    ) -> PlannedFault {
        self.plan(Fault::FailEntries {
            places: places.into_iter().collect(),
            code: code.into(),
            sender_fault,
        })
    }

    /// Entries of a batch, given by their place in the request from 0, are carried out and stand
    /// in neither list of the answer. On other operations nothing goes wrong.
    pub fn omit_entries(self, places: impl IntoIterator<Item = usize>) -> PlannedFault {
        self.plan(Fault::OmitEntries(places.into_iter().collect()))
    }

    /// A receive from a standard queue delivers its messages, and each of them will be delivered
    /// once more, whatever the redrive policy: deleting the one does not delete the other. What
    /// is delivered once more is not doubled again.
    pub fn duplicate(self) -> PlannedFault {
        self.plan(Fault::Duplicate)
    }

    /// A receive from a standard queue takes its messages from the first ten in any order, each
    /// of them as likely as the others.
    pub fn shuffle(self) -> PlannedFault {
        self.plan(Fault::Shuffle)
    }

    /// A delete or a change of visibility with an old or expired receipt handle is answered with
    /// success and does nothing.
    pub fn old_handles_silent(self) -> PlannedFault {
        self.plan(Fault::OldHandlesSilent)
    }

    fn plan(self, fault: Fault) -> PlannedFault {
        self.faults.service.faults().add(|random| Rule {
            operations: self.operations,
            queue: self.queue,
            skip: self.skip,
            times: self.times,
            probability: self.probability,
            random,
            fault,
            state: Arc::new(RuleState::default()),
        })
    }
}
