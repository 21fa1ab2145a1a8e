//! `team_token_integration_test.go` (contract 6.5, 4.10).

use serde_json::{Value, json};

use super::organization_tokens::{assert_ends_in_two_years, assert_has_one_maker};
use crate::fixtures::{Organization, hours_from_now, team_token, team_token_with, unique};
use crate::session::{Reply, Session};

scenarios! {
    both:
        test_team_tokens_create_with_valid_options,
        test_team_tokens_create_when_a_token_already_exists,
        test_team_tokens_create_with_options_without_an_expiration_date,
        test_team_tokens_create_with_options_with_an_expiration_date,
        test_team_tokens_create_with_options_multiple_tokens_with_multiple_tokens,
        test_team_tokens_create_with_options_multiple_tokens_with_an_expiration_date,
        test_team_tokens_create_with_options_multiple_tokens_without_an_expiration_date,
        test_team_tokens_create_with_options_multiple_tokens_with_the_same_description,
        test_team_tokens_read_with_valid_options,
        test_team_tokens_read_with_an_expiration_date_passed_as_a_valid_option,
        test_team_tokens_read_when_a_token_doesnt_exist,
        test_team_tokens_read_by_id_with_legacy_descriptionless_tokens,
        test_team_tokens_read_by_id_with_multiple_team_tokens,
        test_team_tokens_read_by_id_when_a_token_doesnt_exist,
        test_team_tokens_list_with_team_tokens_across_multiple_teams,
        test_team_tokens_list_with_filtering_by_team_name,
        test_team_tokens_list_with_sorting,
        test_team_tokens_list_with_multiple_team_tokens_in_a_single_team,
        test_team_tokens_delete_with_valid_options,
        test_team_tokens_delete_when_a_token_does_not_exist,
        test_team_tokens_delete_by_id_with_legacy_descriptionless_tokens,
        test_team_tokens_delete_by_id_with_multiple_team_tokens,
        test_team_tokens_delete_by_id_when_a_token_does_not_exist;
}

const SECRET: &str = "/data/attributes/token";
const EXPIRY: &str = "/data/attributes/expired-at";
const DESCRIPTION: &str = "/data/attributes/description";
const TEAM: &str = "/data/relationships/team/data/id";

fn with_team<'a>(session: &Session<'a>) -> (Organization<'a>, String) {
    let organization = Organization::new(session);
    let team = organization.team().id();
    (organization, team)
}

fn unnamed_path(team: &str) -> String {
    format!("teams/{team}/authentication-token")
}

fn path(token: &Reply) -> String {
    format!("authentication-tokens/{}", token.id())
}

fn description() -> String {
    format!("go-tfe-team-token-test-{}", unique())
}

/// Makes a token, whose secret is told.
fn made(session: &Session<'_>, team: &str, attributes: Value) -> Reply {
    let token = team_token_with(session, team, attributes).expect(201);
    assert!(!token.text(SECRET).is_empty());
    token
}

fn test_team_tokens_create_with_valid_options(session: &Session<'_>) {
    let (_organization, team) = with_team(session);
    assert_has_one_maker(&made(session, &team, json!({})));
}

fn test_team_tokens_create_when_a_token_already_exists(session: &Session<'_>) {
    let (organization, team) = with_team(session);
    let first = made(session, &team, json!({})).text(SECRET);
    let second = made(session, &team, json!({})).text(SECRET);
    assert_ne!(first, second);
    let path = format!("organizations/{}", organization.name);
    session
        .server()
        .bearer(&first)
        .get(&path)
        .expect_unauthorized();
    session.server().bearer(&second).get(&path).expect(200);
}

fn test_team_tokens_create_with_options_without_an_expiration_date(session: &Session<'_>) {
    let (_organization, team) = with_team(session);
    assert_ends_in_two_years(&made(session, &team, json!({})));
}

fn test_team_tokens_create_with_options_with_an_expiration_date(session: &Session<'_>) {
    let (_organization, team) = with_team(session);
    let (sent, expected) = hours_from_now(24);
    made(session, &team, json!({"expired-at": sent})).shows(EXPIRY, expected);
}

