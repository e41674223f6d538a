//! C-141: a body that borrows in closures compiles whenever it is Send, which is asked of the fn
//! alone first.
//!
//! The compiler itself does not see that `stream::iter(&v).map(|x: &T| async move { … })` is Send
//! ("implementation of `FnOnce` is not general enough"), with or without the attribute: collect
//! the futures first, as `collected` does, or move the values in, as `moved` does.

use babelqueue::prelude::*;
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt};
use serde::{Deserialize, Serialize};

macro_rules! messages {
    ($($name:ident $urn:literal)*) => {$(
        #[derive(Serialize, Deserialize, BabelMessage)]
        #[urn = $urn]
        struct $name {
            ids: Vec<u64>,
        }
    )*};
}

messages! {
    Joined "urn:babel:joined"
    Moved "urn:babel:moved"
    Collected "urn:babel:collected"
}

async fn one(id: &u64, ctx: &Context) -> u64 {
    *id + ctx.attempts()
}

#[babel_handler]
async fn joined(message: Joined, ctx: &Context) {
    let _ = join_all(message.ids.iter().map(|id| one(id, ctx))).await;
}

#[babel_handler]
async fn moved(message: Moved, ctx: &Context) {
    let sums = stream::iter(message.ids).map(|id| async move { one(&id, ctx).await });
    let _ = sums.buffered(4).count().await;
}

#[babel_handler]
async fn collected(message: Collected, ctx: &Context) {
    let sums: Vec<_> =
        message.ids.iter().map(|id: &u64| async move { one(id, ctx).await }).collect();
    let _ = stream::iter(sums).buffered(4).count().await;
}

fn is_send<T: Send>(_: T) {}

#[allow(dead_code)]
fn bodies_are_send(ctx: &Context) {
    is_send(joined(Joined { ids: vec![] }, ctx));
    is_send(moved(Moved { ids: vec![] }, ctx));
    is_send(collected(Collected { ids: vec![] }, ctx));
}

fn main() {
    let router = Router::from_handlers![joined, moved, collected];
    takes(&router);
}

fn takes(_: &impl Routes<()>) {}
