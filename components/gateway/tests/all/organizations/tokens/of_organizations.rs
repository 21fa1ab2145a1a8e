//! The tokens of an organization and of its audit trail (contract 4.6, 4.7).

use super::*;
use crate::server::NOW;

#[test]
fn contract_4_6_a_token_has_exactly_these_members() {
    let world = self_hosted();
    world.create_named("acme");
    let made = world.send(Method::Post, ACME_TOKEN, Some(&json!({})));
    assert_eq!(made.status, 201, "{}", text(&made));
    let made = body(&made);
    let data = &made["data"];
    assert_eq!(
        keys(data),
        ["attributes", "id", "links", "relationships", "type"]
    );
    assert_eq!(data["type"], "authentication-tokens");
    let attributes = &data["attributes"];
    assert_eq!(
        keys(attributes),
        [
            "created-at",
            "description",
            "expired-at",
            "last-used-at",
            "token"
        ]
    );
    assert_eq!(attributes["description"], Value::Null);
    assert_eq!(attributes["last-used-at"], Value::Null);
    assert_eq!(secret(&made).len(), 90);
    let token_id = id(&made);
    assert!(token_id.starts_with("at-") && token_id.len() == 19);
    assert_eq!(
        data["links"],
        json!({"self": format!("/api/v2/authentication-tokens/{token_id}")})
    );
    let by = json!({"created-by": {"data": {"type": "organizations", "id": "acme"}}});
    assert_eq!(data["relationships"], by);
    let time = |name: &str| -> Timestamp { attributes[name].as_str().unwrap().parse().unwrap() };
    let two_years = |from: Timestamp| {
        let utc = from.to_zoned(jiff::tz::TimeZone::UTC);
        utc.checked_add(2.years()).unwrap().timestamp()
    };
    assert_eq!(time("expired-at"), two_years(time("created-at")));
    assert_eq!(time("created-at").as_second(), i64::try_from(NOW).unwrap());

    let mut shown = made.clone();
    shown["data"]["attributes"]["token"] = Value::Null;
    for target in [
        ACME_TOKEN.to_owned(),
        format!("/api/v2/authentication-tokens/{token_id}"),
    ] {
        let found = world.get(&target);
        assert_eq!((found.status, body(&found)), (200, shown.clone()));
    }
}

#[test]
fn contract_4_6_the_document_may_be_of_any_kind_or_none() {
    let world = self_hosted();
    world.create_named("acme");
    for sent in [
        json!({}),
        json!(null),
        json!({"data": null}),
        json!({"data": {}}),
        json!({"data": {"type": "authentication-token"}}),
        json!({"data": {"type": "authentication-tokens", "attributes": {"created-at": 7, "x": []}}}),
        json!({"data": {"type": "", "attributes": {"expired-at": "", "description": null}}}),
    ] {
        let made = world.send(Method::Post, ACME_TOKEN, Some(&sent));
        assert_eq!(made.status, 201, "{sent}");
        assert_ne!(
            body(&made)["data"]["attributes"]["expired-at"],
            Value::Null,
            "{sent}"
        );
    }
    assert_eq!(world.send(Method::Post, ACME_TOKEN, None).status, 201);
    let tokens = |key: &&String| key.starts_with("token/");
    assert_eq!(world.store.keys().iter().filter(tokens).count(), 1);
}

#[test]
fn contract_4_6_an_end_is_read_in_every_form_and_shown_in_one() {
    let world = self_hosted();
    world.create_named("acme");
    for (sent, shown) in [
        ("2030-01-02T03:04:05Z", "2030-01-02T03:04:05.000Z"),
        ("2030-01-02T03:04:05.678Z", "2030-01-02T03:04:05.678Z"),
        ("2030-01-02T05:04:05+02:00", "2030-01-02T03:04:05.000Z"),
        ("2030-01-02T03:04:05", "2030-01-02T03:04:05.000Z"),
    ] {
        for spelling in ["expired-at", "expired_at", "expiredAt"] {
            let made = world.issue(ACME_TOKEN, &json!({spelling: sent}));
            assert_eq!(made["data"]["attributes"]["expired-at"], shown, "{sent}");
            assert_eq!(world.status(&secret(&made), Method::Get, ACME), 200);
        }
    }
    let before = body(&world.get(ACME_TOKEN));
    for odd in [
        json!("tomorrow"),
        json!("2030-01-02"),
        json!(1_893_553_445),
        json!(true),
        json!(["2030-01-02T03:04:05Z"]),
    ] {
        let sent = token_document(&json!({"expired-at": odd, "description": 5}));
        let refused = world.send(Method::Post, ACME_TOKEN, Some(&sent));
        assert_eq!(
            faults(&refused),
            [
                (
                    "/data/attributes/expired-at".to_owned(),
                    "Expired at is not a valid timestamp".to_owned()
                ),
                (
                    "/data/attributes/description".to_owned(),
                    "Description must be a string".to_owned()
                )
            ]
        );
    }
    assert_eq!(body(&world.get(ACME_TOKEN)), before);
}

