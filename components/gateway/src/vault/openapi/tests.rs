//! That the tables say what the handlers know.

use super::route::{Field, Route, Verb};
use super::routes::{Family, IDENTITY, METHOD, SYSTEM, TOKENS};
use crate::vault::{auth_method, capabilities, identity, paging, tokens};

fn route(family: &Family, path: &str) -> &'static Route {
    family.find(path).unwrap_or_else(|| panic!("{path}"))
}

/// Names of the fields of the body, and of what the path says.
fn written(route: &Route) -> Vec<&'static str> {
    let body = route.operations.iter().find(|it| it.verb == Verb::Post);
    names(body.unwrap().body.iter().chain(route.captures))
}

fn names<'a>(fields: impl IntoIterator<Item = &'a Field>) -> Vec<&'static str> {
    let mut names: Vec<&str> = fields.into_iter().map(|field| field.name).collect();
    names.sort_unstable();
    names
}

fn sorted<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names
}

#[test]
fn writes_take_the_fields_that_their_handlers_know() {
    let cases: [(&Family, &str, &[&str]); 20] = [
        (&METHOD, "login", &auth_method::login::FIELDS),
        (&METHOD, "login/explain", &auth_method::login::FIELDS),
        (&METHOD, "config", &auth_method::config::FIELDS),
        (&METHOD, "config/check", &auth_method::config::check::FIELDS),
        (&METHOD, "role/r", &auth_method::roles::fields::NAMES),
        (&METHOD, "role/r/labels", &auth_method::roles::lists::FIELDS),
        (
            &METHOD,
            "role/r/service-accounts",
            &auth_method::roles::lists::FIELDS,
        ),
        (&TOKENS, "roles/r", &tokens::roles::fields::NAMES),
        (&TOKENS, "create", &tokens::create::FIELDS),
        (&TOKENS, "create-orphan", &tokens::create::FIELDS),
        (&IDENTITY, "entity", &identity::entities::FIELDS),
        (&IDENTITY, "entity/id/x", &identity::entities::FIELDS),
        (&IDENTITY, "group", &identity::groups::FIELDS),
        (&IDENTITY, "group/id/x", &identity::groups::FIELDS),
        (&IDENTITY, "entity-alias", &identity::aliases::FIELDS),
        (&IDENTITY, "entity-alias/id/x", &identity::aliases::FIELDS),
        (&IDENTITY, "group-alias", &identity::aliases::FIELDS),
        (&IDENTITY, "group-alias/id/x", &identity::aliases::FIELDS),
        (&IDENTITY, "lookup/entity", &identity::LOOKUP_FIELDS),
        (&IDENTITY, "lookup/group", &identity::LOOKUP_FIELDS),
    ];
    for (family, path, known) in cases {
        assert_eq!(written(route(family, path)), sorted(known), "{path}");
    }
}

#[test]
fn fields_of_some_places_are_a_part_of_what_the_handler_knows() {
    let id = |names: Vec<&'static str>| {
        let mut names = names;
        names.push("id");
        names.sort_unstable();
        names
    };
    let by_name = |path| id(written(route(&IDENTITY, path)));
    assert_eq!(
        by_name("entity/name/x"),
        sorted(&identity::entities::FIELDS)
    );
    assert_eq!(by_name("group/name/x"), sorted(&identity::groups::FIELDS));
    for path in ["capabilities", "capabilities-self", "capabilities-accessor"] {
        for name in written(route(&SYSTEM, path)) {
            assert!(capabilities::FIELDS.contains(&name), "{path}: {name}");
        }
    }
    let mut under_role = tokens::create::FIELDS.to_vec();
    under_role.push(tokens::create::ROLE_FIELD);
    assert_eq!(written(route(&TOKENS, "create/r")), sorted(&under_role));
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
        assert_eq!(names(list.query), paging::FIELDS, "{path}");
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
