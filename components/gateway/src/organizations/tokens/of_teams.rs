//! All tokens of the teams of an organization.

use std::cmp::Ordering;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{Action, Capability, Right, TeamToken, TokenCreator};

use super::TokenResource;
use crate::http::Response;
use crate::organizations::api::Api;
use crate::organizations::api_error::ApiError;
use crate::organizations::pagination::{PageRequest, paged};
use crate::organizations::parameter::Parameter;
use crate::organizations::transport::json_api;

pub(super) const SEARCH: Parameter =
    Parameter::text("q", "A part of the team's name, in any case.");
pub(super) const SORT: Parameter = Parameter::choice(
    "sort",
    &[
        "team-name",
        "-team-name",
        "created-by",
        "-created-by",
        "expired-at",
        "-expired-at",
        "last-used-at",
        "-last-used-at",
    ],
    "The order; a dash reverses it.",
);

impl<C: Access, O: Capability> Api<'_, C, O> {
    /// Shows the tokens that the caller may also read one by one.
    pub(super) fn list_tokens_of_teams(&self, name: &str) -> Result<Response, ApiError> {
        let entry = self.enter_named(name, Action::ManageTeams, Some("team-tokens"))?;
        let scope = self.delegation_scope(&entry, Some(Right::ManageTeams))?;
        let organization = &entry.position.organization;
        let mut tokens = self
            .organizations
            .tokens_of_teams(&organization.external_id, &scope)?;
        if let Some(wanted) = SEARCH.first(&self.request.query) {
            let wanted = wanted.to_lowercase();
            tokens.retain(|token| token.team_name.to_lowercase().contains(&wanted));
        }
        if let Some(order) = SORT.first(&self.request.query) {
            sort(&mut tokens, &order);
        }
        let page = PageRequest::always(&self.request.query);
        let (tokens, total) = page.of_all(tokens);
        let resources = tokens
            .iter()
            .map(|found| TokenResource::without_text(&found.token, Some(&organization.name)))
            .collect();
        let document = paged(resources, total, page, self.request);
        Ok(json_api(200, &document))
    }
}

/// Sorts by `team-name`, `created-by`, `expired-at` or `last-used-at`; a `-` before the name reverses the order. Tokens with equal values keep their
/// order, which is the oldest first. Any other text changes nothing.
fn sort(tokens: &mut [TeamToken], order: &str) {
    let (name, is_reversed) = match order.strip_prefix('-') {
        Some(name) => (name, true),
        None => (order, false),
    };
    let compare: fn(&TeamToken, &TeamToken) -> Ordering = match name {
        "team-name" => |one, other| one.team_name.cmp(&other.team_name),
        "created-by" => |one, other| creator(one).cmp(creator(other)),
        "expired-at" => |one, other| one.token.expires_at.cmp(&other.token.expires_at),
        "last-used-at" => |one, other| one.token.last_used_at.cmp(&other.token.last_used_at),
        _ => return,
    };
    tokens.sort_by(|one, other| {
        let found = compare(one, other);
        if is_reversed { found.reverse() } else { found }
    });
}

fn creator(found: &TeamToken) -> &str {
    match &found.token.created_by {
        TokenCreator::User(id) | TokenCreator::Team(id) | TokenCreator::Organization(id) => id,
        TokenCreator::Workload => "",
    }
}
