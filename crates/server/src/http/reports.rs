//! Pages that `solinas report` wrote, at `/reports/`. They need no token, as the page of the service.

use crate::jobs::app::App;
use axum::Router;
use axum::http::{HeaderValue, header};
use axum::middleware::map_response;
use axum::response::{Redirect, Response};
use axum::routing::get;
use std::path::Path;
use std::sync::Arc;
use tower_http::services::ServeDir;

/// The pages hold their style and their charts, and no scripts.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Adds the files of a folder.
pub(super) fn add(router: Router<Arc<App>>, folder: &Path) -> Router<Arc<App>> {
    let files = Router::new().fallback_service(ServeDir::new(folder)).layer(map_response(ruled));
    // Links of the pages are relative to the folder.
    router.route("/reports", get(|| async { Redirect::permanent("reports/") })).nest_service("/reports/", files)
}

async fn ruled(mut page: Response) -> Response {
    page.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    page
}
