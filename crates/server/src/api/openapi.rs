//! The description of the interface in OpenAPI 3.1. Paths come from the table of routes, codes from the errors, and the shapes of bodies from a file.

use super::routes::{Route, routes};
use crate::error::Code;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

/// Shapes of bodies, as JSON Schema.
const SCHEMAS: &str = include_str!("schemas.json");

/// `GET` of the description.
pub(super) async fn get() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], document().to_string()).into_response()
}

fn document() -> Value {
    let mut paths = Map::new();
    for route in routes() {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation(&route);
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
    if route.body == Some("JobRequest") {
        parameters.push(parameter("Idempotency-Key", "header", true));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_has_a_schema() {
        let document = document();
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
