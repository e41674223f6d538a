//! C-116: the user's own `Result` alias.

mod shop {
    use babelqueue::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug)]
    pub struct ShopError;

    impl std::fmt::Display for ShopError {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("shop")
        }
    }

    impl std::error::Error for ShopError {}

    type Result<T> = core::result::Result<T, ShopError>;

    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:babel:orders:created"]
    pub struct OrderCreated {
        pub order_id: u64,
    }

    #[babel_handler]
    pub async fn created(_order: OrderCreated) -> Result<()> {
        Err(ShopError)
    }
}

fn main() {
    let _ = babelqueue::Router::from_handlers![shop::created];
}
