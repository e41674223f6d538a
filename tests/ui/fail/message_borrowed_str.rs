use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:shipped"]
struct OrderShipped<'a> {
    carrier: Option<&'a str>,
}

fn main() {}
