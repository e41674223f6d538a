//! The loopback transport: an HTTP/1.1 server for clients in other processes and
//! languages. It binds only where it is told.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::Interest;
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::engine::error::Kind;
use super::protocol::operation::Operation;
use super::service::{Answer, Broken, CONTENT_TYPE, Request, Service, no_json_protocol, refusal};
use crate::fields;

/// The longest request that is read: a batch of 1 MiB whose every character is escaped.
const MAX_REQUEST: usize = 16 << 20;
/// How much of a request that is too long is read for its client's sake.
const MAX_THROWN_AWAY: usize = 256 << 20;
/// How long requests that are being answered may go on after a shutdown began.
const GRACE: Duration = Duration::from_millis(500);

/// A running server, from [`LocalSqs::serve`](super::LocalSqs::serve).
///
/// Dropping it stops the server at once; [`shutdown`](Self::shutdown) lets requests end.
#[derive(Debug)]
pub struct LocalServer {
    addr: SocketAddr,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl LocalServer {
    pub(crate) async fn start(service: Arc<Service>, addr: impl ToSocketAddrs) -> io::Result<Self> {
        let listener = TcpListener::bind(addr).await?;
        let addr = listener.local_addr()?;
        let (stop, stopped) = watch::channel(false);
        let accepting = tokio::spawn(accept(listener, service, stopped));
        Ok(Self {
            addr,
            stop,
            accepting,
        })
    }

    /// The address that the server listens on; the port is the real one when 0 was asked for.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The endpoint URL for clients, such as `http://127.0.0.1:9324`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Stops the server: nothing new is accepted, requests being answered get half a second
    /// (a long poll is cut off after it), and the port is free when this returns.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        // An error here is a panic of the accept loop; there is nothing left to stop then.
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        // Ends the connections too: they live in the accept loop's set.
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, service: Arc<Service>, mut stopped: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, Arc::clone(&service), stopped.clone()));
                }
                Err(error) => {
                    // Most often too many open files: wait for some to close.
                    tracing::warn!({ fields::ERROR } = %error, "the embedded SQS could not accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
            Some(_) = connections.join_next() => {}
            _ = stopped.changed() => break,
        }
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, all).await;
    connections.shutdown().await;
}

async fn serve(stream: TcpStream, service: Arc<Service>, mut stopped: watch::Receiver<bool>) {
    // Answers are small, and a client waits for each.
    let _ = stream.set_nodelay(true);
    let (stream, twin) = match with_twin(stream) {
        Ok((stream, twin)) => (stream, Arc::new(twin)),
        Err(error) => {
            tracing::warn!({ fields::ERROR } = %error, "the embedded SQS could not serve a connection");
            return;
        }
    };
    let handler = service_fn(move |request| {
        let (service, twin) = (Arc::clone(&service), Arc::clone(&twin));
        // An error closes the connection without an answer, which is what a planned fault wants.
        async move { respond(&service, &twin, request).await }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .half_close(true)
        .serve_connection(TokioIo::new(stream), handler);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!({ fields::ERROR } = %error, "a connection to the embedded SQS ended with an error");
    }
}

/// A second handle on a connection, to see it close while requests that have come in already
/// keep hyper from reading on.
fn with_twin(stream: TcpStream) -> io::Result<(TcpStream, TcpStream)> {
    let stream = stream.into_std()?;
    let twin = stream.try_clone()?;
    Ok((TcpStream::from_std(stream)?, TcpStream::from_std(twin)?))
}

/// Waits until the client will say no more, whether or not all it has said is read.
async fn client_gone(twin: &TcpStream) {
    while let Ok(ready) = twin.ready(Interest::READABLE).await
        && !ready.is_read_closed()
    {
        // Asks to be told of the next event, without reading what there is.
        let _ = twin.try_io(Interest::READABLE, || {
            Err::<(), _>(io::ErrorKind::WouldBlock.into())
        });
    }
}

async fn respond(
    service: &Arc<Service>,
    twin: &TcpStream,
    request: http::Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Broken> {
    match answer(service, twin, request).await {
        Ok(answer) => Ok(response(answer, &service.request_id())),
        Err(Broken::Hanging) => {
            client_gone(twin).await;
            Err(Broken::Gone)
        }
        Err(Broken::Reset) => {
            // Without this the end of a connection is a farewell, and no reset. When it cannot
            // be set, the client has gone already.
            let _ = twin.set_zero_linger();
            Err(Broken::Reset)
        }
        Err(broken) => Err(broken),
    }
}

async fn answer(
    service: &Arc<Service>,
    twin: &TcpStream,
    request: http::Request<Incoming>,
) -> Result<Answer, Broken> {
    let (head, body) = request.into_parts();
    if head.method != Method::POST {
        let error = no_json_protocol("its method is not POST");
        return Ok(Answer {
            status: 405,
            ..refusal(&error)
        });
    }
    let body = match read(body).await {
        Ok(body) => body,
        Err(answer) => return Ok(answer),
    };
    let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
    let base = match text("host") {
        Some(host) => format!("http://{host}"),
        None => service.endpoint.clone(),
    };
    let target = text("x-amz-target");
    let answer = service.answer(Request {
        target,
        content_type: text("content-type"),
        trace_header: text("x-amzn-trace-id"),
        body: &body,
        base: &base,
    });
    if target.and_then(Operation::of_target) != Some(Operation::ReceiveMessage) {
        // Whoever has said all that they will say may still listen.
        return answer.await;
    }
    tokio::select! {
        biased;
        answer = answer => answer,
        // Most likely nobody is there to read it: a receive that waits must take no message.
        () = client_gone(twin) => Err(Broken::Gone),
    }
}

/// The body of a request, or the answer to one that cannot be read.
async fn read(mut body: Incoming) -> Result<Bytes, Answer> {
    let error = match Limited::new(&mut body, MAX_REQUEST).collect().await {
        Ok(body) => return Ok(body.to_bytes()),
        Err(error) => error,
    };
    if !error.is::<LengthLimitError>() {
        let error = Kind::Serialization.error(format!(
            "The body of the request broke off or is not what its headers say: {error}"
        ));
        return Err(refusal(&error));
    }
    // A client that is still sending would miss the answer: the rest is read and thrown away.
    let mut rest = Limited::new(body, MAX_THROWN_AWAY);
    while let Some(Ok(_)) = rest.frame().await {}
    let error =
        Kind::RequestTooLarge.error(format!("The request is longer than {MAX_REQUEST} bytes."));
    Err(refusal(&error))
}

fn response(answer: Answer, request_id: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(answer.body)));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert("x-amzn-requestid", id);
    }
    if let Some(Ok(error)) = answer.query_error.map(HeaderValue::try_from) {
        headers.insert("x-amzn-query-error", error);
    }
    response
}
