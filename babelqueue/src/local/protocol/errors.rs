//! How refusals look on the wire: the JSON type, the code of the older query
//! protocol that AWS SDKs go by, and the HTTP status.

use crate::local::engine::error::{ApiError, Kind};

/// The wire's names of a kind of error.
pub(crate) struct Names {
    pub(crate) json_type: &'static str,
    pub(crate) query_code: &'static str,
}

pub(crate) fn names(kind: Kind) -> Names {
    macro_rules! table {
        ($($kind:ident => $json:literal, $query:literal;)*) => {
            match kind {
                $(Kind::$kind => Names { json_type: $json, query_code: $query },)*
            }
        };
    }
    table! {
        BatchEntryIdsNotDistinct => "com.amazonaws.sqs#BatchEntryIdsNotDistinct", "AWS.SimpleQueueService.BatchEntryIdsNotDistinct";
        BatchRequestTooLong => "com.amazonaws.sqs#BatchRequestTooLong", "AWS.SimpleQueueService.BatchRequestTooLong";
        EmptyBatchRequest => "com.amazonaws.sqs#EmptyBatchRequest", "AWS.SimpleQueueService.EmptyBatchRequest";
        InvalidAction => "com.amazon.coral.service#UnknownOperationException", "InvalidAction";
        InvalidAddress => "com.amazonaws.sqs#InvalidAddress", "InvalidAddress";
        InvalidAttributeName => "com.amazonaws.sqs#InvalidAttributeName", "InvalidAttributeName";
        InvalidAttributeValue => "com.amazonaws.sqs#InvalidAttributeValue", "InvalidAttributeValue";
        InvalidBatchEntryId => "com.amazonaws.sqs#InvalidBatchEntryId", "AWS.SimpleQueueService.InvalidBatchEntryId";
        InvalidMessageContents => "com.amazonaws.sqs#InvalidMessageContents", "InvalidMessageContents";
        InvalidParameterValue => "com.amazon.coral.service#InvalidParameterValueException", "InvalidParameterValue";
        MessageNotInflight => "com.amazonaws.sqs#MessageNotInflight", "AWS.SimpleQueueService.MessageNotInflight";
        MissingParameter => "com.amazon.coral.service#MissingRequiredParameterException", "MissingParameter";
        OverLimit => "com.amazonaws.sqs#OverLimit", "OverLimit";
        PurgeQueueInProgress => "com.amazonaws.sqs#PurgeQueueInProgress", "AWS.SimpleQueueService.PurgeQueueInProgress";
        QueueDeletedRecently => "com.amazonaws.sqs#QueueDeletedRecently", "AWS.SimpleQueueService.QueueDeletedRecently";
        QueueDoesNotExist => "com.amazonaws.sqs#QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue";
        QueueNameExists => "com.amazonaws.sqs#QueueNameExists", "QueueAlreadyExists";
        ReceiptHandleIsInvalid => "com.amazonaws.sqs#ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid";
        RequestTooLarge => "com.amazon.coral.service#RequestEntityTooLargeException", "RequestEntityTooLarge";
        ResourceNotFound => "com.amazonaws.sqs#ResourceNotFoundException", "ResourceNotFoundException";
        Serialization => "com.amazon.coral.service#SerializationException", "MalformedInput";
        TooManyEntries => "com.amazonaws.sqs#TooManyEntriesInBatchRequest", "AWS.SimpleQueueService.TooManyEntriesInBatchRequest";
        UnsupportedOperation => "com.amazonaws.sqs#UnsupportedOperation", "AWS.SimpleQueueService.UnsupportedOperation";
    }
}

/// The code that stands in the `Failed` list of a batch.
pub(crate) fn entry_code(error: &ApiError) -> &'static str {
    names(error.kind).query_code
}
