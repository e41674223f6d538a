//! The stores as objects: `async fn`s of a trait cannot be called through `dyn`, boxed ones can.

use std::time::Duration;

use super::store::{Home, Location, PayloadStore, StoreError};
use crate::BoxFuture;

type Answer<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

pub(super) trait AnyStore: Send + Sync {
    fn home(&self) -> Home;
    fn put<'a>(&'a self, to: &'a Location, payload: &'a str) -> Answer<'a, ()>;
    fn get<'a>(&'a self, from: &'a Location, max_bytes: usize) -> Answer<'a, Vec<u8>>;
    fn delete<'a>(&'a self, location: &'a Location) -> Answer<'a, ()>;
}

impl<S: PayloadStore> AnyStore for S {
    fn home(&self) -> Home {
        S::home(self)
    }

    fn put<'a>(&'a self, to: &'a Location, payload: &'a str) -> Answer<'a, ()> {
        Box::pin(S::put(self, to, payload))
    }

    fn get<'a>(&'a self, from: &'a Location, max_bytes: usize) -> Answer<'a, Vec<u8>> {
        Box::pin(S::get(self, from, max_bytes))
    }

    fn delete<'a>(&'a self, location: &'a Location) -> Answer<'a, ()> {
        Box::pin(S::delete(self, location))
    }
}

/// Ends a call that takes longer than it may; it failed then.
pub(super) async fn in_time<T>(limit: Duration, call: Answer<'_, T>) -> Result<T, StoreError> {
    let late = |_| StoreError::failed(format!("no answer within {limit:?}"));
    let ended = tokio::time::timeout(limit, call).await;
    ended.unwrap_or_else(|elapsed| Err(late(elapsed)))
}
