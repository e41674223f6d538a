//! A shop: an order is charged at the second try and mailed about, another one is refused for
//! good and looked at in the dead-letter queue.

use std::time::Duration;

use babelqueue::local::LocalSqs;
use babelqueue::prelude::*;
use babelqueue::telemetry::Telemetry;
use opentelemetry::Context as OtelContext;
use opentelemetry::trace::{
    FutureExt as _, TraceContextExt as _, Tracer as _, TracerProvider as _,
};
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Result;

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[derive(Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:mails:wanted"]
struct MailWanted {
    order_id: u64,
}

#[derive(Clone, FromRef)]
struct Shop {
    publisher: SqsPublisher,
    /// Told of everything that has come to its end.
    done: UnboundedSender<()>,
}

#[babel_handler]
async fn order_created(
    order: OrderCreated,
    Attempts(attempts): Attempts,
    State(publisher): State<SqsPublisher>,
) -> std::result::Result<(), HandlerError> {
    match (order.order_id, attempts) {
        (1, 0) => return Err(HandlerError::new("the bank does not answer")),
        (2, _) => return Err(HandlerError::permanent("the card is stolen")),
        _ => {}
    }
    // A child of this handler's span, without further ado.
    let mail = MailWanted {
        order_id: order.order_id,
    };
    mail.publish(&publisher).await?;
    Ok(())
}

#[babel_handler]
async fn mail_wanted(_mail: MailWanted, State(done): State<UnboundedSender<()>>) {
    let _ = done.send(());
}

/// What somebody does who looks into the dead-letter queue.
#[babel_handler]
async fn order_refused(_order: OrderCreated, State(done): State<UnboundedSender<()>>) {
    let _ = done.send(());
}

/// Until both orders have come to their ends.
pub(crate) async fn open(telemetry: Telemetry, tracers: &SdkTracerProvider) -> Result<()> {
    let sqs = LocalSqs::new();
    let orders = sqs.create_queue("orders");
    let refused = sqs.create_queue("orders-dlq");
    let publisher = SqsPublisher::builder(sqs.client(), &orders)
        .telemetry(telemetry.clone())
        .build()?;
    let (done, mut ends) = unbounded_channel();
    let shop = Shop {
        publisher: publisher.clone(),
        done,
    };

    let tracer = tracers.tracer("shop");
    for order_id in [1, 2] {
        let request = OtelContext::current_with_span(tracer.start("POST /orders"));
        let publish = OrderCreated { order_id }.publish(&publisher).into_future();
        publish.with_context(request).await?;
    }

    let consumer = SqsConsumer::builder(
        sqs.client(),
        &orders,
        Router::from_handlers![order_created, mail_wanted],
    )
    .state(shop.clone())
    .retry(Backoff::fixed(Duration::from_secs(1)))
    .max_attempts(5)
    .dead_letter_queue(DeadLetterQueue::default_name())
    .telemetry(telemetry.clone())
    .build()?;
    let inspector = SqsConsumer::builder(
        sqs.client(),
        &refused,
        Router::from_handlers![order_refused],
    )
    .state(shop)
    .startup_checks(false)
    .telemetry(telemetry)
    .build()?;
    let both_ended = async move {
        ends.recv().await;
        ends.recv().await;
    };
    ConsumerGroup::new()
        .consumer(consumer)
        .consumer(inspector)
        .run_until(both_ended)
        .await?;
    Ok(())
}
