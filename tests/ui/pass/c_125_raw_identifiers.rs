//! C-125: raw identifiers leave no `r#` behind.
#![allow(non_camel_case_types)]

mod r#async {
    use babelqueue::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    pub enum Kind {
        r#Async,
    }

    #[derive(Serialize, Deserialize, BabelMessage)]
    #[urn = "urn:babel:match"]
    pub struct r#match {
        #[babel(group_id)]
        pub r#type: String,
        pub kind: Kind,
    }

    #[babel_handler]
    pub async fn r#move(r#match: r#match, r#ref: &Context) {
        let _ = (&r#match.r#type, r#ref);
    }
}

fn main() {
    use babelqueue::prelude::*;
    let message = r#async::r#match { r#type: "x".into(), kind: r#async::Kind::r#Async };
    assert_eq!(message.group_id().as_deref(), Some("x"));
    let json = serde_json::to_string(&message).unwrap();
    assert_eq!(json, r#"{"type":"x","kind":"Async"}"#);
    let router = Router::from_handlers![r#async::r#move];
    assert_eq!(router.routes()[0].handler, "move");
}
