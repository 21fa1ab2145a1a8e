//! Agent pools on the wire, and as default pools of organizations (contract 4.9, 2.8).

use super::*;

const ACME: &str = "/api/v2/organizations/acme";
const POOLS: &str = "/api/v2/organizations/acme/agent-pools";

fn pool_document(attributes: &Value) -> Value {
    json!({"data": {"type": "agent-pools", "attributes": attributes}})
}

impl World {
    fn create_pool(&self, organization: &str, name: &str) -> Value {
        let target = format!("/api/v2/organizations/{organization}/agent-pools");
        let sent = pool_document(&json!({"name": name}));
        let made = self.send(Method::Post, &target, Some(&sent));
        assert_eq!(made.status, 201, "{}", text(&made));
        body(&made)["data"].clone()
    }

    /// The token of an organization.
    fn organization_token(&self, organization: &str) -> String {
        let target = format!("/api/v2/organizations/{organization}/authentication-token");
        let made = body(&self.send(Method::Post, &target, Some(&json!({}))));
        let token = made["data"]["attributes"]["token"].as_str().unwrap();
        token.to_owned()
    }
}

fn id(pool: &Value) -> &str {
    pool["id"].as_str().unwrap()
}

fn path(pool: &Value) -> String {
    format!("/api/v2/agent-pools/{}", id(pool))
}

fn names(list: &Value) -> Vec<&str> {
    let pools = list["data"].as_array().unwrap().iter();
    pools
        .map(|pool| pool["attributes"]["name"].as_str().unwrap())
        .collect()
}

#[test]
fn contract_4_9_a_pool_has_exactly_this_document_from_every_route() {
    let world = hosted();
    world.create_named("Acme");
    let pool = world.create_pool("acme", "Cool-pool");
    let created_at = pool["attributes"]["created-at"].as_str().unwrap();
    assert!(created_at.ends_with('Z') && created_at.len() == 24);
    let self_link = path(&pool);
    let expected = json!({
        "id": id(&pool),
        "type": "agent-pools",
        "attributes": {
            "name": "Cool-pool",
            "created-at": created_at,
            "organization-scoped": true,
            "agent-count": 0,
        },
        "relationships": {
            "organization": {
                "data": {"id": "Acme", "type": "organizations"},
                "links": {"related": "/api/v2/organizations/Acme"},
            },
            "agents": {"links": {"related": format!("{self_link}/agents")}},
            "authentication-tokens": {
                "links": {"related": format!("{self_link}/authentication-tokens")},
            },
            "workspaces": {"data": []},
            "allowed-workspaces": {"data": []},
            "allowed-projects": {"data": []},
            "excluded-workspaces": {"data": []},
        },
        "links": {"self": self_link},
    });
    assert_eq!(pool, expected);
    let shown = body(&world.get(&self_link));
    assert_eq!(shown, json!({"data": expected}));
    assert_eq!(body(&world.get(POOLS))["data"], json!([expected]));
    let unchanged = world.send(Method::Patch, &self_link, Some(&json!({"data": {}})));
    assert_eq!((unchanged.status, body(&unchanged)), (200, shown));
}

#[test]
fn contract_4_9_an_update_is_partial_and_a_delete_is_final() {
    let world = hosted();
    world.create_named("acme");
    let pool = world.create_pool("acme", "pool");
    let target = path(&pool);
    let update = |attributes: Value| {
        let updated = world.send(Method::Patch, &target, Some(&pool_document(&attributes)));
        assert_eq!(updated.status, 200, "{}", text(&updated));
        body(&updated)["data"]["attributes"].clone()
    };
    let narrowed = update(json!({"organization_scoped": false}));
    assert_eq!(narrowed["organization-scoped"], false);
    assert_eq!(narrowed["name"], "pool");
    let renamed = update(json!({"name": "lake", "agent-count": 7, "created-at": "x"}));
    assert_eq!(renamed["organization-scoped"], false);
    assert_eq!(renamed["agent-count"], 0);
    assert_eq!(renamed["name"], "lake");
    let deleted = world.send(Method::Delete, &target, None);
    assert_eq!((deleted.status, deleted.body.len()), (204, 0));
    assert_not_found(&world.send(Method::Delete, &target, None));
    assert_not_found(&world.get(&target));
    assert_not_found(&world.get(&format!("{target}/agents")));
}

