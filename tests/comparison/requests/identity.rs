//! Entities, groups and their aliases (contract 7.1, 7.2).

use crate::step::{Step, delete, get, list, post};

pub fn requests() -> Vec<Step> {
    [entities(), aliases(), groups(), group_aliases()].concat()
}

fn entities() -> Vec<Step> {
    vec![
        list("identity/entity/id"),
        list("identity/entity/name"),
        post(
            "identity/entity",
            r#"{"name":"e1","policies":["b","a"],"metadata":{"k":"v"}}"#,
        )
        .keep("entity one", "/data/id"),
        post("identity/entity", r#"{"name":"e1","policies":["c"]}"#),
        post(
            "identity/entity",
            r#"{"name":"e2","metadata":["k=v","l=w"],"policies":"x,y"}"#,
        )
        .keep("entity two", "/data/id"),
        post("identity/entity", "{}").keep("entity three", "/data/id"),
        post("identity/entity", r#"{"id":"nonsense","name":"x"}"#),
        post("identity/entity", r#"{"name":"e3","policies":["root"]}"#),
        get("identity/entity/id/<entity one>"),
        get("identity/entity/name/e1"),
        get("identity/entity/name/none"),
        get("identity/entity/id/nonsense"),
        post(
            "identity/entity/id/<entity one>",
            r#"{"name":"renamed","disabled":true}"#,
        ),
        get("identity/entity/id/<entity one>"),
        get("identity/entity/name/e1"),
        post("identity/entity/id/<entity one>", r#"{"name":"e2"}"#),
        post("identity/entity/id/nonsense", r#"{"name":"x"}"#),
        post(
            "identity/entity/id/<entity one>",
            r#"{"metadata":{},"disabled":false}"#,
        ),
        post("identity/entity/name/renamed", r#"{"policies":["z"]}"#),
        get("identity/entity/name/renamed"),
        post("identity/entity/name/e4", r#"{"policies":["z"]}"#).keep("entity four", "/data/id"),
        post("identity/entity", r#"{"name":"e5","unknown":1}"#).keep("entity five", "/data/id"),
        list("identity/entity/name"),
        list("identity/entity/id"),
        get("identity/entity/id?list=true"),
        get("identity/entity/id"),
        post("identity/lookup/entity", r#"{"name":"renamed"}"#),
        post("identity/lookup/entity", r#"{"id":"<entity one>"}"#),
        post("identity/lookup/entity", r#"{"name":"none"}"#),
        post("identity/lookup/entity", "{}"),
        post(
            "identity/lookup/entity",
            r#"{"name":"renamed","id":"<entity one>"}"#,
        ),
        post("identity/lookup/entity", r#"{"alias_name":"x"}"#),
        delete("identity/entity/name/e4"),
        delete("identity/entity/name/none"),
        delete("identity/entity/id/nonsense"),
        delete("identity/entity/id/<entity three>"),
        delete("identity/entity/name/e5"),
    ]
}

fn aliases() -> Vec<Step> {
    vec![
        post("sys/auth/ident", r#"{"type":"<method>"}"#),
        get("sys/auth/ident").keep("ident accessor", "/data/accessor"),
        list("identity/entity-alias/id"),
        post("identity/entity-alias", r#"{"name":"al1","canonical_id":"<entity one>","mount_accessor":"<ident accessor>","custom_metadata":{"c":"d"}}"#)
            .keep("alias one", "/data/id"),
        post("identity/entity-alias", r#"{"name":"al1","canonical_id":"<entity one>","mount_accessor":"<ident accessor>"}"#),
        post("identity/entity-alias", r#"{"name":"al2","mount_accessor":"<ident accessor>"}"#)
            .keep("alias two", "/data/id")
            .keep("entity of alias", "/data/canonical_id"),
        post("identity/entity-alias", r#"{"name":"al3","canonical_id":"nonsense","mount_accessor":"<ident accessor>"}"#),
        post("identity/entity-alias", r#"{"name":"al3","canonical_id":"<entity one>","mount_accessor":"nonsense"}"#),
        post("identity/entity-alias", r#"{"canonical_id":"<entity one>","mount_accessor":"<ident accessor>"}"#),
        post("identity/entity-alias", r#"{"name":"al3","canonical_id":"<entity one>"}"#),
        post("identity/entity-alias", r#"{"name":"al4","canonical_id":"<entity one>","mount_accessor":"<ident accessor>"}"#),
        get("identity/entity-alias/id/<alias one>"),
        get("identity/entity-alias/id/nonsense"),
        get("identity/entity/id/<entity one>"),
        list("identity/entity-alias/id"),
        list("identity/entity/id"),
        post("identity/entity-alias/id/<alias one>", r#"{"name":"al1b","canonical_id":"<entity one>","mount_accessor":"<ident accessor>"}"#),
        get("identity/entity-alias/id/<alias one>"),
        post("identity/entity-alias/id/nonsense", r#"{"name":"y"}"#),
        post("identity/lookup/entity", r#"{"alias_id":"<alias one>"}"#),
        post("identity/lookup/entity", r#"{"alias_name":"al1b","alias_mount_accessor":"<ident accessor>"}"#),
        post("identity/lookup/entity", r#"{"alias_name":"none","alias_mount_accessor":"<ident accessor>"}"#),
        delete("identity/entity-alias/id/<alias two>"),
        delete("identity/entity-alias/id/nonsense"),
    ]
}

fn groups() -> Vec<Step> {
    vec![
        list("identity/group/id"),
        list("identity/group/name"),
        post("identity/group", r#"{"name":"g1","policies":["a"],"member_entity_ids":["<entity one>"],"metadata":{"k":"v"}}"#)
            .keep("group one", "/data/id"),
        post("identity/group", r#"{"name":"g1","policies":["b"]}"#),
        post("identity/group", r#"{"name":"g2","member_group_ids":["<group one>"]}"#)
            .keep("group two", "/data/id"),
        post("identity/group", "{}").keep("group three", "/data/id"),
        post("identity/group", r#"{"name":"g3","type":"nonsense"}"#),
        post("identity/group", r#"{"name":"g3","member_entity_ids":["nonsense"]}"#),
        post("identity/group", r#"{"name":"g3","member_group_ids":["nonsense"]}"#),
        post("identity/group", r#"{"name":"g3","type":"external","member_entity_ids":["<entity one>"]}"#),
        post("identity/group", r#"{"name":"ext","type":"external","policies":["e"]}"#)
            .keep("external group", "/data/id"),
        post("identity/group/id/<group one>", r#"{"member_group_ids":["<group two>"]}"#),
        get("identity/group/id/<group one>"),
        get("identity/group/name/g2"),
        get("identity/group/name/none"),
        get("identity/group/id/nonsense"),
        get("identity/entity/id/<entity one>"),
        post("identity/group/id/<group one>", r#"{"name":"g1b","member_entity_ids":[]}"#),
        get("identity/group/id/<group one>"),
        post("identity/group/name/g2", r#"{"policies":["z"]}"#),
        post("identity/group/name/g9", r#"{"policies":["z"]}"#).keep("group nine", "/data/id"),
        post("identity/group/id/<group one>", r#"{"type":"external"}"#),
        list("identity/group/id"),
        list("identity/group/name"),
        post("identity/lookup/group", r#"{"name":"g2"}"#),
        post("identity/lookup/group", r#"{"name":"none"}"#),
        post("identity/lookup/group", "{}"),
        delete("identity/group/name/g9"),
        delete("identity/group/id/nonsense"),
        delete("identity/group/id/<group three>"),
    ]
}

fn group_aliases() -> Vec<Step> {
    vec![
        list("identity/group-alias/id"),
        post("identity/group-alias", r#"{"name":"ga1","mount_accessor":"<ident accessor>","canonical_id":"<external group>"}"#)
            .keep("group alias", "/data/id"),
        post("identity/group-alias", r#"{"name":"ga2","mount_accessor":"<ident accessor>","canonical_id":"<group one>"}"#),
        post("identity/group-alias", r#"{"name":"ga2","mount_accessor":"nonsense","canonical_id":"<external group>"}"#),
        post("identity/group-alias", r#"{"mount_accessor":"<ident accessor>","canonical_id":"<external group>"}"#),
        get("identity/group-alias/id/<group alias>"),
        get("identity/group-alias/id/nonsense"),
        get("identity/group/id/<external group>"),
        post("identity/group-alias/id/<group alias>", r#"{"name":"ga1b","mount_accessor":"<ident accessor>","canonical_id":"<external group>"}"#),
        list("identity/group-alias/id"),
        post("identity/lookup/group", r#"{"alias_name":"ga1b","alias_mount_accessor":"<ident accessor>"}"#),
        post("identity/lookup/group", r#"{"alias_id":"<group alias>"}"#),
        delete("identity/group-alias/id/<group alias>"),
        delete("identity/group/id/<external group>"),
        delete("identity/group/id/<group one>"),
        delete("identity/group/id/<group two>"),
        delete("identity/entity/id/<entity one>"),
        delete("identity/entity/id/<entity two>"),
        delete("identity/entity/id/<entity of alias>"),
        delete("sys/auth/ident"),
    ]
}
