//! Whether a queue URL belongs to the endpoint that a client calls. The SDK sends every call to
//! the client's endpoint, whatever host the queue URL names, so that a mismatch would surface as
//! "queue does not exist" somewhere else, or worse, as another queue of the same name.

use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::http::HttpRequest;
use aws_sdk_sqs::config::retry::RetryConfig;
use aws_sdk_sqs::config::timeout::TimeoutConfig;
use aws_sdk_sqs::config::{
    Credentials, IdentityCache, RuntimeComponents, StalledStreamProtectionConfig,
};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::result::ConnectorError;
use futures_util::FutureExt as _;

use super::calls;
use crate::fields;

/// A queue URL that does not go with the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Not a URL with a host and the path of a queue.
    #[error(
        "`{url}` is not a queue URL: give one such as \
         `https://sqs.eu-west-1.amazonaws.com/123456789012/orders`"
    )]
    NotAUrl {
        /// What was given.
        url: String,
    },
    /// The client calls another host.
    #[error(
        "the queue URL names the host `{queue_host}` and the client calls `{client_host}`: give \
         the client the queue's region, or set its endpoint (`endpoint_url`) explicitly"
    )]
    OtherHost {
        /// Host of the queue URL, with the port if it names one.
        queue_host: String,
        /// Host that the client calls.
        client_host: String,
    },
}

/// Refuses a queue URL of another host than the client's own endpoint. An endpoint that was set
/// explicitly wins: behind a proxy, a VPC endpoint or an emulator the hosts may well differ.
pub(crate) fn check(client: &Client, queue_url: &str) -> Result<(), EndpointError> {
    let not_a_url = || EndpointError::NotAUrl {
        url: queue_url.to_owned(),
    };
    let queue_host = host_of(queue_url).ok_or_else(not_a_url)?;
    let Some(client_host) = client_host(client) else {
        // The client cannot say without waiting, such as one with a resolver of its own.
        tracing::debug!(
            { fields::QUEUE_URL } = queue_url,
            "the endpoint of the client could not be checked"
        );
        return Ok(());
    };
    let region = client
        .config()
        .region()
        .map_or("", |region| region.as_ref());
    if hosts_agree(queue_host, &client_host, region) {
        return Ok(());
    }
    Err(EndpointError::OtherHost {
        queue_host: queue_host.to_owned(),
        client_host,
    })
}

/// Host and port of an `http` or `https` URL that has a path.
fn host_of(url: &str) -> Option<&str> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))?;
    let (host, path) = rest.split_once('/')?;
    (!host.is_empty() && !path.trim_matches('/').is_empty()).then_some(host)
}

fn hosts_agree(queue: &str, client: &str, region: &str) -> bool {
    if queue.eq_ignore_ascii_case(client) {
        return true;
    }
    // What the SDK resolves by itself looks like this; anything else was set explicitly.
    let own = |prefix: &str| {
        let rest = client
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_prefix(region));
        !region.is_empty() && rest.is_some_and(|rest| rest.starts_with('.'))
    };
    if !own("sqs.") && !own("sqs-fips.") {
        return true;
    }
    // Other names of the same endpoint, which queue URLs of old clients and other settings have.
    let aliases = [
        format!("sqs.{region}.amazonaws.com"),
        format!("sqs-fips.{region}.amazonaws.com"),
        format!("sqs.{region}.api.aws"),
        format!("sqs-fips.{region}.api.aws"),
        format!("{region}.queue.amazonaws.com"),
    ];
    aliases
        .iter()
        .any(|alias| queue.eq_ignore_ascii_case(alias))
        || (region == "us-east-1" && queue.eq_ignore_ascii_case("queue.amazonaws.com"))
}

/// The host that the client calls, learnt by letting it make one request that goes nowhere. All
/// that could wait is replaced, so that the request is made at once or not at all.
fn client_host(client: &Client) -> Option<String> {
    let (probe, client) = Probe::of(client);
    let _ = calls::probe(&client).now_or_never();
    let url = probe.url()?;
    host_of(&format!("{}/x", url.trim_end_matches('/'))).map(str::to_owned)
}

/// The endpoint that the client calls, as its own resolver has it: for any region and partition,
/// and with what was set explicitly.
#[cfg(feature = "lambda")]
pub(crate) async fn url_of(client: &Client) -> Option<String> {
    let (probe, client) = Probe::of(client);
    calls::probe(&client).await;
    probe.url()
}

impl Probe {
    /// The client with everything replaced that could wait or be seen.
    fn of(client: &Client) -> (Self, Client) {
        let probe = Self::default();
        let mut config = client
            .config()
            .to_builder()
            .http_client(probe.clone())
            .credentials_provider(Credentials::new("probe", "probe", None, None, "probe"))
            .identity_cache(IdentityCache::no_cache())
            .retry_config(RetryConfig::disabled())
            .timeout_config(TimeoutConfig::disabled())
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
        config.set_interceptors([]);
        (probe, Client::from_conf(config.build()))
    }

    fn url(&self) -> Option<String> {
        let mut uri = self.uri.lock().unwrap_or_else(PoisonError::into_inner);
        uri.take()
    }
}

/// An HTTP client that notes where a request would have gone.
#[derive(Clone, Debug, Default)]
struct Probe {
    uri: Arc<Mutex<Option<String>>>,
}

impl HttpConnector for Probe {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        *self.uri.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.uri().to_owned());
        HttpConnectorFuture::ready(Err(ConnectorError::user("only a probe".into())))
    }
}

impl HttpClient for Probe {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_sqs::config::Region;

    use super::*;

    fn client(region: &'static str, endpoint: Option<&str>) -> Client {
        let config = aws_sdk_sqs::Config::builder()
            .behavior_version_latest()
            .region(Region::new(region));
        Client::from_conf(match endpoint {
            Some(endpoint) => config.endpoint_url(endpoint).build(),
            None => config.build(),
        })
    }

    #[test]
    fn c_096_queue_url_and_endpoint_disagree() {
        let ok = |region, endpoint, url| check(&client(region, endpoint), url);
        let aws = "https://sqs.eu-west-1.amazonaws.com/1234/orders";
        assert_eq!(ok("eu-west-1", None, aws), Ok(()));
        assert_eq!(
            ok(
                "eu-west-1",
                None,
                "https://eu-west-1.queue.amazonaws.com/1/q"
            ),
            Ok(())
        );
        assert_eq!(
            ok("us-east-1", None, "https://queue.amazonaws.com/1/q"),
            Ok(())
        );
        assert_eq!(
            ok(
                "cn-north-1",
                None,
                "https://sqs.cn-north-1.amazonaws.com.cn/1/q"
            ),
            Ok(())
        );
        // An explicit endpoint wins.
        assert_eq!(
            ok(
                "eu-west-1",
                Some("http://sqs:4566"),
                "http://localhost:4566/0/q"
            ),
            Ok(())
        );
        assert_eq!(ok("eu-west-1", Some("http://sqs:4566"), aws), Ok(()));
        // Without one, another host or region is refused.
        for url in [
            "http://queue-host:9324/0/q",
            "https://sqs.us-east-1.amazonaws.com/1/q",
        ] {
            let error = ok("eu-west-1", None, url).expect_err(url);
            assert!(
                error.to_string().contains("`sqs.eu-west-1.amazonaws.com`"),
                "{error}"
            );
        }
        for bad in [
            "",
            "orders",
            "https://host",
            "https://host/",
            "ftp://host/1/q",
        ] {
            let error = ok("eu-west-1", None, bad).expect_err(bad);
            assert!(matches!(error, EndpointError::NotAUrl { .. }), "{error}");
        }
    }
}
