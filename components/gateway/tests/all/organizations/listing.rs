//! The list of organizations on the wire.

use super::*;

const LIST: &str = "/api/v2/organizations";

fn names(list: &Value) -> Vec<&str> {
    let data = list["data"].as_array().unwrap();
    data.iter()
        .map(|item| item["id"].as_str().unwrap())
        .collect()
}

fn numbered(world: &World, count: usize) {
    for number in 0..count {
        world.create_named(&format!("org-{number:02}"));
    }
}

#[test]
fn contract_3_1_without_page_parameters_the_list_is_whole_and_bare() {
    let world = hosted();
    assert_eq!(body(&world.get(LIST)), json!({"data": []}));
    numbered(&world, 25);
    let list = body(&world.get(&format!("{LIST}?sort=name&fields[organizations]=x&frob=1")));
    assert_eq!(names(&list).len(), 25);
    assert_eq!((list.get("links"), list.get("meta")), (None, None));
}

#[test]
fn contract_3_3_the_envelope_of_a_page() {
    let world = hosted();
    numbered(&world, 25);
    let page = body(&world.get(&format!("{LIST}?q=org&page[number]=2")));
    assert_eq!(
        names(&page),
        ["org-20", "org-21", "org-22", "org-23", "org-24"]
    );
    let expected = json!({
        "current-page": 2, "page-size": 20, "prev-page": 1, "next-page": null,
        "total-pages": 2, "total-count": 25,
    });
    assert_eq!(page["meta"]["pagination"], expected);
    let link = |number: u32| {
        format!("http://gatehouse.example{LIST}?q=org&page%5Bnumber%5D={number}&page%5Bsize%5D=20")
    };
    let expected = json!({
        "self": link(2), "first": link(1), "prev": link(1), "next": null, "last": link(2),
    });
    assert_eq!(page["links"], expected);
}

#[test]
fn contract_3_3_beyond_the_last_page_and_without_any_hit() {
    let world = hosted();
    numbered(&world, 3);
    let beyond = body(&world.get(&format!("{LIST}?page[number]=9&page[size]=2")));
    let expected = json!({
        "current-page": 9, "page-size": 2, "prev-page": null, "next-page": null,
        "total-pages": 2, "total-count": 3,
    });
    assert_eq!(beyond["meta"]["pagination"], expected);
    assert_eq!(beyond["data"], json!([]));
    let nothing = world.get(&format!("{LIST}?q=none&page[number]=9"));
    assert_eq!(nothing.status, 200);
    let expected = json!({
        "current-page": 1, "page-size": 20, "prev-page": null, "next-page": null,
        "total-pages": 1, "total-count": 0,
    });
    assert_eq!(body(&nothing)["meta"]["pagination"], expected);
}

#[test]
fn contract_3_1_filters_on_the_wire() {
    let world = hosted();
    world.create(&json!({"name": "Acme", "email": "ops@one.example"}));
    world.create(&json!({"name": "globex", "email": "acme@two.example"}));
    for (query, expected) in [
        ("q=ACME", vec!["Acme", "globex"]),
        ("q[name]=ac", vec!["Acme"]),
        ("q%5Bemail%5D=ac", vec!["globex"]),
        ("q[name]=ac&q[email]=two", vec![]),
        ("q=two&q[name]=acme", vec!["globex"]),
        ("q=", vec!["Acme", "globex"]),
        ("q=%25", vec![]),
    ] {
        assert_eq!(
            names(&body(&world.get(&format!("{LIST}?{query}")))),
            expected,
            "{query}"
        );
    }
}

#[test]
fn contract_2_6_a_list_includes_one_set_for_each() {
    let world = hosted();
    numbered(&world, 3);
    let list = body(&world.get(&format!("{LIST}?include=entitlement_set&page[size]=2")));
    let included = list["included"].as_array().unwrap();
    assert_eq!(included.len(), 2);
    for (set, item) in included.iter().zip(list["data"].as_array().unwrap()) {
        assert_eq!(set["id"], item["attributes"]["external-id"]);
    }
    assert_eq!(
        world.get(&format!("{LIST}?include=default-project")).status,
        400
    );
}

#[test]
fn contract_1_7_others_see_only_what_they_may_read() {
    let world = hosted();
    numbered(&world, 25);
    let token = world.token(
        "some",
        &[
            ("organizations/org-1*", &["read"]),
            ("organizations/org-15", &["deny"]),
            ("organizations/org-03", &["read", "update", "delete"]),
            ("organizations/org-04", &["update"]),
            ("organizations/org-10", &["read", "update"]),
        ],
    );
    let list = |query: &str| {
        let target = format!("{LIST}{query}");
        body(&world.send_as(&token, Method::Get, &target, None))
    };
    let all = list("");
    let seen = names(&all);
    assert_eq!(seen.len(), 10);
    assert_eq!((seen[0], seen[1]), ("org-03", "org-10"));
    assert!(!seen.contains(&"org-15") && !seen.contains(&"org-04"));
    let permission = |item: &Value| item["attributes"]["permissions"]["can-update"].clone();
    assert_eq!(permission(&all["data"][0]), true);
    assert_eq!(permission(&all["data"][1]), false);

    let page = list("?page[number]=2&page[size]=4");
    assert_eq!(names(&page), ["org-13", "org-14", "org-16", "org-17"]);
    assert_eq!(page["meta"]["pagination"]["total-count"], 10);
    assert_eq!(page["meta"]["pagination"]["total-pages"], 3);

    let nobody = world.token("nothing", &[("sys/none", &["read"])]);
    let empty = world.send_as(&nobody, Method::Get, LIST, None);
    assert_eq!((empty.status, body(&empty)), (200, json!({"data": []})));
}

