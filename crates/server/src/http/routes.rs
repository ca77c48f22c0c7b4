//! The table of routes. The router and the description in OpenAPI are made from it.

use super::openapi::{Route, document};
use super::{blobs, events, jobs, keys, programs, schedule, service, submit, uploads};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, options, patch, post, put};

/// The media type of files.
const FILE: &str = "application/octet-stream";

/// All routes.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new("get", "/v1/blobs/{digest}", "Fetch a file; HEAD asks for it", get(blobs::get)).gives(FILE),
        Route::new("put", "/v1/blobs/{digest}", "Store a ciphertext or a server key", put(blobs::put)).takes(FILE),
        Route::new("delete", "/v1/blobs/{digest}", "Remove a file that no key and no job needs", delete(blobs::delete)),
        Route::new("options", "/v1/uploads", "Describe the protocol of uploads in parts", options(uploads::options)),
        Route::new("post", "/v1/uploads", "Begin an upload in parts (tus 1.0.0)", post(uploads::post))
            .needs(&["Upload-Length", "Upload-Metadata"])
            .gives("Upload"),
        Route::new("get", "/v1/uploads/{upload}", "Describe an upload; HEAD gives its offset", get(uploads::get))
            .gives("Upload"),
        Route::new("patch", "/v1/uploads/{upload}", "Send a part of an upload", patch(uploads::patch))
            .takes(uploads::PART)
            .needs(&["Upload-Offset"]),
        Route::new("delete", "/v1/uploads/{upload}", "Give up an upload", delete(uploads::delete)),
        Route::new("get", "/v1/keys", "List the keys", get(keys::list)).gives("Keys"),
        Route::new("get", "/v1/keys/{key}", "Describe a key", get(keys::get)).gives("Key"),
        Route::new("put", "/v1/keys/{key}", "Register a stored server key", put(keys::put))
            .takes("Registration")
            .gives("Key"),
        Route::new("delete", "/v1/keys/{key}", "Remove a key and its bytes", delete(keys::delete)),
        Route::new("post", "/v1/programs", "Store a program or a circuit", post(programs::post))
            .takes("text/plain")
            .gives("Program"),
        Route::new("get", "/v1/programs/{digest}", "Describe a program, and count its cost", get(programs::get))
            .gives("Program")
            .with(&["params"]),
        Route::new("post", "/v1/estimates", "Predict the cost of a program", post(submit::estimate))
            .takes("EstimateRequest")
            .gives("Cost"),
        Route::new("get", "/v1/jobs", "List the jobs, the newest first", get(jobs::list))
            .gives("Jobs")
            .with(&["state", "after", "limit"]),
        Route::new("post", "/v1/jobs", "Start a job; it needs the header Idempotency-Key", post(submit::post))
            .takes("JobRequest")
            .needs(&["Idempotency-Key"])
            .gives("Job"),
        Route::new("get", "/v1/jobs/{job}", "Describe a job, now or at its end", get(jobs::get))
            .gives("Job")
            .with(&["wait"]),
        Route::new("delete", "/v1/jobs/{job}", "Remove a job that has ended", delete(jobs::delete)),
        Route::new("get", "/v1/jobs/{job}/events", "Follow a job by server-sent events", get(events::get))
            .gives("text/event-stream"),
        Route::new(
            "get",
            "/v1/jobs/{job}/schedule",
            "The waves and workers of a job; as a picture of the waves with `Accept: image/svg+xml`",
            get(schedule::get),
        )
        .gives("Schedule"),
        Route::new("get", "/v1/jobs/{job}/results/{index}", "Fetch a result", get(jobs::result)).gives(FILE),
        Route::new("post", "/v1/jobs/{job}/cancel", "Cancel a job", post(jobs::cancel)).gives("Job"),
        Route::new("get", "/v1/usage", "Quotas, limits, and the use of today", get(service::usage)).gives("Usage"),
        Route::new("get", "/v1/version", "Versions", get(service::version)).gives("Version").open(),
        Route::new("get", "/v1/openapi.json", "This description", get(description)).gives("application/json").open(),
        Route::new("get", "/healthz", "Whether the process lives", get(service::healthz)).gives("text/plain").open(),
        Route::new("get", "/readyz", "Whether it takes work", get(service::readyz)).gives("text/plain").open(),
        Route::new("get", "/metrics", "Counters in the format of Prometheus", get(service::metrics))
            .gives("text/plain"),
    ]
}

/// `GET` of the description in OpenAPI.
async fn description() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], document(&routes()).to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_has_a_schema() {
        let document = document(&routes());
        let text = document.to_string();
        let names = text.split("#/components/schemas/").skip(1).map(|rest| rest.split('"').next().unwrap());
        for name in names {
            assert!(document["components"]["schemas"][name].is_object(), "{name}");
        }
        assert!(
            document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"].as_array().unwrap().len() > 20
        );
        assert_eq!(document["paths"]["/v1/jobs"]["post"]["parameters"][0]["name"], "Idempotency-Key");
    }
}
