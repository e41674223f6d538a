//! Lifetimes of a handler, named in every place where they may stand.

use std::borrow::Cow;

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:a"]
struct A<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:b"]
struct B<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

struct Holds<T: ?Sized>(std::marker::PhantomData<fn(&T)>);

impl<'d, S, T: ?Sized> FromDelivery<'d, S> for Holds<T> {
    type Rejection = HandlerError;

    fn from_delivery(_: &'d babelqueue::Delivery, _: &'d S) -> Result<Self, HandlerError> {
        Ok(Self(std::marker::PhantomData))
    }
}

#[babel_handler]
async fn named<'a>(message: A<'a>, ctx: &'a Context) -> Result<(), &'a str>
where
{
    let _ = message.name;
    Err(ctx.trace_id())
}

#[babel_handler]
async fn bound(
    message: B<'_>,
    _a: Holds<dyn for<'x> Fn(&'x u8) -> &'x u8>,
    _b: Holds<fn(&u8) -> &u8>,
    _c: Holds<&'static str>,
) {
    let _ = message.name;
}

fn main() {
    takes(&Router::from_handlers![named, bound]);
}

fn takes(_: &impl Routes<()>) {}
