//! Tokens of people.

use super::*;

#[test]
fn people_make_themselves_tokens_and_so_do_site_administrators_for_them() {
    let world = self_hosted();
    let ada = world.user("ada", false);
    let known = world.store.keys();
    let ada_id = known
        .iter()
        .find_map(|key| key.strip_prefix("tokens-of/"))
        .unwrap();
    let ada_id = ada_id.split_once('/').unwrap().0;
    let target = format!("/api/v2/users/{ada_id}/authentication-tokens");
    let sent = token_document(&json!({"description": "laptop"}));
    let made = world.send_as(&ada, Method::Post, &target, Some(&sent));
    assert_eq!(made.status, 201, "{}", text(&made));
    let made = body(&made);
    // Two calendar years later, on the same day of the month unless that is a leap day.
    let year = |name: &str| -> i32 {
        let time = made["data"]["attributes"][name].as_str().unwrap();
        time[..4].parse().unwrap()
    };
    assert_eq!(year("expired-at"), year("created-at") + 2);
    let creator = json!({"created-by": {"data": {"type": "users", "id": ada_id}}});
    assert_eq!(made["data"]["relationships"], creator);
    let second = secret(&made);
    let listed = body(&world.send_as(&second, Method::Get, &target, None));
    assert_eq!(listed["data"].as_array().unwrap().len(), 2);
    world.issue(&target, &json!({}));

    let eve = world.user("eve", false);
    let by_id = format!("/api/v2/authentication-tokens/{}", id(&made));
    for (method, target) in [
        (Method::Get, &target),
        (Method::Post, &target),
        (Method::Get, &by_id),
        (Method::Delete, &by_id),
    ] {
        assert_not_found(&world.send_as(&eve, method, target, None));
    }
    assert_eq!(world.status(&ada, Method::Get, &by_id), 200);
    assert_eq!(world.status(&ada, Method::Delete, &by_id), 204);
    assert_eq!(world.status(&second, Method::Get, &target), 401);
    let nobody = "/api/v2/users/user-0123456789abcdef/authentication-tokens";
    assert_not_found(&world.send(Method::Post, nobody, Some(&sent)));
}

#[test]
fn a_user_with_as_many_tokens_as_there_can_be_is_told_to_revoke_one() {
    let world = hosted();
    let token = world.user("ada", false);
    let details = body(&world.send_as(&token, Method::Get, "/api/v2/account/details", None));
    let target = format!("/api/v2/users/{}/authentication-tokens", id(&details));
    for _ in 1..100 {
        world.issue(&target, &json!({}));
    }
    let before = world.store.keys();
    let refused = world.send(Method::Post, &target, Some(&token_document(&json!({}))));
    let expected = (
        "/data".to_owned(),
        "There can be at most 100 tokens at a time; revoke one first".to_owned(),
    );
    assert_eq!(faults(&refused), [expected]);
    assert_eq!(world.store.keys(), before);
}
