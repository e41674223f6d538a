//! A Lambda function with a batch handler: all records of an event in one call, single ones failed
//! on their own. Small events go to an iterative handler instead: what handles an event may be
//! chosen by the event.

use babelqueue::lambda::Event;
use babelqueue::prelude::*;
use babelqueue::{BoxError, LambdaConsumer};
use lambda_runtime::{LambdaEvent, service_fn};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

/// The database of the example.
#[derive(Clone)]
struct Db;

impl Db {
    async fn insert_all(&self, orders: &[&OrderCreated]) -> Result<(), std::io::Error> {
        tracing::info!(rows = orders.len(), "inserted");
        Ok(())
    }
}

#[babel_handler(batch)]
async fn orders_created(
    orders: Batch<OrderCreated>,
    State(db): State<Db>,
) -> Result<(), std::io::Error> {
    let mut rows = Vec::new();
    for order in &orders {
        if order.order_id == 0 {
            // This one alone comes again.
            order.fail("no order has the number 0");
        } else {
            rows.push(order.payload());
        }
    }
    // An error fails all of them.
    db.insert_all(&rows).await
}

#[babel_handler]
async fn order_created(order: OrderCreated, State(db): State<Db>) -> Result<(), std::io::Error> {
    db.insert_all(&[&order]).await
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().without_time().init();
    let batch = LambdaConsumer::builder(Router::from_handlers![orders_created]);
    let batch = batch.state(Db).build()?;
    let single = LambdaConsumer::builder(Router::from_handlers![order_created]);
    let single = single.state(Db).build()?;
    let handle = service_fn(|event: LambdaEvent<Event>| {
        let consumer = if event.payload.len() > 1 {
            &batch
        } else {
            &single
        };
        consumer.handle(event)
    });
    lambda_runtime::run(handle).await
}
