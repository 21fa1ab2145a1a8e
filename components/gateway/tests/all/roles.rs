//! `role/<name>` (contract 3).

use gatehouse_auth_method::{
    AliasSource, GceRules, IamRules, LegacyTokenFields, Role, RoleOptions, RoleRules,
    TokenParameters,
};
use gatehouse_gateway::Method;
use serde_json::{Value, json};

use super::rows::texts;
use super::server::{ROOT, Server, identity, listed};

#[test]
fn a_role_is_created_with_an_empty_envelope_and_read_back() {
    let server = Server::with_method();
    let role = r#"{"type":"iam","bound_service_accounts":["dev@p1.iam.gserviceaccount.com"],"token_policies":["prod"],"token_ttl":1800,"bound_projects":"p1"}"#;
    let answer = server.post("auth/gcp/role/Dev", role).expect(200);
    let envelope = answer.json();
    assert_eq!(
        (&envelope["data"], &envelope["warnings"]),
        (&json!(null), &json!(null))
    );
    let read = server.get("auth/gcp/role/dEV").expect(200).data();
    let id = read["role_id"].as_str().unwrap();
    assert_eq!(
        read,
        json!({"add_group_aliases":false,"allow_gce_inference":true,
            "bound_service_accounts":["dev@p1.iam.gserviceaccount.com"],"bound_projects":["p1"],"max_jwt_exp":900,
            "role_id":id,"token_bound_cidrs":[],
            "token_explicit_max_ttl":0,"token_max_ttl":0,"token_no_default_policy":false,
            "token_num_uses":0,"token_period":0,"token_policies":["prod"],"token_ttl":1800,
            "token_type":"default","type":"iam"})
    );
}

fn role(rules: RoleRules) -> Role {
    Role {
        role_id: "id".to_owned(),
        rules,
        bound_service_accounts: Vec::new(),
        bound_projects: Vec::new(),
        add_group_aliases: false,
        token: TokenParameters::default(),
        legacy: LegacyTokenFields::default(),
        options: RoleOptions::default(),
    }
}

fn read(role: Role) -> Value {
    let server = Server::with_method();
    server.script.role.is(Ok(Some(role)));
    server.get("auth/gcp/role/r").expect(200).data()
}

#[test]
fn a_gce_role_without_bounds_shows_what_every_role_shows() {
    assert_eq!(
        read(role(RoleRules::Gce(GceRules::default()))),
        json!({"add_group_aliases": false, "role_id": "id", "token_bound_cidrs": [], "token_explicit_max_ttl": 0,
            "token_max_ttl": 0, "token_no_default_policy": false, "token_num_uses": 0, "token_period": 0,
            "token_policies": [], "token_ttl": 0, "token_type": "default", "type": "gce"})
    );
}

#[test]
fn a_gce_role_shows_its_bounds_and_what_goes_beyond_the_reference_once_it_is_set() {
    let mut full = role(RoleRules::Gce(GceRules {
        bound_zones: texts(&["a", "b"]),
        bound_regions: texts(&["r"]),
        bound_instance_groups: texts(&["g"]),
        bound_labels: vec![("env".to_owned(), "prod".to_owned())],
        maximum_instance_age: 3600,
    }));
    full.bound_service_accounts = texts(&["*"]);
    full.options.bound_folders = texts(&["1"]);
    full.options.bound_organizations = texts(&["2"]);
    full.options.bound_audiences = texts(&["https://a.example"]);
    full.options.alias = Some(AliasSource::Caller);
    full.options.refuse_replay = true;
    full.options.trust_claims = true;
    full.legacy.ttl = Some(5);
    assert_eq!(
        read(full),
        json!({"add_group_aliases": false, "role_id": "id", "token_bound_cidrs": [], "token_explicit_max_ttl": 0,
            "token_max_ttl": 0, "token_no_default_policy": false, "token_num_uses": 0, "token_period": 0,
            "token_policies": [], "token_ttl": 0, "token_type": "default", "type": "gce", "ttl": 5,
            "bound_zones": ["a", "b"], "bound_regions": ["r"], "bound_instance_groups": ["g"],
            "bound_labels": {"env": "prod"}, "max_instance_age": 3600, "bound_service_accounts": ["*"],
            "bound_folders": ["1"], "bound_organizations": ["2"], "bound_audiences": ["https://a.example"],
            "alias_source": "instance_id", "refuse_replay": true, "live_checks": false})
    );
}

