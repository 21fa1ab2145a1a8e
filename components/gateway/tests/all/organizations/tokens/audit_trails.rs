//! The audit trail and its token (contract 4.7, 4.15).

use super::*;

const TRAIL: &str = "/api/v2/organization/audit-trail";
const AUDIT_TOKEN: &str = "/api/v2/organizations/acme/authentication-token?token=audit-trails";

/// A hosted world whose organization has the premium plan.
pub(super) fn premium() -> World {
    let world = hosted();
    world.create_named("acme");
    let sets = body(&world.get("/api/v2/feature-sets"));
    let sets = sets["data"].as_array().unwrap();
    let premium = sets
        .iter()
        .find(|set| set["attributes"]["identifier"] == "premium")
        .unwrap();
    let sent = json!({"data": {"type": "subscription", "relationships": {
        "feature-set": {"data": {"type": "feature-sets", "id": premium["id"]}},
    }}});
    let target = "/api/v2/admin/organizations/acme/subscription";
    let set = world.send(Method::Post, target, Some(&sent));
    assert_eq!(set.status, 200, "{}", text(&set));
    world
}

fn trail(world: &World, token: &str, query: &str) -> Value {
    let found = world.send_as(token, Method::Get, &format!("{TRAIL}?{query}"), None);
    assert_eq!(found.status, 200, "{}", text(&found));
    assert_eq!(found.header("content-type"), Some("application/json"));
    serde_json::from_slice(&found.body).unwrap()
}

#[test]
fn contract_4_7_the_audit_trail_has_a_token_of_its_own() {
    let world = premium();
    assert_not_found(&world.get(AUDIT_TOKEN));
    let own = world.issue(ACME_TOKEN, &json!({}));
    let audit = world.issue(AUDIT_TOKEN, &json!({"expired-at": "2030-01-02T03:04:05Z"}));
    assert_ne!(id(&own), id(&audit));
    assert_eq!(id(&body(&world.get(ACME_TOKEN))), id(&own));
    assert_eq!(id(&body(&world.get(AUDIT_TOKEN))), id(&audit));
    let reader = secret(&audit);
    for target in [
        ACME,
        ACME_TOKEN,
        "/api/v2/organizations/acme/entitlement-set",
    ] {
        assert_not_found(&world.send_as(&reader, Method::Get, target, None));
    }
    assert_eq!(world.status(&reader, Method::Get, TRAIL), 200);
    let listed = world.send_as(&reader, Method::Get, "/api/v2/organizations", None);
    assert_eq!(body(&listed)["data"], json!([]));
    assert_eq!(world.send(Method::Delete, AUDIT_TOKEN, None).status, 204);
    assert_not_found(&world.get(AUDIT_TOKEN));
    assert_eq!(world.status(&reader, Method::Get, TRAIL), 401);
    assert_eq!(world.status(&secret(&own), Method::Get, TRAIL), 200);
}

#[test]
fn l3_contract_4_15_an_event_in_full_has_the_name_that_the_server_gave_the_exchange() {
    let world = premium();
    let own = world.issue(ACME_TOKEN, &json!({}));
    let mut sent = request(Method::Delete, AUDIT_TOKEN, Some(&secret(&own)));
    sent.headers.push("x-request-id", "asked-by-ci");
    world.issue(AUDIT_TOKEN, &json!({}));
    assert_eq!(world.handle(&sent).status, 204);
    let found = trail(&world, &secret(&own), "");
    let events = found["data"].as_array().unwrap();
    let organization = &events[0]["auth"]["organization_id"];
    let is_end = |event: &&Value| event["resource"]["action"] == "destroy";
    let last = events.iter().find(is_end).unwrap();
    let mut expected = json!({
        "version": "0",
        "type": "Resource",
        "auth": {
            "accessor_id": organization,
            "type": "Client",
            "impersonator_id": null,
            "organization_id": organization,
        },
        "request": {"client-request-id": "asked-by-ci"},
        "resource": {"type": "authentication_token", "action": "destroy", "meta": null},
    });
    let (name, resource) = (&last["auth"]["description"], &last["resource"]["id"]);
    assert!(name.as_str().unwrap().starts_with("api-org-"));
    assert!(resource.as_str().unwrap().starts_with("at-"));
    expected["auth"]["description"] = name.clone();
    expected["resource"]["id"] = resource.clone();
    expected["request"]["id"] = last["request"]["id"].clone();
    expected["id"] = last["id"].clone();
    expected["timestamp"] = last["timestamp"].clone();
    assert_eq!(*last, expected);
    assert!(uuid::Uuid::parse_str(last["request"]["id"].as_str().unwrap()).is_ok());
    let time: Timestamp = last["timestamp"].as_str().unwrap().parse().unwrap();
    assert!(time.as_millisecond() > 0);
    assert!(uuid::Uuid::parse_str(last["id"].as_str().unwrap()).is_ok());
    assert!(!found.to_string().contains(&secret(&own)));
}

