//! What is measured: a small payload of four fields, and orders with many lines, owned and
//! borrowed; and the whole envelope as one struct, as one would write it with `serde_json` alone.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Small<S> {
    pub order_id: u64,
    pub customer: S,
    pub currency: S,
    pub total_cents: u64,
}

impl Small<String> {
    pub fn sample() -> Self {
        Self {
            order_id: 1042,
            customer: "c-7f3a9 Zoë Okonkwo".to_owned(),
            currency: "EUR".to_owned(),
            total_cents: 129_900,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "L: Deserialize<'de>"))]
pub struct Order<L> {
    pub order_id: u64,
    pub lines: Vec<L>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    pub sku: String,
    pub name: String,
    pub note: String,
    pub quantity: u32,
    pub price_cents: u64,
    pub weight_kg: f64,
    pub gift: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[allow(dead_code)]
pub struct BorrowedLine<'a> {
    #[serde(borrow)]
    pub sku: Cow<'a, str>,
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow)]
    pub note: Cow<'a, str>,
    pub quantity: u32,
    pub price_cents: u64,
    pub weight_kg: f64,
    pub gift: bool,
}

pub type Owned = Order<Line>;
pub type Borrowed<'a> = Order<BorrowedLine<'a>>;

impl Owned {
    pub fn sample(lines: u32) -> Self {
        let line = |number: u32| Line {
            sku: format!("SKU-{:06}", number * 7919 % 1_000_000),
            name: "Café table, oak — 80 × 120 cm".to_owned(),
            note: if number.is_multiple_of(5) {
                "\"fragile\"\n"
            } else {
                ""
            }
            .to_owned(),
            quantity: number % 9 + 1,
            price_cents: u64::from(number) * 1299,
            weight_kg: f64::from(number) * 0.25,
            gift: number.is_multiple_of(3),
        };
        Self {
            order_id: 1042,
            lines: (0..lines).map(line).collect(),
        }
    }
}

/// An envelope as one struct with owned strings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Whole<P> {
    pub job: String,
    pub trace_id: String,
    pub data: P,
    pub meta: WholeMeta,
    pub attempts: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WholeMeta {
    pub id: String,
    pub queue: String,
    pub lang: String,
    pub schema_version: i64,
    pub created_at: i64,
}