/// A description makes a token of its own, also the empty one; without one it is the team's unnamed token.
fn test_team_tokens_create_with_options_multiple_tokens_with_multiple_tokens(
    session: &Session<'_>,
) {
    let (organization, team) = with_team(session);
    for description in [description(), description(), String::new()] {
        made(session, &team, json!({"description": description}))
            .shows(DESCRIPTION, description.as_str());
    }
    made(session, &team, json!({})).shows(DESCRIPTION, ());
    let list = session.get(&organization.path("team-tokens")).expect(200);
    assert_eq!(list.items().len(), 4);
}

fn test_team_tokens_create_with_options_multiple_tokens_with_an_expiration_date(
    session: &Session<'_>,
) {
    let (_organization, team) = with_team(session);
    let (sent, expected) = hours_from_now(24);
    let description = description();
    made(
        session,
        &team,
        json!({"description": description, "expired-at": sent}),
    )
    .shows(EXPIRY, expected)
    .shows(DESCRIPTION, description);
}

fn test_team_tokens_create_with_options_multiple_tokens_without_an_expiration_date(
    session: &Session<'_>,
) {
    let (_organization, team) = with_team(session);
    let description = description();
    let token = made(session, &team, json!({"description": description}));
    assert_ends_in_two_years(&token);
    token.shows(DESCRIPTION, description);
}

/// The client tells this refusal from others by its text.
fn test_team_tokens_create_with_options_multiple_tokens_with_the_same_description(
    session: &Session<'_>,
) {
    let (organization, team) = with_team(session);
    let attributes = json!({"description": description()});
    made(session, &team, attributes.clone());
    let refused = team_token_with(session, &team, attributes).expect(422);
    let details = refused.details();
    assert!(
        details[0].ends_with("Description has already been taken"),
        "{details:?}"
    );
    let list = session.get(&organization.path("team-tokens")).expect(200);
    assert_eq!(list.items().len(), 1);
}

fn test_team_tokens_read_with_valid_options(session: &Session<'_>) {
    let (_organization, team) = with_team(session);
    let token = made(session, &team, json!({}));
    session
        .get(&unnamed_path(&team))
        .expect(200)
        .shows("/data/id", token.id())
        .shows(SECRET, ())
        .shows(TEAM, team.as_str());
    session.delete(&unnamed_path(&team)).expect(204);
}

fn test_team_tokens_read_with_an_expiration_date_passed_as_a_valid_option(session: &Session<'_>) {
    let (_organization, team) = with_team(session);
    let (sent, expected) = hours_from_now(24);
    made(session, &team, json!({"expired-at": sent}));
    session
        .get(&unnamed_path(&team))
        .expect(200)
        .shows(EXPIRY, expected)
        .shows(TEAM, team.as_str());
}

fn test_team_tokens_read_when_a_token_doesnt_exist(session: &Session<'_>) {
    let (_organization, team) = with_team(session);
    session.get(&unnamed_path(&team)).expect_not_found();
}

fn test_team_tokens_read_by_id_with_legacy_descriptionless_tokens(session: &Session<'_>) {
    let (_organization, team) = with_team(session);
    let (sent, expected) = hours_from_now(24);
    let token = made(session, &team, json!({"expired-at": sent}));
    session
        .get(&path(&token))
        .expect(200)
        .shows(DESCRIPTION, ())
        .shows(EXPIRY, expected)
        .shows(SECRET, ())
        .shows(TEAM, team.as_str());
    session.delete(&path(&token)).expect(204);
}

fn test_team_tokens_read_by_id_with_multiple_team_tokens(session: &Session<'_>) {
    let (_organization, team) = with_team(session);
    let first = description();
    let token = made(session, &team, json!({"description": first}));
    let read = session.get(&path(&token)).expect(200);
    assert_ends_in_two_years(&read);
    read.shows(DESCRIPTION, first).shows(TEAM, team.as_str());

    let (sent, expected) = hours_from_now(24);
    let second = description();
    let token = made(
        session,
        &team,
        json!({"description": second, "expired-at": sent}),
    );
    session
        .get(&path(&token))
        .expect(200)
        .shows(DESCRIPTION, second)
        .shows(EXPIRY, expected)
        .shows(TEAM, team.as_str());
}

