//! Messages, handlers and routers inside a fn, also a generic one.

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

fn router<T: Clone>(_: T) -> impl Routes<()> {
    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:babel:local"]
    struct Local {}

    #[babel_handler]
    async fn local(_local: Local) {}

    Router::from_handlers![local]
}

fn main() {
    assert_eq!(router(1).find("urn:babel:local"), Some(0));
    let empty = Router::from_handlers![];
    assert_eq!(empty.find("urn:babel:local"), None);
    assert_eq!(std::mem::size_of_val(&empty), 0);
}
