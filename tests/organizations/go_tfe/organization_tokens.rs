//! `organization_token_integration_test.go` (contract 6.3).

use jiff::civil::DateTime;
use jiff::{Span, ToSpan};
use serde_json::json;

use crate::fixtures::{Organization, hours_from_now};
use crate::session::{Reply, Session};

scenarios! {
    both:
        test_organization_tokens_create_with_valid_options,
        test_organization_tokens_create_when_a_token_already_exists,
        test_organization_tokens_read_with_valid_options,
        test_organization_tokens_read_with_an_expiration_date_passed_as_a_valid_option,
        test_organization_tokens_read_when_a_token_doesnt_exist,
        test_organization_tokens_delete_with_valid_options,
        test_organization_tokens_delete_when_a_token_does_not_exist;
    hosted:
        test_organization_tokens_create_with_options_with_valid_options,
        test_organization_tokens_create_with_options_when_a_token_already_exists,
        test_organization_tokens_create_with_options_without_an_expiration_date,
        test_organization_tokens_create_with_options_with_an_expiration_date,
        test_organization_tokens_create_with_options_with_a_token_type,
        test_organization_tokens_read_with_options_with_empty_options,
        test_organization_tokens_read_with_options_with_a_specific_token_type,
        test_organization_tokens_delete_with_options_with_a_token_type;
}

const PATH: &str = "authentication-token";
const AUDIT_PATH: &str = "authentication-token?token=audit-trails";
const SECRET: &str = "/data/attributes/token";
const EXPIRY: &str = "/data/attributes/expired-at";

/// An organization whose plan has audit trails.
fn business<'a>(session: &Session<'a>) -> Organization<'a> {
    let organization = Organization::new(session);
    organization.subscribe_business();
    organization
}

/// Asserts that a token ends two calendar years after it was made, or within a minute of that.
#[track_caller]
pub fn assert_ends_in_two_years(token: &Reply) {
    let time = |pointer| -> DateTime { token.text(pointer).trim_end_matches('Z').parse().unwrap() };
    let expected = time("/data/attributes/created-at")
        .checked_add(2.years())
        .unwrap();
    let difference: Span = time(EXPIRY) - expected;
    let seconds = difference.total(jiff::Unit::Second).unwrap();
    assert!(seconds.abs() <= 60.0, "{}", token.body);
}

/// Asserts that the maker of a token is one, of one of the three kinds that the client knows.
#[track_caller]
pub fn assert_has_one_maker(token: &Reply) {
    let maker = token.at("/data/relationships/created-by/data");
    let known = ["users", "organizations", "teams"];
    let kind = maker["type"].as_str().unwrap_or_default();
    assert!(known.contains(&kind), "{}", token.body);
    assert!(
        maker["id"].as_str().is_some_and(|id| !id.is_empty()),
        "{maker}"
    );
}

fn test_organization_tokens_create_with_valid_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let token = organization.token();
    assert!(!token.text(SECRET).is_empty());
    assert_has_one_maker(&token);
}

/// The second takes the place of the first, which is worth nothing from then on.
fn test_organization_tokens_create_when_a_token_already_exists(session: &Session<'_>) {
    let organization = Organization::new(session);
    let first = organization.token().text(SECRET);
    let second = organization.token().text(SECRET);
    assert_ne!(second, first);
    let path = format!("organizations/{}", organization.name);
    session
        .server()
        .bearer(&first)
        .get(&path)
        .expect_unauthorized();
    session.server().bearer(&second).get(&path).expect(200);
}

fn test_organization_tokens_create_with_options_with_valid_options(session: &Session<'_>) {
    let token = business(session).token();
    assert!(!token.text(SECRET).is_empty());
}

fn test_organization_tokens_create_with_options_when_a_token_already_exists(session: &Session<'_>) {
    let organization = business(session);
    let first = organization.token().text(SECRET);
    assert_ne!(organization.token().text(SECRET), first);
}

fn test_organization_tokens_create_with_options_without_an_expiration_date(session: &Session<'_>) {
    let token = business(session).token();
    assert!(!token.text(SECRET).is_empty());
    assert_ends_in_two_years(&token);
}

fn test_organization_tokens_create_with_options_with_an_expiration_date(session: &Session<'_>) {
    let (sent, expected) = hours_from_now(24);
    let token = business(session).token_with(json!({"expired-at": sent}));
    assert!(!token.text(SECRET).is_empty());
    token.shows(EXPIRY, expected);
}

fn test_organization_tokens_create_with_options_with_a_token_type(session: &Session<'_>) {
    let token = business(session).audit_token();
    assert!(!token.text(SECRET).is_empty());
}

fn test_organization_tokens_read_with_valid_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let made = organization.token().id();
    session
        .get(&organization.path(PATH))
        .expect(200)
        .shows("/data/id", made)
        .shows(SECRET, ());
    session.delete(&organization.path(PATH)).expect(204);
}

fn test_organization_tokens_read_with_an_expiration_date_passed_as_a_valid_option(
    session: &Session<'_>,
) {
    let organization = Organization::new(session);
    let (sent, expected) = hours_from_now(24);
    organization.token_with(json!({"expired-at": sent}));
    session
        .get(&organization.path(PATH))
        .expect(200)
        .shows(EXPIRY, expected);
    session.delete(&organization.path(PATH)).expect(204);
}

fn test_organization_tokens_read_when_a_token_doesnt_exist(session: &Session<'_>) {
    let organization = Organization::new(session);
    session.get(&organization.path(PATH)).expect_not_found();
}

/// An organization that has both its tokens, with the ids of the ordinary one and of the one for audits.
fn with_both_tokens<'a>(session: &Session<'a>) -> (Organization<'a>, String, String) {
    let organization = business(session);
    let ordinary = organization.token().id();
    let audit = organization.audit_token().id();
    assert_ne!(ordinary, audit);
    (organization, ordinary, audit)
}

fn test_organization_tokens_read_with_options_with_empty_options(session: &Session<'_>) {
    let (organization, ordinary, _) = with_both_tokens(session);
    session
        .get(&organization.path(PATH))
        .expect(200)
        .shows("/data/id", ordinary);
}

fn test_organization_tokens_read_with_options_with_a_specific_token_type(session: &Session<'_>) {
    let (organization, _, audit) = with_both_tokens(session);
    session
        .get(&organization.path(AUDIT_PATH))
        .expect(200)
        .shows("/data/id", audit);
}

fn test_organization_tokens_delete_with_valid_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let token = organization.token().text(SECRET);
    session.delete(&organization.path(PATH)).expect(204);
    let bearer = session.server().bearer(&token);
    bearer.get("organizations").expect_unauthorized();
}

fn test_organization_tokens_delete_when_a_token_does_not_exist(session: &Session<'_>) {
    let organization = Organization::new(session);
    organization.token();
    session.delete(&organization.path(PATH)).expect(204);
    session.delete(&organization.path(PATH)).expect_not_found();
}

fn test_organization_tokens_delete_with_options_with_a_token_type(session: &Session<'_>) {
    let (organization, ordinary, _) = with_both_tokens(session);
    let path = organization.path(AUDIT_PATH);
    session.delete(&path).expect(204);
    session.get(&path).expect_not_found();
    session.delete(&path).expect_not_found();
    session
        .get(&organization.path(PATH))
        .expect(200)
        .shows("/data/id", ordinary);
}
