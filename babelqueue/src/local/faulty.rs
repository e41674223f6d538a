//! What a planned fault does to a request.

use std::future::pending;

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
        let as_usual = self.carry_out(call, call.body, Quirks::default());
        match fault {
            Fault::LoseRequest => Err(Broken::Closed),
            Fault::Reset => Err(Broken::Reset),
            Fault::LoseResponse => {
                // Whatever it would have said is lost.
                drop(as_usual.await);
                Err(Broken::Closed)
            }
            Fault::Hang => {
                self.log_fault(call);
                pending().await
            }
            Fault::HangAfter => {
                drop(as_usual.await);
                self.log_fault(call);
                pending().await
            }
            Fault::Delay(time) => {
                tokio::time::sleep(time).await;
                Ok(answer_to(as_usual.await))
            }
            Fault::DelayResponse(time) => {
                let result = as_usual.await;
                tokio::time::sleep(time).await;
                Ok(answer_to(result))
            }
            Fault::Refuse(refusal) => Ok(refuse(refusal)),
            Fault::Garbage => {
                drop(as_usual.await);
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
            } => match entries::cut(call.body, &places) {
                None => Ok(answer_to(as_usual.await)),
                Some(cut) => {
                    let rest = match cut.body {
                        Some(body) => Some(self.carry_out(call, &body, Quirks::default()).await),
                        None => None,
                    };
                    let result = rest
                        .transpose()
                        .map(|answer| entries::add_failed(answer, cut.ids, &code, sender_fault));
                    Ok(answer_to(result))
                }
            },
            Fault::OmitEntries(places) => {
                let ids = entries::ids(call.body, &places).unwrap_or_default();
                let answer = as_usual.await.map(|answer| entries::omit(&answer, &ids));
                Ok(answer_to(answer))
            }
            Fault::Duplicate => Ok(answer_to(self.receive_oddly(call, true, false).await)),
            Fault::Shuffle => Ok(answer_to(self.receive_oddly(call, false, true).await)),
            Fault::OldHandlesSilent => Ok(answer_to(silence(call, as_usual.await))),
        }
    }

    async fn receive_oddly(
        &self,
        call: &Call<'_>,
        duplicate: bool,
        shuffle: bool,
    ) -> ApiResult<Vec<u8>> {
        self.carry_out(call, call.body, Quirks { duplicate, shuffle })
            .await
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