#[test]
fn the_alias_source_has_the_name_that_its_type_of_role_knows() {
    let iam = || {
        RoleRules::Iam(IamRules {
            maximum_jwt_lifetime: 900,
            allow_gce_inference: true,
        })
    };
    let gce = || RoleRules::Gce(GceRules::default());
    for (rules, alias, shown) in [
        (iam(), AliasSource::Caller, "unique_id"),
        (gce(), AliasSource::Caller, "instance_id"),
        (iam(), AliasSource::RoleId, "role_id"),
        (gce(), AliasSource::RoleId, "role_id"),
    ] {
        let mut role = role(rules);
        role.options.alias = Some(alias);
        assert_eq!(read(role)["alias_source"], shown);
    }
}

#[test]
fn lists_are_sorted_and_an_empty_one_is_not_found() {
    let server = Server::with_role();
    let role = r#"{"type":"iam","bound_service_accounts":"*"}"#;
    server.post("auth/gcp/role/Abc", role).expect(200);
    for target in ["auth/gcp/role", "auth/gcp/roles"] {
        assert_eq!(
            server.list(target).expect(200).data(),
            json!({"keys": ["abc", "dev"]})
        );
    }
    server.delete("auth/gcp/role/abc").expect(204);
    server.delete("auth/gcp/role/dev").expect(204);
    server.delete("auth/gcp/role/dev").expect(204);
    server.list("auth/gcp/roles").silently_refused(404);
    server.get("auth/gcp/role/dev").silently_refused(404);
}

