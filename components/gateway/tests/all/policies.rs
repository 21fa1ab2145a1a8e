//! Policies (contract 5.6).

use gatehouse_gateway::Method;
use serde_json::json;

use super::server::{Server, listed};

const TEXT: &str = "path \"auth/gcp/*\" {\n  capabilities = [\"read\"] # as ever\n}\n";

fn body(field: &str) -> String {
    json!({ field: TEXT }).to_string()
}

#[test]
fn a_policy_comes_back_byte_for_byte_under_both_paths() {
    let server = Server::initialized();
    server
        .post("sys/policies/acl/dev", &body("policy"))
        .expect(204);
    let read = server.get("sys/policies/acl/dev").expect(200).json();
    assert_eq!(read["data"], json!({"name": "dev", "policy": TEXT}));
    assert_eq!(read.get("policy"), None);
    assert_eq!(read["mount_type"], "system");

    server
        .send(
            Method::Put,
            "sys/policy/old",
            Some("root-token"),
            &body("rules"),
        )
        .expect(200);
    let read = server.get("sys/policy/old").expect(200).json();
    assert_eq!(read["data"], json!({"name": "old", "rules": TEXT}));
    assert_eq!(read["rules"], TEXT);

    let mut written = server.post("sys/policies/acl/Zebra", &body("policy"));
    let converted = json!(["policy name was converted to zebra"]);
    assert_eq!(written.expect(200).json()["warnings"], converted);
    written = server.post("sys/policies/acl/team/app", &body("rules"));
    let deprecated = json!(["'rules' is deprecated, please use 'policy' instead"]);
    assert_eq!(written.expect(200).json()["warnings"], deprecated);
    let nested = server.get("sys/policies/acl/team/app").data();
    assert_eq!(nested, json!({"name": "team/app", "policy": TEXT}));

    let keys = json!(["default", "dev", "old", "team/app", "zebra", "root"]);
    assert_eq!(
        server.list("sys/policies/acl").data(),
        json!({ "keys": keys })
    );
    assert_eq!(
        server.get("sys/policies/acl?list=true").data()["keys"],
        keys
    );
    let old = server.get("sys/policy").expect(200).json();
    assert_eq!(old["data"], json!({"keys": keys, "policies": keys}));
    assert_eq!((&old["keys"], &old["policies"]), (&keys, &keys));
    server
        .get("sys/policies/acl")
        .refused(405, &listed("unsupported operation"));

    server.delete("sys/policies/acl/dev").expect(204);
    server.delete("sys/policies/acl/dev").expect(204);
    server.get("sys/policies/acl/dev").silently_refused(404);
}

#[test]
fn contract_5_6_a_list_of_policies_comes_in_parts_and_root_stays_last() {
    let server = Server::initialized();
    for name in ["dev", "zebra"] {
        let body = json!({ "policy": TEXT }).to_string();
        server
            .post(&format!("sys/policies/acl/{name}"), &body)
            .expect(204);
    }
    for (query, keys) in [
        ("limit=2", json!(["default", "dev"])),
        ("limit=2&after=dev", json!(["zebra", "root"])),
        ("after=zebra", json!(["root"])),
        // A policy that no longer exists, after all names but the last.
        ("after=zz", json!(["root"])),
        ("after=e&limit=1", json!(["zebra"])),
    ] {
        let shown = server.list(&format!("sys/policies/acl?{query}"));
        assert_eq!(shown.data(), json!({ "keys": keys }), "{query}");
        let old = server.list(&format!("sys/policy?{query}")).data();
        assert_eq!(old, json!({"keys": keys, "policies": keys}), "{query}");
    }
    server
        .list("sys/policies/acl?after=root")
        .silently_refused(404);
}

#[test]
fn refusals_have_their_texts_and_store_nothing() {
    let server = Server::initialized();
    let before = server.commits();
    let post = |name: &str, text: &str| {
        let body = json!({ "policy": text }).to_string();
        server.post(&format!("sys/policies/acl/{name}"), &body)
    };
    for body in ["{}", r#"{"policy":""}"#, r#"{"policy":null}"#] {
        let answer = server.post("sys/policies/acl/x", body);
        answer.refused(400, "'policy' parameter not supplied or empty");
    }
    post("root", TEXT).refused(400, "cannot update \"root\" policy");
    server
        .delete("sys/policies/acl/root")
        .refused(400, "cannot delete \"root\" policy");
    server
        .delete("sys/policies/acl/default")
        .refused(400, "cannot delete default policy");
    for (text, part) in [
        (
            "path \"x\" { capabilities = [\"reed\"] }",
            "invalid capability \\\"reed\\\"",
        ),
        (
            "path \"x\" { capabilites = [\"read\"] }",
            "invalid key \\\"capabilites\\\" on line 1",
        ),
        ("path \"x\" {", ""),
    ] {
        let answer = post("x", text).expect(400);
        assert!(
            answer.text().contains("failed to parse policy: "),
            "{}",
            answer.text()
        );
        assert!(answer.text().contains(part), "{}", answer.text());
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn capabilities_are_shown_by_path() {
    let server = Server::initialized();
    let token = server.token_with(r#"path "a/*" { capabilities = ["update", "read", "sudo"] }"#);
    let ask = |family: &str, body: &str| {
        server.send(Method::Post, &format!("sys/{family}"), Some(&token), body)
    };
    let one = ask("capabilities-self", r#"{"path":"a/b","token":"ignored"}"#)
        .expect(200)
        .json();
    let expected = json!(["read", "sudo", "update"]);
    assert_eq!(
        one["data"],
        json!({"a/b": expected, "capabilities": expected})
    );
    assert_eq!(one["capabilities"], expected);
    let two = ask("capabilities-self", r#"{"paths":["a/b","x"]}"#).expect(200);
    assert_eq!(two.data(), json!({"a/b": expected, "x": ["deny"]}));
    ask("capabilities-self", "{}").refused(400, "paths must be supplied");

    let by_root = server.post(
        "sys/capabilities",
        &json!({"token": token, "paths": "a/b"}).to_string(),
    );
    assert_eq!(by_root.expect(200).data()["a/b"], expected);
    assert_eq!(
        server
            .post("sys/capabilities-self", r#"{"path":"x"}"#)
            .data()["x"],
        json!(["root"])
    );
    let bad = server.post("sys/capabilities", r#"{"token":"hvs.none","path":"x"}"#);
    bad.refused(400, &listed("invalid token"));
}
