//! That paths find their routes.

use super::*;
use crate::vault::field::{Field, PAGING};
use crate::vault::route::{Needs, Verb};
use gatehouse_access_api::Operation as Asked;

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

#[test]
fn every_operation_of_every_route_is_selected_by_its_path() {
    let routes = [METHOD, TOKENS, SYSTEM, IDENTITY, CUBBYHOLE];
    for family in &routes {
        for route in family.routes.iter().copied().flatten() {
            let path = example(route);
            for operation in route.operations {
                let (asked, method) = match operation.verb {
                    Verb::Get | Verb::GetOrList => (Asked::Read, Method::Get),
                    Verb::Head => (Asked::Read, Method::Head),
                    Verb::List => (Asked::List, Method::List),
                    Verb::Post => (Asked::Update, Method::Post),
                    Verb::Delete => (Asked::Delete, Method::Delete),
                };
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
