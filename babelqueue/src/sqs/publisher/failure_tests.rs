//! What an error or a failed entry says of a message.

use aws_sdk_sqs::error::ErrorMetadata;
use aws_sdk_sqs::operation::send_message::SendMessageError;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;

use super::*;
use crate::sqs::publisher::content::Content;

fn service(status: u16, code: &str, message: &str) -> Failure {
    let metadata = ErrorMetadata::builder().code(code).message(message).build();
    let status = status.try_into().expect("a status");
    let response = HttpResponse::new(status, SdkBody::empty());
    Failure::of_call(SdkError::service_error(
        SendMessageError::generic(metadata),
        response,
    ))
}

fn io_error(kind: io::ErrorKind) -> Failure {
    let error = ConnectorError::io(io::Error::from(kind).into());
    Failure::of_call(SdkError::<SendMessageError>::dispatch_failure(error))
}

fn entry(code: &str, message: &str, sender_fault: bool) -> Failure {
    let entry = BatchResultErrorEntry::builder()
        .id("0")
        .code(code)
        .message(message)
        .sender_fault(sender_fault);
    Failure::of_entry(&entry.build().expect("complete"))
}

#[test]
fn the_fate_and_whether_another_try_makes_sense() {
    type Sdk = SdkError<SendMessageError>;
    let text = "Message must be shorter than 1024 bytes.";
    let rows = [
        // (failure, refused, retryable)
        (service(403, "AccessDenied", ""), true, false),
        (service(400, "InvalidParameterValue", text), true, false),
        (service(400, "RequestThrottled", ""), true, true),
        (service(400, "KmsThrottled", ""), true, true),
        (service(500, "InternalFailure", ""), false, true),
        // An answer of success that could not be read.
        (service(200, "", ""), false, true),
        (service(503, "ServiceUnavailable", ""), false, true),
        (Failure::of_call(Sdk::timeout_error("late")), false, true),
        (
            Failure::of_call(Sdk::construction_failure("no")),
            true,
            false,
        ),
        (io_error(io::ErrorKind::ConnectionReset), false, true),
        (io_error(io::ErrorKind::ConnectionRefused), true, true),
        (entry("InternalError", "", false), true, true),
        (entry("InvalidMessageContents", "", true), true, false),
        (entry("RequestThrottled", "", true), true, true),
        (Failure::silent(), false, true),
        (Failure::late(), false, true),
        (Failure::not_attempted("why"), true, true),
        (
            io_error(io::ErrorKind::ConnectionReset).while_resolving(),
            true,
            true,
        ),
    ];
    for (failure, refused, retryable) in rows {
        let found = (failure.refused, failure.retryable);
        assert_eq!(found, (refused, retryable), "{failure:?}");
    }
}

fn told(failure: Failure, unknown: bool) -> PublishError {
    let request = Request {
        content: Content::default(),
        delay_seconds: None,
        group_id: None,
        deduplication_id: None,
        size: 2_000,
        #[cfg(feature = "payload-store")]
        offloading: None,
    };
    failure.into_error("orders", &request, unknown)
}

#[test]
fn c_082_a_refusal_by_sqs_comes_back_as_too_large() {
    let text =
        "One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes.";
    for failure in [
        service(400, "InvalidParameterValue", text),
        entry("InvalidParameterValue", text, true),
        service(400, "AWS.SimpleQueueService.BatchRequestTooLong", "…"),
    ] {
        let error = told(failure, false);
        assert!(error.is_too_large() && error.is_refused(), "{error}");
        assert!(error.to_string().contains("2000 bytes"), "{error}");
        assert!(!error.is_retryable());
    }
    let other = told(service(400, "InvalidParameterValue", "no"), false);
    assert!(!other.is_too_large());
    assert!(service(400, "BatchRequestTooLong", "").is_request_too_large());
}

#[test]
fn no_later_refusal_takes_back_what_may_have_been_sent() {
    for failure in [
        service(400, "RequestThrottled", ""),
        entry("InternalError", "", false),
        Failure::not_attempted("why"),
        io_error(io::ErrorKind::ConnectionRefused).while_resolving(),
    ] {
        assert!(told(failure.clone(), false).is_refused());
        assert!(told(failure, true).is_unknown());
    }
    let error = told(entry("InternalError", "broken", false), false);
    assert_eq!(error.code(), Some("InternalError"));
    assert!(error.to_string().contains("InternalError"), "{error}");
}
