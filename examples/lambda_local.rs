//! Runs a function's handlers on a recorded event, without Lambda and without AWS:
//!
//! ```text
//! cargo run --features lambda --example lambda_local -- tests/lambda/events/standard.json
//! ```
//!
//! What is logged carries the message's id in front, what is printed is the answer that Lambda
//! would get.

use std::fmt;

use babelqueue::lambda::{Event, Invocation};
use babelqueue::prelude::*;
use babelqueue::{BoxError, LambdaConsumer};
use serde::{Deserialize, Serialize};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

#[derive(Debug, Serialize, Deserialize, BabelMessage)]
#[urn = "urn:babel:orders:created"]
struct OrderCreated {
    order_id: u64,
}

#[babel_handler]
async fn order_created(order: OrderCreated) {
    tracing::info!(order_id = order.order_id, "created");
}

/// `[<messageId>] LEVEL text`.
struct Lines;

impl<S, N> FormatEvent<S, N> for Lines
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        ctx: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &tracing::Event<'_>,
    ) -> fmt::Result {
        let spans = ctx.event_scope().into_iter().flatten();
        let message_id = spans
            .filter_map(|span| {
                let extensions = span.extensions();
                let fields = extensions.get::<FormattedFields<N>>()?;
                let (_, after) = fields.fields.split_once("message_id=\"")?;
                Some(after.split('"').next()?.to_owned())
            })
            .next();
        if let Some(message_id) = message_id {
            write!(writer, "[{message_id}] ")?;
        }
        write!(writer, "{} ", event.metadata().level())?;
        ctx.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt()
        .event_format(Lines)
        .with_writer(std::io::stderr)
        .init();
    let path = std::env::args().nth(1);
    let path = path.ok_or("give the path of a recorded event: lambda_local event.json")?;
    let event: Event = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
    let consumer = LambdaConsumer::builder(Router::from_handlers![order_created]).build()?;
    let invocation = Invocation::new("local", Some(std::time::Duration::from_secs(30)));
    let answer = consumer.invoke(event, invocation).await;
    #[allow(clippy::print_stdout)] // The answer is what the example is for.
    {
        println!("{}", serde_json::to_string(&answer)?);
    }
    Ok(())
}
