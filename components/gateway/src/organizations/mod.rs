//! The organizations protocol: JSON:API under `/api/v2/`, and the discovery document that leads there.
//!
//! A request meets the checks of contract 1.5 in their order: route, token, media type, permission, query, body, document,
//! fields. What `access` and `orgs` answer in types becomes status, error object and text here and nowhere else.

mod actions;
mod attributes;
mod caller;
mod document;
mod fields;
mod include;
mod listing;
mod plan_facts;
mod problem;
mod route;
#[cfg(test)]
mod tests;
mod transport;

use gatehouse_access::Access;
use gatehouse_orgs::Organizations;

pub(crate) use problem::Problem;

use self::route::Route;
use crate::http::Method;
use crate::path::CanonicalPath;
use crate::{Gateway, Request, Response, Settings};

/// Before every path of the API, without slashes at its ends.
const BASE_PATH: &str = "api/v2";
const DISCOVERY_PATH: &str = ".well-known/terraform.json";

/// Where to find what. Clients cut or resolve these paths, so each ends in a slash where the contract has one; the registries
/// are named because clients need the names, and do not exist.
const DISCOVERY: &[u8] = br#"{
  "modules.v1": "/api/registry/v1/modules/",
  "providers.v1": "/api/registry/v1/providers/",
  "motd.v1": "/api/terraform/motd",
  "state.v2": "/api/v2/",
  "tfe.v2": "/api/v2/",
  "tfe.v2.1": "/api/v2/",
  "tfe.v2.2": "/api/v2/"
}
"#;

/// Whether a request target, as it was sent, is a matter of this protocol, also if nothing is there.
pub(crate) fn concerns(raw_path: &str) -> bool {
    raw_path.starts_with("/api/")
}

/// Answers a request of this protocol. The path is decoded and has no leading slash.
pub(crate) fn handle<A, C: Access, O: Organizations>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    path: &CanonicalPath,
) -> Response {
    let api = Api {
        access: &gateway.access,
        organizations: &gateway.organizations,
        settings: &gateway.settings,
        request,
    };
    let answer = Route::of(request.method, path).ok_or(Problem::NotFound);
    match answer.and_then(|route| api.answer(route)) {
        Ok(response) => finished(gateway, request, response),
        Err(problem) => refuse(gateway, request, &problem),
    }
}

/// Answers a request of this protocol that is not served.
pub(crate) fn refuse<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    problem: &Problem,
) -> Response {
    if let Some(detail) = problem.for_operator() {
        gateway.tell_operator(detail);
    }
    finished(gateway, request, problem.response())
}

fn finished<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    response: Response,
) -> Response {
    let mut response = transport::with_metadata(response, gateway.settings.edition);
    if request.method == Method::Head {
        response.body.clear();
    }
    let id = transport::client_request_id(request).map(str::to_owned);
    // An answer without a name is better than none.
    match id.or_else(|| gateway.fresh_uuid().ok()) {
        Some(id) => response.with_header("x-request-id", id),
        None => response,
    }
}

/// One request, and what it takes to answer it.
struct Api<'a, C, O> {
    access: &'a C,
    organizations: &'a O,
    settings: &'a Settings,
    request: &'a Request,
}

impl<C: Access, O: Organizations> Api<'_, C, O> {
    fn answer(&self, route: Route<'_>) -> Result<Response, Problem> {
        match route {
            Route::Discovery => Ok(Response::new(200, "application/json", DISCOVERY.to_vec())),
            Route::Ping => Ok(transport::no_content()),
            Route::List => self.list(),
            Route::Create => self.create(),
            Route::Show(name) => self.show(name),
            Route::Update(name) => self.update(name),
            Route::Delete(name) => self.delete(name),
            Route::EntitlementSetOf(name) => self.entitlement_set_of(name),
            Route::EntitlementSet(id) => self.entitlement_set(id),
        }
    }
}
