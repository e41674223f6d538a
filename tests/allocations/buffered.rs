//! What a message that was offloaded takes while it waits in a buffer: no longer its body.

use std::task::{Context, Waker};
use std::time::Duration;

use allocation_counter::measure;
use babelqueue::local::LocalSqs;
use babelqueue::payload_store::{Home, Location, PayloadStore, StoreError};
use babelqueue::{BufferedPublisher, SqsPublisher};

/// Keeps nothing in this process.
struct Elsewhere;

impl PayloadStore for Elsewhere {
    fn home(&self) -> Home {
        Home {
            bucket: "elsewhere".to_owned(),
            region: None,
            prefix: String::new(),
        }
    }

    async fn put(&self, _: &Location, _: &str) -> Result<(), StoreError> {
        Ok(())
    }

    async fn get(&self, _: &Location, _: usize) -> Result<Vec<u8>, StoreError> {
        Err(StoreError::NotFound)
    }

    async fn delete(&self, _: &Location) -> Result<(), StoreError> {
        Ok(())
    }
}

#[test]
fn a_buffer_keeps_no_body_that_is_stored() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let sqs = LocalSqs::new();
        let url = sqs.create_queue("orders");
        let publisher = SqsPublisher::builder(sqs.client(), url).offload(Elsewhere);
        let buffered = BufferedPublisher::builder(publisher.build().unwrap());
        let buffered = buffered.linger(Duration::from_secs(30)).build().unwrap();
        let data = serde_json::json!({ "text": "x".repeat(2_000_000) });
        let mut waiting = None;
        let kept = measure(|| {
            let publish = buffered.publish_json("urn:x", &data).into_future();
            let publish = waiting.insert(publish);
            let mut context = Context::from_waker(Waker::noop());
            assert!(
                publish.as_mut().poll(&mut context).is_pending(),
                "it lingers"
            );
        });
        assert!(kept.bytes_current < 1_000_000, "{kept:?}");
        // Its caller goes away, and the message goes out.
        drop(waiting);
        buffered.close().await.unwrap();
        assert_eq!(sqs.snapshot("orders").visible.len(), 1);
    });
}
