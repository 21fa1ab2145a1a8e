//! Tests that paths find their routes.

use gatehouse_access::AccessService;
use gatehouse_access_api::{
    AdmissionError, CreateRequest, MountRequest, Mounts as _, Operation as Asked, Parent,
    Policies as _, Request, Requests as _, System as _, TokenCreation as _,
};
use gatehouse_ports::doubles::MemoryStore;
use gatehouse_ports::{OsRandom, SystemClock};

use super::*;
use crate::vault::field::{Field, PAGING};
use crate::vault::route::{Needs, Verb};

fn route(family: &Family, path: &str) -> &'static Route {
    family.find(path).unwrap_or_else(|| panic!("{path}"))
}

fn names<'a>(fields: impl IntoIterator<Item = &'a Field>) -> Vec<&'static str> {
    let mut names: Vec<&str> = fields.into_iter().map(|field| field.name).collect();
    names.sort_unstable();
    names
}

#[test]
fn lists_that_come_in_parts_say_so() {
    for (family, path) in [
        (&TOKENS, "accessors"),
        (&TOKENS, "roles"),
        (&IDENTITY, "entity/id"),
        (&IDENTITY, "entity/name"),
        (&IDENTITY, "entity-alias/id"),
        (&IDENTITY, "group/id"),
        (&IDENTITY, "group/name"),
        (&IDENTITY, "group-alias/id"),
        (&SYSTEM, "leases/lookup/auth/gcp"),
        (&SYSTEM, "policies/acl"),
    ] {
        let list = route(family, path).operations.first().unwrap();
        assert_eq!(list.verb, Verb::List);
        assert_eq!(names(list.query), names(PAGING), "{path}");
    }
}

#[test]
fn the_route_with_most_words_in_common_is_found() {
    for (family, path, template) in [
        (&SYSTEM, "auth", "auth"),
        (&SYSTEM, "auth/team/a", "auth/{path}"),
        (&SYSTEM, "auth/team/a/tune", "auth/{path}/tune"),
        (&SYSTEM, "mounts/auth/a/b/tune", "mounts/auth/{path}/tune"),
        (&SYSTEM, "mounts/auth/a/b", "mounts/auth/{path}"),
        (&SYSTEM, "mounts/identity", "mounts/{path}"),
        (
            &SYSTEM,
            "tools/random/all/16",
            "tools/random/{source}/{urlbytes}",
        ),
        (&METHOD, "role/labels", "role/{name}"),
        (&METHOD, "role/labels/labels", "role/{name}/labels"),
        (&METHOD, "role", "role"),
        (&IDENTITY, "entity/id/name", "entity/id/{id}"),
    ] {
        assert_eq!(route(family, path).path, template);
    }
    for path in ["role/a/b", "role/a/b/labels", "", "logins", "login/x"] {
        assert!(METHOD.find(path).is_none(), "{path}");
    }
}

/// A path that fits the route.
fn example(route: &Route) -> String {
    let words = route.path.trim_end_matches('/').split('/');
    let words = words.map(|word| match word {
        "{type}" => "auth",
        captured if captured.starts_with('{') => "x",
        word => word,
    });
    words.collect::<Vec<_>>().join("/")
}

/// The operation for which access admits a request with this verb, and its method.
const fn asked(verb: Verb) -> (Asked, Method) {
    match verb {
        Verb::Get | Verb::GetOrList => (Asked::Read, Method::Get),
        Verb::Head => (Asked::Read, Method::Head),
        Verb::List => (Asked::List, Method::List),
        Verb::Post => (Asked::Update, Method::Post),
        Verb::Delete => (Asked::Delete, Method::Delete),
    }
}

#[test]
fn every_operation_of_every_route_is_selected_by_its_path() {
    let routes = [METHOD, TOKENS, SYSTEM, IDENTITY, CUBBYHOLE];
    for family in &routes {
        for route in family.routes.iter().copied().flatten() {
            let path = example(route);
            for operation in route.operations {
                let (asked, method) = asked(operation.verb);
                let selected = match route.is_admitted() {
                    true => family.select(&path, asked),
                    false => family.select_unadmitted(&path, method),
                };
                let selected = selected.unwrap_or_else(|| panic!("{path}"));
                assert_eq!(selected.route.path, route.path);
                assert_eq!(selected.operation.unwrap().verb, operation.verb, "{path}");
                let names: Vec<&str> = route.captures.iter().map(|it| it.name).collect();
                let captured: Vec<&str> = selected.captured.iter().map(|it| it.name).collect();
                assert_eq!(captured, names, "{path}");
            }
        }
    }
}

