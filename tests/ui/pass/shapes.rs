//! Shapes of payloads that look wrong and are objects, and deprecated ones.
#![deny(warnings)]

use std::marker::PhantomData;

use babelqueue::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
struct Inner {
    id: u64,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[serde(transparent)]
#[urn = "urn:babel:a"]
struct Marked<T>(Inner, #[serde(skip)] PhantomData<T>);

#[derive(Clone, Serialize, Deserialize, BabelMessage)]
#[serde(into = "Inner", from = "Inner")]
#[urn = "urn:babel:b"]
struct Converted(u64, &'static str);

impl From<Inner> for Converted {
    fn from(inner: Inner) -> Self {
        Self(inner.id, "converted")
    }
}

impl From<Converted> for Inner {
    fn from(converted: Converted) -> Self {
        Self { id: converted.0 }
    }
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:c"]
struct Tagged {
    id: u64,
    #[serde(skip)]
    tag: PhantomData<&'static str>,
}

#[deprecated(note = "use Tagged")]
#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:d"]
#[allow(dead_code)]
struct Old {
    id: u64,
}

#[allow(deprecated)]
#[babel_handler]
async fn old(old: Old) {
    let _ = old.id;
}

fn main() {
    let json = serde_json::to_string(&Marked(Inner { id: 1 }, PhantomData::<u8>)).unwrap();
    assert_eq!(json, r#"{"id":1}"#);
    assert_eq!(Converted::URN, "urn:babel:b");
    let _ = Converted::from(Inner { id: 2 }).1;
    let tagged = Tagged { id: 3, tag: PhantomData };
    let _ = (tagged.id, tagged.tag);
    let router = Router::merge![];
    assert!(router.routes().is_empty());
    Router::from_handlers![struct One; old];
    assert_eq!(Router::merge![One].routes().len(), 1);
}
