//! Empty lists for features that are not implemented and that clients read, and the default project (contract 4.3, 4.12, 4.13).

use super::*;

const ACME: &str = "/api/v2/organizations/acme";
const SIGNING_KEYS: &str = "/api/registry/private/v2/gpg-keys?filter[namespace]=acme";

/// The lists of the contract that are always empty here.
const EMPTY_LISTS: [&str; 14] = [
    "oauth-tokens",
    "oauth-clients",
    "ssh-keys",
    "workspaces",
    "policies",
    "policy-sets",
    "tasks",
    "varsets",
    "tags",
    "registry-modules",
    "registry-providers",
    "stacks",
    "reserved-tag-keys",
    "runs/queue",
];

fn lists() -> impl Iterator<Item = String> {
    let below = EMPTY_LISTS.iter().map(|list| format!("{ACME}/{list}"));
    below.chain([SIGNING_KEYS.to_owned()])
}

#[test]
fn contract_4_12_every_list_that_clients_touch_is_empty_and_in_pages() {
    for world in [hosted(), self_hosted()] {
        world.create_named("acme");
        let reader = world.token("reader", &[("organizations/acme", &["read"])]);
        for list in lists() {
            let response = world.send_as(&reader, Method::Get, &list, None);
            assert_eq!(response.status, 200, "{list}");
            let found = body(&response);
            assert_eq!(found["data"], json!([]), "{list}");
            assert_eq!(
                found["meta"]["pagination"],
                json!({
                    "current-page": 1, "page-size": 20, "prev-page": null, "next-page": null,
                    "total-pages": 1, "total-count": 0,
                })
            );
            let (path, _) = list.split_once('?').unwrap_or((&list, ""));
            let first = found["links"]["first"].as_str().unwrap();
            assert!(
                first.starts_with(&format!("http://gatehouse.example{path}?")),
                "{first}"
            );
        }
    }
}

#[test]
fn a6_lists_of_what_may_not_be_seen_are_not_there() {
    let world = hosted();
    world.create_named("acme");
    let outsider = world.user("ada", false);
    let targets = lists().chain([format!("{ACME}/capacity"), format!("{ACME}/projects")]);
    for target in targets {
        assert_not_found(&world.send_as(&outsider, Method::Get, &target, None));
        let absent = target.replace("acme", "none");
        assert_not_found(&world.send_as(&outsider, Method::Get, &absent, None));
        assert_not_found(&world.get(&absent));
        let nobody = request(Method::Get, &target, None);
        assert_eq!(world.handle(&nobody).status, 401, "{target}");
    }
    assert_not_found(&world.get("/api/registry/private/v2/gpg-keys"));
}

