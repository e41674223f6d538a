//! One embedded SQS: the engine behind its lock, the clock, and the way of a
//! request through it. Transports hand in requests and carry answers out.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use super::clock::{At, Clock, Wall};
use super::engine::error::{ApiError, ApiResult, Kind, missing, no_such_queue};
use super::engine::receive::Quirks;
use super::engine::{Engine, Settings};
use super::protocol::dispatch::Call;
use super::protocol::errors;
use super::protocol::operation::Operation;
use super::protocol::output::{ErrorBody, json};

#[derive(Debug)]
pub(crate) struct Service {
    engine: Mutex<Engine>,
    clock: Clock,
    account: String,
    /// Scheme and host of queue URLs inside the process.
    pub(crate) endpoint: String,
}

/// A request as a transport has it.
pub(crate) struct Request<'a> {
    /// The header `X-Amz-Target`.
    pub(crate) target: Option<&'a str>,
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

impl Service {
    pub(crate) fn new(settings: Settings, endpoint: String, clock: Clock) -> Self {
        let account = settings.account.clone();
        Self {
            engine: Mutex::new(Engine::new(settings, clock.wall())),
            clock,
            account,
            endpoint,
        }
    }

    pub(crate) async fn answer(&self, request: Request<'_>) -> Answer {
        match self.carry_out(request).await {
            Ok(body) => Answer {
                status: 200,
                body,
                query_error: None,
            },
            Err(error) => refusal(&error),
        }
    }

    async fn carry_out(&self, request: Request<'_>) -> ApiResult<Vec<u8>> {
        let Some(target) = request.target else {
            return Err(Kind::InvalidAction.error(
                "This server speaks the AWS JSON 1.0 protocol: POST with the header X-Amz-Target. \
                 The older query protocol (Action=… with XML answers) is not served; use an AWS SDK \
                 or CLI of 2024 or later.",
            ));
        };
        let operation = Operation::of_target(target).ok_or_else(|| {
            Kind::InvalidAction.error(format!("There is no operation {target} in SQS."))
        })?;
        if operation == Operation::ReceiveMessage {
            return self.receive(request.body, Quirks::default()).await;
        }
        self.dispatch(&Call {
            operation,
            body: request.body,
            base: request.base,
        })
    }

    /// Runs `f` on the engine at this moment.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut Engine, At) -> R) -> R {
        // Every call leaves the engine whole; a panic in between is a bug that must not hide others.
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        f(&mut engine, self.clock.now())
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

    /// The name of the queue that a URL stands for: its last two segments are account and name.
    pub(crate) fn queue_of(&self, url: Option<String>) -> ApiResult<String> {
        let url = url
            .filter(|url| !url.is_empty())
            .ok_or_else(|| missing("QueueUrl"))?;
        let (rest, name) = url.rsplit_once('/').ok_or_else(|| invalid_address(&url))?;
        let account = rest.rsplit_once('/').map_or(rest, |it| it.1);
        if name.is_empty() {
            return Err(invalid_address(&url));
        }
        if account != self.account {
            return Err(no_such_queue());
        }
        Ok(name.to_owned())
    }
}

fn invalid_address(url: &str) -> ApiError {
    Kind::InvalidAddress.error(format!("The address {url} is not valid for this endpoint."))
}

fn refusal(error: &ApiError) -> Answer {
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