#[test]
fn captures_hold_slashes_where_the_route_says_so() {
    let captured = |family: &Family, path, asked| {
        let selected = family.select(path, asked).unwrap();
        let values = selected.captured.into_iter().map(|it| it.value);
        values.collect::<Vec<_>>()
    };
    assert_eq!(
        captured(&SYSTEM, "auth/team/a/tune", Asked::Read),
        ["team/a"]
    );
    assert_eq!(captured(&SYSTEM, "policy/a/b", Asked::Read), ["a/b"]);
    assert_eq!(captured(&IDENTITY, "entity/name/a/b", Asked::Read), ["a/b"]);
    assert!(IDENTITY.select("entity/id/a/b", Asked::Read).is_none());
}

#[test]
fn contract_3_1_a_route_of_a_role_is_found_by_names_of_roles_alone() {
    assert!(METHOD.select("role/dev.1", Asked::Read).is_some());
    for path in ["role/.dev", "role/dev-", "role/a b"] {
        assert!(METHOD.select(path, Asked::Read).is_none(), "{path}");
    }
}

#[test]
fn second_names_are_served_and_not_shown() {
    for path in ["rotate/keyring", "rotate/root/init"] {
        assert!(SYSTEM.select(path, Asked::Update).is_some(), "{path}");
        assert!(SYSTEM.find(path).is_none(), "{path}");
    }
}

#[test]
fn what_is_answered_before_access_is_asked_is_open_and_nothing_else_goes_unrecorded() {
    for family in [METHOD, TOKENS, SYSTEM, IDENTITY, CUBBYHOLE] {
        for route in family.routes.iter().copied().flatten() {
            let path = route.path;
            assert!(
                route.is_admitted() || route.needs == Needs::Nothing,
                "{path}"
            );
            assert!(!route.is_unrecorded || !route.is_admitted(), "{path}");
        }
    }
}

#[test]
fn contract_5_6_the_rows_that_need_sudo_are_those_for_which_access_asks_it() {
    let access = AccessService::new(MemoryStore::new(SystemClock), SystemClock, OsRandom);
    access.initialize(Some("root-token")).unwrap();
    let mount = MountRequest {
        mount_type: METHOD_TYPE.to_owned(),
        ..MountRequest::default()
    };
    access.enable_mount("gcp", &mount).unwrap();
    let rules =
        r#"path "*" { capabilities = ["create", "read", "update", "delete", "list", "patch"] }"#;
    access.write_policy("all-but-sudo", rules).unwrap();
    let parent = Parent {
        token: "root-token".to_owned(),
        sudo: true,
        limited_uses: false,
        orphan_path: false,
    };
    let wanted = CreateRequest {
        policies: Some(vec!["all-but-sudo".to_owned()]),
        no_default_policy: true,
        ..CreateRequest::default()
    };
    let issued = access.create_token(&parent, &wanted).unwrap();
    for (root, family) in [
        ("auth/gcp/", METHOD),
        (TOKEN_ROOT, TOKENS),
        (SYSTEM_ROOT, SYSTEM),
        (IDENTITY_ROOT, IDENTITY),
        (cubbyhole_paths::ROOT, CUBBYHOLE),
    ] {
        let routes = family.routes.iter().copied().flatten();
        for route in routes.filter(|route| route.is_admitted()) {
            for operation in route.operations {
                let request = Request {
                    token: Some(issued.client_token.clone()),
                    operation: asked(operation.verb).0,
                    path: format!("{root}{}", example(route)),
                    source_address: None,
                    wrap_ttl: None,
                    parameters: None,
                };
                let is_denied = access.admit(&request).err() == Some(AdmissionError::Denied);
                let needs_sudo = route.needs == Needs::Sudo;
                assert_eq!(is_denied, needs_sudo, "{}", request.path);
            }
        }
    }
}

#[test]
fn only_reads_that_say_how_the_server_is_leave_no_record() {
    for path in [
        "/v1/sys/health",
        "/v1/identity/oidc/plugins/.well-known/keys",
    ] {
        assert_eq!(recording(path), Recording::UnlessRead, "{path}");
    }
    for path in [
        "/v1/sys/unseal",
        "/v1/sys/metrics",
        "/v1/auth/gcp/login",
        "/v1/sys/health/",
        "sys/health",
    ] {
        assert_eq!(recording(path), Recording::Always, "{path}");
    }
}

#[test]
fn a_path_of_many_segments_costs_no_more_than_its_length() {
    let long = format!("auth/{}x", "a/".repeat(100_000));
    let selected = SYSTEM.select(&long, Asked::Read).unwrap();
    assert_eq!(selected.route.path, "auth/{path}");
    let tune = format!("{long}/tune");
    let selected = SYSTEM.select(&tune, Asked::Read).unwrap();
    assert_eq!(selected.route.path, "auth/{path}/tune");
}
