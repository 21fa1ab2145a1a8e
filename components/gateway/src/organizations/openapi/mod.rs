//! The table of routes as OpenAPI 3.0 describes an API, at `openapi.json`.

mod operation;
#[cfg(test)]
mod page;
mod schema;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::Capability;
use serde_json::{Map, Value, json};

use super::Api;
use super::api_error::ApiError;
use super::route::Route;
use super::routes::Table;
use crate::http::Response;

impl<C: Access + 'static, O: Capability + 'static> Api<'_, C, O> {
    /// Answers with the description of all routes, which is the same for every caller and needs no store. The request counts against
    /// those that the caller's address may make.
    pub(super) fn describe(&self) -> Result<Response, ApiError> {
        self.admit_rate_without_store()?;
        let body = description::<C, O>().to_string();
        Ok(Response::new(200, "application/json", body.into_bytes()))
    }
}

/// The OpenAPI document.
pub(super) fn description<C: Access + 'static, O: Capability + 'static>() -> Value {
    let mut paths = Map::new();
    for row in Table::<C, O>::rows() {
        let path = paths.entry(template(&row.route)).or_insert(json!({}));
        if let Value::Object(methods) = path {
            let method = row.route.verb().to_ascii_lowercase();
            methods.insert(method, operation::operation(&row.route));
        }
    }
    json!({
        "openapi": "3.0.3",
        "info": {
            "title": "Gatehouse organizations API",
            "description": "Organizations and their members, teams, tokens and settings, as JSON:API 1.0 documents.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {
                "name": "Apache 2.0",
                "url": "https://www.apache.org/licenses/LICENSE-2.0",
            },
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schema::schemas(Table::<C, O>::rows().map(|row| &row.route)),
            "responses": operation::refusals(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

/// The path as OpenAPI writes it, with its parameter in braces.
fn template(route: &Route) -> String {
    let path = route.whole_path();
    match route.path_parameter() {
        Some(name) => path.replace(&format!(":{name}"), &format!("{{{name}}}")),
        None => path,
    }
}
