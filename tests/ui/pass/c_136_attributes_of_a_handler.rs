//! C-136: attributes stay on the handler, each once.
#![deny(warnings)]

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:a"]
struct A {
    id: u64,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:b"]
struct B {
    id: u64,
}

/// Documented.
#[babel_handler]
#[tracing::instrument(skip_all, fields(id = a.id))]
#[allow(clippy::let_unit_value)]
#[must_use]
#[inline]
#[deprecated(note = "use b")]
async fn above(a: A, ctx: &Context) -> Result<(), String> {
    let _ = (a.id, ctx);
    Ok(())
}

/// Documented.
#[tracing::instrument(skip_all, fields(id = b.id))]
#[allow(clippy::let_unit_value)]
#[must_use]
#[inline]
#[deprecated(note = "use a")]
#[babel_handler]
async fn below(b: B, ctx: &Context) -> Result<(), String> {
    let _ = (b.id, ctx);
    Ok(())
}

fn main() {
    let router = Router::from_handlers![above, below];
    takes(&router);
}

fn takes(_: &impl Routes<()>) {}
