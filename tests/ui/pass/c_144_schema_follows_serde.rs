//! C-144: what the derive says of the shape is what serde writes.

use babelqueue::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
enum Payment {
    CardNumber(u64),
}

#[derive(Serialize, Deserialize, JsonSchema, BabelMessage)]
#[serde(rename_all = "camelCase")]
#[urn = "urn:babel:orders:paid"]
#[babel(schema)]
struct OrderPaid {
    order_id: u64,
    #[serde(rename = "how")]
    payment: Payment,
}

#[derive(Serialize, Deserialize, JsonSchema, BabelMessage)]
#[urn = "urn:babel:orders:seen"]
struct FoundByItself {
    id: u64,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:lost"]
struct WithoutSchema {
    id: u64,
}

fn main() {
    let order = OrderPaid { order_id: 1, payment: Payment::CardNumber(2) };
    let json: serde_json::Value = serde_json::to_value(&order).unwrap();
    let schema = OrderPaid::schema().expect("a schema");
    let said: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    let written: Vec<_> = json.as_object().unwrap().keys().collect();
    assert_eq!(said, written);
    assert!(schema.to_string().contains("card_number"), "{schema}");

    assert!(FoundByItself::schema().is_some());
    assert!(WithoutSchema::schema().is_none());
}
