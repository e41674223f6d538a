//! One embedded SQS: the engine behind its lock, the clock, and the way of a
//! request through it. Transports hand in requests and carry answers out.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::calls::{self, CallLog, CallOutcome};
use super::clock::{At, Clock, Wall};
use super::engine::error::{ApiError, ApiResult, Kind, missing, no_such_queue};
use super::engine::receive::Quirks;
use super::engine::{Engine, Settings};
use super::faults::Plan;
use super::protocol::dispatch::Call;
use super::protocol::errors;
use super::protocol::input;
use super::protocol::operation::Operation;
use super::protocol::output::{ErrorBody, json};
use super::protocol::url;

/// The content type of requests and answers.
pub(crate) const CONTENT_TYPE: &str = "application/x-amz-json-1.0";

#[derive(Debug)]
pub(crate) struct Service {
    engine: Mutex<Engine>,
    clock: Clock,
    account: String,
    /// Scheme and host of queue URLs inside the process.
    pub(crate) endpoint: String,
    faults: Plan,
    calls: CallLog,
    record_requests: bool,
    requests: AtomicU64,
    /// Told of every call, for those who wait for a queue to look otherwise.
    changed: Notify,
}

/// A request as a transport has it.
pub(crate) struct Request<'a> {
    /// The header `X-Amz-Target`.
    pub(crate) target: Option<&'a str>,
    /// The header `Content-Type`.
    pub(crate) content_type: Option<&'a str>,
    /// The header `X-Amzn-Trace-Id`.
    pub(crate) trace_header: Option<&'a str>,
    pub(crate) body: &'a [u8],
    /// Scheme and host that queue URLs in the answer shall have.
    pub(crate) base: &'a str,
}

/// An answer for a transport to carry.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    /// The header `x-amzn-query-error`.
    pub(crate) query_error: Option<String>,
}

/// There is no answer, most often by a planned fault: the connection ends.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("the connection was closed before the answer, as planned")]
    Closed,
    #[error("the connection was reset, as planned")]
    Reset,
    #[error("the client closed the connection before the answer")]
    Gone,
}

impl Service {
    pub(crate) fn new(
        settings: Settings,
        endpoint: String,
        clock: Clock,
        record_requests: bool,
    ) -> Self {
        let account = settings.account.clone();
        Self {
            faults: Plan::new(settings.seed),
            engine: Mutex::new(Engine::new(settings, clock.wall())),
            clock,
            account,
            endpoint,
            calls: CallLog::default(),
            record_requests,
            requests: AtomicU64::new(0),
            changed: Notify::new(),
        }
    }

    pub(crate) async fn answer(&self, request: Request<'_>) -> Result<Answer, Broken> {
        let operation = match operation_of(&request) {
            Ok(operation) => operation,
            Err(error) => return Ok(refusal(&error)),
        };
        let call = Call {
            operation,
            body: request.body,
            base: request.base,
            trace_header: request.trace_header,
            queue: OnceLock::new(),
        };
        self.calls.arrived(operation);
        self.changed.notify_waiters();
        if self.faults.is_armed() {
            let queue = || self.queue_of(&call, input::queue_url(call.body)).ok();
            if let Some(fault) = self.faults.strike(operation, queue) {
                let answer = self.answer_with(&call, fault).await;
                self.log_fault(&call);
                return answer;
            }
        }
        let result = self.carry_out(&call, call.body, Quirks::default()).await;
        self.log(
            &call,
            match &result {
                Ok(_) => CallOutcome::Done,
                Err(error) => CallOutcome::Refused(errors::entry_code(error).to_owned()),
            },
        );
        Ok(answer_to(result))
    }

    pub(crate) async fn carry_out(
        &self,
        call: &Call<'_>,
        body: &[u8],
        quirks: Quirks,
    ) -> ApiResult<Vec<u8>> {
        if call.operation == Operation::ReceiveMessage {
            self.receive(call, body, quirks).await
        } else {
            self.dispatch(call, body)
        }
    }

    fn log(&self, call: &Call<'_>, outcome: CallOutcome) {
        let request = || String::from_utf8_lossy(call.body).into_owned();
        self.calls.ended(calls::Call {
            operation: call.operation,
            queue: call.queue.get().cloned(),
            at: self.clock.age(),
            outcome,
            request: self.record_requests.then(request),
        });
    }

