//! A Lambda function with iterative handlers: one call for each record, failures reported one by
//! one, failed messages tried again after a growing pause.
//!
//! Build it for Lambda with `cargo lambda build --release --features lambda --example
//! lambda_iterative`; to try it without AWS, see `lambda_local`.

use babelqueue::lambda::RetryBackoff;
use babelqueue::prelude::*;
use babelqueue::{BoxError, LambdaConsumer};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:shipped"]
struct OrderShipped {
    order_id: u64,
    carrier: String,
}

#[babel_handler]
async fn order_created(order: OrderCreated, ctx: &Context) -> Result<(), HandlerError> {
    if order.order_id == 0 {
        return Err(HandlerError::permanent("no order has the number 0"));
    }
    tracing::info!(
        order_id = order.order_id,
        attempt = ctx.attempts() + 1,
        "created"
    );
    Ok(())
}

#[babel_handler]
async fn order_shipped(order: OrderShipped) {
    tracing::info!(
        order_id = order.order_id,
        carrier = order.carrier,
        "shipped"
    );
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().without_time().init();
    let config = aws_config::load_defaults(aws_config::BehaviorVersion::latest()).await;
    LambdaConsumer::builder(Router::from_handlers![order_created, order_shipped])
        .client(aws_sdk_sqs::Client::new(&config))
        .retry_backoff(RetryBackoff::new().base_delay_seconds(30.0))
        .max_attempts(5)
        .dead_letter_queue(DeadLetterQueue::default_name())
        .build()?
        .run()
        .await
}
