//! The page of a service on the user's own machine. Its files come from this program, and its requests are passed on to the service.

use crate::error::{Code, Error, Problem, REQUEST};
use crate::http;
use crate::id::Id;
use crate::outbound::{self, Outbound};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::{PathAndQuery, Uri};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Version, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Headers of requests that are passed on. Cookies are not: they are those of all programs on this machine.
const ASKED: [&str; 17] = [
    "accept",
    "authorization",
    "content-length",
    "content-type",
    "idempotency-key",
    "if-match",
    "if-none-match",
    "last-event-id",
    "range",
    "tus-resumable",
    "upload-checksum",
    "upload-concat",
    "upload-defer-length",
    "upload-expires",
    "upload-length",
    "upload-metadata",
    "upload-offset",
];
/// Headers of answers that are passed on. No other one reaches the browser: it could change the rules of the page, which holds keys.
const ANSWERED: [&str; 18] = [
    "accept-ranges",
    "allow",
    "content-length",
    "content-range",
    "content-type",
    "etag",
    "location",
    "retry-after",
    "tus-checksum-algorithm",
    "tus-extension",
    "tus-max-size",
    "tus-resumable",
    "tus-version",
    "upload-expires",
    "upload-length",
    "upload-metadata",
    "upload-offset",
    "x-request-id",
];
/// An answer of the service that a browser shows runs no script, and belongs to no origin.
const POLICY: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'");

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
    client: Outbound,
    address: String,
}

impl WebPage {
    /// Listens on an address of this machine. `service` is the address of the service, such as `https://fhe.example.org`.
    ///
    /// # Errors
    /// [`Error::Listen`]; from the operating system's list of authorities.
    pub fn start(wanted: SocketAddr, service: &str) -> Result<Self, Error> {
        let system = |error: std::io::Error| Error::System(format!("a thread cannot be started: {error}"));
        let client = outbound::client(service)?;
        let service = Arc::new(Service { client, address: service.trim_end_matches('/').to_owned() });
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(system)?;
        let unheard = |source| Error::Listen { address: wanted, source };
        let listener = runtime.block_on(tokio::net::TcpListener::bind(wanted)).map_err(unheard)?;
        let address = listener.local_addr().map_err(unheard)?;
        let router = http::page_routes(Router::new())
            .route("/v1/{*path}", any(pass_on))
            // Reports are pages of the service, so they are shown at its own origin.
            .route("/reports/", get(reports))
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
        match http::check_host(&[], &request) {
            Ok(()) => next.run(request).await,
            Err(refused) if refused.code == Code::UnknownHost => Problem::new(
                Code::UnknownHost,
                "the page is not served under this name",
                "open it at the address that `solinas web` printed",
            )
            .into_response(),
            Err(refused) => refused.into_response(),
        }
    };
    let mut response = REQUEST.scope(Id::new().to_string(), answer).await;
    http::safe_headers(response.headers_mut());
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
            head.headers = only(&head.headers, &ASKED);
            service.client.request(Request::from_parts(head, body)).await.map_err(|error| outbound::cause(&error))
        }
        Err(error) => Err(error.to_string()),
    };
    match sent {
        Ok(answer) => {
            let (mut head, body) = answer.into_parts();
            head.headers = only(&head.headers, &ANSWERED);
            head.headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
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

/// The headers of these names.
fn only(headers: &HeaderMap, names: &[&'static str]) -> HeaderMap {
    let named = |name: &&'static str| Some((HeaderName::from_static(name), headers.get(*name)?.clone()));
    names.iter().filter_map(named).collect()
}

/// Leads to the reports of the service.
async fn reports(State(service): State<Arc<Service>>) -> Redirect {
    Redirect::temporary(&format!("{}/reports/", service.address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_change_the_rules_of_the_page_are_not_passed_on() {
        let all = [
            "connection",
            "cookie",
            "set-cookie",
            "clear-site-data",
            "content-security-policy",
            "service-worker-allowed",
            "access-control-allow-origin",
            "refresh",
            "transfer-encoding",
            "host",
            "authorization",
            "content-type",
            "etag",
        ];
        let headers: HeaderMap =
            all.into_iter().map(|name| (HeaderName::from_static(name), HeaderValue::from_static("x"))).collect();
        let names = |headers: &HeaderMap| {
            let mut names: Vec<_> = headers.keys().map(|name| name.as_str().to_owned()).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(names(&only(&headers, &ASKED)), ["authorization", "content-type"]);
        assert_eq!(names(&only(&headers, &ANSWERED)), ["content-type", "etag"]);
    }
}
