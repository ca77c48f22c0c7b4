//! The page of a service on the user's own machine. Its files come from this program, and its requests are passed on to the service.

use crate::api;
use crate::error::{Code, Error, Problem, REQUEST};
use crate::id::Id;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::{PathAndQuery, Uri};
use axum::http::{HeaderMap, HeaderName, Version, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Headers of one connection, which no proxy passes on. The name of the host is that of the page.
const OF_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    header::HOST,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
];
/// How long the connection to the service may take.
const CONNECT: Duration = Duration::from_secs(10);

/// A running page.
pub struct WebPage {
    address: SocketAddr,
    runtime: Runtime,
}

impl std::fmt::Debug for WebPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebPage").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The service to which requests are passed on.
struct Service {
    client: Client<HttpsConnector<HttpConnector>, Body>,
    address: String,
}

impl WebPage {
    /// Listens on an address of this machine. `service` is the address of the service, such as `https://fhe.example.org`.
    ///
    /// # Errors
    /// [`Error::Listen`]; from the operating system's list of authorities.
    pub fn start(wanted: SocketAddr, service: &str) -> Result<Self, Error> {
        let system = |error: std::io::Error| Error::System(format!("a thread cannot be started: {error}"));
        let provider = rustls::crypto::ring::default_provider();
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(CONNECT));
        connector.set_nodelay(true);
        let authorities = HttpsConnectorBuilder::new().with_provider_and_native_roots(provider);
        let authorities = authorities.map_err(|error| Error::System(format!("no authority is known: {error}")))?;
        let connector = authorities.https_or_http().enable_http1().wrap_connector(connector);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let service = Arc::new(Service { client, address: service.trim_end_matches('/').to_owned() });
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(system)?;
        let unheard = |source| Error::Listen { address: wanted, source };
        let listener = runtime.block_on(tokio::net::TcpListener::bind(wanted)).map_err(unheard)?;
        let address = listener.local_addr().map_err(unheard)?;
        let router = api::page_routes(Router::new())
            .route("/v1/{*path}", any(pass_on))
            .route("/reports/{*path}", any(pass_on))
            .route("/reports/", any(pass_on))
            .fallback(|| async { Problem::new(Code::NotFound, "there is no such path", "the page is at /") })
            .layer(from_fn(around))
            .with_state(service);
        runtime.spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "the page is not served");
            }
        });
        Ok(Self { address, runtime })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more requests, and breaks those that are here.
    pub fn stop(self) {
        self.runtime.shutdown_timeout(Duration::from_secs(1));
    }
}

/// What surrounds every request: the check of its host, and headers for safety.
async fn around(request: Request, next: Next) -> Response {
    let answer = async {
        match api::is_known_host(&[], request.headers(), request.uri().host()) {
            true => next.run(request).await,
            false => Problem::new(
                Code::UnknownHost,
                "the page is not served under this name",
                "open it at the address that `solinas web` printed",
            )
            .into_response(),
        }
    };
    let mut response = REQUEST.scope(Id::new().to_string(), answer).await;
    api::safe_headers(response.headers_mut());
    response
}

/// Passes a request on, and its answer back. Both bodies are streams.
async fn pass_on(State(service): State<Arc<Service>>, request: Request) -> Response {
    let (mut head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let sent = match format!("{}{path}", service.address).parse::<Uri>() {
        Ok(uri) => {
            head.uri = uri;
            head.version = Version::HTTP_11;
            without_connection(&mut head.headers);
            service.client.request(Request::from_parts(head, body)).await.map_err(|error| cause(&error))
        }
        Err(error) => Err(error.to_string()),
    };
    match sent {
        Ok(answer) => {
            let (mut head, body) = answer.into_parts();
            without_connection(&mut head.headers);
            Response::from_parts(head, Body::new(body))
        }
        Err(error) => Problem::new(
            Code::Busy,
            format!("the service at {} cannot be reached: {error}", service.address),
            "see whether the service runs and whether you are online, then try again",
        )
        .retry_after(1.0)
        .into_response(),
    }
}

/// Removes the headers that hold for one connection, those that the header `Connection` names included.
fn without_connection(headers: &mut HeaderMap) {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<HeaderName> =
        named.flat_map(|names| names.split(',')).filter_map(|name| name.trim().parse().ok()).collect();
    named.iter().chain(&OF_CONNECTION).for_each(|name| {
        headers.remove(name);
    });
}

/// The innermost cause of an error, which says most.
fn cause(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).last().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn headers_of_the_connection_are_not_passed_on() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Private"),
            ("x-private", "1"),
            ("host", "127.0.0.1"),
            ("transfer-encoding", "chunked"),
            ("authorization", "Bearer t"),
            ("content-length", "3"),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        without_connection(&mut headers);
        let mut left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["authorization", "content-length"]);
    }
}
