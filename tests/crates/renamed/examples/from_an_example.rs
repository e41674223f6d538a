//! C-121: in `examples/`.

use bq::prelude::*;
use case_renamed::Ping;

#[babel_handler]
async fn ping(_ping: Ping) {}

fn main() {
    assert_eq!(Router::from_handlers![ping].routes().len(), 1);
}
