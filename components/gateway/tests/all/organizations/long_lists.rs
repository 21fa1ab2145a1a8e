//! The list of organizations without pages, where it is too long for one answer (contract 3.1).

use super::*;

const LIST: &str = "/api/v2/organizations";
/// A number of organizations that needs more than two parts.
const MANY: usize = 1_150;
/// A number of organizations that no part reaches: fewer than enough for a part, plus one batch.
const MOST_IN_A_PART: usize = 900;
/// A number of bytes that no organization with its included resources reaches.
const BYTES_OF_ONE: usize = 6_000;

fn name(number: usize) -> String {
    format!("org-{number:04}")
}

fn crowded() -> World {
    let world = hosted();
    for number in 0..MANY {
        world.create_named(&name(number));
    }
    world
}

/// An answer that is read part by part.
struct Reading<'w> {
    world: &'w World,
    request: Request,
    received: Vec<u8>,
    rest: Option<Vec<u8>>,
    parts: usize,
}

impl<'w> Reading<'w> {
    fn begin(world: &'w World, token: &str, query: &str) -> Self {
        let request = request(Method::Get, &format!("{LIST}{query}"), Some(token));
        let response = world.handle(&request);
        assert_eq!(response.status, 200, "{}", text(&response));
        let announced = response
            .fields()
            .iter()
            .any(|(field, _)| field == "content-length");
        assert_eq!(announced, response.rest.is_none());
        assert_bounded(&response.body);
        Self {
            world,
            request,
            received: response.body,
            rest: response.rest.map(|rest| rest.continuation),
            parts: 1,
        }
    }

    fn next(&mut self) -> Result<(), ResumeError> {
        let continuation = self.rest.take().unwrap();
        let Part { body, rest } = self.world.resume(&self.request, &continuation)?;
        assert_bounded(&body);
        self.received.extend(body);
        self.rest = rest.map(|rest| rest.continuation);
        self.parts += 1;
        Ok(())
    }

    fn whole(mut self) -> Value {
        while self.rest.is_some() {
            self.next().unwrap();
        }
        serde_json::from_slice(&self.received).unwrap()
    }
}

/// A part is short, no matter how long the list is.
#[track_caller]
fn assert_bounded(part: &[u8]) {
    assert!(
        part.len() <= MOST_IN_A_PART * BYTES_OF_ONE,
        "{} bytes in a part",
        part.len()
    );
}

fn ids(list: &Value) -> Vec<&str> {
    let items = list.as_array().unwrap().iter();
    items.map(|item| item["id"].as_str().unwrap()).collect()
}

#[test]
fn contract_3_1_a_long_list_is_complete_and_comes_in_parts() {
    let world = crowded();
    let mut reading = Reading::begin(&world, ROOT, "");
    reading.next().unwrap();
    assert!(reading.rest.is_some(), "three parts at least");
    let list = reading.whole();
    let expected: Vec<String> = (0..MANY).map(name).collect();
    assert_eq!(ids(&list["data"]), expected);
    assert_eq!(list.as_object().unwrap().len(), 1, "no links and no meta");

    let filtered = Reading::begin(&world, ROOT, "?q=g-00");
    assert_eq!(filtered.rest, None, "what is short comes at once");
    assert_eq!(ids(&filtered.whole()["data"]).len(), 100);
    let filtered = Reading::begin(&world, ROOT, "?q=ORG-").whole();
    assert_eq!(ids(&filtered["data"]), expected);
}

#[test]
fn contract_2_6_a_long_list_includes_each_resource_once() {
    let world = crowded();
    let list = Reading::begin(&world, ROOT, "?include=entitlement-set,subscription").whole();
    let of_type = |kind: &str| -> Vec<&str> {
        let included = list["included"].as_array().unwrap().iter();
        let found = included.filter(|item| item["type"] == kind);
        found.map(|item| item["id"].as_str().unwrap()).collect()
    };
    let data = list["data"].as_array().unwrap().iter();
    let external: Vec<_> = data
        .map(|item| item["attributes"]["external-id"].as_str().unwrap())
        .collect();
    assert_eq!(external.len(), MANY);
    assert_eq!(of_type("entitlement-sets"), external);
    assert_eq!(of_type("subscriptions").len(), MANY);
    assert_eq!(of_type("feature-sets").len(), 1);
}

#[test]
fn contract_3_1_what_exists_throughout_is_listed_once_while_others_come_and_go() {
    let world = crowded();
    let mut reading = Reading::begin(&world, ROOT, "");
    let mut kept: Vec<String> = (0..MANY).map(name).collect();
    // One organization in the first part, the two around the position where the next part begins, and one in a later part.
    for number in [3, 499, 500, 1_100] {
        let target = format!("{LIST}/{}", name(number));
        assert_eq!(world.send(Method::Delete, &target, None).status, 204);
        kept.retain(|kept| *kept != name(number));
    }
    for added in ["org-0002-a", "org-0700-a"] {
        world.create_named(added);
    }
    reading.next().unwrap();
    let list = reading.whole();
    let found = ids(&list["data"]);
    for kept in &kept {
        let times = found.iter().filter(|found| *found == kept).count();
        assert_eq!(times, 1, "{kept}");
    }
    assert!(found.contains(&"org-0700-a") && !found.contains(&"org-1100"));
}

