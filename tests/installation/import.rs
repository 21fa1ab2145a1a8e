//! Copies from other servers: OpenBao's policies and identities, and all of the method from another Gatehouse.

use std::fs;

use gatehouse_tests::{Installation, ReferenceProcess, Storage, TlsListener, bao_program};
use serde_json::{Value, json};

use crate::HOST;
use crate::command::{Run, run};

fn started() -> Installation {
    Installation::start_program(HOST.program(), Storage::Memory, "").unwrap()
}

/// Writes to a server of the reference as its operator.
fn write(reference: &ReferenceProcess, path: &str, body: &Value) -> Value {
    write_in(reference, "", path, body)
}

/// The same in one of the server's namespaces.
fn write_in(reference: &ReferenceProcess, namespace: &str, path: &str, body: &Value) -> Value {
    let url = format!("http://{}/v1/{path}", reference.address());
    let request = reqwest::blocking::Client::new()
        .post(url)
        .header("X-Vault-Token", ReferenceProcess::ROOT_TOKEN)
        .header("X-Vault-Namespace", namespace)
        .body(body.to_string());
    let answer = request.send().unwrap();
    let status = answer.status();
    let text = answer.text().unwrap();
    assert!(status.is_success(), "{path}: {status} {text}");
    serde_json::from_str(&text).unwrap_or_default()
}

/// Writes to a Gatehouse as its operator, and returns the identifier of the new object, where it has one.
fn put(server: &Installation, path: &str, body: &Value) -> Value {
    let written = server.as_root("POST", path, Some(body));
    assert!(written.status < 300, "{path}: {written:?}");
    written.json()["data"]["id"].take()
}

/// The data that a Gatehouse shows its operator at `path`.
fn shown(server: &Installation, path: &str) -> Value {
    server.as_root("GET", path, None).json()["data"].take()
}

fn import(into: &Installation, from: &str, token: &str, arguments: &[&str]) -> Run {
    import_from_url(into, &format!("http://{from}"), token, arguments)
}

fn import_from_url(into: &Installation, from: &str, token: &str, arguments: &[&str]) -> Run {
    let all = ["import", "--from", from]
        .into_iter()
        .chain(arguments.iter().copied());
    run(into, all, &[("GATEHOUSE_FROM_TOKEN", token)])
}

