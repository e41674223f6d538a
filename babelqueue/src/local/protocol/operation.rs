//! The operations of the SQS API.

use std::fmt;

/// An operation of the SQS API, to name it in a fault plan or find it in the call log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[allow(missing_docs)] // the names are those of the SQS API reference
pub enum Operation {
    AddPermission,
    CancelMessageMoveTask,
    ChangeMessageVisibility,
    ChangeMessageVisibilityBatch,
    CreateQueue,
    DeleteMessage,
    DeleteMessageBatch,
    DeleteQueue,
    GetQueueAttributes,
    GetQueueUrl,
    ListDeadLetterSourceQueues,
    ListMessageMoveTasks,
    ListQueueTags,
    ListQueues,
    PurgeQueue,
    ReceiveMessage,
    RemovePermission,
    SendMessage,
    SendMessageBatch,
    SetQueueAttributes,
    StartMessageMoveTask,
    TagQueue,
    UntagQueue,
}

impl Operation {
    /// All of them.
    pub(crate) const ALL: [Self; 23] = [
        Self::AddPermission,
        Self::CancelMessageMoveTask,
        Self::ChangeMessageVisibility,
        Self::ChangeMessageVisibilityBatch,
        Self::CreateQueue,
        Self::DeleteMessage,
        Self::DeleteMessageBatch,
        Self::DeleteQueue,
        Self::GetQueueAttributes,
        Self::GetQueueUrl,
        Self::ListDeadLetterSourceQueues,
        Self::ListMessageMoveTasks,
        Self::ListQueueTags,
        Self::ListQueues,
        Self::PurgeQueue,
        Self::ReceiveMessage,
        Self::RemovePermission,
        Self::SendMessage,
        Self::SendMessageBatch,
        Self::SetQueueAttributes,
        Self::StartMessageMoveTask,
        Self::TagQueue,
        Self::UntagQueue,
    ];

    /// The operation that an `X-Amz-Target` header names, such as `AmazonSQS.SendMessage`.
    pub(crate) fn of_target(target: &str) -> Option<Self> {
        let name = target.strip_prefix("AmazonSQS.")?;
        Self::ALL
            .into_iter()
            .find(|operation| operation.name() == name)
    }

    /// The name in the SQS API reference.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AddPermission => "AddPermission",
            Self::CancelMessageMoveTask => "CancelMessageMoveTask",
            Self::ChangeMessageVisibility => "ChangeMessageVisibility",
            Self::ChangeMessageVisibilityBatch => "ChangeMessageVisibilityBatch",
            Self::CreateQueue => "CreateQueue",
            Self::DeleteMessage => "DeleteMessage",
            Self::DeleteMessageBatch => "DeleteMessageBatch",
            Self::DeleteQueue => "DeleteQueue",
            Self::GetQueueAttributes => "GetQueueAttributes",
            Self::GetQueueUrl => "GetQueueUrl",
            Self::ListDeadLetterSourceQueues => "ListDeadLetterSourceQueues",
            Self::ListMessageMoveTasks => "ListMessageMoveTasks",
            Self::ListQueueTags => "ListQueueTags",
            Self::ListQueues => "ListQueues",
            Self::PurgeQueue => "PurgeQueue",
            Self::ReceiveMessage => "ReceiveMessage",
            Self::RemovePermission => "RemovePermission",
            Self::SendMessage => "SendMessage",
            Self::SendMessageBatch => "SendMessageBatch",
            Self::SetQueueAttributes => "SetQueueAttributes",
            Self::StartMessageMoveTask => "StartMessageMoveTask",
            Self::TagQueue => "TagQueue",
            Self::UntagQueue => "UntagQueue",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
