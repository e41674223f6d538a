//! The function that `lambda_bench` compares with: no library, the same runtime and SDK. It does
//! what such functions do: route by `job`, parse, report single failures, and send what is beyond
//! help to a dead-letter queue.

use aws_lambda_events::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use aws_sdk_sqs::Client;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde::Deserialize;

#[derive(Deserialize)]
struct Envelope {
    job: String,
    data: serde_json::Value,
}

#[derive(Deserialize)]
struct OrderCreated {
    order_id: u64,
}

#[derive(Deserialize)]
struct OrderShipped {
    order_id: u64,
    carrier: String,
}

async fn handle_one(record: &SqsMessage, sqs: &Client) -> Result<(), Error> {
    let body = record.body.as_deref().unwrap_or_default();
    let envelope: Envelope = match serde_json::from_str(body) {
        Ok(envelope) => envelope,
        Err(error) => {
            let Ok(dead_letters) = std::env::var("DEAD_LETTER_QUEUE_URL") else {
                return Err(error.into());
            };
            let send = sqs
                .send_message()
                .queue_url(dead_letters)
                .message_body(body);
            send.send().await?;
            return Ok(());
        }
    };
    match envelope.job.as_str() {
        "urn:babel:orders:created" => {
            let order: OrderCreated = serde_json::from_value(envelope.data)?;
            tracing::info!(order_id = order.order_id, "created");
            Ok(())
        }
        "urn:babel:orders:shipped" => {
            let order: OrderShipped = serde_json::from_value(envelope.data)?;
            tracing::info!(
                order_id = order.order_id,
                carrier = order.carrier,
                "shipped"
            );
            Ok(())
        }
        other => Err(format!("no handler for {other}").into()),
    }
}

async fn handle(event: LambdaEvent<SqsEvent>, sqs: &Client) -> Result<SqsBatchResponse, Error> {
    let mut response = SqsBatchResponse::default();
    for record in &event.payload.records {
        if let Err(error) = handle_one(record, sqs).await {
            tracing::error!(message_id = record.message_id, "{error}");
            if let (Some(url), Some(handle)) =
                (std::env::var("QUEUE_URL").ok(), &record.receipt_handle)
            {
                let change = sqs.change_message_visibility().queue_url(url);
                let change = change.receipt_handle(handle).visibility_timeout(60);
                change.send().await?;
            }
            let mut failure = BatchItemFailure::default();
            failure.item_identifier = record.message_id.clone().unwrap_or_default();
            response.batch_item_failures.push(failure);
        }
    }
    Ok(response)
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing_subscriber::fmt().without_time().init();
    let config = aws_config::load_defaults(aws_config::BehaviorVersion::latest()).await;
    let sqs = Client::new(&config);
    lambda_runtime::run(service_fn(|event| handle(event, &sqs))).await
}
