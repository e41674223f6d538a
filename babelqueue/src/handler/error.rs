//! Why a handler failed and what that asks for: retryable unless it says otherwise.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::BoxError;

/// A handler's failure. Retryable by default; [`permanent`](HandlerError::permanent) and
/// [`retry_after`](HandlerError::retry_after) say otherwise (SPEC §2.12).
///
/// It takes any error: `?` converts every `std::error::Error`, [`HandlerError::new`] takes text,
/// a boxed error or an `anyhow::Error` too. Like `anyhow::Error` it does not implement
/// `std::error::Error` itself; converted into a `Box<dyn Error + Send + Sync>` and back it is
/// the same error again.
///
/// ```
/// use std::time::Duration;
/// use babelqueue::{HandlerError, ResultExt};
///
/// fn charge(card: &str) -> Result<(), HandlerError> {
///     let _number: u64 = card.parse().permanent()?;          // never worth another try
///     Err(HandlerError::retry_after("the bank is closed", Duration::from_secs(3600)))
/// }
/// assert!(charge("x").unwrap_err().is_permanent());
/// assert!(!charge("12").unwrap_err().is_permanent());
/// ```
pub struct HandlerError {
    inner: Box<Inner>,
}

struct Inner {
    source: BoxError,
    type_name: Cow<'static, str>,
    kind: ErrorKind,
    verdict: Verdict,
}

/// What a failure asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Another try, when the consumer's retry policy says.
    #[default]
    Retry,
    /// Another try after this long.
    RetryAfter(Duration),
    /// No other try: to the dead-letter queue, or left when there is none.
    Permanent,
}

/// Where a failure arose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The handler returned it.
    Handler,
    /// `data` did not deserialise into the handler's payload.
    Payload,
    /// An argument of the handler could not be had.
    Extractor,
    /// The handler panicked.
    Panic,
    /// The handler ran longer than it may.
    Timeout,
    /// `data` does not fit the schema of its URN.
    Schema,
    /// The idempotency store could not be asked.
    Idempotency,
}

impl ErrorKind {
    /// A stable name, for logs, spans and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Handler => "handler",
            Self::Payload => "payload",
            Self::Extractor => "extractor",
            Self::Panic => "panic",
            Self::Timeout => "timeout",
            Self::Schema => "schema",
            Self::Idempotency => "idempotency",
        }
    }
}

impl HandlerError {
    /// A retryable failure.
    pub fn new<E: IntoHandlerError>(error: E) -> Self {
        error.into_handler_error()
    }

    /// A failure that no other try can mend.
    pub fn permanent<E: IntoHandlerError>(error: E) -> Self {
        error.into_handler_error().with_verdict(Verdict::Permanent)
    }

    /// A failure to be tried again after `after`: zero means at once, a part of a second rounds
    /// up, more than 12 h is cut.
    pub fn retry_after<E: IntoHandlerError>(error: E, after: Duration) -> Self {
        error
            .into_handler_error()
            .with_verdict(Verdict::RetryAfter(after))
    }

    pub(crate) fn of_kind<E>(kind: ErrorKind, error: E) -> Self
    where
        E: StdError + Send + Sync + 'static,
    {
        let mut failure = Self::from(error);
        failure.inner.kind = kind;
        failure
    }