#[test]
fn policies_identities_and_token_roles_of_openbao_are_copied_and_the_rest_is_named() {
    let openbao = ReferenceProcess::start(&bao_program(), |_| {});
    let policy =
        json!({"policy": "path \"auth/token/lookup-self\" { capabilities = [\"read\"] }\n"});
    write(&openbao, "sys/policies/acl/readers", &policy);
    write(&openbao, "sys/auth/jwt", &json!({"type": "jwt"}));
    write(
        &openbao,
        "auth/token/roles/ci",
        &json!({"allowed_policies": "readers", "token_period": "2h", "renewable": false}),
    );
    let entity = json!({"metadata": {"team": "engines"}, "policies": ["readers"]});
    let entity = write(&openbao, "identity/entity/name/ada", &entity);
    let id = entity["data"]["id"].as_str().unwrap();
    write(
        &openbao,
        "identity/group/name/engines",
        &json!({"policies": ["readers"], "member_entity_ids": [id]}),
    );

    let into = started();
    let token = ReferenceProcess::ROOT_TOKEN;
    let dry = import(&into, openbao.address(), token, &["--dry-run"]);
    assert_eq!(dry.code, Some(2), "{dry:?}");
    assert!(dry.output.contains("+ token role ci\n"), "{dry:?}");
    assert_eq!(
        into.as_root("GET", "/v1/sys/policies/acl/readers", None)
            .status,
        404
    );

    let done = import(&into, openbao.address(), token, &[]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for left in [
        "auth method jwt/ of type jwt",
        "auth method token/ of type token",
        "secrets engine secret/ of type kv",
    ] {
        assert!(
            done.errors.contains(&format!("not taken: {left}\n")),
            "{done:?}"
        );
    }
    let read = |path: &str| into.as_root("GET", path, None).json()["data"].take();
    assert_eq!(
        read("/v1/sys/policies/acl/readers")["policy"],
        policy["policy"]
    );
    let role = read("/v1/auth/token/roles/ci");
    assert_eq!(
        (&role["token_period"], &role["renewable"]),
        (&json!(7200), &json!(false))
    );
    let copied = read("/v1/identity/entity/name/ada");
    assert_eq!(copied["metadata"], json!({"team": "engines"}));
    assert_ne!(copied["id"], id);
    assert_eq!(
        read("/v1/identity/group/name/engines")["member_entity_ids"],
        json!([copied["id"]])
    );
    let again = import(&into, openbao.address(), token, &["--dry-run"]);
    assert_eq!(again.code, Some(0), "{again:?}");
}

#[test]
fn a_gcp_method_is_copied_without_its_key_which_is_asked_for() {
    let from = started();
    from.set_up_login().unwrap();
    let alias = json!({"description": "workloads", "default_lease_ttl": "2h"});
    assert!(
        from.as_root("POST", "/v1/sys/auth/gcp/tune", Some(&alias))
            .status
            < 300
    );
    let into = started();
    let done = import(&into, from.address(), from.root_token(), &[]);
    assert!(
        done.errors
            .contains("The private key of gcp/ cannot be read"),
        "{done:?}"
    );
    // This installation may not call the Google of the other one.
    assert!(
        done.code == Some(0) || done.output.contains("! configuration of gcp/"),
        "{done:?}"
    );
    let read = |server: &Installation, path: &str| {
        let mut data = server.as_root("GET", path, None).json()["data"].take();
        if let Some(fields) = data.as_object_mut() {
            fields.remove("role_id");
        }
        data
    };
    for path in [
        "/v1/auth/gcp/role/dev",
        "/v1/auth/gcp/role/vm",
        "/v1/sys/policies/acl/demo",
    ] {
        assert_eq!(read(&into, path), read(&from, path), "{path}");
    }
    let tuning = read(&into, "/v1/sys/auth/gcp/tune");
    assert_eq!(
        (&tuning["description"], &tuning["default_lease_ttl"]),
        (&json!("workloads"), &json!(7200))
    );

    let file = into.folder().join("copy.toml");
    let shown = file.to_str().unwrap();
    let written = import(
        &into,
        from.address(),
        from.root_token(),
        &["--to-file", shown],
    );
    assert_eq!(written.code, Some(0), "{written:?}");
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("# The private key of gcp/ could not be read"),
        "{text}"
    );
    let refused = import(
        &into,
        from.address(),
        from.root_token(),
        &["--to-file", shown],
    );
    assert_eq!(
        refused.code,
        Some(1),
        "a file that is there is not replaced"
    );
    let applied = run(&from, ["apply", shown, "--dry-run"], &[]);
    assert_eq!(applied.code, Some(0), "{applied:?}");
}

/// The lines that a report has below an object, without their indentation.
fn below<'r>(report: &'r str, object: &str) -> Vec<&'r str> {
    let mut lines = report.lines().skip_while(|line| *line != object);
    assert!(lines.next().is_some(), "{object} in {report}");
    let fields = lines.take_while(|line| line.starts_with("    "));
    fields.map(str::trim_start).collect()
}

