//! Conditions of rules on parameters and wrapping, and templates in their paths (contract 5.6, 1.8, SEC-A5).

use crate::server::{Server, policies};
use gatehouse_access::{
    AccessService, AdmissionError, AliasRequest, Capability, Entities as _, EntityAliases as _,
    EntityChanges, GroupChanges, Groups as _, IdentityReference, IdentityTarget, Logins as _,
    Operation, Parameter, Policies as _, Request, Requests as _, TokenParameters, TokenReference,
};
use gatehouse_ports::doubles::CountingStore;

/// A token with one policy of this text, named `under-test`.
fn token_with(server: &Server, text: &str, uses: u64) -> String {
    server.access.write_policy("under-test", text).unwrap();
    let parameters = TokenParameters {
        num_uses: uses,
        ..policies(&["under-test"])
    };
    let issued = server.log_in(parameters);
    issued.client_token.clone()
}

fn request(token: &str, path: &str, parameters: Option<&[Parameter]>) -> Request {
    Request {
        token: Some(token.into()),
        operation: Operation::Update,
        path: path.into(),
        source_address: None,
        wrap_ttl: None,
        parameters: parameters.map(<[Parameter]>::to_vec),
    }
}

fn parameter(name: &str, value: &str) -> Parameter {
    Parameter {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

#[test]
fn contract_5_6_parameters_are_asked_for_only_where_a_rule_looks_at_them() {
    let server = Server::ready();
    let token = token_with(
        &server,
        r#"path "sys/a" { capabilities = ["update", "delete"] allowed_parameters = { x = ["1"] } }
           path "sys/b" { capabilities = ["update"] }"#,
        0,
    );
    let admit = |path: &str, parameters: Option<&[Parameter]>| {
        let admitted = server.access.admit(&request(&token, path, parameters));
        admitted.map(|_| ())
    };
    assert_eq!(admit("sys/b", None), Ok(()));
    assert_eq!(admit("sys/a", None), Err(AdmissionError::ParametersNeeded));
    assert_eq!(admit("sys/c", None), Err(AdmissionError::Denied));
    assert_eq!(admit("sys/a", Some(&[])), Ok(()));
    assert_eq!(admit("sys/a", Some(&[parameter("X", "1")])), Ok(()));
    for refused in [parameter("x", "2"), parameter("y", "1")] {
        assert_eq!(
            admit("sys/a", Some(&[refused])),
            Err(AdmissionError::Denied)
        );
    }
    let mut delete = request(&token, "sys/a", None);
    delete.operation = Operation::Delete;
    assert!(server.access.admit(&delete).is_ok());
    // A root token has no rules that could ask.
    assert!(
        server
            .access
            .admit(&request(crate::server::ROOT, "sys/a", None))
            .is_ok()
    );
}

#[test]
fn t4_asking_for_parameters_takes_no_use_and_a_refusal_over_them_does() {
    let server = Server::ready();
    let text = r#"path "sys/a" { capabilities = ["update"] required_parameters = ["x"] }"#;
    let token = token_with(&server, text, 2);
    let before = server.store.commits();
    let admit = |parameters: Option<&[Parameter]>| {
        let admitted = server.access.admit(&request(&token, "sys/a", parameters));
        admitted.map(|it| it.caller.unwrap().num_uses)
    };
    for _ in 0..3 {
        assert_eq!(admit(None), Err(AdmissionError::ParametersNeeded));
    }
    assert_eq!(server.store.commits(), before);
    assert_eq!(admit(Some(&[])), Err(AdmissionError::Denied));
    assert_eq!(server.store.commits(), before + 1);
    assert_eq!(admit(Some(&[parameter("x", "1")])), Ok(0));
    assert_eq!(admit(None), Err(AdmissionError::InvalidToken));
}

#[test]
fn contract_1_8_a_policy_may_demand_that_answers_are_wrapped() {
    let server = Server::ready();
    let token = token_with(
        &server,
        r#"path "sys/a" { capabilities = ["update", "list"] min_wrapping_ttl = "1m" max_wrapping_ttl = 90 }"#,
        0,
    );
    for operation in [Operation::Update, Operation::List] {
        for (wrap_ttl, expected) in [
            (None, Err(AdmissionError::Denied)),
            (Some(59), Err(AdmissionError::Denied)),
            (Some(60), Ok(())),
            (Some(90), Ok(())),
            (Some(91), Err(AdmissionError::Denied)),
        ] {
            let mut asked = request(&token, "sys/a", None);
            (asked.operation, asked.wrap_ttl) = (operation, wrap_ttl);
            assert_eq!(
                server.access.admit(&asked).map(|_| ()),
                expected,
                "{wrap_ttl:?}"
            );
        }
    }
}

/// A caller with an alias at `gcp/`, in a group within a group.
struct Caller {
    token: String,
    entity: String,
    alias: String,
    accessor: String,
    group: String,
}

fn caller(server: &Server) -> Caller {
    let issued = server
        .access
        .issue_login(&server.grant("alias-1", policies(&["under-test"])))
        .ok()
        .unwrap();
    let entity = issued.grant.entity_id.clone().unwrap();
    let metadata = [
        ("k", "v"),
        ("glob", "*"),
        ("plus", "+"),
        ("slash", "a/b"),
        ("empty", ""),
    ];
    let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let changes = EntityChanges {
        name: Some("Bob".to_owned()),
        metadata: Some(metadata.into()),
        ..EntityChanges::default()
    };
    let target = &IdentityTarget::Id(entity.clone());
    server.access.write_entity(target, &changes).unwrap();
    let view = server
        .access
        .read_entity(&IdentityReference::Id(entity.clone()));
    let alias = view.unwrap().unwrap().aliases.remove(0);
    let custom = AliasRequest {
        id: Some(alias.id.clone()),
        custom_metadata: Some([("team".to_owned(), "red".to_owned())].into()),
        ..AliasRequest::default()
    };
    server.access.write_entity_alias(&custom).unwrap();
    let group = |name: &str, changes: GroupChanges| {
        let target = &IdentityTarget::Name(name.into());
        server.access.write_group(target, &changes).unwrap().id
    };
    let inner = GroupChanges {
        member_entity_ids: Some(vec![entity.clone()]),
        metadata: Some([("gk".to_owned(), "gv".to_owned())].into()),
        ..GroupChanges::default()
    };
    let inner = group("inner", inner);
    let outer = GroupChanges {
        member_group_ids: Some(vec![inner.clone()]),
        ..GroupChanges::default()
    };
    group("outer", outer);
    group("other", GroupChanges::default());
    Caller {
        token: issued.client_token.clone(),
        entity,
        alias: alias.id,
        accessor: alias.mount_accessor,
        group: inner,
    }
}

#[test]
fn contract_5_6_every_template_is_filled_with_the_caller() {
    let server = Server::ready();
    let caller = caller(&server);
    let (accessor, group) = (&caller.accessor, &caller.group);
    let allows = |pattern: &str, path: &str| {
        let text = format!("path \"{pattern}\" {{ capabilities = [\"read\"] }}");
        server.access.write_policy("under-test", &text).unwrap();
        let reference = &TokenReference::Id(caller.token.clone());
        let shown = server.access.capabilities(reference, &[path.to_owned()]);
        let admitted = server.admit(&caller.token, Operation::Read, path).is_ok();
        assert_eq!(
            shown.unwrap() == [[Capability::Read]],
            admitted,
            "{pattern}"
        );
        admitted
    };
    for (template, value) in [
        ("identity.entity.id", caller.entity.as_str()),
        ("identity.entity.name", "Bob"),
        (" identity.entity.metadata.k ", "v"),
        (
            &format!("identity.entity.aliases.{accessor}.id"),
            &caller.alias,
        ),
        (
            &format!("identity.entity.aliases.{accessor}.name"),
            "alias-1",
        ),
        (
            &format!("identity.entity.aliases.{accessor}.metadata.role"),
            "dev",
        ),
        (
            &format!("identity.entity.aliases.{accessor}.custom_metadata.team"),
            "red",
        ),
        (&format!("identity.groups.ids.{group}.name"), "inner"),
        (&format!("identity.groups.ids.{group}.metadata.gk"), "gv"),
        ("identity.groups.names.inner.id", group),
        ("identity.groups.names.outer.name", "outer"),
    ] {
        assert!(
            allows(&format!("x/{{{{{template}}}}}/*"), &format!("x/{value}/y")),
            "{template}"
        );
        assert!(
            allows(&format!("x/a-{{{{{template}}}}}"), &format!("x/a-{value}")),
            "{template}"
        );
        assert!(
            !allows(&format!("x/{{{{{template}}}}}"), "x/somebody"),
            "{template}"
        );
    }
    for (template, path) in [
        ("identity.groups.names.other.name", "x/other"),
        ("identity.groups.names.INNER.name", "x/inner"),
        ("identity.entity.metadata.none", "x/"),
        ("identity.entity.aliases.other.name", "x/alias-1"),
        (
            &format!("identity.entity.aliases.{accessor}.metadata.none"),
            "x/",
        ),
    ] {
        assert!(
            !allows(&format!("x/{{{{{template}}}}}"), path),
            "{template}"
        );
    }
    // Names of roles arrive in lower case.
    assert!(allows(
        "auth/gcp/role/X-{{identity.entity.name}}",
        "auth/gcp/role/x-bob"
    ));
}

#[test]
fn a5_no_value_widens_a_pattern() {
    let server = Server::ready();
    let caller = caller(&server);
    for key in ["glob", "plus", "slash", "empty"] {
        let text = format!(
            r#"path "x/{{{{identity.entity.metadata.{key}}}}}" {{ capabilities = ["read"] }}
               path "y/{{{{identity.entity.metadata.{key}}}}}/*" {{ capabilities = ["read"] }}"#
        );
        server.access.write_policy("under-test", &text).unwrap();
        for path in [
            "x/a", "x/*", "x/+", "x/a/b", "x/", "x", "y/a/b", "y/a/b/c", "y/+/c",
        ] {
            let refused = server.admit(&caller.token, Operation::Read, path);
            assert_eq!(
                refused.map(|_| ()),
                Err(AdmissionError::Denied),
                "{key} {path}"
            );
        }
    }
}

#[test]
fn aliases_are_read_only_when_a_rule_on_the_path_names_them() {
    let server = Server::ready();
    let caller = caller(&server);
    let text = format!(
        r#"path "x/{{{{identity.entity.aliases.{accessor}.name}}}}" {{ capabilities = ["read"] }}
           path "y/{{{{identity.entity.aliases.{accessor}.id}}}}" {{ capabilities = ["read"] }}"#,
        accessor = caller.accessor,
    );
    server.access.write_policy("under-test", &text).unwrap();
    let store = CountingStore::new(server.store);
    let access = AccessService::new(&store, server.clock, server.random);
    let reads_for = |path: &str| {
        store.take_counts();
        let mut asked = request(&caller.token, path, None);
        asked.operation = Operation::Read;
        let admitted = access.admit(&asked).is_ok();
        (admitted, store.take_counts().calls().0)
    };
    reads_for("warm/up");
    let (_, plain) = reads_for("auth/token/lookup-self");
    assert_eq!(reads_for(&format!("y/{}", caller.alias)), (true, plain));
    assert_eq!(reads_for("x/alias-1"), (true, plain + 1));
}

#[test]
fn a_refused_policy_changes_nothing() {
    let server = Server::ready();
    server.access.write_policy("p", "path \"a\" {}").unwrap();
    let before = server.store.commits();
    for text in [
        "path \"a\" {",
        "path \"a\" { min_wrapping_ttl = 5 max_wrapping_ttl = 4 }",
        "path \"a\" { mfa_methods = [\"x\"] }",
        "path \"{{identity.entity.password}}\" {}",
    ] {
        assert!(server.access.write_policy("p", text).is_err(), "{text}");
    }
    assert_eq!(server.store.commits(), before);
    let kept = server.access.read_policy("p").unwrap().unwrap();
    assert_eq!(kept.text, "path \"a\" {}");
}
