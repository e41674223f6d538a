//! Names of the user's that the generated code might meet: items called like its locals, its
//! types, its probes.
#![allow(dead_code, non_upper_case_globals, non_camel_case_types)]

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

const delivery: u8 = 1;
const state: u8 = 1;
const payload: u8 = 1;
const argument: u8 = 1;
const argument0: u8 = 1;
const answer: u8 = 1;
const error: u8 = 1;
const rejection: u8 = 1;
const value: u8 = 1;
const f: u8 = 1;
static handler: u8 = 1;
struct context;

trait Blanket {
    const URN: u8 = 1;
    const ALIASES: u8 = 1;
    fn key(&self) -> u64 {
        1
    }
    fn id(&self) -> u64 {
        1
    }
    fn schema() -> u64 {
        1
    }
}
impl<T: ?Sized> Blanket for T {}

#[derive(Clone)]
struct BabelState;
#[derive(Clone)]
struct BabelRouter;

#[derive(Clone, FromRef)]
struct App {
    a: BabelState,
    b: BabelRouter,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:a"]
struct A {
    #[babel(group_id)]
    customer: u64,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:b"]
struct B {}

#[babel_handler(state = App)]
async fn a(_a: A, State(_s): State<BabelState>, _r: State<BabelRouter>) -> Result<(), String> {
    Ok(())
}

#[babel_handler]
async fn BabelHandler0(_b: B) {}

fn main() {
    let router = Router::from_handlers![a, BabelHandler0];
    takes(&router);
    assert_eq!(BabelMessage::group_id(&A { customer: 7 }).as_deref(), Some("7"));
}

fn takes(_: &impl Routes<App>) {}