#[test]
fn contract_4_15_pages_and_moments() {
    let world = premium();
    let own = secret(&world.issue(ACME_TOKEN, &json!({})));
    for _ in 0..5 {
        assert_eq!(world.get(ACME_TOKEN).status, 200);
    }
    let all = trail(&world, &own, "");
    let total = all["data"].as_array().unwrap().len();
    assert!(total >= 7);
    assert_eq!(
        all["pagination"],
        json!({
            "current_page": 1, "prev_page": null, "next_page": null,
            "total_pages": 1, "total_count": total,
        })
    );
    let second = trail(&world, &own, "page[number]=2&page[size]=3");
    assert_eq!(
        second["data"].as_array().unwrap(),
        &all["data"].as_array().unwrap()[3..6]
    );
    assert_eq!(second["pagination"]["prev_page"], 1);
    assert_eq!(second["pagination"]["next_page"], 3);
    assert_eq!(trail(&world, &own, "since=2020-01-01T00:00:00Z"), all);
    let none = trail(&world, &own, "since=2100-01-01T00:00:00Z");
    assert_eq!(none["data"], json!([]));
    let refused = world.send_as(&own, Method::Get, &format!("{TRAIL}?since=soon"), None);
    assert_eq!(refused.status, 422);
}

#[test]
fn contract_1_7_nobody_else_reads_an_audit_trail() {
    let world = premium();
    let external = external_id(&body(&world.get(ACME)));
    let of_team = format!(
        "/api/v2/teams/{}/authentication-token",
        world.owners(&external)
    );
    let of_team = secret(&world.issue(&of_team, &json!({})));
    let all = world.token("all", &[("*", &["read"])]);
    for token in [ROOT, &of_team, &all, &world.user("ada", true)] {
        assert_not_found(&world.send_as(token, Method::Get, TRAIL, None));
    }
    let without = world.handle(&request(Method::Get, TRAIL, None));
    assert_eq!(without.status, 401);
    // The plan does not include it.
    let world = hosted();
    world.create_named("acme");
    let own = secret(&world.issue(ACME_TOKEN, &json!({})));
    assert_not_found(&world.send_as(&own, Method::Get, TRAIL, None));
}

#[test]
fn section_7_elsewhere_the_operator_is_told_each_record_once() {
    let world = self_hosted();
    world.create_named("acme");
    let own = secret(&world.issue(ACME_TOKEN, &json!({})));
    assert_not_found(&world.send_as(&own, Method::Get, TRAIL, None));
    world.server.report_events().unwrap();
    world.server.report_events().unwrap();
    let lines = world.server.operator_lines();
    let mut actions: Vec<String> = lines
        .iter()
        .map(|line| {
            assert!(!line.contains(&own) && !line.contains(ROOT));
            let json = line.strip_prefix("audit trail: ").unwrap();
            let event: Value = serde_json::from_str(json).unwrap();
            assert_eq!(event["auth"]["accessor_id"], "installation");
            let resource = &event["resource"];
            format!("{} {}", resource["type"], resource["action"])
        })
        .collect();
    actions.sort_unstable();
    assert_eq!(
        actions,
        [
            r#""authentication_token" "create""#,
            r#""organization" "create""#,
        ]
    );
}

#[test]
fn section_7_where_the_trail_is_read_the_operator_is_told_of_the_installation_alone() {
    let world = premium();
    world.user("ada", false);
    world.server.report_events().unwrap();
    let lines = world.server.operator_lines();
    let of_users = |line: &&String| line.contains(r#""type":"user""#);
    assert_eq!(lines.iter().filter(of_users).count(), 1, "{lines:?}");
    let of_installation = |line: &String| line.contains(r#""organization_id":null"#);
    assert!(lines.iter().all(of_installation), "{lines:?}");
    let own = secret(&world.issue(ACME_TOKEN, &json!({})));
    let found = trail(&world, &own, "");
    let events = found["data"].as_array().unwrap();
    let is_of_organization = |event: &Value| event["resource"]["type"] == "organization";
    assert!(events.iter().any(is_of_organization));
}
