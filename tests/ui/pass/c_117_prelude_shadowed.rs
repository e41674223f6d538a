//! C-117: names of the prelude shadowed.
#![allow(dead_code, non_camel_case_types, unused_imports)]

mod hostile {
    use babelqueue::{BabelMessage, Context, FromRef, State, babel_handler};
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:babel:orders:created"]
    #[babel(alias = "urn:babel:orders:new")]
    pub struct OrderCreated {
        #[babel(group_id)]
        pub customer_id: u64,
        #[babel(dedup_id)]
        pub key: std::string::String,
    }

    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:babel:ping"]
    pub struct Ping;

    mod shadows {
        pub struct Ok;
        pub struct Err;
        pub struct Some;
        pub struct None;
        pub type String = u8;
        pub enum Option {}
        pub struct Vec;
        pub struct Box;
        pub struct Result;
        pub struct Default;
        pub trait Send {}
        pub trait Sync {}
        pub trait Future {}
        pub trait Clone {}
        pub trait Copy {}
        pub trait Sized {}
        pub trait Into {}
        pub trait From {}
        pub trait Display {}
        pub trait ToString {}
        pub trait Handler {}
        pub trait HandlerInfo {}
        pub fn drop() {}
    }
    use shadows::*;

    #[derive(std::clone::Clone)]
    pub struct Db;

    #[derive(std::clone::Clone, FromRef)]
    pub struct App {
        db: Db,
    }

    #[babel_handler]
    pub async fn created(order: OrderCreated, ctx: &Context, State(_db): State<Db>) {
        let _ = (order.customer_id, ctx.attempts());
    }

    #[babel_handler]
    pub async fn ping(_ping: Ping) {}

    pub fn router() -> impl babelqueue::Routes<App> {
        babelqueue::Router::from_handlers![created, ping]
    }
}

fn main() {
    let _ = hostile::router();
}
