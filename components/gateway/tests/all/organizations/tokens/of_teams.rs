//! Tokens of teams (contract 4.10).

use super::*;

/// A world with one organization, and the paths of the tokens of its owners.
fn with_owners() -> (World, String, String) {
    let world = self_hosted();
    let owners = world.owners(&external_id(&world.create_named("acme")));
    let one = format!("/api/v2/teams/{owners}/authentication-token");
    let many = format!("/api/v2/teams/{owners}/authentication-tokens");
    (world, one, many)
}

#[test]
fn contract_4_10_a_team_has_one_token_without_a_name() {
    let (world, one, _) = with_owners();
    assert_not_found(&world.get(&one));
    assert_not_found(&world.send(Method::Delete, &one, None));
    let first = world.issue(&one, &json!({}));
    let second = world.issue(&one, &json!({"expired-at": "2030-01-02T03:04:05Z"}));
    assert_eq!(world.status(&secret(&first), Method::Get, ACME), 401);
    assert_eq!(world.status(&secret(&second), Method::Get, ACME), 200);
    let mut shown = second.clone();
    shown["data"]["attributes"]["token"] = Value::Null;
    let found = body(&world.get(&one));
    shown["data"]["attributes"]["last-used-at"] =
        found["data"]["attributes"]["last-used-at"].clone();
    assert_eq!(found, shown);
    assert_eq!(world.send(Method::Delete, &one, None).status, 204);
    assert_not_found(&world.get(&one));
    assert_eq!(world.status(&secret(&second), Method::Get, ACME), 401);
}

#[test]
fn contract_4_10_tokens_with_descriptions_stand_side_by_side() {
    let (world, one, many) = with_owners();
    let nameless = world.issue(&one, &json!({}));
    let first = world.issue(&many, &json!({"description": "ci"}));
    let second = world.issue(&many, &json!({"description": "CI"}));
    let blank = world.issue(&many, &json!({"description": ""}));
    assert_eq!(blank["data"]["attributes"]["description"], "");
    for token in [&nameless, &first, &second, &blank] {
        assert_eq!(world.status(&secret(token), Method::Get, ACME), 200);
        let team = &token["data"]["relationships"]["team"]["data"];
        assert_eq!(team["type"], "teams");
        assert!(many.contains(team["id"].as_str().unwrap()));
    }
    let fault = |detail: &str| ("/data/attributes/description".to_owned(), detail.to_owned());
    for (description, detail) in [
        (
            json!("ci"),
            "Validation failed: Description has already been taken",
        ),
        (
            json!(""),
            "Validation failed: Description has already been taken",
        ),
        (json!(null), "Description can't be blank"),
        (
            json!("x".repeat(256)),
            "Description is too long (maximum is 255 characters)",
        ),
    ] {
        let sent = token_document(&json!({"description": description}));
        let refused = world.send(Method::Post, &many, Some(&sent));
        assert_eq!(faults(&refused), [fault(detail)]);
        let title = match detail.starts_with("Validation failed: ") {
            true => "invalid attributes",
            false => "invalid attribute",
        };
        assert_eq!(body(&refused)["errors"][0]["title"], title);
    }
    let listed = body(&world.get(&many));
    assert_eq!(listed["meta"]["pagination"]["total-count"], 3);
    let mut ids = [id(&first), id(&second), id(&blank)];
    let data = listed["data"].as_array().unwrap();
    let mut found: Vec<&str> = data.iter().map(|one| one["id"].as_str().unwrap()).collect();
    found.sort_unstable();
    ids.sort_unstable();
    assert_eq!(found, ids);
    assert!(data.iter().all(|one| one["attributes"]["token"].is_null()));
    // A description is free again once its token is revoked.
    let by_id = format!("/api/v2/authentication-tokens/{}", id(&first));
    assert_eq!(world.send(Method::Delete, &by_id, None).status, 204);
    assert_eq!(world.status(&secret(&first), Method::Get, ACME), 401);
    world.issue(&many, &json!({"description": "ci"}));
}

#[test]
fn contract_4_10_all_tokens_of_all_teams() {
    let (world, one, many) = with_owners();
    world.issue(ACME_TOKEN, &json!({}));
    let nameless = world.issue(&one, &json!({"expired-at": "2031-01-01T00:00:00Z"}));
    let named = world.issue(
        &many,
        &json!({"description": "ci", "expired-at": "2030-01-01T00:00:00Z"}),
    );
    let listed = |query: &str| {
        let found = body(&world.get(&format!("{ACME}/team-tokens?{query}")));
        let data = found["data"].as_array().unwrap().clone();
        let ids = data
            .iter()
            .map(|one| one["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(listed("sort=expired-at"), [id(&named), id(&nameless)]);
    assert_eq!(listed("sort=-expired-at"), [id(&nameless), id(&named)]);
    assert_eq!(listed("q=OWN").len(), 2);
    assert_eq!(listed("q=other"), [""; 0]);
    assert_eq!(listed("sort=-expired-at&page[size]=1"), [id(&nameless)]);
    assert_eq!(listed("sort=anything").len(), 2);
}

#[test]
fn contract_1_7_nobody_but_owners_speaks_for_the_owners() {
    let (world, one, many) = with_owners();
    let shown = world.issue(&one, &json!({}));
    let own = secret(&world.issue(ACME_TOKEN, &json!({})));
    let by_policy = world.token(
        "teams",
        &[(
            "organizations/acme/*",
            &["create", "read", "update", "delete"],
        )],
    );
    let by_id = format!("/api/v2/authentication-tokens/{}", id(&shown));
    let named = token_document(&json!({"description": "mine"}));
    for token in [&own, &by_policy, &world.user("eve", false)] {
        for (method, target) in [
            (Method::Get, &one),
            (Method::Post, &one),
            (Method::Delete, &one),
            (Method::Get, &many),
            (Method::Get, &by_id),
            (Method::Delete, &by_id),
        ] {
            assert_not_found(&world.send_as(token, method, target, None));
        }
        assert_not_found(&world.send_as(token, Method::Post, &many, Some(&named)));
    }
    // The token of the owners may do it.
    let of_owners = secret(&shown);
    assert_eq!(world.status(&of_owners, Method::Get, &one), 200);
    let list = format!("{ACME}/team-tokens");
    assert_eq!(world.status(&own, Method::Get, &list), 200);
}

#[test]
fn what_is_no_team_has_no_tokens() {
    let (world, _, _) = with_owners();
    let token = id(&world.issue(ACME_TOKEN, &json!({})));
    for odd in [token.as_str(), "team-0123456789abcdef", "x", "owners"] {
        for place in ["authentication-token", "authentication-tokens"] {
            let target = format!("/api/v2/teams/{odd}/{place}");
            let sent = token_document(&json!({"description": "x"}));
            assert_not_found(&world.send(Method::Post, &target, Some(&sent)));
            assert_not_found(&world.get(&target));
        }
    }
}

#[test]
fn a6_policies_about_teams_make_no_token_of_the_owners() {
    let (world, one, many) = with_owners();
    let rules: &[(&str, &[&str])] = &[
        ("organizations/acme", &["read", "update"]),
        (
            "organizations/acme/teams/*",
            &["create", "read", "update", "delete"],
        ),
    ];
    let token = world.token("teams", rules);
    let before = world.store.values();
    for target in [&one, &many] {
        let sent = json!({"data": {"type": "authentication-tokens", "attributes": {"description": "mine"}}});
        assert_not_found(&world.send_as(&token, Method::Post, target, Some(&sent)));
    }
    assert_eq!(world.store.values(), before);
}
