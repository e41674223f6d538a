//! Typed messages from end to end, in a few seconds and with nothing installed:
//!
//! ```text
//! cargo run --example orders
//! ```
//!
//! An SQS inside this process gets four queues. Orders go to a standard queue: some are handled
//! at once, one fails and succeeds on its retry, one has a URN that nobody handles, one body is
//! no envelope at all; the last two end in the dead-letter queue. Parcels go to a FIFO queue and
//! arrive in order.
//!
//! With `BABELQUEUE_ENDPOINT` set (and `AWS_REGION`, `AWS_ACCESS_KEY_ID`,
//! `AWS_SECRET_ACCESS_KEY`), the same runs against that server, or against AWS itself; messages
//! that other programs left in the queues are handled too.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::QueueAttributeName;
use babelqueue::local::LocalSqs;
use babelqueue::prelude::*;
use babelqueue::{BoxError, ErrorEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

// ---------------------------------------------------------------------------- the messages

#[derive(Debug, Serialize, Deserialize, JsonSchema, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    /// The tenant on a fair queue: a busy customer does not hold up the others.
    #[babel(group_id)]
    customer_id: u64,
    order_id: u64,
    note: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema, BabelMessage)]
#[urn = "urn:babel:orders:paid"]
struct OrderPaid {
    order_id: u64,
    cents: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema, BabelMessage)]
#[urn = "urn:babel:parcels:moved"]
struct ParcelMoved {
    /// The FIFO group: what happens to one parcel stays in order.
    #[babel(group_id)]
    parcel: String,
    place: String,
}

// ---------------------------------------------------------------------------- the handlers

/// What the handlers share.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<BTreeMap<String, Vec<String>>>>);

impl Ledger {
    fn write(&self, page: &str, line: String) {
        let mut pages = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        pages.entry(page.to_owned()).or_default().push(line);
    }

    fn page(&self, page: &str) -> Vec<String> {
        let pages = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        pages.get(page).cloned().unwrap_or_default()
    }
}

#[derive(Clone, FromRef)]
struct App {
    ledger: Ledger,
}

#[babel_handler]
async fn order_created(order: OrderCreated, meta: &Meta, State(ledger): State<Ledger>) {
    let from = meta.lang().unwrap_or("?");
    println!(
        "   order_created   order {} by {from}: {}",
        order.order_id, order.note
    );
    ledger.write("created", format!("{}: {}", order.order_id, order.note));
}

#[babel_handler]
async fn order_paid(
    order: OrderPaid,
    Attempts(attempts): Attempts,
    State(ledger): State<Ledger>,
) -> Result<(), String> {
    if attempts == 0 {
        return Err(format!(
            "the bank does not answer for order {}",
            order.order_id
        ));
    }
    println!("   order_paid      order {}, on its retry", order.order_id);
    ledger.write("paid", format!("{} after {attempts}", order.order_id));
    Ok(())
}

#[babel_handler]
async fn parcel_moved(parcel: ParcelMoved, ctx: &Context, State(ledger): State<Ledger>) {
    let group = ctx.source().group_id.as_deref().unwrap_or("?");
    println!("   parcel_moved    group {group}: {}", parcel.place);
    ledger.write(&parcel.parcel, parcel.place);
}

// ---------------------------------------------------------------------------- the program

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("orders: {}", with_causes(&*error));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), BoxError> {
    let sqs = client().await;
    let orders = queue(&sqs, "orders", false).await?;
    let orders_dlq = queue(&sqs, "orders-dlq", false).await?;
    let parcels = queue(&sqs, "parcels.fifo", true).await?;
    queue(&sqs, "parcels-dlq.fifo", true).await?;
    let app = App {
        ledger: Ledger::default(),
    };

    println!("\n1. Publishing");
    publish(&sqs, &orders, &parcels).await?;

    println!("\n2. Handling");
    let router = Router::from_handlers![order_created, order_paid];
    let order_consumer = SqsConsumer::builder(sqs.clone(), &orders, router)
        .state(app.clone())
        .concurrency(8)
        .retry(Backoff::exponential(Duration::from_secs(1)).max(Duration::from_secs(60)))
        .max_attempts(5)
        .dead_letter_queue(DeadLetterQueue::default_name())
        .unknown_urn(UnknownUrn::DeadLetter)
        .on_error(narrate)
        .build()?;
    let parcel_consumer =
        SqsConsumer::builder(sqs.clone(), &parcels, Router::from_handlers![parcel_moved])
            .state(app.clone())
            .max_attempts(5)
            .dead_letter_queue(DeadLetterQueue::default_name())
            .on_error(narrate)
            .build()?;

    let stop = [order_consumer.handle(), parcel_consumer.handle()];
    let drained = async {
        // Until both queues are empty, this program's own seven messages among them.
        let result = drain(&sqs, [&orders, &parcels]).await;
        stop.iter().for_each(|handle| handle.stop());
        result
    };
    let (ran_orders, ran_parcels, drained) =
        tokio::join!(order_consumer.run(), parcel_consumer.run(), drained);
    ran_orders?;
    ran_parcels?;
    drained?;

    println!("\n3. The dead-letter queue");
    let dead = dead_letters(&sqs, &orders_dlq).await?;

    println!("\n4. Summary");
    summary(&app.ledger, &dead)
}

/// An error and everything behind it: the SDK's own errors say little by themselves.
fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

