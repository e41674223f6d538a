//! C-026: no setting gets lost on its way from the builder to what runs. Structs are taken apart
//! without `..`, so that a field that is added must be carried over here too.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use super::*;
use crate::BoxError;
use crate::aws::Settings;
use crate::local::LocalSqs;
use crate::pipeline::foreign::{Decoded, Foreign};
use crate::pipeline::middleware::Work;
use crate::pipeline::{Handling, Next, Pipeline};
use crate::policy::{Backoff, DeadLetterQueue, Rules, UnknownUrn};
use crate::sqs::SqsConsumer;

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[derive(Clone)]
struct Passing(Next);

impl tower_service::Service<Work> for Passing {
    type Response = crate::middleware::Outcomes;
    type Error = BoxError;
    type Future = crate::BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(
        &mut self,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, work: Work) -> Self::Future {
        self.0.call(work)
    }
}

fn not_mine(_: &Foreign<'_>) -> Result<Decoded, BoxError> {
    Ok(Decoded::NotMine)
}

#[tokio::test]
async fn c_026_no_setting_is_lost_when_a_configuration_is_copied() {
    let sqs = LocalSqs::new();
    let first = SqsConsumer::builder(
        sqs.client(),
        sqs.create_queue("first"),
        crate::Router::from_handlers![],
    )
    .concurrency(3)
    .max_in_flight(7)
    .max_in_flight_bytes(9_000)
    .batch_size(2)
    .handler_batch(5, secs(9))
    .wait_time(secs(4))
    .visibility_timeout(secs(55))
    .heartbeat(false)
    .max_handling_time(secs(66))
    .handler_timeout(secs(6))
    .shutdown_timeout(secs(8))
    .shutdown_linger(secs(1))
    .startup_checks(false)
    .retry(Backoff::fixed(secs(12)))
    .release_delay(|_| secs(13))
    .max_attempts(14)
    .dead_letter_queue(DeadLetterQueue::with_suffix("-dead"))
    .max_message_bytes(15_000)
    .unknown_urn(UnknownUrn::DeadLetter)
    .on_unknown_urn(async |_| Ok::<_, BoxError>(()))
    .on_error(|_| {})
    .redact(|_| "redacted".to_owned())
    .layer(tower_layer::layer_fn(Passing))
    .decoder(not_mine)
    .lenient()
    .retry_payload_errors()
    .lang("rust-x");
    #[cfg(feature = "idempotency")]
    let first = first.idempotency(crate::idempotency::MemoryStore::new());
    #[cfg(feature = "payload-store")]
    let first =
        first.payload_store(
            crate::payload_store::Retrieval::from_store(
                crate::payload_store::MemoryPayloadStore::new(),
            )
            .max_bytes(16_000)
            .timeout(secs(17))
            .concurrency(18)
            .delete_when_handled(true),
        );
    #[cfg(feature = "schema")]
    let first = first
        .validate_payloads(crate::schema::SchemaMap::default())
        .permanent_schema_errors();
    #[cfg(feature = "otel")]
    let first = first.telemetry(crate::telemetry::Telemetry::builder().build());

    // Copied, for another queue, with a state put in last.
    let copy = first
        .clone()
        .queue_url(sqs.create_queue("second"))
        .state(());
    drop(first);
    let consumer = copy.build().expect("it can be built");
    let shared = consumer.into_shared();
    let Config {
        queue_url,
        fifo,
        dead_letter_url,
        concurrency,
        max_in_flight,
        max_in_flight_bytes,
        batch_size,
        handler_batch,
        handler_linger,
        takes_batches,
        wait_seconds,
        visibility_seconds,
        heartbeat,
        max_handling_time,
        shutdown_timeout,
        shutdown_linger,
        startup_checks,
        ends_failures,
        max_attempts,
        retries_at_once,
    } = shared.config.clone();
    assert_eq!(queue_url, sqs.queue_url("second"));
    assert_eq!(dead_letter_url, Some(sqs.queue_url("second-dead")));
    assert_eq!((concurrency, max_in_flight), (3, 7));
    assert_eq!((max_in_flight_bytes, batch_size), (Some(9_000), 2));
    assert_eq!((handler_batch, handler_linger), (5, secs(9)));
    assert!(!takes_batches, "the router has none");
    assert_eq!((wait_seconds, visibility_seconds), (4, Some(55)));
    assert_eq!((heartbeat, startup_checks, fifo), (false, false, false));
    assert_eq!(max_handling_time, secs(66));
    assert_eq!((shutdown_timeout, shutdown_linger), (secs(8), secs(1)));
    assert_eq!((ends_failures, retries_at_once), (true, false));
    assert_eq!(max_attempts, Some(14));

    let Pipeline {
        queue,
        handling,
        middleware,
        decoders,
        #[cfg(feature = "payload-store")]
        payloads,
        rules,
        backoff,
        release_delay,
        dead_letters,
        lenient,
        lang,
        #[cfg(feature = "idempotency")]
        guard,
        unknown_hook,
        reporter,
        observer,
        clock: _,
    } = &*shared.pipeline;
    assert_eq!(&**queue, "second");
    assert!(middleware.is_some());
    assert_eq!(decoders.len(), 1);
    let Rules {
        unknown_urn,
        dead_letter_queue,
        max_attempts,
        retry_payload_errors,
    } = *rules;
    assert_eq!(unknown_urn, Some(UnknownUrn::DeadLetter));
    assert_eq!((dead_letter_queue, max_attempts), (true, Some(14)));
    assert!(retry_payload_errors && *lenient);
    assert_eq!(*backoff, Backoff::fixed(secs(12)));
    assert_eq!(release_delay.as_ref().map(|delay| delay(1)), Some(secs(13)));
    let target = dead_letters.as_ref().expect("configured");
    assert_eq!(target.max_bytes.load(Ordering::Relaxed), 15_000);
    assert_eq!(*lang, Cow::Borrowed("rust-x"));
    let secret = std::io::Error::other("x");
    assert_eq!(reporter.text(&secret).as_deref(), Some("redacted"));
    assert!(unknown_hook.is_some() && reporter.has_hook());
    #[cfg(feature = "idempotency")]
    assert!(guard.is_some());
    let on = cfg!(feature = "otel");
    assert_eq!(format!("{observer:?}").contains("true"), on);
    #[cfg(feature = "payload-store")]
    {
        let payloads = format!("{payloads:?}");
        for field in [
            "max_bytes: 16000",
            "timeout: 17s",
            "concurrency: 18",
            "permits: 18",
            "deletes: true",
        ] {
            assert!(payloads.contains(field), "{field} in {payloads}");
        }
    }
    let Handling {
        dispatch: _,
        timeout,
        #[cfg(feature = "schema")]
        validation,
    } = &**handling;
    assert_eq!(*timeout, Some(secs(6)));
    #[cfg(feature = "schema")]
    assert!(validation.as_ref().is_some_and(|v| v.permanent));
}

