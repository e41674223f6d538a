//! S3, by its SDK.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_s3::Client;
use aws_sdk_s3::config::Region;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::get_object::GetObjectError;
use aws_sdk_s3::primitives::ByteStream;

use super::store::{Home, Location, PayloadStore, StoreError};

/// Keeps large bodies in a bucket of S3, or of anything that speaks its protocol: endpoint, path
/// style, credentials and retries are the client's. Cheap to clone.
///
/// Publishing needs `s3:PutObject`, consuming `s3:GetObject`, deleting `s3:DeleteObject`. Without
/// `s3:ListBucket` S3 says of a missing object that access is denied, and its message is retried.
///
/// ```no_run
/// # fn both(sqs: aws_sdk_sqs::Client, s3: aws_sdk_s3::Client) -> Result<(), babelqueue::Error> {
/// use babelqueue::payload_store::S3PayloadStore;
/// use babelqueue::prelude::*;
///
/// # let router = Router::from_handlers![];
/// # let url = "https://sqs.eu-west-1.amazonaws.com/1234/orders";
/// let store = S3PayloadStore::new(s3, "acme-payloads").prefix("orders/");
/// let publisher = SqsPublisher::builder(sqs.clone(), url).offload(store.clone()).build()?;
/// let consumer = SqsConsumer::builder(sqs, url, router).payload_store(store).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct S3PayloadStore {
    client: Client,
    bucket: String,
    prefix: String,
    owner: Option<String>,
    /// Clients for the regions that pointers name.
    regions: Arc<Mutex<HashMap<String, Client>>>,
}

/// More regions than there are: a message must not fill the memory.
const MOST_REGIONS: usize = 64;

impl S3PayloadStore {
    /// Writes to this bucket, in the client's region.
    pub fn new(client: Client, bucket: impl Into<String>) -> Self {
        Self {
            client,
            bucket: bucket.into(),
            prefix: "babelqueue/".to_owned(),
            owner: None,
            regions: Arc::default(),
        }
    }

    /// What the keys begin with: `babelqueue/` unless set.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// The account that owns the bucket: S3 refuses every call if it is another one's.
    #[must_use]
    pub fn expected_bucket_owner(mut self, account: impl Into<String>) -> Self {
        self.owner = Some(account.into());
        self
    }

    /// The client for the region that a pointer names.
    fn client_of(&self, location: &Location) -> Client {
        let own = self.client.config().region();
        let Some(region) = location
            .region
            .as_deref()
            .filter(|region| own.is_none_or(|own| own.as_ref() != *region))
        else {
            return self.client.clone();
        };
        let mut regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = regions.get(region) {
            return client.clone();
        }
        let config = self.client.config().to_builder();
        let client = Client::from_conf(config.region(Region::new(region.to_owned())).build());
        if regions.len() < MOST_REGIONS {
            regions.insert(region.to_owned(), client.clone());
        }
        client
    }
}

impl PayloadStore for S3PayloadStore {
    fn home(&self) -> Home {
        let region = self.client.config().region();
        Home {
            bucket: self.bucket.clone(),
            region: region.map(ToString::to_string),
            prefix: self.prefix.clone(),
        }
    }

    async fn put(&self, to: &Location, payload: &str) -> Result<(), StoreError> {
        let call = self
            .client_of(to)
            .put_object()
            .bucket(&to.bucket)
            .key(&to.key)
            .set_expected_bucket_owner(self.owner.clone())
            .content_type("application/json")
            .body(ByteStream::from(payload.as_bytes().to_vec()))
            .send();
        Box::pin(call).await.map_err(StoreError::failed)?;
        Ok(())
    }

    async fn get(&self, from: &Location, max_bytes: usize) -> Result<Vec<u8>, StoreError> {
        let call = self
            .client_of(from)
            .get_object()
            .bucket(&from.bucket)
            .key(&from.key)
            .set_expected_bucket_owner(self.owner.clone())
            .send();
        let mut object = Box::pin(call).await.map_err(of_get)?;
        let declared = object.content_length().and_then(|n| u64::try_from(n).ok());
        let too_large = |actual| StoreError::TooLarge {
            actual,
            allowed: max_bytes,
        };
        if declared.is_some_and(|bytes| bytes > max_bytes as u64) {
            return Err(too_large(declared));
        }
        let mut content = Vec::with_capacity(declared.map_or(0, |bytes| bytes as usize));
        while let Some(chunk) = object.body.try_next().await.map_err(StoreError::failed)? {
            // The length that was declared need not be true.
            if content.len() + chunk.len() > max_bytes {
                return Err(too_large(None));
            }
            content.extend_from_slice(&chunk);
        }
        Ok(content)
    }

    async fn delete(&self, location: &Location) -> Result<(), StoreError> {
        let call = self
            .client_of(location)
            .delete_object()
            .bucket(&location.bucket)
            .key(&location.key)
            .set_expected_bucket_owner(self.owner.clone())
            .send();
        Box::pin(call).await.map_err(StoreError::failed)?;
        Ok(())
    }
}

/// Only a missing key is surely missing: a missing bucket is a mistake that can be put right.
fn of_get(error: SdkError<GetObjectError>) -> StoreError {
    match error.code() {
        Some("NoSuchKey" | "NoSuchVersion") => StoreError::NotFound,
        _ => StoreError::failed(error),
    }
}