fn test_team_tokens_read_by_id_when_a_token_doesnt_exist(session: &Session<'_>) {
    session
        .get("authentication-tokens/nonexistent-token-id")
        .expect_not_found();
}

/// An organization whose two teams have a token each: the names of the teams, and the ids of the tokens, of which the first ends
/// sooner.
fn with_two_tokens<'a>(session: &Session<'a>) -> (Organization<'a>, [Reply; 2], [String; 2]) {
    let organization = Organization::new(session);
    let teams = [organization.team(), organization.team()];
    let mut hours = [24, 48].into_iter();
    let tokens = teams.each_ref().map(|team| {
        let (expiry, _) = hours_from_now(hours.next().unwrap());
        made(session, &team.id(), json!({"expired-at": expiry})).id()
    });
    (organization, teams, tokens)
}

fn list(organization: &Organization<'_>, query: &str) -> Vec<String> {
    let path = organization.path(&format!("team-tokens{query}"));
    organization.session().get(&path).expect(200).ids()
}

fn assert_same(mut found: Vec<String>, mut expected: Vec<String>) {
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

fn test_team_tokens_list_with_team_tokens_across_multiple_teams(session: &Session<'_>) {
    let (organization, _, tokens) = with_two_tokens(session);
    assert_same(list(&organization, ""), tokens.to_vec());
}

fn test_team_tokens_list_with_filtering_by_team_name(session: &Session<'_>) {
    let (organization, [team, _], [token, _]) = with_two_tokens(session);
    let query = format!("?q={}", team.text("/data/attributes/name"));
    assert_eq!(list(&organization, &query), [token]);
}

fn test_team_tokens_list_with_sorting(session: &Session<'_>) {
    let (organization, _, tokens) = with_two_tokens(session);
    assert_eq!(list(&organization, "?sort=expired-at"), tokens);
    let [sooner, later] = tokens;
    assert_eq!(list(&organization, "?sort=-expired-at"), [later, sooner]);
}

fn test_team_tokens_list_with_multiple_team_tokens_in_a_single_team(session: &Session<'_>) {
    let (organization, [team, _], tokens) = with_two_tokens(session);
    let mut tokens = tokens.to_vec();
    for _ in 0..2 {
        let attributes = json!({"description": description()});
        tokens.push(made(session, &team.id(), attributes).id());
    }
    assert_same(list(&organization, ""), tokens);
}

fn test_team_tokens_delete_with_valid_options(session: &Session<'_>) {
    let (_organization, team) = with_team(session);
    let token = made(session, &team, json!({})).text(SECRET);
    session.delete(&unnamed_path(&team)).expect(204);
    let bearer = session.server().bearer(&token);
    bearer.get("organizations").expect_unauthorized();
}

fn test_team_tokens_delete_when_a_token_does_not_exist(session: &Session<'_>) {
    let (_organization, team) = with_team(session);
    team_token(session, &team).expect(201);
    session.delete(&unnamed_path(&team)).expect(204);
    session.delete(&unnamed_path(&team)).expect_not_found();
}

fn test_team_tokens_delete_by_id_with_legacy_descriptionless_tokens(session: &Session<'_>) {
    let (_organization, team) = with_team(session);
    let token = made(session, &team, json!({}));
    session.delete(&path(&token)).expect(204);
    session.get(&unnamed_path(&team)).expect_not_found();
}

fn test_team_tokens_delete_by_id_with_multiple_team_tokens(session: &Session<'_>) {
    let (organization, team) = with_team(session);
    let tokens: [Reply; 2] =
        std::array::from_fn(|_| made(session, &team, json!({"description": description()})));
    for token in tokens {
        session.delete(&path(&token)).expect(204);
        session.get(&path(&token)).expect_not_found();
    }
    assert_eq!(list(&organization, ""), Vec::<String>::new());
}

fn test_team_tokens_delete_by_id_when_a_token_does_not_exist(session: &Session<'_>) {
    session
        .delete("authentication-tokens/nonexistent-token-id")
        .expect_not_found();
}