#[test]
fn policies_are_not_asked_about_what_a_site_administrator_lists() {
    for world in [hosted(), self_hosted()] {
        numbered(&world, 3);
        let reads_of_access = |target: &str| {
            let before = world.server.access_store.reads();
            assert_eq!(world.get(target).status, 200, "{target}");
            world.server.access_store.reads() - before
        };
        // One organization takes what identifies the caller, and nothing else.
        let for_one = reads_of_access(&format!("{LIST}/org-00"));
        assert_ne!(for_one, 0);
        for query in ["", "?page[number]=1", "?q=org-0"] {
            let for_list = reads_of_access(&format!("{LIST}{query}"));
            assert_eq!(for_list, for_one, "{query}");
        }
    }
}

#[test]
fn contract_1_7_a_list_has_what_its_token_belongs_to() {
    let world = hosted();
    let ada = world.user("ada", false);
    let sent = document(&json!({"name": "adas", "email": "ops@example.com"}));
    world.send_as(&ada, Method::Post, LIST, Some(&sent));
    for name in ["acme", "team-a", "team-b", "team-secret"] {
        world.create_named(name);
    }
    let listed = |token: &str, query: &str| {
        let answer = world.send_as(token, Method::Get, &format!("{LIST}{query}"), None);
        assert_eq!(answer.status, 200, "{}", text(&answer));
        let answer = body(&answer);
        let total = answer["meta"]["pagination"]["total-count"].clone();
        let found: Vec<_> = answer["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["id"].as_str().unwrap().to_owned())
            .collect();
        (found, total)
    };
    let bob = world.user("bob", false);
    let administrator = world.user("admin", true);
    let team = world.token("team", &[("organizations/team-*", &["read"])]);
    let bounded = world.token(
        "bounded",
        &[
            ("organizations/team-*", &["read"]),
            ("organizations/team-secret", &["deny"]),
            ("organizations/acme", &["read", "update"]),
        ],
    );
    let wildcard = world.token("wildcard", &[("organizations/+", &["read"])]);
    let page = "?page[size]=2";
    let all: &[&str] = &["acme", "adas", "team-a", "team-b", "team-secret"];
    for (token, expected) in [
        (&ada, &["adas"][..]),
        (&bob, &[]),
        (&administrator, all),
        (&team, &["team-a", "team-b", "team-secret"]),
        (&bounded, &["acme", "team-a", "team-b"]),
        (&wildcard, all),
    ] {
        assert_eq!(listed(token, "").0, expected);
        let first: Vec<_> = expected.iter().take(2).copied().collect();
        let (found, total) = listed(token, page);
        assert_eq!(
            (found, total),
            (
                first.iter().map(|name| (*name).to_owned()).collect(),
                json!(expected.len())
            )
        );
    }
    assert_eq!(listed(&team, "?q=B").0, ["team-b"]);
}

#[test]
fn contract_1_7_a_list_shows_nothing_that_a_wildcard_denies() {
    let world = hosted();
    for name in ["acme", "globex"] {
        world.create_named(name);
    }
    let all: &[&str] = &["acme", "globex"];
    let read: &[&str] = &["read"];
    for (number, (rules, expected)) in [
        (
            [("organizations/*", read), ("organizations/+", &["deny"])],
            &[][..],
        ),
        (
            [("organizations/*", read), ("organizations/+", &["create"])],
            &[],
        ),
        ([("*", read), ("+/acme", &["deny"])], &["globex"]),
        ([("sys/none", read), ("+/acme", read)], &["acme"]),
        (
            [
                ("organizations/*", read),
                ("organizations/+/teams", &["deny"]),
            ],
            all,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let token = world.token(&format!("policy-{number}"), &rules);
        for query in ["", "?page[size]=5"] {
            let target = format!("{LIST}{query}");
            let listed = body(&world.send_as(&token, Method::Get, &target, None));
            assert_eq!(names(&listed), expected, "{rules:?}");
        }
        for name in all {
            let target = format!("{LIST}/{name}");
            let shown = world.send_as(&token, Method::Get, &target, None);
            assert_eq!(
                shown.status == 200,
                expected.contains(name),
                "{rules:?} {name}"
            );
        }
    }
}
