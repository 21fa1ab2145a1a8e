//! Producers and consumers of modules and providers (contract 4.4).

use super::*;

const CONSUMERS: &str = "/api/v2/admin/organizations/acme/relationships/module-consumers";
const PARTNERSHIPS: &str = "/api/v2/admin/organizations/acme/module-consumers";
const REGISTRY: &str = "/api/v2/admin/organizations/acme/registry-partnerships";

/// A world with organizations of these names, and their external ids.
fn world_of<const N: usize>(names: [&str; N]) -> (World, [String; N]) {
    let world = self_hosted();
    let ids = names.map(|name| {
        let created = world.create_named(name);
        let id = &created["data"]["attributes"]["external-id"];
        id.as_str().unwrap().to_owned()
    });
    (world, ids)
}

fn named(names: &[&str]) -> Value {
    let identifier = |name: &&str| json!({"id": name, "type": "organizations"});
    json!({"data": names.iter().map(identifier).collect::<Vec<_>>()})
}

fn share(world: &World, names: &[&str]) -> Response {
    world.send(Method::Patch, CONSUMERS, Some(&named(names)))
}

fn ids(list: &Value) -> Vec<String> {
    let data = list["data"].as_array().unwrap().iter();
    data.map(|found| found["id"].as_str().unwrap().to_owned())
        .collect()
}

fn listed(world: &World, target: &str) -> Vec<String> {
    ids(&body(&world.get(target)))
}

fn producers(world: &World, name: &str, what: &str) -> Vec<String> {
    let target = format!("/api/v2/organizations/{name}/relationships/{what}-producers");
    listed(world, &target)
}

/// The numbers of consumers that the organization shows, of modules and of providers.
fn counts(world: &World, name: &str) -> (u64, u64) {
    let shown = body(&world.get(&format!("/api/v2/organizations/{name}")));
    let attributes = &shown["data"]["attributes"];
    let count = |what: &str| {
        let name = format!("{what}-consuming-organizations-count");
        attributes[name].as_u64().unwrap()
    };
    (count("module"), count("provider"))
}

fn administered(world: &World, attributes: &Value) -> Value {
    let document = json!({"data": {"attributes": attributes}});
    let target = "/api/v2/admin/organizations/acme";
    body(&world.send(Method::Patch, target, Some(&document)))["data"]["attributes"].clone()
}

#[test]
fn contract_4_4_producers_are_short_organizations_by_name() {
    let (world, [_, _, zeta]) = world_of(["acme", "Beta", "zeta"]);
    assert_eq!(share(&world, &["beta"]).status, 204);
    let document = json!({"data": {"attributes": {"global-module-sharing": true}}});
    world.send(
        Method::Patch,
        "/api/v2/admin/organizations/zeta",
        Some(&document),
    );
    let target =
        "/api/v2/organizations/beta/relationships/module-producers?page[size]=1&page[number]=2";
    let page = body(&world.get(target));
    let expected = json!([{
        "id": "zeta",
        "type": "organizations",
        "attributes": {"name": "zeta", "external-id": zeta},
        "links": {"self": "/api/v2/organizations/zeta"},
    }]);
    assert_eq!(page["data"], expected);
    assert_eq!(page["meta"]["pagination"]["total-count"], 2);
    let link = page["links"]["self"].as_str().unwrap();
    assert!(link.starts_with(
        "http://gatehouse.example/api/v2/organizations/beta/relationships/module-producers?"
    ));
    assert_eq!(producers(&world, "beta", "module"), ["acme", "zeta"]);
    assert_eq!(producers(&world, "acme", "module"), ["zeta"]);
    assert_eq!(producers(&world, "zeta", "module"), [""; 0]);
    assert_eq!(producers(&world, "beta", "provider"), [""; 0]);
}

#[test]
fn contract_2_6_the_entitlement_sets_of_producers_are_included_once_each() {
    let (world, [acme, ..]) = world_of(["acme", "Beta", "zeta"]);
    assert_eq!(share(&world, &["beta"]).status, 204);
    let producers = "/api/v2/organizations/beta/relationships/module-producers";
    let listed = body(&world.get(&format!("{producers}?include=entitlement_set")));
    let included = listed["included"].as_array().unwrap();
    assert_eq!(included.len(), 1);
    assert_eq!(included[0]["type"], "entitlement-sets");
    assert_eq!(included[0]["id"], acme.as_str());
    assert_eq!(body(&world.get(producers)).get("included"), None);
    for refused in ["subscription", "", "entitlement_set,"] {
        let answer = world.get(&format!("{producers}?include={refused}"));
        assert_eq!(answer.status, 400, "{refused}");
    }
}

