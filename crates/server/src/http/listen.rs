//! Connections: each has a limit on the time to its headers, and there is a limit on their number.

use crate::auth::Certificate;
use crate::error::{Code, Problem, REQUEST, REQUEST_ID};
use crate::id::Id;
use crate::jobs::app::App;
use crate::tls::Tls;
use axum::Router;
use axum::http::{Request, Uri, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

/// A client that has not sent its headers after this time is cut off.
const HEADERS: Duration = Duration::from_secs(10);
/// A client that takes nothing of an answer for so long is cut off.
const WRITE: Duration = Duration::from_secs(30);
/// Bytes of the headers, and of the buffer of a connection.
const BUFFER: usize = 64 << 10;
/// Connections above the limit that get an answer. More of them are cut off.
const REFUSED: usize = 64;
/// How long requests may take to end after the service has stopped to accept others.
const GRACE: Duration = Duration::from_secs(20);

/// Serves connections until the service stops. Returns when the last request has its answer, or after a time of grace.
pub(crate) async fn listen(app: Arc<App>, listener: TcpListener, tls: Option<Arc<Tls>>, router: Router) {
    let mut connections = JoinSet::new();
    let places = [app.config.limits.connections, REFUSED].map(|places| Arc::new(Semaphore::new(places)));
    let routers = [router, Router::new().fallback(full)];
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            () = app.stopped() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // For want of file descriptors, usually.
                tracing::error!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // Small answers go out at once.
        let _ = stream.set_nodelay(true);
        let place = |(places, router): (&Arc<Semaphore>, &Router)| {
            Some((Arc::clone(places).try_acquire_owned().ok()?, router.clone()))
        };
        let Some((place, router)) = places.iter().zip(&routers).find_map(place) else { continue };
        let app = Arc::clone(&app);
        let acceptor = tls.as_ref().map(|tls| tls.acceptor());
        connections.spawn(async move {
            let begin = Instant::now();
            let is_unencrypted = acceptor.is_some() && speaks_http(&stream).await;
            let mut stream = TimeoutStream::new(stream);
            stream.set_write_timeout(Some(WRITE));
            let stream = Box::pin(stream);
            match acceptor {
                Some(_) if is_unencrypted => serve(&app, stream, Router::new().fallback(unencrypted), None).await,
                Some(acceptor) => {
                    // A client that breaks off is no fault of the service.
                    if let Ok(Ok(stream)) =
                        tokio::time::timeout(HEADERS.saturating_sub(begin.elapsed()), acceptor.accept(stream)).await
                    {
                        let certificate = Certificate::of(stream.get_ref().1);
                        serve(&app, stream, router, certificate).await;
                    }
                }
                None => serve(&app, stream, router, None).await,
            }
            drop(place);
        });
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    // Those that take longer are cut off.
    let _ = tokio::time::timeout(GRACE, all).await;
}

/// Whether a client begins as HTTP does, by a letter: it has called `http://` where the service speaks HTTPS.
async fn speaks_http(stream: &TcpStream) -> bool {
    let mut first = [0];
    let peeked = tokio::time::timeout(HEADERS, stream.peek(&mut first)).await;
    matches!(peeked, Ok(Ok(1))) && first[0].is_ascii_alphabetic()
}

/// The answer to every request on a connection above the limit.
async fn full() -> Response {
    let what = "the service has as many connections as its limit `connections` allows";
    let problem = Problem::new(Code::Busy, what, "try again; the operator of the service can allow more");
    last(problem.retry_after(1.0))
}

/// The answer to every request without encryption.
async fn unencrypted() -> Response {
    last(Problem::new(Code::BadRequest, "the service speaks HTTPS here", "begin its address with https://"))
}

/// An answer that ends the connection.
fn last(problem: Problem) -> Response {
    let id = Id::new().to_string();
    let problem = REQUEST.sync_scope(id.clone(), || problem.into_response());
    ([(REQUEST_ID, id.as_str()), (header::CONNECTION, "close")], problem).into_response()
}

/// Removes the prefix under which a proxy shows the service from the path of a request. A path without it stays.
fn strip_prefix(uri: &mut Uri, prefix: &str) {
    let Some(rest) = uri.path_and_query().and_then(|path| path.as_str().strip_prefix(prefix)) else { return };
    if prefix.is_empty() || !rest.starts_with('/') {
        return;
    }
    let mut parts = uri.clone().into_parts();
    // What follows a `/` in a path is a path.
    parts.path_and_query = rest.parse().ok();
    if let Ok(stripped) = Uri::from_parts(parts) {
        *uri = stripped;
    }
}

/// Answers the requests of a connection, to which it adds the client's certificate.
async fn serve(
    app: &App,
    stream: impl AsyncRead + AsyncWrite + Unpin,
    router: Router,
    certificate: Option<Certificate>,
) {
    let prefix = app.config.path_prefix.clone();
    let router = router.map_request(move |mut request: Request<Incoming>| {
        strip_prefix(request.uri_mut(), &prefix);
        if let Some(certificate) = &certificate {
            request.extensions_mut().insert(certificate.clone());
        }
        request
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(BUFFER);
    let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // A client that breaks off is no fault of the service.
        _ = connection.as_mut() => {}
        () = app.stopped() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_removed_from_whole_parts_of_a_path() {
        let cases = [
            ("/fhe/v1/jobs?limit=1", "/fhe", "/v1/jobs?limit=1"),
            ("/fhe/", "/fhe", "/"),
            ("/fhe", "/fhe", "/fhe"),
            ("/fhe2/v1/jobs", "/fhe", "/fhe2/v1/jobs"),
            ("/v1/jobs", "/fhe", "/v1/jobs"),
            ("/v1/fhe/jobs", "/fhe", "/v1/fhe/jobs"),
            ("/a/b/v1/x%2Fy", "/a/b", "/v1/x%2Fy"),
            ("/v1/jobs", "", "/v1/jobs"),
            ("*", "/fhe", "*"),
        ];
        for (path, prefix, stripped) in cases {
            let mut uri: Uri = path.parse().unwrap();
            strip_prefix(&mut uri, prefix);
            assert_eq!(uri.to_string(), stripped, "{path} without {prefix}");
        }
        let mut absolute: Uri = "http://a.example/fhe/v1/jobs".parse().unwrap();
        strip_prefix(&mut absolute, "/fhe");
        assert_eq!(absolute.to_string(), "http://a.example/v1/jobs");
    }
}
