//! C-124: used inside a `macro_rules!`.

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

macro_rules! message {
    ($v:vis $n:ident, $f:ident, $t:ty, $u:literal, $a:literal) => {
        #[derive(Serialize, Deserialize, BabelMessage)]
        #[urn = $u]
        #[babel(alias = $a)]
        $v struct $n {
            #[babel(group_id)]
            $f: $t,
        }
    };
}

message!(pub OrderCreated, id, u64, "urn:babel:orders:created", "urn:babel:orders:new");
message!(OrderShipped, id, Option<u64>, "urn:babel:orders:shipped", "urn:babel:orders:sent");

macro_rules! handler {
    ($v:vis $n:ident, $p:ident : $t:ty, $c:ident : $e:ty, $r:ty, $body:expr) => {
        #[babel_handler]
        $v async fn $n($p: $t, $c: $e) -> $r {
            let _ = (&$p, &$c);
            $body
        }
    };
}

handler!(pub created, order: OrderCreated, ctx: &Context, Result<(), String>, Ok(()));
handler!(shipped, delivery: OrderShipped, state: Attempts, (), ());

macro_rules! router {
    ($($h:path),*) => { Router::from_handlers![$($h),*] };
}

macro_rules! whole {
    ($m:ident, $h:ident, $u:literal) => {{
        #[derive(Serialize, Deserialize, BabelMessage)]
        #[urn = $u]
        struct $m {}

        #[babel_handler]
        async fn $h(_message: $m, ctx: &Context) {
            let delivery = ctx;
            let _ = delivery.urn();
        }

        Router::from_handlers![$h]
    }};
}

fn main() {
    assert_eq!(OrderCreated::URN, "urn:babel:orders:created");
    assert_eq!(OrderCreated::ALIASES, ["urn:babel:orders:new"]);
    assert_eq!(OrderCreated { id: 3 }.group_id().as_deref(), Some("3"));
    assert_eq!(OrderShipped { id: None }.group_id(), None);
    let router = router![created, self::shipped];
    assert_eq!(router.routes().len(), 4);
    let router = whole!(Local, local, "urn:babel:local");
    assert_eq!(router.routes()[0].handler, "local");
    is_router(&router);
}

fn is_router(_: &impl Routes<()>) {}