#[test]
fn a_dry_run_names_each_differing_field_of_a_gcp_configuration_with_both_values_and_writes_none() {
    // OpenBao has no method of this type built in, so the other server is one of ours.
    let from = started();
    from.set_up_login().unwrap();
    let into = started();
    into.set_up_login().unwrap();
    let write = |server: &Installation, fields: &Value| {
        let written = server.as_root("POST", "/v1/auth/gcp/config", Some(fields));
        assert!(written.status < 300, "{written:?}");
    };
    // One Google for both, so that nothing differs but what is written here.
    let google = from.google().base_url();
    let endpoint = json!({"custom_endpoint": {"api": google, "iam": google, "compute": google, "crm": google}});
    write(&into, &endpoint);
    write(
        &from,
        &json!({
            "iam_alias": "unique_id",
            "iam_metadata": ["role", "project_id"],
            "gce_alias": "instance_id",
            "rotation_period": "720h",
        }),
    );
    write(
        &into,
        &json!({
            "iam_alias": "role_id",
            "iam_metadata": ["role", "project_id"],
            "gce_alias": "role_id",
            "gce_metadata": ["zone"],
        }),
    );
    let before = into.as_root("GET", "/v1/auth/gcp/config", None).json();

    let dry = import(&into, from.address(), from.root_token(), &["--dry-run"]);
    assert_eq!(dry.code, Some(2), "{dry:?}");
    let fields = below(&dry.output, "~ configuration of gcp/");
    let usual = "[\"instance_creation_timestamp\",\"instance_id\",\"instance_name\",\"project_id\",\"project_number\",\"role\",\
                 \"service_account_id\",\"service_account_email\",\"zone\"]";
    assert_eq!(
        fields,
        [
            "~ gce_alias: \"role_id\" -> \"instance_id\"",
            &format!("~ gce_metadata: [\"zone\"] -> {usual}"),
            "~ iam_alias: \"role_id\" -> \"unique_id\"",
            "~ rotation_period: 0 -> 2592000",
        ]
    );
    assert!(
        dry.output.ends_with("0 to add, 1 to change, 0 failed\n"),
        "{dry:?}"
    );
    // The account that the other server uses at Google is no field of a copy: the command asks for its key.
    assert!(
        dry.errors.contains("private key of gcp/ cannot be read"),
        "{dry:?}"
    );
    let after = into.as_root("GET", "/v1/auth/gcp/config", None).json();
    assert_eq!(after["data"], before["data"]);
    let printed = format!("{}{}", dry.output, dry.errors);
    assert!(!printed.contains("PRIVATE KEY"), "{printed}");

    let done = import(&into, from.address(), from.root_token(), &[]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let copied = into.as_root("GET", "/v1/auth/gcp/config", None).json();
    assert_eq!(copied["data"]["iam_alias"], "unique_id");
    // Fields that the other server does not show stay as they are.
    let again = import(&into, from.address(), from.root_token(), &["--dry-run"]);
    assert_eq!(again.code, Some(0), "{again:?}");
}

#[test]
fn rights_that_are_empty_at_the_source_are_empty_after_a_copy() {
    let (from, into) = (started(), started());
    for server in [&from, &into] {
        server.set_up_login().unwrap();
    }
    let (role, token_role) = ("/v1/auth/gcp/role/dev", "/v1/auth/token/roles/ci");
    let (entity, group) = (
        "/v1/identity/entity/name/ada",
        "/v1/identity/group/name/ops",
    );
    for server in [&from, &into] {
        put(server, token_role, &json!({"renewable": true}));
        put(server, entity, &json!({}));
        put(server, group, &json!({}));
    }
    put(&from, role, &json!({"token_policies": []}));
    put(&into, role, &json!({"token_policies": ["admin"]}));
    put(&into, token_role, &json!({"allowed_policies": ["admin"]}));
    let id = shown(&into, entity)["id"].take();
    put(&into, entity, &json!({"policies": ["admin"]}));
    put(
        &into,
        group,
        &json!({"policies": ["admin"], "member_entity_ids": [id]}),
    );

    let dry = import(&into, from.address(), from.root_token(), &["--dry-run"]);
    for (object, field) in [
        ("~ role gcp/dev", "~ token_policies: [\"admin\"] -> []"),
        ("~ token role ci", "~ allowed_policies: [\"admin\"] -> []"),
        ("~ entity ada", "~ policies: [\"admin\"] -> []"),
        ("~ group ops", "~ policies: [\"admin\"] -> []"),
    ] {
        assert!(below(&dry.output, object).contains(&field), "{dry:?}");
    }
    import(&into, from.address(), from.root_token(), &[]);
    assert_eq!(shown(&into, role)["token_policies"], json!([]));
    assert_eq!(shown(&into, token_role)["allowed_policies"], json!([]));
    assert_eq!(shown(&into, entity)["policies"], json!([]));
    let group = shown(&into, group);
    assert_eq!(
        (&group["policies"], &group["member_entity_ids"]),
        (&json!([]), &json!([]))
    );
}

#[test]
fn a_refused_read_is_told_and_the_rest_is_copied() {
    let from = started();
    from.set_up_login().unwrap();
    let policy = json!({"policy": "path \"sys/policies/acl\" { capabilities = [\"list\"] }\n\
                        path \"sys/policies/acl/demo\" { capabilities = [\"read\"] }\n"});
    assert!(
        from.as_root("POST", "/v1/sys/policies/acl/part", Some(&policy))
            .status
            < 300
    );
    let made = from.as_root(
        "POST",
        "/v1/auth/token/create",
        Some(&json!({"policies": ["part"]})),
    );
    let token = made.json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let into = started();
    let done = import(&into, from.address(), &token, &[]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.errors.contains("not read: policy part: "), "{done:?}");
    assert!(done.errors.contains("not read: auth methods: "), "{done:?}");
    assert_eq!(
        into.as_root("GET", "/v1/sys/policies/acl/demo", None)
            .status,
        200
    );
}

#[test]
fn aliases_of_gcp_methods_lead_to_the_copied_entities_and_groups() {
    let (from, into) = (started(), started());
    let accessor = |server: &Installation| {
        let mounts = shown(server, "/v1/sys/auth");
        mounts["gcp/"]["accessor"].as_str().unwrap().to_owned()
    };
    for server in [&from, &into] {
        server.set_up_login().unwrap();
    }
    let metadata = json!({"team": "engines"});
    let entity = put(&from, "/v1/identity/entity", &json!({"name": "ada"}));
    let alias = json!({"name": "1234567890", "canonical_id": entity, "mount_accessor": accessor(&from), "custom_metadata": metadata});
    put(&from, "/v1/identity/entity-alias", &alias);
    let group = json!({"name": "ops", "type": "external", "policies": ["demo"]});
    let group = put(&from, "/v1/identity/group", &group);
    let alias =
        json!({"name": "operators", "canonical_id": group, "mount_accessor": accessor(&from)});
    put(&from, "/v1/identity/group-alias", &alias);
    // The same account is known here under another name.
    let other = put(&into, "/v1/identity/entity", &json!({"name": "lovelace"}));
    let alias =
        json!({"name": "1234567890", "canonical_id": other, "mount_accessor": accessor(&into)});
    put(&into, "/v1/identity/entity-alias", &alias);

    let dry = import(&into, from.address(), from.root_token(), &["--dry-run"]);
    assert_eq!(dry.code, Some(2), "{dry:?}");
    let moved = "~ alias gcp/1234567890 of entity ada";
    assert!(
        below(&dry.output, moved).contains(&"~ entity: \"lovelace\" -> \"ada\""),
        "{dry:?}"
    );
    assert!(
        dry.output.contains("+ alias gcp/operators of group ops\n"),
        "{dry:?}"
    );

    import(&into, from.address(), from.root_token(), &[]);
    let copied = shown(&into, "/v1/identity/entity/name/ada");
    let aliases = copied["aliases"].as_array().unwrap();
    assert_eq!(aliases.len(), 1, "{copied}");
    assert_eq!(aliases[0]["name"], "1234567890");
    assert_eq!(aliases[0]["mount_accessor"], accessor(&into));
    assert_eq!(aliases[0]["custom_metadata"], metadata);
    assert_eq!(
        shown(&into, "/v1/identity/entity/name/lovelace")["aliases"],
        json!([])
    );
    let copied = shown(&into, "/v1/identity/group/name/ops");
    assert_eq!(
        (&copied["type"], &copied["alias"]["name"]),
        (&json!("external"), &json!("operators"))
    );
    assert_eq!(copied["alias"]["mount_accessor"], accessor(&into));
    let again = import(&into, from.address(), from.root_token(), &["--dry-run"]);
    assert!(!again.output.contains("alias gcp/"), "{again:?}");
}

#[test]
fn of_a_source_with_namespaces_the_named_one_alone_is_copied() {
    let openbao = ReferenceProcess::start(&bao_program(), |_| {});
    let policy =
        json!({"policy": "path \"auth/token/lookup-self\" { capabilities = [\"read\"] }\n"});
    write(&openbao, "sys/policies/acl/outside", &policy);
    write(&openbao, "sys/namespaces/team", &json!({}));
    write_in(&openbao, "team", "sys/policies/acl/inside", &policy);
    let entity = json!({"metadata": {"team": "engines"}});
    write_in(&openbao, "team", "identity/entity/name/ada", &entity);

    let into = started();
    let token = ReferenceProcess::ROOT_TOKEN;
    let namespace = ["--from-namespace", "team"];
    let done = import(&into, openbao.address(), token, &namespace);
    assert_eq!(done.code, Some(0), "{done:?}");
    let status = |path: &str| into.as_root("GET", path, None).status;
    assert_eq!(status("/v1/sys/policies/acl/inside"), 200);
    assert_eq!(status("/v1/identity/entity/name/ada"), 200);
    assert_eq!(status("/v1/sys/policies/acl/outside"), 404);
    let missing = ["--from-namespace", "no-such", "--dry-run"];
    let missing = import(&into, openbao.address(), token, &missing);
    assert_eq!(missing.code, Some(1), "{missing:?}");
}

#[test]
fn a_source_with_a_certificate_of_its_own_authority_is_read_only_if_that_is_named() {
    let from = started();
    from.set_up_login().unwrap();
    let front = TlsListener::before(from.address());
    let url = format!("https://localhost:{}", front.address().port());
    let into = started();
    let authority = front.authority();
    let named = ["--from-ca-file", authority.to_str().unwrap()];
    let status = || {
        into.as_root("GET", "/v1/sys/policies/acl/demo", None)
            .status
    };

    let refused = import_from_url(&into, &url, from.root_token(), &[]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert_eq!(status(), 404);
    assert!(!refused.errors.contains(from.root_token()), "{refused:?}");

    import_from_url(&into, &url, from.root_token(), &named);
    assert_eq!(status(), 200);
}