#[test]
fn each_part_of_a_long_list_asks_anew_what_the_caller_may_see() {
    let world = crowded();
    let token = world.token("reader", &[("organizations/org-*", &["read"])]);
    let mut reading = Reading::begin(&world, &token, "");
    // The policy now denies the organizations with numbers in the 700s.
    world.token(
        "reader",
        &[
            ("organizations/org-*", &["read"]),
            ("organizations/org-07*", &["deny"]),
        ],
    );
    reading.next().unwrap();
    let list = reading.whole();
    let found = ids(&list["data"]);
    assert_eq!(found.len(), MANY - 100);
    assert!(!found.contains(&"org-0700"));

    let mut reading = Reading::begin(&world, &token, "");
    let revoke = request(Method::Post, "/v1/auth/token/revoke-self", Some(&token));
    assert_eq!(world.handle(&revoke).status, 204);
    assert_eq!(reading.next(), Err(ResumeError::Refused));
}

#[test]
fn a_long_list_ends_with_the_token_of_the_user_who_reads_it() {
    let world = crowded();
    let token = world.user("reader", true);
    let mut reading = Reading::begin(&world, &token, "");
    reading.next().unwrap();
    let details = body(&world.send_as(&token, Method::Get, "/api/v2/account/details", None));
    let id = details["data"]["id"].as_str().unwrap();
    let target = format!("/api/v2/users/{id}/authentication-tokens");
    let tokens = body(&world.send_as(&token, Method::Get, &target, None));
    let own = tokens["data"][0]["id"].as_str().unwrap();
    let target = format!("/api/v2/authentication-tokens/{own}");
    let revoked = world.send_as(&token, Method::Delete, &target, None);
    assert_eq!(revoked.status, 204, "{}", text(&revoked));
    assert_eq!(reading.next(), Err(ResumeError::Refused));
}

#[test]
fn what_a_user_leaves_while_a_long_list_is_read_is_not_in_its_later_parts() {
    let world = hosted();
    let token = world.user("reader", false);
    for number in 0..MANY {
        let sent = document(&json!({"name": name(number), "email": "ops@example.com"}));
        let made = world.send_as(&token, Method::Post, LIST, Some(&sent));
        assert_eq!(made.status, 201, "{}", text(&made));
    }
    let mut reading = Reading::begin(&world, &token, "");
    // The user leaves one organization that was listed and one of a later part. Another owner stays in each.
    for number in [7, 800] {
        let memberships = format!("{LIST}/{}/organization-memberships", name(number));
        let teams = body(&world.get(&format!("{LIST}/{}/teams", name(number))));
        let owners = teams["data"][0]["id"].as_str().unwrap();
        let other = world.user(&format!("other-{number}"), false);
        let invited = json!({"data": {"type": "organization-memberships",
            "attributes": {"email": format!("other-{number}@example.com"), "status": "active"},
            "relationships": {"teams": {"data": [{"id": owners, "type": "teams"}]}}}});
        let joined = world.send(Method::Post, &memberships, Some(&invited));
        assert_eq!(joined.status, 201, "{}", text(&joined));
        let own = body(&world.send_as(
            &other,
            Method::Get,
            &format!("{memberships}?q=reader%40"),
            None,
        ));
        let own = own["data"][0]["id"].as_str().unwrap();
        let target = format!("/api/v2/organization-memberships/{own}");
        let left = world.send_as(&token, Method::Delete, &target, None);
        assert_eq!(left.status, 204, "{}", text(&left));
    }
    reading.next().unwrap();
    let list = reading.whole();
    let expected: Vec<String> = (0..MANY).filter(|it| *it != 800).map(name).collect();
    assert_eq!(ids(&list["data"]), expected);
}

#[test]
fn t4_further_parts_take_no_use_of_a_token_and_end_with_it() {
    let world = crowded();
    let rules: [(&str, &[&str]); 1] = [("organizations/*", &["read"])];
    let token = world.token_with_uses("reader", &rules, Some(3));
    let token = token.as_str();
    let list = Reading::begin(&world, token, "").whole();
    assert_eq!(ids(&list["data"]).len(), MANY);
    let mut reading = Reading::begin(&world, token, "");
    reading.next().unwrap();
    // The third use is the last.
    assert_eq!(
        world
            .send_as(token, Method::Get, "/api/v2/organizations/org-0001", None)
            .status,
        200
    );
    assert_eq!(reading.next(), Err(ResumeError::Refused));
}

#[test]
fn a_continuation_leads_to_nothing_but_the_rest_of_its_own_list() {
    let world = crowded();
    let reading = Reading::begin(&world, ROOT, "");
    let continuation = reading.rest.unwrap();
    for target in [
        "/api/v2/organizations/org-0001",
        "/api/v2/ping",
        "/v1/sys/auth",
        "/api/v2/%zz",
    ] {
        let other = request(Method::Get, target, Some(ROOT));
        let refused = world.resume(&other, &continuation);
        assert_eq!(refused, Err(ResumeError::Foreign), "{target}");
    }
    let list = |token| request(Method::Get, LIST, token);
    for garbage in [
        &b""[..],
        b"{}",
        b"null",
        b"\xff",
        b"{\"organizations\":{\"after\":3}}",
    ] {
        let refused = world.resume(&list(Some(ROOT)), garbage);
        assert_eq!(refused, Err(ResumeError::Foreign));
    }
    let nobody = world.resume(&list(None), &continuation);
    assert_eq!(nobody, Err(ResumeError::Refused));
    // A caller with fewer rights sees fewer organizations.
    let token = world.token("one", &[("organizations/org-1100", &["read"])]);
    let part = world.resume(&list(Some(&token)), &continuation).unwrap();
    let part = String::from_utf8(part.body).unwrap();
    assert_eq!(part.matches("\"type\":\"organizations\"").count(), 1);

    let head = world.handle(&request(Method::Head, LIST, Some(ROOT)));
    assert_eq!((head.body.len(), head.rest), (0, None));
}
