//! The organizations protocol: JSON:API under `/api/v2/`, and the discovery document that leads there.
//!
//! A request meets the checks of contract 1.5 in their order: route, rate, token, media type, permission, query, body, document,
//! fields. What `access` and `orgs` answer in types becomes status, error object and text here and nowhere else.

mod absent_features;
mod account;
mod actions;
mod administration;
mod agent_pools;
mod attributes;
mod audit_trail;
mod caller;
mod document;
mod fields;
mod general_settings;
mod include;
mod input;
mod listing;
mod memberships;
mod pagination;
mod parameters;
mod plan_facts;
mod problem;
mod projects;
mod rate;
mod reach;
mod retention;
mod route;
mod sharing;
mod subscriptions;
mod teams;
#[cfg(test)]
mod tests;
mod timestamp;
mod tokens;
mod transport;
mod users;

use std::cell::RefCell;

use gatehouse_access::Access;
use gatehouse_orgs::Capability;

pub(crate) use problem::Problem;

use self::rate::{ApiRate, RateLimiter};
use self::route::Route;
use crate::audit::Trail;
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
pub(crate) fn handle<A, C: Access, O: Capability>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    path: &CanonicalPath,
) -> Response {
    let trail = match Trail::open(gateway, request) {
        Ok(trail) => RefCell::new(trail),
        Err(error) => {
            let problem = Problem::Internal(error.to_string());
            let response = told(gateway, request, None, &limiter(gateway), &problem);
            return without_body_for_head(request, response);
        }
    };
    let limiter = RateLimiter::new(&*gateway.host.rate_limits, rate(gateway));
    let request_id = request_id(gateway, request, trail.borrow().request_id());
    let api = Api {
        access: &gateway.access,
        organizations: &gateway.organizations,
        settings: &gateway.settings,
        request,
        trail: &trail,
        request_id: request_id.as_deref().unwrap_or_default(),
        limiter: &limiter,
    };
    let answer = Route::of(request.method, path).ok_or(Problem::NotFound);
    let answer = answer.and_then(|route| api.answer(route));
    let mut trail = trail.borrow_mut();
    let response = match answer {
        Ok(response) => finished(gateway, request, request_id.as_deref(), &limiter, response),
        Err(problem) => told(gateway, request, request_id.as_deref(), &limiter, &problem),
    };
    recorded(gateway, request, &mut trail, &limiter, response)
}

/// Answers a request of this protocol that is not served.
pub(crate) fn refuse<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    problem: &Problem,
) -> Response {
    let limiter = limiter(gateway);
    match Trail::open(gateway, request) {
        Ok(mut trail) => {
            let response = told(gateway, request, trail.request_id(), &limiter, problem);
            recorded(gateway, request, &mut trail, &limiter, response)
        }
        Err(error) => {
            let problem = Problem::Internal(error.to_string());
            told(gateway, request, None, &limiter, &problem)
        }
    }
}

/// An answer that has been recorded, or what is said in its place.
fn recorded<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    trail: &mut Trail<'_>,
    limiter: &RateLimiter<'_>,
    response: Response,
) -> Response {
    match trail.answer(&response) {
        Ok(()) => without_body_for_head(request, response),
        Err(failure) => {
            let problem = failure.into();
            let response = told(gateway, request, trail.request_id(), limiter, &problem);
            without_body_for_head(request, response)
        }
    }
}

/// What a client and the operator are told about a problem.
fn told<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    name: Option<&str>,
    limiter: &RateLimiter<'_>,
    problem: &Problem,
) -> Response {
    if let Some(detail) = problem.for_operator() {
        gateway.tell_operator(detail);
    }
    finished(gateway, request, name, limiter, problem.response())
}

/// What an exchange is called: as the client says, or as it is recorded, or anew.
fn request_id<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    recorded: Option<&str>,
) -> Option<String> {
    let id = transport::client_request_id(request).or(recorded);
    // An exchange without a name is better than none.
    id.map(str::to_owned).or_else(|| gateway.fresh_uuid().ok())
}

/// An answer with what all of them carry. `name` is what the exchange is called already, if it is.
fn finished<A, C, O>(
    gateway: &Gateway<A, C, O>,
    request: &Request,
    name: Option<&str>,
    limiter: &RateLimiter<'_>,
    response: Response,
) -> Response {
    let response = transport::with_metadata(response, gateway.settings.edition);
    let response = limiter.with_headers(response);
    match request_id(gateway, request, name) {
        Some(id) => response.with_header("x-request-id", id),
        None => response,
    }
}

/// How many requests each caller may make now.
fn rate<A, C, O: Capability>(gateway: &Gateway<A, C, O>) -> ApiRate {
    let rate = ApiRate::of(&gateway.settings);
    if !rate.enabled {
        return rate;
    }
    // Whatever keeps the store from telling keeps it from answering the request too.
    let of_site = gateway.organizations.read_api_rate();
    of_site.map_or(rate, |of_site| rate.with(of_site))
}

fn limiter<A, C, O>(gateway: &Gateway<A, C, O>) -> RateLimiter<'_> {
    RateLimiter::new(&*gateway.host.rate_limits, ApiRate::of(&gateway.settings))
}

fn without_body_for_head(request: &Request, mut response: Response) -> Response {
    if request.method == Method::Head {
        response.body.clear();
    }
    response
}

/// One request, and what it takes to answer it.
struct Api<'a, C, O> {
    access: &'a C,
    organizations: &'a O,
    settings: &'a Settings,
    request: &'a Request,
    /// Shared by the steps of one request, one after the other.
    trail: &'a RefCell<Trail<'a>>,
    /// What the exchange is called.
    request_id: &'a str,
    limiter: &'a RateLimiter<'a>,
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    /// Refuses a body that is not of a type that can be read (contract 1.4).
    ///
    /// # Errors
    ///
    /// As [`transport::check_media_type`].
    fn check_media_type(&self) -> Result<(), Problem> {
        transport::check_media_type(self.request, self.settings.strict_media_type)
    }

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
            Route::Account(route) => self.answer_about_accounts(route),
            Route::AuditTrail(route) => self.answer_about_audit_trails(route),
            Route::Tokens(route) => self.answer_about_tokens(route),
            Route::Users(route) => self.answer_about_users(route),
            Route::AgentPools(route) => self.answer_about_agent_pools(route),
            Route::Subscriptions(route) => self.answer_about_subscriptions(route),
            Route::Projects(route) => self.answer_about_projects(route),
            Route::AbsentFeatures(route) => self.answer_about_absent_features(route),
            Route::Teams(route) => self.answer_about_teams(route),
            Route::Memberships(route) => self.answer_about_memberships(route),
            Route::Administration(route) => self.answer_about_administration(route),
            Route::GeneralSettings(route) => self.answer_about_general_settings(route),
            Route::Retention(route) => self.answer_about_retention(route),
            Route::Sharing(route) => self.answer_about_sharing(route),
        }
    }
}
