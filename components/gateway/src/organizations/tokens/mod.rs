//! API tokens (contract 4.6, 4.7, 4.10), and how long they may live (contract 4.8).

mod document;
mod input;
mod lifetimes;
mod of_owners;
mod of_teams;
mod route;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Capability, Fault, IssueError, LifetimeError, MAXIMUM_TOKENS, MAXIMUM_TOKENS_OF_ORGANIZATION,
};

pub(super) use self::document::TokenResource;
pub(super) use self::input::token_request;
pub(super) use self::of_owners::includes_audit_logging;
pub(super) use self::route::Route;

use super::Api;
use super::attribute_fault::AttributeFault;
use super::fields;
use super::problem::Problem;
use crate::http::Response;

impl<C: Access, O: Capability> Api<'_, C, O> {
    pub(super) fn answer_about_tokens(&self, route: Route<'_>) -> Result<Response, Problem> {
        match route {
            Route::ShowOne(place) => self.show_one_token(place),
            Route::IssueOne(place) => self.issue_token(self.enter_place(place)?),
            Route::RevokeOne(place) => self.revoke_one_token(place),
            Route::List(place) => self.list_tokens(place),
            Route::Issue(place) => self.issue_token(self.enter_collection(place)?),
            Route::ListOfTeams(name) => self.list_tokens_of_teams(name),
            Route::Show(id) => self.show_token(id),
            Route::Revoke(id) => self.revoke_token(id),
            Route::Lifetimes(name) => self.token_lifetimes(name),
            Route::SetLifetimes(name) => self.set_token_lifetimes(name),
        }
    }
}

impl From<IssueError> for Problem {
    fn from(error: IssueError) -> Self {
        match error {
            IssueError::NoOwner => Self::NotFound,
            IssueError::Invalid(issues) => {
                let is_taken = issues.iter().any(|issue| issue.fault == Fault::Taken);
                let faults = issues.iter().map(fields::of_issue).collect();
                if is_taken {
                    Self::DescriptionTaken(faults)
                } else {
                    Self::Invalid(faults)
                }
            }
            IssueError::TooMany => Self::Unprocessable(vec![AttributeFault {
                pointer: "/data".to_owned(),
                detail: format!(
                    "There can be at most {MAXIMUM_TOKENS} tokens at a time; revoke one first"
                ),
            }]),
            IssueError::TooManyOfOrganization => Self::too_many(
                "tokens of teams and agent pools in an organization",
                MAXIMUM_TOKENS_OF_ORGANIZATION,
            ),
            IssueError::Failed(failure) => failure.into(),
        }
    }
}

impl From<LifetimeError> for Problem {
    fn from(error: LifetimeError) -> Self {
        match error {
            LifetimeError::NotFound => Self::NotFound,
            LifetimeError::Invalid(issues) => {
                Self::Invalid(issues.iter().map(fields::of_issue).collect())
            }
            LifetimeError::Failed(failure) => failure.into(),
        }
    }
}
