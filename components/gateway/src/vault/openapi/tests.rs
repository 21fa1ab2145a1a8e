//! That paths find their routes.

use crate::vault::field::{Field, PAGING};
use crate::vault::route::{Route, Verb};
use crate::vault::routes::{Family, IDENTITY, METHOD, SYSTEM, TOKENS};

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
