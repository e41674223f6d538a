use babelqueue::prelude::*;

#[derive(BabelMessage)]
#[urn = "urn:babel:orders:changed"]
union OrderChanged {
    paid: u64,
    shipped: u64,
}

fn main() {}
