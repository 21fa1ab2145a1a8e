//! The table of routes as an OpenAPI 3.0 document, at `openapi.json`.

mod operation;
#[cfg(test)]
mod page;
mod schema;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::Capability;
use serde_json::{Map, Value, json};

use super::api::Api;
use super::api_error::ApiError;
use super::route::Route;
use super::routes::Table;
use crate::http::Response;
use crate::openapi;

impl<C: Access + 'static, O: Capability + 'static> Api<'_, C, O> {
    /// Answers with the description of all routes, which is the same for every caller and needs no store. The request counts against the rate limit
    /// of the caller's address.
    pub(super) fn describe(&self) -> Result<Response, ApiError> {
        self.admit_rate_without_store()?;
        // One value serves all type parameters: no route depends on the capabilities.
        static DESCRIPTION: OnceLock<Vec<u8>> = OnceLock::new();
        let body = DESCRIPTION.get_or_init(|| description::<C, O>().to_string().into_bytes());
        Ok(Response::new(200, "application/json", body.clone()))
    }
}

/// The OpenAPI document.
pub(super) fn description<C: Access + 'static, O: Capability + 'static>() -> Value {
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for row in Table::<C, O>::rows() {
        let method = row.route.verb().to_ascii_lowercase();
        let operation = json!(operation::operation(&row.route));
        let path = paths.entry(template(&row.route)).or_default();
        path.insert(method, operation);
    }
    let api = openapi::Api {
        openapi: "3.0.3",
        title: "Gatehouse organizations API",
        description: "Organizations and their members, teams, tokens and settings, as JSON:API 1.0 documents.",
        server: "/",
        paths,
        schemas: schema::schemas(Table::<C, O>::rows().map(|row| &row.route)),
        responses: operation::refusals(),
        token: json!({"type": "http", "scheme": "bearer"}),
    };
    json!(openapi::Document::from(api))
}

/// The path in the notation of OpenAPI, with its parameter in braces.
fn template(route: &Route) -> String {
    let path = route.whole_path();
    match route.path_parameter() {
        Some(name) => path.replace(&format!(":{name}"), &format!("{{{name}}}")),
        None => path,
    }
}