    pub(crate) fn log_fault(&self, call: &Call<'_>) {
        self.log(call, CallOutcome::Faulted);
    }

    /// Runs `f` on the engine at this moment, and tells those who wait for a change.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut Engine, At) -> R) -> R {
        let result = self.look(f);
        self.changed.notify_waiters();
        result
    }

    /// Runs `f`, which changes nothing but what time changes anyhow.
    pub(crate) fn look<R>(&self, f: impl FnOnce(&mut Engine, At) -> R) -> R {
        let mut engine = self.engine();
        // Read under the lock, so that the engine never sees time go back.
        let now = self.clock.now();
        f(&mut engine, now)
    }

    fn engine(&self) -> MutexGuard<'_, Engine> {
        // Every call leaves the engine whole; a panic in between is a bug that must not hide others.
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The header `x-amzn-RequestId` of an answer: a number in the form of a UUID.
    pub(crate) fn request_id(&self) -> String {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        format!("00000000-0000-4000-8000-{number:012x}")
    }

    pub(crate) fn faults(&self) -> &Plan {
        &self.faults
    }

    pub(crate) fn calls(&self) -> &CallLog {
        &self.calls
    }

    pub(crate) fn changed(&self) -> &Notify {
        &self.changed
    }

    pub(crate) fn instant(&self, at: At) -> Instant {
        self.clock.instant(at)
    }

    pub(crate) fn wall(&self) -> Wall {
        self.clock.wall()
    }

    pub(crate) fn account(&self) -> &str {
        &self.account
    }

    pub(crate) fn url(&self, base: &str, name: &str) -> String {
        format!("{base}/{}/{name}", self.account)
    }

    /// The name of the queue that a URL stands for, whatever its host.
    pub(crate) fn queue_of(&self, call: &Call<'_>, url: Option<String>) -> ApiResult<String> {
        let url = url
            .filter(|url| !url.is_empty())
            .ok_or_else(|| missing("QueueUrl"))?;
        let (account, name) = url::account_and_name(&url).ok_or_else(|| invalid_address(&url))?;
        if account != self.account {
            let of_somebody = account.len() == 12 && account.bytes().all(|b| b.is_ascii_digit());
            return Err(if of_somebody {
                no_such_queue()
            } else {
                invalid_address(&url)
            });
        }
        call.names(name);
        Ok(name.to_owned())
    }
}

fn operation_of(request: &Request<'_>) -> ApiResult<Operation> {
    let Some(target) = request.target else {
        return Err(no_json_protocol("it has no header X-Amz-Target"));
    };
    // What follows a semicolon is a parameter, such as the charset.
    let media_type = request.content_type.unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case(CONTENT_TYPE) {
        return Err(no_json_protocol("its content type is another"));
    }
    Operation::of_target(target)
        .ok_or_else(|| Kind::InvalidAction.error(format!("There is no operation {target} in SQS.")))
}

pub(crate) fn no_json_protocol(reason: &str) -> ApiError {
    Kind::InvalidAction.error(format!(
        "This server speaks the AWS JSON 1.0 protocol: POST with the header X-Amz-Target and the \
         content type {CONTENT_TYPE}. This request is none of it: {reason}. The older query \
         protocol (Action=… with XML answers) is not served; use an AWS SDK or CLI of 2024 or \
         later."
    ))
}

pub(crate) fn answer_to(result: ApiResult<Vec<u8>>) -> Answer {
    match result {
        Ok(body) => Answer {
            status: 200,
            body,
            query_error: None,
        },
        Err(error) => refusal(&error),
    }
}

fn invalid_address(url: &str) -> ApiError {
    Kind::InvalidAddress.error(format!("The address {url} is not valid for this endpoint."))
}

pub(crate) fn refusal(error: &ApiError) -> Answer {
    let names = errors::names(error.kind);
    Answer {
        status: 400,
        body: json(&ErrorBody {
            json_type: names.json_type,
            message: &error.message,
        }),
        query_error: Some(format!("{};Sender", names.query_code)),
    }
}
