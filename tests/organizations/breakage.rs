//! Answers that would break a client (contract 6.10): a test for each row. Where a row holds for every answer, `conventions` checks it for
//! all that any test gets, and the test here asks for the answers that show it best.

use serde_json::{Value, json};

use crate::documents::{self, resource};
use crate::fixtures::{Organization, unique, unique_email};
use crate::session::{Client, Session};

scenarios! {
    both:
        the_status_of_an_error_is_text,
        times_end_in_the_letter_z_and_stay_the_same,
        the_reset_of_a_rate_limit_is_a_number,
        unknown_routes_are_no_failures_of_the_server,
        discovery_is_plain_json,
        discovered_paths_end_in_a_slash,
        unset_timeouts_are_null,
        a_default_project_is_named,
        ids_are_text,
        sharing_switches_are_never_null,
        every_other_list_has_pages,
        a_token_has_no_attributes_but_the_known,
        names_are_one_whatever_their_case,
        bodies_that_clients_send_with_nothing_in_them_are_taken,
        an_unknown_include_is_told_in_the_words_that_clients_look_for;
    hosted:
        the_audit_token_and_the_ordinary_one_are_two;
    self_hosted:
        setting_a_retention_policy_answers_with_it;
}

/// Go clients read an error's status as text, or lose the message.
fn the_status_of_an_error_is_text(session: &Session<'_>) {
    let organization = Organization::new(session);
    let broken = session.send("POST", "organizations", Some("{")).expect(400);
    assert_eq!(broken.at("/errors/0/title"), "JSON body is invalid");
    session
        .server()
        .nobody()
        .get("organizations")
        .expect_unauthorized();
    session
        .get(&format!("organizations/{}", unique()))
        .expect_not_found();
    let plain = [("Content-Type", "text/plain")];
    let refused = session.send_with("POST", "organizations", &plain, Some("name=x"));
    let refused = refused.expect(415);
    let expected = json!({"errors": [{
        "status": "415",
        "title": "invalid content type",
        "detail": "content-type must be application/vnd.api+json",
    }]});
    assert_eq!(refused.json(), expected);
    let email = unique_email();
    let again = documents::organization(json!({"name": organization.name, "email": email}));
    session
        .post("organizations", &again)
        .expect_invalid("/data/attributes/name", "Name has already been taken");
}

/// `conventions` checks the form of every time; here, that one time is always written the same.
fn times_end_in_the_letter_z_and_stay_the_same(session: &Session<'_>) {
    const MADE: &str = "/data/attributes/created-at";
    let organization = Organization::new(session);
    let made = organization.created["attributes"]["created-at"].clone();
    organization.show().expect(200).shows(MADE, made.clone());
    organization
        .update(json!({"session-timeout": 5}))
        .expect(200)
        .shows(MADE, made.clone());
    let listed = session
        .get(&format!("organizations?q={}", organization.name))
        .expect(200);
    assert_eq!(listed.at("/data/0/attributes/created-at"), made);
    let token = organization.token();
    let pool = organization.named_agent_pool(&unique());
    for (path, created) in [
        (organization.path("authentication-token"), &token),
        (format!("agent-pools/{}", pool.id()), &pool),
    ] {
        session
            .get(&path)
            .expect(200)
            .shows(MADE, created.text(MADE));
    }
}

/// This server has no limit, and shows none to a client; `limits` tests a server that has one.
fn the_reset_of_a_rate_limit_is_a_number(session: &Session<'_>) {
    for path in ["ping", "account/details", "nothing"] {
        let reply = session.get(path);
        let limit = reply.header("x-ratelimit-limit").unwrap_or("0");
        assert_eq!(limit.parse::<u64>(), Ok(0), "{}", reply.label);
    }
}

/// The Go client's tests retry for half a minute after every server error.
fn unknown_routes_are_no_failures_of_the_server(session: &Session<'_>) {
    let organization = Organization::new(session);
    for path in [
        "no-code-modules",
        "explorer/views",
        "hyok-configurations",
        "tasks/x/y",
    ] {
        session.get(&organization.path(path)).expect_not_found();
        session
            .post(&organization.path(path), &resource("unknown", json!({})))
            .expect_not_found();
    }
}