#[test]
fn refusals_have_their_texts_and_store_nothing() {
    let server = Server::with_role();
    let before = server.commits();
    for (body, text) in [
        (
            r#"{"bound_service_accounts":"x"}"#,
            "role type cannot be empty",
        ),
        (r#"{"type":"vm"}"#, "role type 'vm' is invalid"),
        (
            r#"{"type":"iam"}"#,
            "IAM role type must have at least one service account",
        ),
        (
            r#"{"type":"iam","bound_service_accounts":"*,a"}"#,
            "cannot provide IAM service account wildcard '*' (for all service accounts) with other service accounts",
        ),
        (
            r#"{"type":"iam","bound_service_accounts":"a","bound_zones":"z","bound_labels":"a:b"}"#,
            "invalid args found for role of type iam: bound_labels,bound_zones",
        ),
        (
            r#"{"type":"iam","bound_service_accounts":"a","max_jwt_exp":3601}"#,
            "max_jwt_exp cannot be more than 60 minutes",
        ),
        (
            r#"{"type":"iam","bound_service_accounts":"a","token_ttl":2,"token_max_ttl":1}"#,
            "'token_ttl' cannot be greater than 'token_max_ttl'",
        ),
        (
            r#"{"type":"iam","bound_service_accounts":"a","token_period":"2764801"}"#,
            "'period' of '768h0m1s' is greater than the backend's maximum lease TTL of '768h0m0s'",
        ),
        (
            r#"{"type":"iam","bound_service_accounts":"a","token_num_uses":-1}"#,
            "'token_num_uses' cannot be negative",
        ),
        (
            r#"{"type":"iam","bound_service_accounts":"a","token_type":"default-batch"}"#,
            "invalid 'token_type' value \"default-batch\"",
        ),
        (
            r#"{"type":"iam","bound_service_accounts":"a","token_type":"batch","token_period":5}"#,
            "'token_type' cannot be 'batch' or 'default_batch' when set to generate periodic tokens",
        ),
        (
            r#"{"type":"iam","bound_service_accounts":"a","token_type":"batch","token_num_uses":5}"#,
            "'token_type' cannot be 'batch' or 'default_batch' when set to generate tokens with limited use count",
        ),
        (
            r#"{"type":"iam","bound_service_accounts":"a","bound_projects":"a","project_id":"b"}"#,
            "only one of 'bound_projects' or 'project_id' can be given",
        ),
    ] {
        server.post("auth/gcp/role/new", body).refused(400, text);
    }
    server
        .post("auth/gcp/role/dev", r#"{"type":"gce"}"#)
        .refused(400, "role type cannot be changed for an existing role");
    server
        .post("auth/gcp/role/dev", r#"{"polices":"x"}"#)
        .refused(422, &listed(r#"unknown fields: ["polices"]"#));
    let cidr = server
        .post("auth/gcp/role/dev", r#"{"token_bound_cidrs":"x"}"#)
        .expect(400);
    assert!(cidr.text().contains(r#"error parsing address \"x\""#));
    for method in [Method::Get, Method::Delete, Method::List] {
        for name in ["-x", "x.", "a%20b", &"x".repeat(129)] {
            let answer = server.send(method, &format!("auth/gcp/role/{name}"), Some(ROOT), "");
            answer.refused(404, &listed("unsupported path"));
        }
    }
    for name in ["-x", "x.", "a%20b", &"x".repeat(129)] {
        let answer = server.post(
            &format!("auth/gcp/role/{name}"),
            r#"{"type":"iam","bound_service_accounts":"a"}"#,
        );
        answer.refused(404, &listed("unsupported path"));
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn old_names_and_replaced_names_warn() {
    let server = Server::with_method();
    let role = r#"{"type":"iam","name":"other","project_id":"p1","service_accounts":"a","policies":"B,a","ttl":"1h"}"#;
    let warnings = server
        .post("auth/gcp/role/dev", role)
        .expect(200)
        .warnings();
    let has = |part: &str| warnings.iter().any(|warning| warning.starts_with(part));
    assert!(
        has(r#"The "project_id" (singular) field is deprecated"#),
        "{warnings:?}"
    );
    assert!(
        has(r#"The "service_accounts" field is deprecated"#),
        "{warnings:?}"
    );
    assert_eq!(
        warnings.last().unwrap(),
        "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [name]"
    );
    let read = server.get("auth/gcp/role/dev").data();
    assert_eq!(
        (&read["policies"], &read["token_policies"]),
        (&json!(["a", "b"]), &json!(["a", "b"]))
    );
    assert_eq!(
        (&read["ttl"], &read["token_ttl"]),
        (&json!(3600), &json!(3600))
    );
    server.get("auth/gcp/role/other").silently_refused(404);

    let lasting = r#"{"max_ttl":"2h","period":"30m"}"#;
    server.post("auth/gcp/role/dev", lasting).expect(200);
    let read = server.get("auth/gcp/role/dev").data();
    for (old, new, seconds) in [
        ("max_ttl", "token_max_ttl", 7200),
        ("period", "token_period", 1800),
    ] {
        assert_eq!((&read[old], &read[new]), (&json!(seconds), &json!(seconds)));
    }

    let emptied = r#"{"policies":"","ttl":0,"max_ttl":0,"period":0}"#;
    server.post("auth/gcp/role/dev", emptied).expect(200);
    let read = server.get("auth/gcp/role/dev").data();
    for old in ["policies", "ttl", "max_ttl", "period"] {
        assert_eq!(read.get(old), None, "{old}");
    }
    assert_eq!(read["token_policies"], json!([]));
    for new in ["token_ttl", "token_max_ttl", "token_period"] {
        assert_eq!(read[new], 0, "{new}");
    }
}

#[test]
fn create_and_update_are_two_rights() {
    let server = Server::with_role();
    let new = r#"{"type":"iam","bound_service_accounts":"a"}"#;
    let creator = server.token_with(r#"path "auth/gcp/role/*" { capabilities = ["create"] }"#);
    let send =
        |token: &str, path: &str, body: &str| server.send(Method::Post, path, Some(token), body);
    send(&creator, "auth/gcp/role/new", new).expect(200);
    let denied = listed("permission denied");
    send(&creator, "auth/gcp/role/new", new).refused(403, &denied);
    send(&creator, "auth/gcp/role/dev", r#"{"token_ttl":9}"#).refused(403, &denied);
    assert_eq!(server.get("auth/gcp/role/dev").data()["token_ttl"], 0);

    let updater = server.token_with(r#"path "auth/gcp/role/*" { capabilities = ["update"] }"#);
    send(&updater, "auth/gcp/role/dev", r#"{"token_ttl":9}"#).expect(200);
    send(&updater, "auth/gcp/role/newer", new).refused(403, &denied);
    server.get("auth/gcp/role/newer").silently_refused(404);
}

#[test]
fn on_a_mount_called_role_config_still_needs_update() {
    let server = Server::initialized();
    server
        .post("sys/auth/team/role", r#"{"type":"gcp"}"#)
        .expect(204);
    let creator = server.token_with(r#"path "auth/team/role/*" { capabilities = ["create"] }"#);
    let answer = server.send(
        Method::Post,
        "auth/team/role/config",
        Some(&creator),
        r#"{"iam_alias":"unique_id"}"#,
    );
    answer.refused(403, &listed("permission denied"));
    assert_eq!(
        server.get("auth/team/role/config").data()["iam_alias"],
        "role_id"
    );
    server
        .post("auth/team/role/config", r#"{"iam_alias":"unique_id"}"#)
        .expect(204);
    let login = server.send(Method::Post, "auth/team/role/login", None, "{}");
    login.refused(400, "role is required");
}

#[test]
fn s14_roles_are_listed_in_parts_under_both_paths() {
    let server = Server::with_method();
    let role = r#"{"type":"iam","bound_service_accounts":"a@x.example"}"#;
    for name in ["c", "a", "b"] {
        server
            .post(&format!("auth/gcp/role/{name}"), role)
            .expect(200);
    }
    for path in ["role", "roles"] {
        let list = |query: &str| server.list(&format!("auth/gcp/{path}{query}"));
        let keys = |query: &str| list(query).expect(200).data()["keys"].clone();
        assert_eq!(keys(""), json!(["a", "b", "c"]));
        assert_eq!(keys("/?limit=2"), json!(["a", "b"]));
        assert_eq!(keys("?after=a&limit=1"), json!(["b"]));
        list("?after=c").silently_refused(404);
        list("?limit=x").expect(400);
    }
}

#[test]
fn s14_a_role_with_more_accounts_than_allowed_is_refused_by_the_bound() {
    let server = Server::with_method();
    let accounts = |count: usize| {
        let accounts: Vec<String> = (0..count).map(|number| format!("a{number}@x")).collect();
        format!(
            r#"{{"type":"iam","bound_service_accounts":"{}"}}"#,
            accounts.join(",")
        )
    };
    server
        .post("auth/gcp/role/r", &accounts(10_000))
        .expect(200);
    let text = "'bound_service_accounts' cannot have more than 10000 entries";
    server
        .post("auth/gcp/role/r", &accounts(10_001))
        .refused(400, text);
    server
        .post(
            "auth/gcp/role/r/service-accounts",
            r#"{"add":"one-more@x"}"#,
        )
        .refused(400, text);
}

#[test]
fn a4_a_role_that_binds_to_blanks_is_not_written() {
    let server = Server::with_method();
    for field in [
        "bound_service_accounts",
        "service_accounts",
        "bound_projects",
        "bound_zones",
        "bound_regions",
        "bound_instance_groups",
        "token_bound_cidrs",
        "bound_folders",
        "bound_organizations",
        "bound_audiences",
    ] {
        for blanks in [json!([""]), json!([" ", ""]), json!(" "), json!(",")] {
            let body = json!({"type": "gce", field: blanks}).to_string();
            let answer = server.post("auth/gcp/role/blank", &body).expect(400);
            assert!(answer.json().to_string().contains(field), "{field}");
        }
    }
    for field in [
        "project_id",
        "bound_zone",
        "bound_region",
        "bound_instance_group",
    ] {
        let body = json!({"type": "gce", field: " "}).to_string();
        server.post("auth/gcp/role/blank", &body).expect(400);
    }
    // Labels have a separate parser: a blank text is not a label.
    for blanks in [
        json!([""]),
        json!([" ", "\t"]),
        json!(" "),
        json!(","),
        json!(":"),
        json!({"": ""}),
        json!({" ": null}),
    ] {
        let body = json!({"type": "gce", "bound_labels": blanks}).to_string();
        server.post("auth/gcp/role/blank", &body).expect(400);
    }
    server.get("auth/gcp/role/blank").expect(404);
}

#[test]
fn a4_blank_policies_of_a_role_give_a_login_the_default_policy_alone() {
    let server = Server::with_method();
    for field in ["token_policies", "policies"] {
        for blanks in [
            json!([""]),
            json!([" ", "\t"]),
            json!(""),
            json!(" "),
            json!(","),
        ] {
            server.delete("auth/gcp/role/dev").expect(204);
            let body =
                json!({"type": "iam", "bound_service_accounts": "a@x.example", field: blanks});
            server
                .post("auth/gcp/role/dev", &body.to_string())
                .expect(200);
            // A login with the role gets the stored policies of the role.
            let kept = server.get("auth/gcp/role/dev").expect(200).data()["token_policies"].clone();
            let mut caller = identity();
            caller.token.policies = serde_json::from_value(kept).unwrap();
            server.script.login.is(Ok(caller));
            let login = r#"{"role":"dev","jwt":"a.b.c"}"#;
            let answer = server.send(Method::Put, "auth/gcp/login", None, login);
            let auth = answer.expect(200).json()["auth"].clone();
            assert_eq!(auth["policies"], json!(["default"]), "{field} {blanks}");
            assert_eq!(auth["token_policies"], json!(["default"]));
            assert!(auth["lease_duration"].as_u64().unwrap() > 0, "it ends");
        }
    }
}