#[test]
fn contract_1_1_nothing_is_made_in_a_list_of_what_there_is_not() {
    let world = hosted();
    world.create_named("acme");
    let before = world.store.values();
    let sent = json!({"data": {"type": "x", "attributes": {"name": "x"}}});
    for list in lists() {
        assert_not_found(&world.send(Method::Post, &list, Some(&sent)));
    }
    for unknown in ["runs", "runs/queue", "capacity", "x"] {
        assert_not_found(&world.get(&format!("{ACME}/{unknown}/x")));
    }
    assert_not_found(&world.get("/api/registry/private/v2/x"));
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_4_3_nothing_runs_and_nothing_waits() {
    for world in [hosted(), self_hosted()] {
        world.create_named("Acme");
        let found = world.get(&format!("{ACME}/capacity"));
        assert_eq!(found.status, 200);
        assert_eq!(
            body(&found),
            json!({"data": {
                "id": "Acme",
                "type": "organization-capacity",
                "attributes": {"pending": 0, "running": 0},
            }})
        );
    }
}

#[test]
fn contract_4_13_the_default_project_is_listed_and_shown() {
    for world in [hosted(), self_hosted()] {
        let created = world.create_named("acme");
        let id = created["data"]["relationships"]["default-project"]["data"]["id"]
            .as_str()
            .unwrap();
        let expected = json!({
            "id": id,
            "type": "projects",
            "attributes": {
                "name": "Default Project",
                "description": "",
                "created-at": created["data"]["attributes"]["created-at"],
                "workspace-count": 0,
                "team-count": 0,
                "is-unified": false,
            },
            "relationships": {"organization": {"data": {"id": "acme", "type": "organizations"}}},
            "links": {"self": format!("/api/v2/projects/{id}")},
        });
        let shown = world.get(&format!("/api/v2/projects/{id}"));
        assert_eq!(shown.status, 200);
        assert_eq!(body(&shown), json!({"data": expected}));
        let listed = body(&world.get(&format!("{ACME}/projects")));
        assert_eq!(listed["data"], json!([expected]));
        assert_eq!(listed["meta"]["pagination"]["total-count"], 1);
        let other = body(&world.get(&format!("{ACME}/projects?filter[names]=other")));
        assert_eq!(other["data"], json!([]));
        let beyond = body(&world.get(&format!("{ACME}/projects?page[number]=2")));
        assert_eq!(beyond["data"], json!([]));
        assert_eq!(beyond["meta"]["pagination"]["total-count"], 1);
    }
}

#[test]
fn contract_4_13_the_default_project_stays_as_it_is() {
    let world = hosted();
    let created = world.create_named("acme");
    let before = world.store.values();
    let id = created["data"]["relationships"]["default-project"]["data"]["id"].as_str();
    let project = format!("/api/v2/projects/{}", id.unwrap());
    let refused = world.send(Method::Delete, &project, None);
    assert_eq!(
        faults(&refused),
        [(
            "/data".to_owned(),
            "The default project cannot be deleted".to_owned()
        )]
    );
    let update = |attributes: &Value| {
        let sent = json!({"data": {"type": "projects", "attributes": attributes}});
        world.send(Method::Patch, &project, Some(&sent))
    };
    let fault = |name: &str, detail: &str| (format!("/data/attributes/{name}"), detail.to_owned());
    assert_eq!(
        faults(&update(&json!({"name": "Other", "description": "x"}))),
        [
            fault("name", "Name cannot be changed"),
            fault("description", "Description cannot be changed")
        ]
    );
    assert_eq!(
        faults(&update(&json!({"name": 5}))),
        [fault("name", "Name must be a string")]
    );
    for (name, value) in [
        ("default-execution-mode", json!("agent")),
        ("default-agent-pool-id", json!("apool-1111111111111111")),
        (
            "setting-overwrites",
            json!({"default-execution-mode": true, "default-agent-pool": false}),
        ),
        ("setting-overwrites", json!("all")),
        ("auto-destroy-activity-duration", json!("14d")),
    ] {
        let refused = faults(&update(&json!({"name": "Default Project", name: value})));
        let label = name.strip_suffix("-id").unwrap_or(name).replace('-', " ");
        let detail = format!(
            "{}{} cannot be changed",
            label[..1].to_uppercase(),
            &label[1..]
        );
        assert_eq!(refused, [fault(name, &detail)]);
    }
    let pool = json!({"data": {"id": "apool-1111111111111111", "type": "agent-pools"}});
    let related = |pool: &Value| {
        let sent =
            json!({"data": {"type": "projects", "relationships": {"default-agent-pool": pool}}});
        world.send(Method::Patch, &project, Some(&sent))
    };
    assert_eq!(
        faults(&related(&pool)),
        [(
            "/data/relationships/default-agent-pool".to_owned(),
            "Default agent pool cannot be changed".to_owned()
        )]
    );
    assert_eq!(related(&json!({"data": null})).status, 200);
    for same in [
        json!({}),
        json!({"name": "Default Project", "description": null}),
        json!({"default-execution-mode": null, "setting-overwrites": {"default-execution-mode": false}}),
    ] {
        let updated = update(&same);
        assert_eq!(updated.status, 200, "{}", text(&updated));
        assert_eq!(body(&updated), body(&world.get(&project)));
    }
    let reader = world.token("reader", &[("organizations/acme", &["read"])]);
    for method in [Method::Delete, Method::Patch] {
        assert_not_found(&world.send_as(&reader, method, &project, None));
    }
    assert_eq!(world.store.values(), before);
}

#[test]
fn a6_an_identifier_of_something_else_is_no_project() {
    let world = hosted();
    let created = world.create_named("acme");
    let external_id = created["data"]["attributes"]["external-id"].as_str();
    for id in [external_id.unwrap(), "prj-0123456789abcdef", "prj-", "x"] {
        assert_not_found(&world.get(&format!("/api/v2/projects/{id}")));
    }
    let id = created["data"]["relationships"]["default-project"]["data"]["id"].as_str();
    let outsider = world.user("ada", false);
    let project = format!("/api/v2/projects/{}", id.unwrap());
    for method in [Method::Get, Method::Patch, Method::Delete] {
        assert_not_found(&world.send_as(&outsider, method, &project, None));
    }
}