#[test]
fn contract_2_6_nothing_is_included_with_an_entitlement_set() {
    let (world, [acme, ..]) = world_of(["acme", "Beta", "zeta"]);
    for target in [
        "/api/v2/organizations/acme/entitlement-set".to_owned(),
        format!("/api/v2/entitlement-sets/{acme}"),
    ] {
        assert_eq!(world.get(&target).status, 200);
        for refused in ["organization", "entitlement_set", ""] {
            let answer = world.get(&format!("{target}?include={refused}"));
            assert_eq!(answer.status, 400, "{target} {refused}");
            assert!(text(&answer).contains("Invalid include parameter"));
        }
    }
    let stranger = world.user("eve", false);
    let hidden = "/api/v2/organizations/acme/entitlement-set?include=x";
    assert_not_found(&world.send_as(&stranger, Method::Get, hidden, None));
}

#[test]
fn contract_4_4_consumers_are_replaced_and_shown_whole() {
    let (world, _) = world_of(["acme", "beta", "gamma"]);
    assert_eq!(listed(&world, CONSUMERS), [""; 0]);
    assert_eq!(share(&world, &["gamma", "BETA", "acme"]).status, 204);
    let shown = body(&world.get(CONSUMERS));
    assert_eq!(ids(&shown), ["beta", "gamma"]);
    let first = &shown["data"][0];
    assert_eq!(first["attributes"]["notification-email"], "ops@example.com");
    let alone = body(&world.get("/api/v2/admin/organizations/beta"));
    assert_eq!(*first, alone["data"]);
    assert_eq!(counts(&world, "acme"), (2, 0));
    assert_eq!(share(&world, &["gamma"]).status, 204);
    assert_eq!(listed(&world, CONSUMERS), ["gamma"]);
    assert_eq!(producers(&world, "beta", "module"), [""; 0]);
    assert_eq!(share(&world, &[]).status, 204);
    assert_eq!(counts(&world, "acme"), (0, 0));
    assert_eq!(producers(&world, "gamma", "module"), [""; 0]);
}

