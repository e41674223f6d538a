//! How refusals look on the wire: the JSON type, the code of the older query
//! protocol that AWS SDKs go by, and the HTTP status.

use crate::local::engine::error::{ApiError, Kind};

/// The wire's names of a kind of error.
pub(crate) struct Names {
    pub(crate) json_type: &'static str,
    pub(crate) query_code: &'static str,
    pub(crate) status: u16,
}

pub(crate) fn names(kind: Kind) -> Names {
    macro_rules! table {
        ($($kind:ident => $status:literal, $json:literal, $query:literal;)*) => {
            match kind {
                $(Kind::$kind => Names { json_type: $json, query_code: $query, status: $status },)*
            }
        };
    }
    table! {
        BatchEntryIdsNotDistinct => 400, "com.amazonaws.sqs#BatchEntryIdsNotDistinct", "AWS.SimpleQueueService.BatchEntryIdsNotDistinct";
        BatchRequestTooLong => 400, "com.amazonaws.sqs#BatchRequestTooLong", "AWS.SimpleQueueService.BatchRequestTooLong";
        EmptyBatchRequest => 400, "com.amazonaws.sqs#EmptyBatchRequest", "AWS.SimpleQueueService.EmptyBatchRequest";
        InvalidAction => 400, "com.amazon.coral.service#UnknownOperationException", "InvalidAction";
        InvalidAddress => 400, "com.amazonaws.sqs#InvalidAddress", "InvalidAddress";
        InvalidAttributeName => 400, "com.amazonaws.sqs#InvalidAttributeName", "InvalidAttributeName";
        InvalidAttributeValue => 400, "com.amazonaws.sqs#InvalidAttributeValue", "InvalidAttributeValue";
        InvalidBatchEntryId => 400, "com.amazonaws.sqs#InvalidBatchEntryId", "AWS.SimpleQueueService.InvalidBatchEntryId";
        InvalidMessageContents => 400, "com.amazonaws.sqs#InvalidMessageContents", "InvalidMessageContents";
        InvalidParameterValue => 400, "com.amazon.coral.service#InvalidParameterValueException", "InvalidParameterValue";
        MessageNotInflight => 400, "com.amazonaws.sqs#MessageNotInflight", "AWS.SimpleQueueService.MessageNotInflight";
        MissingParameter => 400, "com.amazon.coral.service#MissingRequiredParameterException", "MissingParameter";
        OverLimit => 400, "com.amazonaws.sqs#OverLimit", "OverLimit";
        PurgeQueueInProgress => 403, "com.amazonaws.sqs#PurgeQueueInProgress", "AWS.SimpleQueueService.PurgeQueueInProgress";
        QueueDeletedRecently => 400, "com.amazonaws.sqs#QueueDeletedRecently", "AWS.SimpleQueueService.QueueDeletedRecently";
        QueueDoesNotExist => 400, "com.amazonaws.sqs#QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue";
        QueueNameExists => 400, "com.amazonaws.sqs#QueueNameExists", "QueueAlreadyExists";
        ReceiptHandleIsInvalid => 400, "com.amazonaws.sqs#ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid";
        RequestTooLarge => 413, "com.amazon.coral.service#RequestEntityTooLargeException", "RequestEntityTooLarge";
        ResourceNotFound => 400, "com.amazonaws.sqs#ResourceNotFoundException", "ResourceNotFoundException";
        Serialization => 400, "com.amazon.coral.service#SerializationException", "MalformedInput";
        TooManyEntries => 400, "com.amazonaws.sqs#TooManyEntriesInBatchRequest", "AWS.SimpleQueueService.TooManyEntriesInBatchRequest";
        UnsupportedOperation => 400, "com.amazonaws.sqs#UnsupportedOperation", "AWS.SimpleQueueService.UnsupportedOperation";
    }
}

/// The code that stands in the `Failed` list of a batch.
pub(crate) fn entry_code(error: &ApiError) -> &'static str {
    names(error.kind).query_code
}
