//! C-118: modules named like crates.
#![allow(dead_code)]

mod user {
    mod core {}
    mod std {}
    mod alloc {}
    mod serde {}
    mod serde_json {}
    mod tokio {}
    mod babelqueue {}
    mod schemars {}

    use ::babelqueue::prelude::*;
    use ::serde::{Deserialize, Serialize};

    #[derive(Clone)]
    pub struct Db;

    #[derive(Clone, FromRef)]
    pub struct App {
        db: Db,
    }

    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:babel:orders:created"]
    pub struct OrderCreated {
        #[babel(group_id)]
        pub customer_id: u64,
    }

    #[babel_handler(state = App)]
    pub async fn created(_order: OrderCreated, State(_db): State<Db>) -> Result<(), String> {
        Ok(())
    }

    pub fn router() -> impl Routes<App> {
        Router::from_handlers![created]
    }
}

fn main() {
    let _ = user::router();
}