fn discovery_is_plain_json(session: &Session<'_>) {
    let server = session.server();
    // A token that means nothing does no harm, either.
    for asking in [server.nobody(), server.bearer("nonsense")] {
        let reply = asking.get("/.well-known/terraform.json").expect(200);
        assert_eq!(reply.header("content-type"), Some("application/json"));
        for service in ["tfe.v2", "tfe.v2.1", "tfe.v2.2"] {
            assert_eq!(reply.json()[service], "/api/v2/", "{service}");
        }
    }
}

fn discovered_paths_end_in_a_slash(session: &Session<'_>) {
    let terrasnek = session.at(Client::Terrasnek);
    let services = terrasnek
        .get("/.well-known/terraform.json")
        .expect(200)
        .json();
    for service in ["tfe.v2", "modules.v1"] {
        let path = services[service].as_str().unwrap_or_default();
        assert!(
            path.starts_with('/') && path.ends_with('/'),
            "{service}: {path}"
        );
    }
}

/// The provider would plan a change at every run if it saw the timeouts that apply.
fn unset_timeouts_are_null(session: &Session<'_>) {
    let organization = Organization::new(session);
    let unset = json!({
        "session-timeout": null,
        "session-remember": null,
        "effective-session-timeout": 20_160,
        "effective-session-remember": 20_160,
    });
    let set = json!({
        "session-timeout": 20_160,
        "session-remember": 30,
        "effective-session-timeout": 20_160,
        "effective-session-remember": 30,
    });
    organization
        .show()
        .expect(200)
        .shows_attributes(unset.clone());
    organization
        .update(json!({"session-timeout": 20_160, "session-remember": 30}))
        .expect(200)
        .shows_attributes(set);
    organization
        .update(json!({"session-timeout": null, "session-remember": null}))
        .expect(200)
        .shows_attributes(unset);
}

fn a_default_project_is_named(session: &Session<'_>) {
    let organization = Organization::new(session);
    let project = &organization.created["relationships"]["default-project"]["data"];
    assert_eq!(project["type"], "projects");
    let id = project["id"].as_str().unwrap();
    assert!(id.starts_with("prj-"), "{id}");
    session
        .get(&format!("projects/{id}"))
        .expect(200)
        .shows("/data/id", id)
        .shows("/data/attributes/name", "Default Project");
    let projects = session.get(&organization.path("projects")).expect(200);
    assert_eq!(projects.ids(), [id]);
}

/// `conventions` checks it for every object with a type; here, that each kind has its prefix and sixteen characters (contract 5).
fn ids_are_text(session: &Session<'_>) {
    let organization = Organization::new(session);
    let project = &organization.created["relationships"]["default-project"]["data"]["id"];
    let details = session.get("account/details").expect(200);
    let membership = organization.membership();
    let invited = membership.text("/data/relationships/user/data/id");
    for (prefix, id) in [
        ("org-", organization.external_id()),
        ("prj-", project.as_str().unwrap()),
        ("apool-", &organization.agent_pool()),
        ("team-", &organization.team().id()),
        ("team-", &organization.owners()),
        ("at-", &organization.token().id()),
        ("user-", &details.id()),
        ("user-", &invited),
        ("ou-", &membership.id()),
    ] {
        let random = id.strip_prefix(prefix).unwrap_or_default();
        let plain = random
            .chars()
            .all(|character| character.is_ascii_alphanumeric());
        assert!(random.len() == 16 && plain, "{prefix}: {id}");
    }
}

fn sharing_switches_are_never_null(session: &Session<'_>) {
    let organization = Organization::new(session);
    session
        .get(&format!("admin/organizations/{}", organization.name))
        .expect(200)
        .shows_attributes(
            json!({"global-module-sharing": false, "global-provider-sharing": false}),
        );
}

/// terrasnek and pytfe read the number of pages of every list but that of organizations.
fn every_other_list_has_pages(session: &Session<'_>) {
    let organization = Organization::new(session);
    let mut lists: Vec<String> = [
        "agent-pools",
        "teams",
        "team-tokens",
        "organization-memberships",
        "projects",
        "workspaces",
        "runs/queue",
    ]
    .map(|list| organization.path(list))
    .into();
    lists.push("admin/organizations".to_owned());
    lists.push("organization-memberships".to_owned());
    if !session.is_hosted() {
        lists.push(organization.path("relationships/module-producers"));
    }
    for path in lists {
        let list = session.at(Client::Pytfe).get(&path).expect(200);
        let pagination = list.at("/meta/pagination");
        for number in ["current-page", "page-size", "total-pages", "total-count"] {
            assert!(pagination[number].is_u64(), "{path}: {pagination}");
        }
        for number in ["next-page", "prev-page"] {
            assert!(pagination.get(number).is_some(), "{path}: {pagination}");
        }
        assert_eq!(pagination["page-size"], 20, "{path}");
    }
}

