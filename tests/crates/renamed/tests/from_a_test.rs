//! C-121: in `tests/`.

use bq::prelude::*;
use case_renamed::{App, Ping};

#[babel_handler]
async fn ping(_ping: Ping, State(_app): State<App>) {}

#[test]
fn c_121_in_a_test() {
    let router = Router::from_handlers![ping];
    let routes: &dyn Fn() -> usize = &|| router.routes().len();
    assert_eq!(routes(), 1);
    takes(router);
}

fn takes(_: impl Routes<App>) {}