/// The embedded SQS, or the server that the environment names.
async fn client() -> Client {
    let Ok(endpoint) = std::env::var("BABELQUEUE_ENDPOINT") else {
        println!("An SQS inside this process (BABELQUEUE_ENDPOINT names another one).");
        return LocalSqs::new().client();
    };
    println!("The SQS at {endpoint}.");
    let config = aws_config::defaults(aws_config::BehaviorVersion::latest());
    Client::new(&config.endpoint_url(endpoint).load().await)
}

async fn queue(sqs: &Client, name: &str, fifo: bool) -> Result<String, BoxError> {
    let create = sqs.create_queue().queue_name(name);
    let create = match fifo {
        true => create.attributes(QueueAttributeName::FifoQueue, "true"),
        false => create,
    };
    let created = create.send().await?;
    Ok(created
        .queue_url()
        .ok_or("the server gave the queue no URL")?
        .to_owned())
}

async fn publish(sqs: &Client, orders: &str, parcels: &str) -> Result<(), BoxError> {
    let publisher = SqsPublisher::new(sqs.clone(), orders);
    for (order_id, note) in [
        (1042, "two cups, please ☕"),
        (1043, "für Zoë, mit Schleife 🎀"),
    ] {
        let order = OrderCreated {
            customer_id: 7,
            order_id,
            note: note.to_owned(),
        };
        let sent = order.publish(&publisher).header("tenant", "acme").await?;
        println!(
            "   {} order {order_id}, trace {}",
            OrderCreated::URN,
            sent.trace_id
        );
    }
    OrderPaid {
        order_id: 1042,
        cents: 1990,
    }
    .publish(&publisher)
    .await?;
    println!("   {} order 1042, which will fail once", OrderPaid::URN);

    let urn = "urn:babel:orders:archived";
    publisher
        .publish_json(urn, &json!({ "order_id": 1 }))
        .await?;
    println!("   {urn}, which nobody handles");

    let poison = r#"{"job":"urn:babel:orders:created","trace_id":"#;
    sqs.send_message()
        .queue_url(orders)
        .message_body(poison)
        .send()
        .await?;
    println!("   {poison}  ← not an envelope");

    let publisher = SqsPublisher::new(sqs.clone(), parcels);
    for place in ["packed", "sent"] {
        let parcel = ParcelMoved {
            parcel: "P-1".to_owned(),
            place: place.to_owned(),
        };
        parcel.publish(&publisher).await?;
        println!("   {} P-1 {place}", ParcelMoved::URN);
    }
    Ok(())
}

/// One line for everything that goes wrong.
fn narrate(event: &ErrorEvent<'_>) {
    println!(
        "   {:<15} {}",
        format!("({})", event.kind.as_str()),
        event.error
    );
}

/// Waits until nothing is left in the queues: nothing waiting, in flight or delayed.
async fn drain(sqs: &Client, queues: [&String; 2]) -> Result<(), BoxError> {
    const COUNTS: [QueueAttributeName; 3] = [
        QueueAttributeName::ApproximateNumberOfMessages,
        QueueAttributeName::ApproximateNumberOfMessagesNotVisible,
        QueueAttributeName::ApproximateNumberOfMessagesDelayed,
    ];
    for _ in 0..300 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let mut left = 0;
        for url in queues {
            let asked = sqs.get_queue_attributes().queue_url(url);
            let answer = asked
                .set_attribute_names(Some(COUNTS.to_vec()))
                .send()
                .await?;
            let counts = answer
                .attributes()
                .into_iter()
                .flat_map(|counts| counts.values());
            left += counts
                .filter_map(|count| count.parse::<u64>().ok())
                .sum::<u64>();
        }
        if left == 0 {
            return Ok(());
        }
    }
    Err("the queues were not empty after 30 seconds".into())
}

/// Takes out and shows what the dead-letter queue holds; gives the reasons.
async fn dead_letters(sqs: &Client, url: &str) -> Result<Vec<String>, BoxError> {
    let mut reasons = Vec::new();
    loop {
        let received = sqs
            .receive_message()
            .queue_url(url)
            .max_number_of_messages(10);
        let received = received.wait_time_seconds(1).send().await?;
        if received.messages().is_empty() {
            return Ok(reasons);
        }
        for message in received.messages() {
            let body: Value = serde_json::from_str(message.body().unwrap_or_default())?;
            let letter = &body["dead_letter"];
            let what = body["job"].as_str().or(body["raw"].as_str()).unwrap_or("?");
            let reason = letter["reason"].as_str().unwrap_or("?");
            println!("   {reason:<12} {what}");
            println!("                {}", message.body().unwrap_or_default());
            reasons.push(reason.to_owned());
            let handle = message.receipt_handle().unwrap_or_default();
            sqs.delete_message()
                .queue_url(url)
                .receipt_handle(handle)
                .send()
                .await?;
        }
    }
}

/// Says what happened, and fails unless it is what this example promises.
fn summary(ledger: &Ledger, dead: &[String]) -> Result<(), BoxError> {
    let (created, paid) = (ledger.page("created"), ledger.page("paid"));
    let parcel = ledger.page("P-1");
    println!(
        "   {} orders created, {} paid, parcel P-1 {}",
        created.len(),
        paid.len(),
        parcel.join(", then ")
    );
    println!("   {} dead letters ({})", dead.len(), dead.join(", "));
    let promised = created.len() >= 2
        && paid.iter().any(|line| line == "1042 after 1")
        && parcel.ends_with(&["packed".to_owned(), "sent".to_owned()])
        && dead.iter().any(|reason| reason == "unknown_urn")
        && dead.iter().any(|reason| reason == "poison");
    if promised {
        Ok(())
    } else {
        Err("that is not what this example promises".into())
    }
}
