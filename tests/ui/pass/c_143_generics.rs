//! C-143: generics, lifetimes, const parameters, defaults, where clauses, recursion.
#![allow(dead_code)]

use std::borrow::Cow;

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

trait Shape {
    type Item;
}

impl Shape for u8 {
    type Item = u16;
}

#[derive(Serialize, BabelMessage)]
#[urn = "urn:babel:p"]
struct P<'a, T: Serialize = (), const N: usize = 4>
where
    T: Clone,
{
    a: Cow<'a, str>,
    t: T,
    #[serde(skip)]
    b: [u8; N],
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:tree"]
struct Tree {
    #[babel(group_id)]
    name: String,
    child: Option<Box<Self>>,
}

#[derive(Serialize, BabelMessage)]
#[serde(bound = "T::Item: Serialize")]
#[urn = "urn:babel:item"]
struct Item<T: Shape> {
    item: T::Item,
}

#[derive(Serialize, BabelMessage)]
#[urn = "urn:babel:keyed"]
struct Keyed<T: std::fmt::Display> {
    #[babel(group_id)]
    key: T,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:unit"]
struct Unit;

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:newtype"]
struct Newtype(#[babel(group_id)] Inner);

#[derive(Serialize, Deserialize)]
struct Inner {
    id: u64,
}

impl std::fmt::Display for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.id)
    }
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:borrowed"]
struct Borrowed<'a> {
    #[serde(borrow)]
    carrier: Cow<'a, str>,
}

#[babel_handler]
async fn tree(_tree: Tree) {}

#[babel_handler]
async fn unit(_unit: Unit) {}

#[babel_handler]
async fn newtype(Newtype(inner): Newtype) {
    let _ = inner.id;
}

#[babel_handler]
async fn borrowed(message: Borrowed<'_>, ctx: &Context) {
    let _ = (message.carrier, ctx);
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:borrowed2"]
struct Borrowed2<'a> {
    #[serde(borrow)]
    carrier: Cow<'a, str>,
}

#[babel_handler]
async fn named_lifetime<'a>(message: Borrowed2<'a>, ctx: &'a Context, meta: Option<&'a Headers>) {
    let _ = (message.carrier, ctx, meta);
}

fn main() {
    assert_eq!(P::<'_, (), 4>::URN, "urn:babel:p");
    assert_eq!(Item::<u8> { item: 3 }.group_id(), None);
    assert_eq!(Keyed { key: 5 }.group_id().as_deref(), Some("5"));
    assert_eq!(Newtype(Inner { id: 9 }).group_id().as_deref(), Some("9"));
    let router = Router::from_handlers![tree, unit, newtype, borrowed, named_lifetime];
    assert_eq!(router.routes().len(), 5);
    takes(&router);
}

fn takes(_: &impl Routes<()>) {}