#[test]
fn contract_4_6_a_new_token_takes_the_place_of_the_old_one() {
    let world = self_hosted();
    world.create_named("acme");
    assert_not_found(&world.get(ACME_TOKEN));
    assert_not_found(&world.send(Method::Delete, ACME_TOKEN, None));
    let first = world.issue(ACME_TOKEN, &json!({"description": "first"}));
    let second = world.issue(ACME_TOKEN, &json!({"description": "second"}));
    assert_ne!(id(&first), id(&second));
    assert_eq!(world.status(&secret(&first), Method::Get, ACME), 401);
    assert_eq!(world.status(&secret(&second), Method::Get, ACME), 200);
    let shown = body(&world.get(ACME_TOKEN));
    assert_eq!(id(&shown), id(&second));
    assert_eq!(shown["data"]["attributes"]["description"], "second");
    assert_ne!(shown["data"]["attributes"]["last-used-at"], Value::Null);
    let gone = format!("/api/v2/authentication-tokens/{}", id(&first));
    assert_not_found(&world.get(&gone));
    let by_id = format!("/api/v2/authentication-tokens/{}", id(&second));
    assert_eq!(world.send(Method::Delete, &by_id, None).status, 204);
    assert_not_found(&world.get(ACME_TOKEN));
    assert_eq!(world.status(&secret(&second), Method::Get, ACME), 401);
}

#[test]
fn contract_1_7_who_has_to_do_with_the_token_of_an_organization() {
    let world = self_hosted();
    let owner = world.user("ada", false);
    let made = world.send_as(
        &owner,
        Method::Post,
        "/api/v2/organizations",
        Some(&document(
            &json!({"name": "acme", "email": "a@example.com"}),
        )),
    );
    let owners = world.owners(&external_id(&body(&made)));
    let by_owner = world.send_as(&owner, Method::Post, ACME_TOKEN, None);
    let creator = &body(&by_owner)["data"]["relationships"]["created-by"]["data"];
    assert_eq!(creator["type"], "users");
    let own = secret(&body(&by_owner));
    let of_owners = format!("/api/v2/teams/{owners}/authentication-token");
    let of_owners = secret(&world.issue(&of_owners, &json!({})));
    let administrator = world.user("root-of-all", true);
    let by_policy = world.token(
        "tokens",
        &[(
            "organizations/acme/authentication-token",
            &["create", "read", "delete"],
        )],
    );
    for token in [&owner, &of_owners, &administrator, &by_policy] {
        assert_eq!(world.status(token, Method::Get, ACME_TOKEN), 200);
        assert_eq!(world.status(token, Method::Delete, ACME_TOKEN), 204);
        assert_eq!(world.status(token, Method::Post, ACME_TOKEN), 201);
    }
    // The token replaces itself, and is then invalid.
    assert_eq!(world.status(&own, Method::Post, ACME_TOKEN), 401);
    let own = secret(&world.issue(ACME_TOKEN, &json!({})));
    let replaced = world.send_as(&own, Method::Post, ACME_TOKEN, None);
    let creator = &body(&replaced)["data"]["relationships"]["created-by"]["data"];
    assert_eq!(*creator, json!({"type": "organizations", "id": "acme"}));
    assert_eq!(world.status(&own, Method::Get, ACME_TOKEN), 401);

    let stranger = world.user("eve", false);
    let reader = world.token("reader", &[("organizations/acme", &["read", "update"])]);
    let shown = body(&world.get(ACME_TOKEN));
    let by_id = format!("/api/v2/authentication-tokens/{}", id(&shown));
    for token in [&stranger, &reader] {
        for target in [ACME_TOKEN, &by_id] {
            assert_not_found(&world.send_as(token, Method::Get, target, None));
            assert_not_found(&world.send_as(token, Method::Delete, target, None));
        }
        assert_not_found(&world.send_as(token, Method::Post, ACME_TOKEN, None));
    }
    let none = "/api/v2/organizations/none/authentication-token";
    assert_not_found(&world.get(none));
    assert_eq!(body(&world.get(ACME_TOKEN)), shown);
}

#[test]
fn contract_4_7_who_asks_for_a_token_that_there_is_not_does_not_touch_the_ordinary_one() {
    // The plan of the hosted organization includes no audit trail.
    for world in [self_hosted(), hosted()] {
        world.create_named("acme");
        let made = world.issue(ACME_TOKEN, &json!({}));
        let before = world.store.values();
        for other in [
            "audit-trails",
            "audit%2Dtrails",
            "AUDIT-TRAILS",
            "other",
            "",
        ] {
            let asked = format!("{ACME_TOKEN}?token={other}");
            for method in [Method::Get, Method::Post, Method::Delete] {
                assert_not_found(&world.send(method, &asked, None));
            }
        }
        assert_eq!(world.store.values(), before);
        assert_eq!(id(&body(&world.get(ACME_TOKEN))), id(&made));
        assert_eq!(world.status(&secret(&made), Method::Get, ACME), 200);
    }
}

#[test]
fn contract_1_6_an_organization_that_shuts_out_user_tokens_keeps_its_own() {
    let world = self_hosted();
    let owner = world.user("ada", false);
    let sent =
        document(&json!({"name": "acme", "email": "a@example.com", "user-tokens-enabled": false}));
    world.send_as(&owner, Method::Post, "/api/v2/organizations", Some(&sent));
    assert_eq!(world.status(&owner, Method::Get, ACME_TOKEN), 401);
    let own = secret(&world.issue(ACME_TOKEN, &json!({})));
    assert_eq!(world.status(&own, Method::Get, ACME_TOKEN), 200);
}