    pub(crate) fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.inner.kind = kind;
        self
    }

    #[must_use]
    pub(crate) fn with_verdict(mut self, verdict: Verdict) -> Self {
        self.inner.verdict = verdict;
        self
    }

    /// One failure for several messages.
    pub(crate) fn repeated(self, times: usize) -> Vec<Self> {
        let Inner {
            source,
            type_name,
            kind,
            verdict,
        } = *self.inner;
        let source: Arc<dyn StdError + Send + Sync> = source.into();
        let one = |_| Self {
            inner: Box::new(Inner {
                source: Box::new(Common(Arc::clone(&source))),
                type_name: type_name.clone(),
                kind,
                verdict,
            }),
        };
        (0..times).map(one).collect()
    }

    /// What the failure asks for.
    pub fn verdict(&self) -> Verdict {
        self.inner.verdict
    }

    /// Where it arose.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// Whether no other try can mend it.
    pub fn is_permanent(&self) -> bool {
        self.inner.verdict == Verdict::Permanent
    }

    /// Name of the error's type as it was given, for the `exception` of a dead letter.
    pub fn type_name(&self) -> &str {
        &self.inner.type_name
    }

    /// The error itself.
    pub fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
        match self.inner.source.downcast_ref::<Common>() {
            Some(Common(error)) => &**error,
            None => &*self.inner.source,
        }
    }

    /// The error as an `E`, if that is what was given.
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        self.as_error().downcast_ref()
    }

    /// Back from a boxed error: the same failure when it was one; else a new one that asks for
    /// what a failure among its sources asked for, or for a retry.
    pub fn from_boxed(error: BoxError) -> Self {
        Self::from_boxed_as(error, "dyn core::error::Error")
    }

    fn from_boxed_as(error: BoxError, type_name: &'static str) -> Self {
        match error.downcast::<Carried>() {
            Ok(carried) => carried.0,
            Err(source) => {
                // A layer may have wrapped the failure; what it asks for still stands.
                let (kind, verdict) = carried_by(&*source);
                Self {
                    inner: Box::new(Inner {
                        source,
                        type_name: Cow::Borrowed(type_name),
                        kind,
                        verdict,
                    }),
                }
            }
        }
    }
}

/// Looks along the sources of an error for a [`HandlerError`] that travels there.
fn carried_by(error: &(dyn StdError + 'static)) -> (ErrorKind, Verdict) {
    let mut error = Some(error);
    while let Some(current) = error {
        if let Some(Carried(failure)) = current.downcast_ref() {
            return (failure.kind(), failure.verdict());
        }
        error = current.source();
    }
    (ErrorKind::Handler, Verdict::Retry)
}

impl<E: StdError + Send + Sync + 'static> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self::from_boxed_as(Box::new(error), std::any::type_name::<E>())
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.source.fmt(f)
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerError")
            .field("source", &self.inner.source)
            .field("kind", &self.inner.kind)
            .field("verdict", &self.inner.verdict)
            .finish()
    }
}

/// An error that several messages have in common.
#[derive(Debug)]
struct Common(Arc<dyn StdError + Send + Sync>);

impl fmt::Display for Common {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Common {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// How a [`HandlerError`] travels as a `Box<dyn Error>`.
struct Carried(HandlerError);

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Carried {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.inner.source.source()
    }
}

impl From<HandlerError> for BoxError {
    fn from(error: HandlerError) -> Self {
        Box::new(Carried(error))
    }
}

/// What becomes a [`HandlerError`]: every error type that is `Send + Sync`, `anyhow::Error`,
/// boxed errors, `String` and `&str`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a handler",
    label = "not an error",
    note = "implement `std::error::Error` for `{Self}` (it must be `Send + Sync`), or return \
            `HandlerError`, `anyhow::Error`, a boxed error, `String` or `&str`"
)]
pub trait IntoHandlerError {
    /// Converts; a [`HandlerError`] stays what it was.
    fn into_handler_error(self) -> HandlerError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> IntoHandlerError for E {
    fn into_handler_error(self) -> HandlerError {
        HandlerError::from_boxed_as(self.into(), std::any::type_name::<E>())
    }
}

/// Says of a `Result`'s error what it asks for: `parse(x).permanent()?`.
pub trait ResultExt<T> {
    /// Makes the error one that no other try can mend.
    ///
    /// # Errors
    /// The error, as a [`HandlerError`].
    fn permanent(self) -> Result<T, HandlerError>;

    /// Makes the error one to be tried again after `after`.
    ///
    /// # Errors
    /// The error, as a [`HandlerError`].
    fn retry_after(self, after: Duration) -> Result<T, HandlerError>;

    /// Makes the error an ordinary retryable one; for types that `?` does not convert.
    ///
    /// # Errors
    /// The error, as a [`HandlerError`].
    fn retryable(self) -> Result<T, HandlerError>;
}

impl<T, E: IntoHandlerError> ResultExt<T> for Result<T, E> {
    fn permanent(self) -> Result<T, HandlerError> {
        self.map_err(HandlerError::permanent)
    }

    fn retry_after(self, after: Duration) -> Result<T, HandlerError> {
        self.map_err(|error| HandlerError::retry_after(error, after))
    }

    fn retryable(self) -> Result<T, HandlerError> {
        self.map_err(HandlerError::new)
    }
}
