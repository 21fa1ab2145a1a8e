//! No user becomes a member without agreeing (contract 4.11), and a team in thousands of places can go.

use serde_json::{Value, json};

use crate::documents::resource;
use crate::fixtures::{Organization, unique_email};
use crate::session::{Reply, Session};

scenarios! {
    both:
        an_invitation_answers_alike_and_waits_until_it_is_accepted,
        an_invitation_can_be_declined,
        a_team_in_many_memberships_goes_and_the_organization_lives_on;
}

fn invite(session: &Session<'_>, organization: &Organization<'_>, attributes: Value) -> Reply {
    let document = resource("organization-memberships", attributes);
    session.post(&organization.path("organization-memberships"), &document)
}

/// A new user's session and address.
fn somebody<'a>(session: &Session<'a>) -> (Session<'a>, String) {
    let token = session.server().user(false);
    let user = session.server().bearer(&token);
    let email = user.get("account/details").expect(200);
    (user, email.text("/data/attributes/email"))
}

fn action(id: &str, action: &str) -> String {
    format!("organization-memberships/{id}/actions/{action}")
}

fn an_invitation_answers_alike_and_waits_until_it_is_accepted(session: &Session<'_>) {
    let organization = Organization::new(session);
    let (user, email) = somebody(session);
    let invited = invite(session, &organization, json!({"email": email})).expect(201);
    let unknown = invite(session, &organization, json!({"email": unique_email()})).expect(201);
    for made in [&invited, &unknown] {
        assert_eq!(made.text("/data/attributes/status"), "invited");
        assert_eq!(made.text("/included/0/attributes/username"), "");
    }
    user.get(&organization.path("")).expect_not_found();
    let own = user.get("organization-memberships").expect(200);
    assert_eq!(own.ids(), [invited.id()]);
    session
        .post(&action(&invited.id(), "accept"), &json!({}))
        .expect_not_found();
    user.post(&action(&unknown.id(), "accept"), &json!({}))
        .expect_not_found();
    let accepted = user.post(&action(&invited.id(), "accept"), &json!({}));
    let accepted = accepted.expect(200);
    assert_eq!(accepted.text("/data/attributes/status"), "active");
    user.get(&organization.path("entitlement-set")).expect(200);
    let own = format!("organization-memberships/{}", invited.id());
    user.delete(&own).expect(204);
    user.get(&organization.path("entitlement-set"))
        .expect_not_found();
}

fn an_invitation_can_be_declined(session: &Session<'_>) {
    let organization = Organization::new(session);
    let (user, email) = somebody(session);
    let invited = invite(session, &organization, json!({"email": email})).expect(201);
    user.post(&action(&invited.id(), "decline"), &json!({}))
        .expect(204);
    user.post(&action(&invited.id(), "accept"), &json!({}))
        .expect_not_found();
    let provisioned = json!({"email": email, "status": "active"});
    let provisioned = invite(session, &organization, provisioned).expect(201);
    assert_eq!(provisioned.text("/data/attributes/status"), "active");
}

fn a_team_in_many_memberships_goes_and_the_organization_lives_on(session: &Session<'_>) {
    let organization = Organization::new(session);
    let team = organization.team().id();
    let teams = json!({"teams": {"data": [{"id": team, "type": "teams"}]}});
    for _ in 0..450 {
        let mut document = resource("organization-memberships", json!({"email": unique_email()}));
        document["data"]["relationships"] = teams.clone();
        session
            .post(&organization.path("organization-memberships"), &document)
            .expect(201);
    }
    session.delete(&format!("teams/{team}")).expect(204);
    let memberships = organization.path("organization-memberships?page%5Bsize%5D=100");
    for membership in session.get(&memberships).expect(200).items() {
        let owns = membership["attributes"]["status"] == "active";
        let teams = membership["relationships"]["teams"]["data"].as_array();
        assert_eq!(teams.map(Vec::len), Some(usize::from(owns)));
    }
    session.get("admin/organizations").expect(200);
}
