//! C-133: what is generated has the handler's own visibility.
#![deny(warnings)]

mod a {
    use babelqueue::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:babel:x"]
    pub(crate) struct X {}

    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:babel:y"]
    struct Y {}

    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:babel:z"]
    struct Z {}

    #[babel_handler]
    pub(crate) async fn x(_x: X) {}

    #[babel_handler]
    async fn y(_y: Y) {}

    #[babel_handler]
    pub(in crate::a) async fn z(_z: Z) {}

    pub(crate) fn inner() -> impl Routes<()> {
        Router::from_handlers![y, z, self::x]
    }
}

mod b {
    pub(crate) use crate::a::x;
}

fn main() {
    use babelqueue::prelude::*;
    let _ = Router::from_handlers![a::x];
    let _ = Router::from_handlers![crate::b::x];
    let _ = a::inner();
    let _ = a::x(a::X {});
}