#[test]
fn contract_4_4_an_unknown_name_changes_nothing() {
    let (world, _) = world_of(["acme", "beta", "gamma"]);
    share(&world, &["beta"]);
    let before = world.store.values();
    let refused = share(&world, &["gamma", "1Hello!", "none"]);
    let expected = [
        "Organization 1Hello! not found",
        "Organization none not found",
    ]
    .map(|text| ("/data".to_owned(), text.to_owned()));
    assert_eq!(faults(&refused), expected);
    assert_eq!(body(&refused)["errors"][0]["title"], "invalid attribute");
    let none = "/api/v2/admin/organizations/none/relationships/module-consumers";
    assert_not_found(&world.send(Method::Patch, none, Some(&named(&["beta"]))));
    assert_not_found(&world.get(none));
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_4_4_more_consumers_than_one_commit_holds_are_refused() {
    let (world, _) = world_of(["acme"]);
    let names: Vec<String> = (0..251).map(|number| format!("n{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let before = world.store.values();
    let text = "At most 250 organizations can be named; global sharing reaches all of them";
    let expected = [("/data".to_owned(), text.to_owned())];
    assert_eq!(faults(&share(&world, &names)), expected);
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_4_4_global_sharing_and_named_consumers_exclude_each_other() {
    let (world, _) = world_of(["acme", "beta", "gamma"]);
    share(&world, &["beta"]);
    let shown = administered(&world, &json!({"global-module-sharing": true}));
    assert_eq!(shown["global-module-sharing"], true);
    assert_eq!(listed(&world, CONSUMERS), [""; 0]);
    assert_eq!(counts(&world, "acme"), (0, 0));
    assert_eq!(producers(&world, "gamma", "module"), ["acme"]);
    assert_eq!(share(&world, &["beta"]).status, 204);
    let shown = administered(&world, &json!({}));
    assert_eq!(shown["global-module-sharing"], false);
    assert_eq!(producers(&world, "gamma", "module"), [""; 0]);
    assert_eq!(producers(&world, "beta", "module"), ["acme"]);
    administered(&world, &json!({"global-module-sharing": true}));
    administered(&world, &json!({"global-module-sharing": null}));
    assert_eq!(producers(&world, "beta", "module"), [""; 0]);
}

#[test]
fn contract_4_4_the_older_form_names_external_ids_and_answers_partnerships() {
    let (world, [acme, beta, gamma]) = world_of(["acme", "beta", "gamma"]);
    let partners = |ids: Value| {
        let attributes = json!({"module-consuming-organization-ids": ids});
        let document = json!({"data": {"type": "module-partnerships", "attributes": attributes}});
        world.send(Method::Patch, PARTNERSHIPS, Some(&document))
    };
    let first = body(&partners(json!([gamma, beta])));
    let id = first["data"][0]["id"].as_str().unwrap();
    assert!(id.starts_with("mp-") && id.len() == 19, "{id}");
    let expected = json!({
        "id": id,
        "type": "module-partnerships",
        "attributes": {
            "consuming-organization-id": beta,
            "consuming-organization-name": "beta",
            "producing-organization-id": acme,
            "producing-organization-name": "acme",
        },
    });
    assert_eq!(first["data"][0], expected);
    assert_eq!(first["data"].as_array().unwrap().len(), 2);
    let second = body(&partners(json!([beta])));
    assert_eq!(second["data"], json!([expected]));
    assert_eq!(listed(&world, CONSUMERS), ["beta"]);
    let before = world.store.values();
    let pointer = "/data/attributes/module-consuming-organization-ids".to_owned();
    let unknown = "org-AAAAAAAAAAAAAAAA";
    let text = format!("Organization {unknown} not found");
    assert_eq!(
        faults(&partners(json!([unknown]))),
        [(pointer.clone(), text)]
    );
    for odd in [json!("beta"), json!([1]), Value::Null] {
        assert_eq!(faults(&partners(odd))[0].0, pointer);
    }
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_4_4_registry_partnerships_name_consumers_of_both() {
    let (world, _) = world_of(["acme", "beta", "gamma"]);
    let put = |attributes: Value| {
        let document = json!({"data": {"attributes": attributes}});
        world.send(Method::Put, REGISTRY, Some(&document))
    };
    let both = json!({"module-consumers": ["beta"], "provider-consumers": ["gamma", "beta"]});
    assert_eq!(put(both).status, 204);
    assert_eq!(counts(&world, "acme"), (1, 2));
    let providers = "/api/v2/admin/organizations/acme/relationships/provider-consumers";
    assert_eq!(listed(&world, providers), ["beta", "gamma"]);
    assert_eq!(producers(&world, "gamma", "provider"), ["acme"]);
    assert_eq!(producers(&world, "gamma", "module"), [""; 0]);
    assert_eq!(put(json!({"provider-consumers": []})).status, 204);
    assert_eq!(counts(&world, "acme"), (1, 0));
    let before = world.store.values();
    let refused = put(json!({"module-consumers": ["none"], "provider-consumers": ["beta"]}));
    assert_eq!(faults(&refused)[0].1, "Organization none not found");
    let refused = faults(&put(
        json!({"module-consumers": 1, "provider-consumers": [1]}),
    ));
    assert_eq!(refused.len(), 2);
    assert_eq!(refused[0].1, "Module consumers must be a list of strings");
    assert_eq!(world.store.values(), before);
}

#[test]
fn contract_4_14_the_list_of_all_can_be_cut_down_to_producers() {
    let (world, _) = world_of(["acme", "beta", "gamma"]);
    share(&world, &["beta"]);
    let document = json!({"data": {"attributes": {"global-provider-sharing": true}}});
    world.send(
        Method::Patch,
        "/api/v2/admin/organizations/gamma",
        Some(&document),
    );
    let all = |query: &str| listed(&world, &format!("/api/v2/admin/organizations?{query}"));
    assert_eq!(all("filter[module_producer]=true"), ["acme"]);
    assert_eq!(all("filter%5Bprovider_producer%5D=true"), ["gamma"]);
    assert_eq!(
        all("filter[module_producer]=true&filter[provider_producer]=true"),
        [""; 0]
    );
    assert_eq!(all("filter[module_producer]=true&q=bet"), [""; 0]);
    assert_eq!(all("filter[module_producer]=true&q[name]=ACM"), ["acme"]);
    assert_eq!(all("").len(), 3);
}

#[test]
fn contract_1_7_who_may_see_producers() {
    let (world, _) = world_of(["acme", "beta"]);
    let path = "organizations/acme/relationships/module-producers";
    let target = format!("/api/v2/{path}");
    let reader = world.token("reader", &[(path, &["read"])]);
    let other = world.token("other", &[("organizations/acme", &["read"])]);
    let stranger = world.user("anna", false);
    assert_eq!(
        world.send_as(&reader, Method::Get, &target, None).status,
        200
    );
    assert_not_found(&world.send_as(&other, Method::Get, &target, None));
    assert_not_found(&world.send_as(&stranger, Method::Get, &target, None));
}

#[test]
fn contract_4_4_the_hosted_edition_shares_nothing() {
    let world = hosted();
    world.create_named("acme");
    for target in [
        "/api/v2/organizations/acme/relationships/module-producers",
        "/api/v2/organizations/acme/relationships/provider-producers",
        CONSUMERS,
    ] {
        assert_not_found(&world.get(target));
    }
    assert_not_found(&share(&world, &[]));
    assert_not_found(&world.send(Method::Put, REGISTRY, Some(&json!({"data": {}}))));
    let shown = administered(&world, &json!({"global-module-sharing": true}));
    assert_eq!(shown["global-module-sharing"], false);
}
