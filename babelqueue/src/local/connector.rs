//! The in-process transport: an HTTP client for the AWS SDK whose requests never
//! leave the process. It keeps the read timeout, as a real one would.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use http_body_util::BodyExt;

use super::service::{Answer, Broken, CONTENT_TYPE, Request, Service};

/// Hands requests of the AWS SDK to a service of this process.
#[derive(Clone, Debug)]
pub(crate) struct InProcess {
    service: Arc<Service>,
    read_timeout: Option<Duration>,
}

impl InProcess {
    pub(crate) fn new(service: Arc<Service>) -> Self {
        Self {
            service,
            read_timeout: None,
        }
    }
}

impl HttpClient for InProcess {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        _components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(Self {
            service: Arc::clone(&self.service),
            read_timeout: settings.read_timeout(),
        })
    }
}

impl HttpConnector for InProcess {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let service = Arc::clone(&self.service);
        let read_timeout = self.read_timeout;
        HttpConnectorFuture::new(async move {
            let answer = call(&service, request);
            match read_timeout {
                None => answer.await,
                Some(limit) => tokio::time::timeout(limit, answer)
                    .await
                    .unwrap_or_else(|late| Err(ConnectorError::timeout(late.into()))),
            }
        })
    }
}

async fn call(service: &Service, mut request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
    let body = request.take_body();
    let collected;
    let bytes = match body.bytes() {
        Some(bytes) => bytes,
        None => {
            let body = body.collect().await.map_err(ConnectorError::user)?;
            collected = body.to_bytes();
            &collected
        }
    };
    let headers = request.headers();
    let answer = service
        .answer(Request {
            target: headers.get("x-amz-target"),
            content_type: headers.get("content-type"),
            trace_header: headers.get("x-amzn-trace-id"),
            body: bytes,
            base: &service.endpoint,
        })
        .await
        .map_err(broken)?;
    response(answer, service.request_id())
}

/// The error that a real connection would give.
fn broken(broken: Broken) -> ConnectorError {
    let kind = match broken {
        Broken::Closed | Broken::Gone => io::ErrorKind::UnexpectedEof,
        Broken::Reset => io::ErrorKind::ConnectionReset,
    };
    ConnectorError::io(io::Error::new(kind, broken).into())
}

fn response(answer: Answer, request_id: String) -> Result<HttpResponse, ConnectorError> {
    let status = StatusCode::try_from(answer.status)
        .map_err(|error| ConnectorError::other(error.into(), None))?;
    let mut response = HttpResponse::new(status, SdkBody::from(answer.body));
    let headers = response.headers_mut();
    headers.insert("content-type", CONTENT_TYPE);
    headers.insert("x-amzn-requestid", request_id);
    if let Some(error) = answer.query_error {
        headers.insert("x-amzn-query-error", error);
    }
    Ok(response)
}
