//! Middleware: tower layers around handlers (SPEC §2.7, step 7). What travels through them, and
//! the one service type that they wrap. Knows no queue.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

use crate::context::Delivery;
use crate::handler::{HandlerError, HandlerResult, Outcome};
use crate::{BoxError, BoxFuture};

/// What a handler is called for: the request of the middleware's services.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Work {
    /// One delivery. A layer may hand another one on, with its payload decrypted say.
    One(Delivery),
    /// Several deliveries of one URN, for a batch handler; never none.
    Batch(Vec<Delivery>),
}

impl Work {
    /// The deliveries, in the order of their receipt; never none, all of one URN.
    pub fn deliveries(&self) -> &[Delivery] {
        match self {
            Self::One(delivery) => std::slice::from_ref(delivery),
            Self::Batch(deliveries) => deliveries,
        }
    }

    /// The URN of all of them.
    pub fn urn(&self) -> &str {
        let first = self.deliveries().first();
        first.map_or("", |delivery| delivery.context().urn())
    }
}

impl From<Delivery> for Work {
    fn from(delivery: Delivery) -> Self {
        Self::One(delivery)
    }
}

/// What became of the deliveries of a [`Work`]: the response of the middleware's services. The
/// failure of a single delivery is the service's error instead; of a batch, each delivery has its
/// own result here, and an error of the service fails all of them.
#[derive(Debug)]
pub struct Outcomes {
    results: Results,
}

#[derive(Debug)]
enum Results {
    All(Outcome),
    Each(Vec<HandlerResult>),
}

/// A layer answered for another number of deliveries than it was given.
#[derive(Debug, thiserror::Error)]
#[error(
    "a layer answered for {answered} messages and was given {given}: return one result for each"
)]
struct WrongNumber {
    answered: usize,
    given: usize,
}

impl Outcomes {
    /// The same for every delivery.
    pub fn all(outcome: Outcome) -> Self {
        Self {
            results: Results::All(outcome),
        }
    }

    /// One result for each delivery, in the order of [`Work::deliveries`].
    pub fn each(results: Vec<HandlerResult>) -> Self {
        Self {
            results: Results::Each(results),
        }
    }

    /// What became of the delivery with this number, if the response says.
    pub fn get(&self, index: usize) -> Option<Result<&Outcome, &HandlerError>> {
        match &self.results {
            Results::All(outcome) => Some(Ok(outcome)),
            Results::Each(results) => results.get(index).map(Result::as_ref),
        }
    }

    /// Whether nothing is to be tried again or given up.
    pub fn is_success(&self) -> bool {
        let good = |outcome: &Outcome| matches!(outcome, Outcome::Done | Outcome::Discard);
        match &self.results {
            Results::All(outcome) => good(outcome),
            Results::Each(results) => results.iter().all(|result| result.as_ref().is_ok_and(good)),
        }
    }

    /// The results of a work of so many deliveries.
    fn into_each(self, given: usize) -> Vec<HandlerResult> {
        match self.results {
            Results::All(outcome) => (0..given).map(|_| Ok(outcome.clone())).collect(),
            Results::Each(results) if results.len() == given => results,
            Results::Each(results) => {
                let answered = results.len();
                let error = HandlerError::from(WrongNumber { answered, given });
                error.repeated(given).into_iter().map(Err).collect()
            }
        }
    }

    /// The result of a work of one delivery.
    fn into_one(self) -> HandlerResult {
        let mut results = match self.results {
            Results::All(outcome) => return Ok(outcome),
            Results::Each(results) => results,
        };
        match (results.pop(), results.len()) {
            (Some(result), 0) => result,
            (result, more) => Err(HandlerError::from(WrongNumber {
                answered: more + usize::from(result.is_some()),
                given: 1,
            })),
        }
    }
}

impl From<Outcome> for Outcomes {
    fn from(outcome: Outcome) -> Self {
        Self::all(outcome)
    }
}