/// pytfe refuses a token with an attribute that it does not know.
fn a_token_has_no_attributes_but_the_known(session: &Session<'_>) {
    let organization = Organization::new(session);
    let made = organization.token();
    let read = session
        .get(&organization.path("authentication-token"))
        .expect(200);
    for token in [made, read] {
        let attributes = token.at("/data/attributes");
        let attributes: Vec<_> = attributes.as_object().unwrap().keys().cloned().collect();
        let known = [
            "created-at",
            "description",
            "expired-at",
            "last-used-at",
            "token",
        ];
        assert_eq!(attributes, known, "{}", token.label);
    }
}

/// The provider would make an organization again if it found the name in another case.
fn names_are_one_whatever_their_case(session: &Session<'_>) {
    let name = format!("Tst-{}", unique());
    let mut organization = Organization::with(session, json!({"name": name}));
    for spelling in [name.to_lowercase(), name.to_uppercase()] {
        session
            .get(&format!("organizations/{spelling}"))
            .expect(200)
            .shows("/data", organization.created.clone());
        organization.name = spelling;
        organization
            .update(json!({}))
            .expect(200)
            .shows("/data/id", name.as_str());
        session
            .get(&organization.path("entitlement-set"))
            .expect(200);
    }
}

/// terrasnek sends an empty object for a token, and the word null with a removal.
fn bodies_that_clients_send_with_nothing_in_them_are_taken(session: &Session<'_>) {
    let terrasnek = session.at(Client::Terrasnek);
    let organization = Organization::new(session);
    let path = organization.path("authentication-token");
    terrasnek.post(&path, &json!({})).expect(201);
    terrasnek.send("DELETE", &path, Some("null")).expect(204);
    terrasnek.post(&path, &json!({"data": {}})).expect(201);
    session.delete(&path).expect(204);
    let removed = format!("organizations/{}", organization.name);
    terrasnek.send("DELETE", &removed, Some("null")).expect(204);
}

fn an_unknown_include_is_told_in_the_words_that_clients_look_for(session: &Session<'_>) {
    let organization = Organization::new(session);
    for include in ["nonsense", "entitlement_set,nonsense", "entitlement_set,"] {
        let path = format!("organizations/{}?include={include}", organization.name);
        let refused = session.get(&path).expect(400);
        let expected = json!({"errors": [{
            "status": "400",
            "title": "bad request",
            "detail": "Invalid include parameter",
        }]});
        let mut found = refused.json();
        if let Some(error) = found["errors"][0].as_object_mut() {
            error.remove("source");
        }
        assert_eq!(found, expected, "{include}");
    }
}

fn the_audit_token_and_the_ordinary_one_are_two(session: &Session<'_>) {
    let organization = Organization::new(session);
    organization.subscribe_business();
    let ordinary = organization.token();
    let audit = organization.audit_token();
    assert_ne!(ordinary.id(), audit.id());
    for (query, made) in [("", &ordinary), ("?token=audit-trails", &audit)] {
        let path = organization.path(&format!("authentication-token{query}"));
        session.get(&path).expect(200).shows("/data/id", made.id());
    }
    // Only the audit token is confined to the audit trail.
    let secret = audit.text("/data/attributes/token");
    let auditor = session.server().bearer(&secret);
    auditor
        .get(&format!("organizations/{}", organization.name))
        .expect_not_found();
    auditor
        .get("organizations")
        .expect(200)
        .shows("/data", Value::Array(Vec::new()));
    auditor.get("organization/audit-trail").expect(200);
}

/// The Go client and pytfe read the policy from the answer.
fn setting_a_retention_policy_answers_with_it(session: &Session<'_>) {
    let organization = Organization::new(session);
    let path = organization.path("relationships/data-retention-policy");
    let attributes = json!({"delete-older-than-n-days": 7});
    let policy = resource("data-retention-policy-delete-olders", attributes);
    for method in ["POST", "PATCH"] {
        session
            .send(method, &path, Some(&policy.to_string()))
            .expect(200)
            .shows_attributes(json!({"delete-older-than-n-days": 7, "deleteOlderThanNDays": 7}));
    }
}
