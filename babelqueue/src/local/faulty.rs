//! What a planned fault does to a request.

use super::engine::error::{ApiError, ApiResult};
use super::engine::receive::Quirks;
use super::faults::entries;
use super::faults::{Fault, Refusal};
use super::protocol::dispatch::Call;
use super::protocol::errors;
use super::protocol::operation::Operation;
use super::protocol::output::{ErrorBody, json};
use super::service::{Answer, Broken, Service, answer_to};

impl Service {
    pub(crate) async fn answer_with(
        &self,
        call: &Call<'_>,
        fault: Fault,
    ) -> Result<Answer, Broken> {
        let quirks = |quirks| Box::pin(self.carry_out(call, quirks));
        let as_usual = || quirks(Quirks::default());
        match fault {
            Fault::LoseRequest => Err(Broken::Closed),
            Fault::Reset => Err(Broken::Reset),
            Fault::LoseResponse => {
                // Whatever it would have said is lost.
                drop(as_usual().await);
                Err(Broken::Closed)
            }
            Fault::Hang => Err(Broken::Hanging),
            Fault::HangAfter => {
                drop(as_usual().await);
                Err(Broken::Hanging)
            }
            Fault::Delay(time) => {
                tokio::time::sleep(time).await;
                Ok(answer_to(as_usual().await))
            }
            Fault::DelayResponse(time) => {
                let result = as_usual().await;
                tokio::time::sleep(time).await;
                Ok(answer_to(result))
            }
            Fault::Refuse(refusal) => Ok(refuse(refusal)),
            Fault::Garbage => {
                drop(as_usual().await);
                Ok(Answer {
                    status: 200,
                    body: b"<html>This is not JSON.".to_vec(),
                    query_error: None,
                })
            }
            Fault::FailEntries {
                places,
                code,
                sender_fault,
            } => {
                let Some(ids) = entries::ids(call.body, &places) else {
                    return Ok(answer_to(as_usual().await));
                };
                // All of them are checked, as if nothing were planned.
                let rest = quirks(Quirks {
                    skip: places,
                    ..Quirks::default()
                });
                let result = rest.await;
                let answer = result.map(|it| entries::add_failed(&it, ids, &code, sender_fault));
                Ok(answer_to(answer))
            }
            Fault::OmitEntries(places) => {
                let ids = entries::ids(call.body, &places).unwrap_or_default();
                let answer = as_usual().await;
                Ok(answer_to(answer.map(|it| entries::omit(&it, &ids))))
            }
            Fault::Duplicate => {
                let twice = Quirks {
                    duplicate: true,
                    ..Quirks::default()
                };
                Ok(answer_to(quirks(twice).await))
            }
            Fault::Shuffle => {
                let shuffled = Quirks {
                    shuffle: true,
                    ..Quirks::default()
                };
                Ok(answer_to(quirks(shuffled).await))
            }
            Fault::OldHandlesSilent => Ok(answer_to(silence(call, as_usual().await))),
        }
    }
}

fn silence(call: &Call<'_>, result: ApiResult<Vec<u8>>) -> ApiResult<Vec<u8>> {
    match call.operation {
        Operation::DeleteMessage | Operation::ChangeMessageVisibility => result.or_else(|error| {
            if is_old_handle(&error) {
                Ok(b"{}".to_vec())
            } else {
                Err(error)
            }
        }),
        Operation::DeleteMessageBatch | Operation::ChangeMessageVisibilityBatch => {
            result.map(|answer| entries::silence_old_handles(&answer))
        }
        _ => result,
    }
}

fn is_old_handle(error: &ApiError) -> bool {
    entries::is_old_handle(errors::entry_code(error), &error.message)
}

fn refuse(refusal: Refusal) -> Answer {
    let (status, json_type, code, party) = match refusal {
        Refusal::InternalError => (
            500,
            "com.amazon.coral.service#InternalFailure",
            "InternalFailure",
            "Receiver",
        ),
        Refusal::ServiceUnavailable => (
            503,
            "com.amazon.coral.service#ServiceUnavailableException",
            "ServiceUnavailable",
            "Receiver",
        ),
        Refusal::Throttled => (
            400,
            "com.amazonaws.sqs#RequestThrottled",
            "RequestThrottled",
            "Sender",
        ),
        Refusal::ExpiredToken => (
            403,
            "com.amazon.coral.service#ExpiredTokenException",
            "ExpiredToken",
            "Sender",
        ),
        Refusal::AccessDenied => (
            403,
            "com.amazon.coral.service#AccessDeniedException",
            "AccessDenied",
            "Sender",
        ),
    };
    Answer {
        status,
        body: json(&ErrorBody {
            json_type,
            message: "A fault that was planned.",
        }),
        query_error: Some(format!("{code};{party}")),
    }
}