/// What a layer wraps: the layers inside of it, and the handler in the end.
///
/// A handler's failure comes out as a boxed [`HandlerError`]; [`HandlerError::from_boxed`] finds
/// it again, with what it asks for, also inside of other errors. Any other error of a layer is a
/// failure to be retried.
#[derive(Clone)]
pub struct Next {
    inner: Arc<dyn Call>,
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").finish_non_exhaustive()
    }
}

impl Service<Work> for Next {
    type Response = Outcomes;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Outcomes, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, work: Work) -> Self::Future {
        self.inner.call(work)
    }
}

impl Next {
    pub(crate) fn new(innermost: impl Call + 'static) -> Self {
        Self {
            inner: Arc::new(innermost),
        }
    }

    /// One delivery through the layers.
    pub(super) async fn one(&self, delivery: Delivery) -> HandlerResult {
        let outcomes = self.inner.call(Work::One(delivery)).await;
        outcomes
            .map_err(HandlerError::from_boxed)
            .and_then(Outcomes::into_one)
    }

    /// Several deliveries through the layers, together.
    pub(super) async fn batch(&self, deliveries: Vec<Delivery>) -> Vec<HandlerResult> {
        let given = deliveries.len();
        match self.inner.call(Work::Batch(deliveries)).await {
            Ok(outcomes) => outcomes.into_each(given),
            Err(error) => HandlerError::from_boxed(error)
                .repeated(given)
                .into_iter()
                .map(Err)
                .collect(),
        }
    }
}

/// A service as an object that can be shared.
pub(crate) trait Call: Send + Sync {
    fn call(&self, work: Work) -> BoxFuture<'static, Result<Outcomes, BoxError>>;
}

/// A layer, erased: puts itself around what it is given.
pub(crate) type Wrap = Arc<dyn Fn(Next) -> Next + Send + Sync>;

/// Erases a layer.
pub(crate) fn wrap<L>(layer: L) -> Wrap
where
    L: Layer<Next> + Send + Sync + 'static,
    L::Service: Service<Work, Response = Outcomes> + Clone + Send + Sync + 'static,
    <L::Service as Service<Work>>::Error: Into<BoxError>,
    <L::Service as Service<Work>>::Future: Send + 'static,
{
    Arc::new(move |next| Next::new(Shared(layer.layer(next))))
}

struct Shared<S>(S);

impl<S> Call for Shared<S>
where
    S: Service<Work, Response = Outcomes> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    fn call(&self, work: Work) -> BoxFuture<'static, Result<Outcomes, BoxError>> {
        // Readiness belongs to the value that was asked, so each call has one of its own.
        let mut service = self.0.clone();
        Box::pin(async move {
            poll_fn(|cx| service.poll_ready(cx))
                .await
                .map_err(Into::into)?;
            service.call(work).await.map_err(Into::into)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_result_for_one_delivery() {
        assert_eq!(
            Outcomes::all(Outcome::Done).into_one().ok(),
            Some(Outcome::Done)
        );
        let one = Outcomes::each(vec![Ok(Outcome::Discard)]);
        assert!(one.is_success());
        assert_eq!(one.into_one().ok(), Some(Outcome::Discard));
        let failed = Outcomes::each(vec![Err(HandlerError::permanent("no"))]);
        assert!(!failed.is_success() && failed.get(0).is_some_and(|result| result.is_err()));
        assert!(failed.into_one().is_err_and(|error| error.is_permanent()));
        for (answered, results) in [(0, vec![]), (2, vec![Ok(Outcome::Done), Ok(Outcome::Done)])] {
            let error = Outcomes::each(results)
                .into_one()
                .expect_err("the number is wrong");
            assert!(
                error
                    .to_string()
                    .contains(&format!("for {answered} messages")),
                "{error}"
            );
            assert!(!error.is_permanent(), "nothing is known of the message");
        }
        assert!(!Outcomes::all(Outcome::retry()).is_success());
        assert_eq!(Outcomes::all(Outcome::Discard).into_each(2).len(), 2);
        let wrong = Outcomes::each(vec![Ok(Outcome::Done)]).into_each(2);
        assert!(wrong.len() == 2 && wrong.iter().all(Result::is_err));
    }
}