#[test]
fn contract_4_9_every_fault_is_told_with_its_pointer_and_nothing_is_stored() {
    let world = hosted();
    world.create_named("acme");
    world.create_pool("acme", "Taken");
    let pool = world.create_pool("acme", "other");
    let before = world.store.values();
    let target = path(&pool);
    let name = "/data/attributes/name";
    for (attributes, detail) in [
        (json!({"name": "tAKEN"}), "Name has already been taken"),
        (json!({"name": null}), "Name can't be blank"),
        (json!({"name": ""}), "Name can't be blank"),
        (json!({"name": 7}), "Name must be a string"),
        (
            json!({"name": "a b"}),
            "Name can only include letters, numbers, -, and _.",
        ),
        (
            json!({"name": "n".repeat(91)}),
            "Name is too long (maximum is 90 characters)",
        ),
    ] {
        let sent = pool_document(&attributes);
        for (method, target) in [(Method::Post, POOLS), (Method::Patch, target.as_str())] {
            let refused = faults(&world.send(method, target, Some(&sent)));
            assert_eq!(refused, [(name.to_owned(), detail.to_owned())]);
        }
    }
    let nothing = world.send(Method::Post, POOLS, Some(&json!({"data": {}})));
    assert_eq!(faults(&nothing)[0].1, "Name can't be blank");
    let both = pool_document(&json!({"organization-scoped": 1}));
    let scoped = "/data/attributes/organization-scoped";
    let expected = [
        (name.to_owned(), "Name can't be blank".to_owned()),
        (
            scoped.to_owned(),
            "Organization scoped must be true or false".to_owned(),
        ),
    ];
    let refused = world.send(Method::Post, POOLS, Some(&both));
    assert_eq!(faults(&refused), expected);
    let garbage = with_body(
        request(Method::Post, POOLS, Some(ROOT)),
        Some(JSON_API),
        "{",
    );
    assert_eq!(world.handle(&garbage).status, 400);
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_4_9_the_list_is_always_in_pages_and_counts_what_matches() {
    let world = hosted();
    world.create_named("acme");
    for name in ["beta", "Alpha", "gamma"] {
        world.create_pool("acme", name);
    }
    let list = |query: &str| {
        let found = world.get(&format!("{POOLS}?{query}"));
        assert_eq!(found.status, 200, "{}", text(&found));
        body(&found)
    };
    let all = list("");
    assert_eq!(names(&all), ["Alpha", "beta", "gamma"]);
    let expected = json!({
        "pagination": {
            "current-page": 1, "page-size": 20, "prev-page": null, "next-page": null,
            "total-pages": 1, "total-count": 3,
        },
        "status-counts": {"total": 3, "matching": 3},
    });
    assert_eq!(all["meta"], expected);
    assert_eq!(all.get("included"), None);
    for (query, expected) in [
        ("sort=-name", vec!["gamma", "beta", "Alpha"]),
        ("sort=name", vec!["Alpha", "beta", "gamma"]),
        ("sort=frob", vec!["Alpha", "beta", "gamma"]),
        ("q=A&sort=-name&page[size]=2", vec!["gamma", "beta"]),
        (
            "filter[allowed_workspaces][name]=w",
            vec!["Alpha", "beta", "gamma"],
        ),
    ] {
        assert_eq!(names(&list(query)), expected, "{query}");
    }
    for query in ["sort=created-at", "sort=-created-at"] {
        assert_eq!(names(&list(query)).len(), 3);
    }
    let matching = list("q=LPH&page[size]=1");
    assert_eq!(names(&matching), ["Alpha"]);
    assert_eq!(matching["meta"]["pagination"]["total-count"], 1);
    let counts = json!({"total": 3, "matching": 1});
    assert_eq!(matching["meta"]["status-counts"], counts);
    let self_link = matching["links"]["self"].as_str().unwrap();
    assert!(self_link.ends_with("/agent-pools?q=LPH&page%5Bnumber%5D=1&page%5Bsize%5D=1"));
    let beyond = list("page[number]=999&page[size]=100");
    assert_eq!(names(&beyond), [""; 0]);
    assert_eq!(beyond["meta"]["pagination"]["current-page"], 999);
    assert_eq!(beyond["meta"]["pagination"]["total-count"], 3);
    assert_eq!(list("include=workspaces")["included"], json!([]));
    let refused = world.get(&format!("{POOLS}?include=teams"));
    assert_eq!(refused.status, 400);
}

#[test]
fn contract_4_9_a_pool_has_no_agents_in_pages() {
    let world = self_hosted();
    world.create_named("acme");
    let pool = world.create_pool("acme", "pool");
    let agents = body(&world.get(&format!("{}/agents", path(&pool))));
    assert_eq!(agents["data"], json!([]));
    assert_eq!(agents["meta"]["pagination"]["total-pages"], 1);
}

#[test]
fn contract_2_8_a_pool_becomes_the_default_by_attribute_and_by_relationship() {
    let world = hosted();
    let empty = world.create_named("acme");
    let relationships = &empty["data"]["relationships"];
    assert_eq!(relationships["default-agent-pool"], json!({"data": null}));
    let pool = world.create_pool("acme", "pool");
    let related = json!({
        "data": {"id": id(&pool), "type": "agent-pools"},
        "links": {"related": path(&pool)},
    });
    let by_relationship = json!({"data": {
        "type": "organizations",
        "attributes": {"default-execution-mode": "agent"},
        "relationships": {
            "default-agent-pool": {"data": {"id": id(&pool), "type": "agent-pools"}},
            "stacks-default-agent-pool": {"data": {"id": id(&pool), "type": "agent-pools"}},
        },
    }});
    let updated = body(&world.send(Method::Patch, ACME, Some(&by_relationship)));
    assert_eq!(
        updated["data"]["attributes"]["default-execution-mode"],
        "agent"
    );
    let relationships = &updated["data"]["relationships"];
    assert_eq!(relationships["default-agent-pool"], related);
    assert_eq!(relationships["stacks-default-agent-pool"], related);
    assert_eq!(body(&world.get(ACME))["data"], updated["data"]);

    // A client sends this to reset its settings, and then sets them again.
    let reset = json!({"default-execution-mode": "remote", "default-agent-pool-id": null});
    let reset = body(&world.update("acme", &reset));
    let relationships = &reset["data"]["relationships"];
    assert_eq!(relationships["default-agent-pool"], json!({"data": null}));
    let by_attribute =
        json!({"default-execution-mode": "agent", "default_agent_pool_id": id(&pool)});
    let again = body(&world.update("acme", &by_attribute));
    assert_eq!(
        again["data"]["relationships"]["default-agent-pool"],
        related
    );
}

#[test]
fn contract_2_8_faults_of_the_pool_point_to_where_it_was_named() {
    let world = hosted();
    world.create_named("acme");
    world.create_named("globex");
    let own = world.create_pool("acme", "pool");
    let others = world.create_pool("globex", "pool");
    let attribute = "/data/attributes/default-agent-pool-id";
    let relationship = "/data/relationships/default-agent-pool";
    let before = world.store.values();
    for (mode, pool, detail) in [
        ("agent", id(&others), "Default agent pool is invalid"),
        (
            "remote",
            id(&own),
            "Default agent pool must not be specified unless using 'agent' execution mode",
        ),
        (
            "local",
            id(&own),
            "Default agent pool must not be specified unless using 'agent' execution mode",
        ),
    ] {
        let mode = json!({"default-execution-mode": mode});
        let mut by_attribute = mode.clone();
        by_attribute["default-agent-pool-id"] = json!(pool);
        let refused = faults(&world.update("acme", &by_attribute));
        assert_eq!(refused, [(attribute.to_owned(), detail.to_owned())]);
        let by_relationship = json!({"data": {
            "type": "organizations",
            "attributes": mode,
            "relationships": {"default-agent-pool": {"data": {"id": pool, "type": "agent-pools"}}},
        }});
        let refused = faults(&world.send(Method::Patch, ACME, Some(&by_relationship)));
        assert_eq!(refused, [(relationship.to_owned(), detail.to_owned())]);
    }
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_2_8_deleting_the_default_pool_leaves_mode_remote() {
    let world = hosted();
    world.create_named("acme");
    let pool = world.create_pool("acme", "pool");
    let agent = json!({"default-execution-mode": "agent", "default-agent-pool-id": id(&pool)});
    assert_eq!(world.update("acme", &agent).status, 200);
    assert_eq!(world.send(Method::Delete, &path(&pool), None).status, 204);
    let shown = body(&world.get(ACME));
    assert_eq!(
        shown["data"]["attributes"]["default-execution-mode"],
        "remote"
    );
    let relationships = &shown["data"]["relationships"];
    assert_eq!(relationships["default-agent-pool"], json!({"data": null}));
    assert_eq!(world.send(Method::Delete, ACME, None).status, 204);
}

/// The statuses that a caller gets for listing, showing, changing, creating and removing pools.
fn statuses(world: &World, token: &str, pool: &Value, name: &str) -> [u16; 7] {
    let target = path(pool);
    let change = pool_document(&json!({"organization-scoped": true}));
    let new = pool_document(&json!({"name": name}));
    let tokens = format!("{target}/authentication-tokens");
    [
        (Method::Get, POOLS, None),
        (Method::Get, &target, None),
        (Method::Get, &format!("{target}/agents"), None),
        (Method::Patch, &target, Some(&change)),
        (Method::Post, POOLS, Some(&new)),
        (Method::Post, &tokens, Some(&json!({}))),
        (Method::Delete, &target, None),
    ]
    .map(|(method, target, sent)| world.send_as(token, method, target, sent).status)
}

const ALL: [u16; 7] = [200, 200, 200, 200, 201, 201, 204];
const READ: [u16; 7] = [200, 200, 200, 404, 404, 404, 404];
const NOTHING: [u16; 7] = [404; 7];

#[test]
fn contract_1_7_every_kind_of_caller() {
    let world = self_hosted();
    world.create_named("acme");
    let everything: &[&str] = &["create", "read", "update", "delete"];
    let administrator = world.user("administrator", true);
    let outsider = world.user("outsider", false);
    let organization = world.organization_token("acme");
    let below: &str = "organizations/acme/agent-pools";
    let workloads = world.token(
        "pools",
        &[(below, everything), (&format!("{below}/*"), everything)],
    );
    let reader = world.token(
        "reader",
        &[(below, &["read"]), (&format!("{below}/*"), &["read"])],
    );
    let owner_only = world.token("organization", &[("organizations/acme", everything)]);
    for (number, (token, expected)) in [
        (ROOT, ALL),
        (&administrator, ALL),
        (&organization, ALL),
        (&workloads, ALL),
        (&reader, READ),
        (&outsider, NOTHING),
        (&owner_only, NOTHING),
    ]
    .into_iter()
    .enumerate()
    {
        let pool = world.create_pool("acme", &format!("pool-{number}"));
        let found = statuses(&world, token, &pool, &format!("new-{number}"));
        assert_eq!(found, expected, "caller {number}");
    }
}

#[test]
fn contract_1_7_owners_manage_pools_of_their_organization_and_of_no_other() {
    let world = hosted();
    let owner = world.user("ada", false);
    let stranger = world.user("eve", false);
    for (token, name) in [(&owner, "acme"), (&stranger, "globex")] {
        let sent = document(&json!({"name": name, "email": "a@b"}));
        let made = world.send_as(token, Method::Post, "/api/v2/organizations", Some(&sent));
        assert_eq!(made.status, 201);
    }
    let pool = world.create_pool("acme", "pool");
    assert_eq!(statuses(&world, &stranger, &pool, "new"), NOTHING);
    let foreign = world.organization_token("globex");
    assert_eq!(statuses(&world, &foreign, &pool, "new"), NOTHING);
    assert_eq!(statuses(&world, &owner, &pool, "new"), ALL);
}

#[test]
fn a6_a_hidden_pool_and_none_answer_the_same_bytes() {
    let world = hosted();
    world.create_named("acme");
    let pool = world.create_pool("acme", "pool");
    let outsider = world.user("eve", false);
    let target = path(&pool);
    for target in [
        target.as_str(),
        "/api/v2/agent-pools/apool-0123456789abcdef",
        "/api/v2/agent-pools/x",
        "/api/v2/agent-pools/%2e%2e",
    ] {
        assert_not_found(&world.send_as(&outsider, Method::Get, target, None));
    }
    assert_eq!(
        world.handle(&request(Method::Get, &target, None)).status,
        401
    );
}

#[test]
fn contract_4_9_tokens_of_a_pool_are_told_once_listed_and_worth_nothing_here() {
    let world = hosted();
    world.create_named("acme");
    let pool = world.create_pool("acme", "pool");
    let target = format!("{}/authentication-tokens", path(&pool));
    let described = json!({"data": {
        "type": "authentication-tokens",
        "attributes": {"description": "build"},
    }});
    let made = world.send(Method::Post, &target, Some(&described));
    assert_eq!(made.status, 201, "{}", text(&made));
    let made = body(&made)["data"].clone();
    let secret = made["attributes"]["token"].as_str().unwrap().to_owned();
    assert_eq!(secret.len(), 90);
    assert_eq!(made["type"], "authentication-tokens");
    assert_eq!(made["attributes"]["description"], "build");
    assert_eq!(made["attributes"]["expired-at"], Value::Null);
    assert_eq!(
        world.send(Method::Post, &target, Some(&json!({}))).status,
        201
    );
    let list = body(&world.get(&target));
    assert_eq!(list["meta"]["pagination"]["total-count"], 2);
    for token in list["data"].as_array().unwrap() {
        assert_eq!(token["attributes"]["token"], Value::Null);
    }
    let wrong = json!({"data": {"attributes": {"description": 7}}});
    let refused = faults(&world.send(Method::Post, &target, Some(&wrong)));
    let pointer = "/data/attributes/description".to_owned();
    assert_eq!(
        refused,
        [(pointer, "Description must be a string".to_owned())]
    );

    for path in [
        "/api/v2/organizations",
        ACME,
        &target,
        "/api/v2/account/details",
    ] {
        assert_eq!(world.send_as(&secret, Method::Get, path, None).status, 401);
    }
    assert_eq!(world.send(Method::Delete, &path(&pool), None).status, 204);
    assert_not_found(&world.get(&target));
    assert_not_found(&world.get(made["links"]["self"].as_str().unwrap()));
    assert_not_found(&world.send(Method::Post, &target, Some(&json!({}))));
}

#[test]
fn what_is_no_pool_has_no_tokens_of_a_pool() {
    let world = hosted();
    let organization = world.create_named("acme");
    let project = organization["data"]["relationships"]["default-project"]["data"]["id"].clone();
    let before = world.store.keys();
    let project = project.as_str().unwrap();
    let target = format!("/api/v2/agent-pools/{project}");
    assert_not_found(&world.get(&target));
    let tokens = format!("{target}/authentication-tokens");
    assert_not_found(&world.get(&tokens));
    assert_not_found(&world.send(Method::Post, &tokens, Some(&json!({}))));
    assert_eq!(world.store.keys(), before);
}
