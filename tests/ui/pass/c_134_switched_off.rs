//! C-134: a handler switched off by `cfg` leaves no registration behind.
#![deny(warnings)]
#![allow(unexpected_cfgs)]

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:a"]
struct A {}

#[babel_handler]
async fn a(_a: A) {}

#[babel_handler]
#[cfg(feature = "x")]
async fn below(_a: NotEvenAType) {}

#[cfg(feature = "x")]
#[babel_handler]
async fn above(_a: NotEvenAType) {}

#[cfg_attr(feature = "x", babel_handler)]
#[allow(dead_code)]
async fn maybe(_a: A) {}

#[cfg_attr(all(), babel_handler)]
async fn surely(_envelope: Same) {}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:same"]
struct Same {}

fn main() {
    let router = Router::from_handlers![
        a,
        #[cfg(feature = "x")]
        below,
        #[cfg(feature = "x")]
        above,
        #[cfg(not(feature = "x"))]
        surely,
        #[cfg(all())]
        #[cfg(feature = "x")]
        maybe,
    ];
    let names: Vec<_> = router.routes().iter().map(|route| route.handler).collect();
    assert_eq!(names, ["a", "surely"]);
    assert_eq!(router.find("urn:babel:a"), Some(0));
    takes(&router);
}

fn takes(_: &impl Routes<()>) {}
