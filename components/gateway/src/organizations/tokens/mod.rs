//! API tokens (contract 4.6, 4.7, 4.10) and their maximum lifetimes (contract 4.8).

mod document;
mod input;
mod lifetimes;
mod of_owners;
mod of_teams;
mod owner;

use gatehouse_orgs_api::{
    Fault, IssueError, LifetimeError, MAXIMUM_TOKENS, MAXIMUM_TOKENS_OF_ORGANIZATION,
};

use self::document::TOKEN;
pub(super) use self::document::TokenResource;
pub(super) use self::input::token_request;
use self::lifetimes::{LIFETIME, LIFETIMES};
pub(super) use self::of_owners::includes_audit_logging;
use self::owner::{Collection, SingleTokenOwner};

use super::api_error::ApiError;
use super::attribute_error::AttributeError;
use super::fields;
use super::route::Data::{Many, One};
use super::routes::routes;

routes! { TOKENS:
    Get "organizations/:name/authentication-token", Organization, "show-token-of-organization",
        "Shows the token of an organization, without its text.",
        querying(&[of_owners::TOKEN]), answering(One(&TOKEN))
        => |api, owner| api.show_one_token(SingleTokenOwner::Organization(owner));
    Post "organizations/:name/authentication-token", Organization, "replace-token-of-organization",
        "Makes a token of an organization, which replaces the one before, and shows its text once.",
        querying(&[of_owners::TOKEN]), taking_at_will(One(&TOKEN)), making(One(&TOKEN))
        => |api, owner| api.issue_token(api.enter_single_owner(SingleTokenOwner::Organization(owner))?);
    Delete "organizations/:name/authentication-token", Organization, "revoke-token-of-organization",
        "Revokes the token of an organization.", querying(&[of_owners::TOKEN])
        => |api, owner| api.revoke_one_token(SingleTokenOwner::Organization(owner));
    Get "teams/:id/authentication-token", Organization, "show-token-of-team", "Shows the token of a team, without its text.",
        answering(One(&TOKEN))
        => |api, owner| api.show_one_token(SingleTokenOwner::Team(owner));
    Post "teams/:id/authentication-token", Organization, "replace-token-of-team",
        "Makes a token of a team, which replaces the one before, and shows its text once.",
        taking_at_will(One(&TOKEN)), making(One(&TOKEN))
        => |api, owner| api.issue_token(api.enter_single_owner(SingleTokenOwner::Team(owner))?);
    Delete "teams/:id/authentication-token", Organization, "revoke-token-of-team", "Revokes the token of a team."
        => |api, owner| api.revoke_one_token(SingleTokenOwner::Team(owner));
    Get "teams/:id/authentication-tokens", Organization, "list-tokens-of-team",
        "Lists the tokens of a team, without their texts.",
        paged, answering(Many(&TOKEN))
        => |api, id| api.list_tokens(Collection::Team(id));
    Post "teams/:id/authentication-tokens", Organization, "issue-token-of-team",
        "Makes a further token of a team, and shows its text once.",
        taking_at_will(One(&TOKEN)), making(One(&TOKEN))
        => |api, id| api.issue_token(api.enter_collection(Collection::Team(id))?);
    Get "users/:id/authentication-tokens", User, "list-tokens-of-user", "Lists the tokens of a user, without their texts.",
        paged, answering(Many(&TOKEN))
        => |api, id| api.list_tokens(Collection::User(id));
    Post "users/:id/authentication-tokens", User, "issue-token-of-user",
        "Makes a further token of a user, and shows its text once.",
        taking_at_will(One(&TOKEN)), making(One(&TOKEN))
        => |api, id| api.issue_token(api.enter_collection(Collection::User(id))?);
    Get "agent-pools/:id/authentication-tokens", Organization, "list-tokens-of-agent-pool",
        "Lists the tokens of an agent pool, without their texts.",
        paged, answering(Many(&TOKEN))
        => |api, id| api.list_tokens(Collection::AgentPool(id));
    Post "agent-pools/:id/authentication-tokens", Organization, "issue-token-of-agent-pool",
        "Makes a further token of an agent pool, and shows its text once.",
        taking_at_will(One(&TOKEN)), making(One(&TOKEN))
        => |api, id| api.issue_token(api.enter_collection(Collection::AgentPool(id))?);
    Get "organizations/:name/team-tokens", Organization, "list-team-tokens", "Lists the tokens of all teams of an organization.",
        querying(&[of_teams::SEARCH, of_teams::SORT]), paged, answering(Many(&TOKEN))
        => |api, name| api.list_tokens_of_teams(name);
    Get "authentication-tokens/:id", Organization, "show-token",
        "Shows a token by its id, without its text.", answering(One(&TOKEN))
        => |api, id| api.show_token(id);
    Delete "authentication-tokens/:id", Organization, "revoke-token", "Revokes a token by its id."
        => |api, id| api.revoke_token(id);
    Get "organizations/:name/token-ttl-policies", Organization, "list-token-lifetimes",
        "Lists the maximum lifetimes of the tokens of an organization.",
        answering(Many(&LIFETIME)), forbidding
        => |api, name| api.token_lifetimes(name);
    Patch "organizations/:name/token-ttl-policies", Organization, "update-token-lifetimes", "Changes the maximum lifetimes of tokens.",
        taking(One(&LIFETIMES)), answering(Many(&LIFETIME)), forbidding
        => |api, name| api.set_token_lifetimes(name);
}

impl From<IssueError> for ApiError {
    fn from(error: IssueError) -> Self {
        match error {
            IssueError::NoOwner => Self::NotFound,
            IssueError::Invalid(issues) => {
                let is_taken = issues.iter().any(|issue| issue.fault == Fault::Taken);
                let faults = issues.iter().map(fields::attribute_error).collect();
                if is_taken {
                    Self::DescriptionTaken(faults)
                } else {
                    Self::Invalid(faults)
                }
            }
            IssueError::TooMany => Self::Unprocessable(vec![AttributeError {
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

impl From<LifetimeError> for ApiError {
    fn from(error: LifetimeError) -> Self {
        match error {
            LifetimeError::NotFound => Self::NotFound,
            LifetimeError::Invalid(issues) => {
                Self::Invalid(issues.iter().map(fields::attribute_error).collect())
            }
            LifetimeError::Failed(failure) => failure.into(),
        }
    }
}