/// Every option has a default that differs from the value above; this breaks when one is added.
#[test]
fn c_026_every_option_is_listed() {
    let Options {
        concurrency: _,
        max_in_flight: _,
        max_in_flight_bytes: _,
        batch_size: _,
        handler_batch: _,
        handler_linger: _,
        wait_time: _,
        visibility_timeout: _,
        heartbeat: _,
        max_handling_time: _,
        shutdown_timeout: _,
        shutdown_linger: _,
        startup_checks: _,
        settings,
    } = Options::default();
    let Settings {
        handler_timeout: _,
        backoff: _,
        release_delay: _,
        max_attempts: _,
        dead_letter_queue: _,
        max_message_bytes: _,
        unknown_urn: _,
        unknown_hook: _,
        error_hook: _,
        redact: _,
        layers: _,
        decoders: _,
        #[cfg(feature = "idempotency")]
            guard: _,
        #[cfg(feature = "schema")]
            schemas: _,
        #[cfg(feature = "schema")]
            permanent_schema_errors: _,
        #[cfg(feature = "payload-store")]
            retrieval: _,
        lenient: _,
        retry_payload_errors: _,
        lang: _,
        telemetry: _,
    } = settings;
}

/// Every message in flight has one of these futures, so that its room counts.
#[tokio::test]
async fn the_future_of_a_message_is_small() {
    let sqs = LocalSqs::new();
    let url = sqs.create_queue("orders");
    let consumer = SqsConsumer::builder(sqs.client(), url, crate::Router::from_handlers![])
        .build()
        .expect("it can be built");
    let pipeline = Arc::clone(&consumer.into_shared().pipeline);
    let bytes = size_of_val(&pipeline.process(Box::<crate::pipeline::Record>::default()));
    assert!(bytes <= 576, "{bytes} bytes");
}
