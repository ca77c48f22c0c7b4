//! The HTTP interface, version 1.

mod authenticate;
mod blobs;
mod body;
mod checksum;
pub(crate) mod coarse;
mod etag;
mod events;
mod extract;
mod jobs;
mod keys;
pub(crate) mod listen;
mod openapi;
mod page;
mod picture;
mod programs;
mod reports;
mod routes;
mod schedule;
mod service;
mod submit;
mod uploads;
pub(crate) mod web;
mod work;
mod work_files;

pub(crate) use blobs::check_head;

use crate::error::{Code, Problem, REQUEST, REQUEST_ID};
use crate::id::Id;
use crate::jobs::app::App;
use crate::metrics;
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use body::Shared;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;
use tower_http::catch_panic::CatchPanicLayer;

/// What counters and the log say of a path without a route.
const NO_ROUTE: &str = "none";

/// All routes with their surroundings.
pub(crate) fn router(app: Arc<App>) -> Router {
    let routes = routes::routes().into_iter();
    let router = page_routes(routes.fold(Router::new(), |router, route| router.route(route.path, route.handler)));
    let router = match &app.config.reports {
        Some(folder) => reports::add(router, folder),
        None => router,
    };
    let paths =
        "/v1/openapi.json lists the paths; `solinas work` calls the address of --work-addr in place of this one";
    surrounded(app, router, paths)
}

/// The routes for workers on other machines, with their surroundings.
pub(crate) fn work_router(app: Arc<App>) -> Router {
    surrounded(app, work::routes(), "this address is for `solinas work` alone; clients have another")
}

/// Adds what all routes have around them. `paths` says which paths there are.
fn surrounded(app: Arc<App>, router: Router<Arc<App>>, paths: &'static str) -> Router {
    router
        .fallback(move || async move { Problem::new(Code::NotFound, "there is no such path", paths) })
        .method_not_allowed_fallback(move |method: Method| async move {
            match method {
                // HAProxy checks a service so, and the header Allow says the rest.
                Method::OPTIONS => StatusCode::NO_CONTENT.into_response(),
                _ => Problem::new(Code::MethodNotAllowed, "the path has no such method", paths).into_response(),
            }
        })
        .layer(DefaultBodyLimit::disable())
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| {
            tracing::error!("a request panicked");
            Problem::new(Code::Internal, "the service could not do it", "try again; the log has the cause")
                .into_response()
        }))
        .layer(from_fn_with_state(Arc::clone(&app), around))
        .with_state(app)
}

/// Adds the files of the page.
pub(crate) fn page_routes<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    router.route("/", get(page::index)).route("/page/{name}", get(page::named))
}

/// What surrounds every request: its identity, the check of its host, counters, a line in the log, and headers for safety.
async fn around(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let id = Id::new().to_string();
    let start = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let is_upload = route.starts_with("/v1/uploads");
    let is_news = route == work::NEWS;
    let (head, body) = request.into_parts();
    let body = Shared::new(body, &head.headers);
    let request = Request::from_parts(head, Body::new(body.clone()));
    let answer = async {
        if let Err(refused) = check_host(&app.config.hosts, &request).and_then(|()| check_encoding(&request)) {
            return refused.into_response();
        }
        next.run(request).await
    };
    let mut response = REQUEST.scope(id.clone(), answer).await;
    tokio::select! {
        () = body.discard() => {}
        () = app.stopped() => {}
    }
    let status = response.status().as_u16();
    let took = start.elapsed();
    app.metrics.http_seconds.get_or_create(&metrics::Route { route: route.clone() }).observe(took.as_secs_f64());
    // The path of no route may be anything, such as a token that was pasted at the wrong place.
    let path = if route == NO_ROUTE { NO_ROUTE.to_owned() } else { path };
    app.metrics.requests.get_or_create(&metrics::Request { route, status }).inc();
    // News of jobs come twice a second.
    if !is_news || status >= 400 {
        tracing::info!(request_id = id, %method, path, status, ms = took.as_millis() as u64, "request");
    }
    let headers = response.headers_mut();
    if is_upload {
        // The protocol wants them in every answer.
        headers.insert(uploads::RESUMABLE, HeaderValue::from_static(uploads::VERSION));
        headers.insert("tus-version", HeaderValue::from_static(uploads::VERSION));
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, id);
    }
    safe_headers(headers);
    response
}

/// Adds the headers for safety to an answer.
pub(crate) fn safe_headers(headers: &mut HeaderMap) {
    let fixed = [(header::X_CONTENT_TYPE_OPTIONS, "nosniff"), (header::REFERRER_POLICY, "no-referrer")];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // The page and the files have rules of their own.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static("default-src 'none'"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Checks that a request names this service. A page from elsewhere, whose name was made to point here, does not. A request without a
/// name passes: programs that check a service send such ones in HTTP/1.0, and browsers never do.
///
/// # Errors
/// [`Code::BadRequest`] for several names, of which a proxy may have checked another one; [`Code::UnknownHost`].
pub(crate) fn check_host(hosts: &[String], request: &Request) -> Result<(), Problem> {
    let mut named = request.headers().get_all(header::HOST).iter();
    let (first, second) = (named.next(), named.next());
    if second.is_some() {
        return Err(Problem::new(Code::BadRequest, "the request has several headers Host", "send one of them"));
    }
    let host = match first {
        Some(host) => host.to_str().ok(),
        None => Some(request.uri().authority().map_or("", |authority| authority.as_str())),
    };
    match host.is_some_and(|host| host.is_empty() || is_known_host(hosts, host)) {
        true => Ok(()),
        false => Err(Problem::new(
            Code::UnknownHost,
            "the service does not have the name in the header Host",
            "call it by its address, or let its operator add the name with --host",
        )),
    }
}

/// Whether the service has this name, with or without a port.
fn is_known_host(hosts: &[String], host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    // A name with a point at its end is the same name.
    let name = name.strip_suffix('.').unwrap_or(name);
    bare.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Checks that a body is sent as it is. A compressed one could expand beyond every limit.
///
/// # Errors
/// [`Code::WrongMediaType`].
fn check_encoding(request: &Request) -> Result<(), Problem> {
    let all = request.headers().get_all(header::CONTENT_ENCODING);
    let is_plain = |value: &HeaderValue| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity");
    match all.iter().all(is_plain) {
        true => Ok(()),
        false => Err(Problem::new(
            Code::WrongMediaType,
            "the body has a Content-Encoding, and the service reads none",
            "send the body as it is, without this header",
        )),
    }
}
