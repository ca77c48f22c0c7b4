//! The description of the interface in OpenAPI 3.1. Paths come from the table of routes, codes from the errors, and the shapes of bodies from a file.

use crate::error::Code;
use crate::jobs::app::App;
use axum::routing::MethodRouter;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Shapes of bodies, as JSON Schema.
const SCHEMAS: &str = include_str!("schemas.json");

/// A route.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    /// The schema of the body in JSON, or the media type of another body.
    pub(super) body: Option<&'static str>,
    /// The schema of the answer in JSON, or its media type.
    pub(super) answer: Option<&'static str>,
    /// Names of the headers that it needs.
    pub(super) headers: &'static [&'static str],
    /// Names of the parameters after the `?`.
    pub(super) query: &'static [&'static str],
    /// Whether it needs a token.
    pub(super) token: bool,
    pub(super) handler: MethodRouter<Arc<App>>,
}

impl Route {
    pub(super) fn new(
        method: &'static str,
        path: &'static str,
        summary: &'static str,
        handler: MethodRouter<Arc<App>>,
    ) -> Self {
        Self { method, path, summary, body: None, answer: None, headers: &[], query: &[], token: true, handler }
    }

    pub(super) fn takes(self, body: &'static str) -> Self {
        Self { body: Some(body), ..self }
    }

    pub(super) fn gives(self, answer: &'static str) -> Self {
        Self { answer: Some(answer), ..self }
    }

    pub(super) fn needs(self, headers: &'static [&'static str]) -> Self {
        Self { headers, ..self }
    }

    pub(super) fn with(self, query: &'static [&'static str]) -> Self {
        Self { query, ..self }
    }

    pub(super) fn open(self) -> Self {
        Self { token: false, ..self }
    }
}

/// The description of these routes.
pub(super) fn document(routes: &[Route]) -> Value {
    let mut paths = Map::new();
    for route in routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation(route);
    }
    let mut schemas: Value = serde_json::from_str(SCHEMAS).unwrap_or_default();
    schemas["Problem"]["properties"]["code"]["enum"] = Code::ALL.iter().map(|code| code.name()).collect();
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Solinas", "version": env!("CARGO_PKG_VERSION"), "license": { "name": "MIT OR Apache-2.0" } },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn operation(route: &Route) -> Value {
    let content = |name: &str| match name.contains('/') {
        true => json!({ name: {} }),
        false => json!({ "application/json": { "schema": reference(name) } }),
    };
    let in_path = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name: &str, place: &str, required: bool| json!({ "name": name, "in": place, "required": required, "schema": { "type": "string" } });
    let mut parameters: Vec<Value> = in_path.map(|name| parameter(name, "path", true)).collect();
    parameters.extend(route.query.iter().map(|name| parameter(name, "query", false)));
    parameters.extend(route.headers.iter().map(|name| parameter(name, "header", true)));
    let mut success = json!({ "description": "Success" });
    if let Some(answer) = route.answer {
        success["content"] = content(answer);
    }
    let problem = json!({ "application/problem+json": { "schema": reference("Problem") } });
    let mut operation = json!({
        "summary": route.summary,
        "parameters": parameters,
        "responses": { "2XX": success, "default": { "description": "A problem", "content": problem } },
        "security": if route.token { json!([{ "token": [] }]) } else { json!([]) },
    });
    if let Some(body) = route.body {
        operation["requestBody"] = json!({ "required": true, "content": content(body) });
    }
    operation
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}
