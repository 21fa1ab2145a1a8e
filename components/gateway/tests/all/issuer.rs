//! The issuer of identity tokens (contract 7.4).

use gatehouse_auth_method::{IdentityTokenError, IssuerError, PublicKey};
use gatehouse_gateway::Method;
use gatehouse_ports::StoreError;
use serde_json::json;

use super::server::{ROOT, Server, listed};

const DISCOVERY: &str = "identity/oidc/plugins/.well-known/openid-configuration";
const KEYS: &str = "identity/oidc/plugins/.well-known/keys";
const CONFIG: &str = "identity/oidc/config";

#[test]
fn discovery_names_the_issuer_and_needs_no_token() {
    let server = Server::initialized();
    for token in [None, Some("hvs.bad"), Some(ROOT)] {
        let issuer = "https://gatehouse.example.com:8200/v1/identity/oidc/plugins";
        server.script.issuer.is(Ok(issuer.to_owned()));
        let answer = server.send(Method::Get, DISCOVERY, token, "").expect(200);
        assert_eq!(
            answer.json(),
            json!({
                "issuer": issuer,
                "jwks_uri": format!("{issuer}/.well-known/keys"),
                "response_types_supported": ["id_token"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            })
        );
        assert_eq!(answer.0.header("cache-control"), Some("no-store"));
    }
}

#[test]
fn the_key_set_can_be_kept_for_an_hour() {
    let server = Server::initialized();
    server.script.keys.is(Ok(vec![
        PublicKey {
            key_id: "k2".to_owned(),
            modulus: vec![0xfb, 0xff, 0xbe, 0x01],
            exponent: vec![1, 0, 1],
        },
        PublicKey {
            key_id: "k1".to_owned(),
            modulus: vec![0xc0],
            exponent: vec![3],
        },
    ]));
    let answer = server.send(Method::Get, KEYS, None, "").expect(200);
    assert_eq!(
        answer.json(),
        json!({"keys": [
            {"use": "sig", "kty": "RSA", "kid": "k2", "alg": "RS256", "n": "-_--AQ", "e": "AQAB"},
            {"use": "sig", "kty": "RSA", "kid": "k1", "alg": "RS256", "n": "wA", "e": "Aw"},
        ]})
    );
    let cache_controls = answer.0.headers.iter();
    let cache_controls: Vec<_> = cache_controls
        .filter(|(name, _)| name == "cache-control")
        .map(|(_, value)| value)
        .collect();
    assert_eq!(cache_controls, ["max-age=3600"]);
}

#[test]
fn without_an_issuer_there_is_no_document() {
    let server = Server::initialized();
    for (error, status, text) in [
        (
            IdentityTokenError::NoIssuer,
            404,
            "the server has no issuer: set one, or the server's advertised address".to_owned(),
        ),
        (IdentityTokenError::Random, 500, listed("internal error")),
        (
            IdentityTokenError::Storage(StoreError::Sealed.into()),
            503,
            "Vault is sealed".to_owned(),
        ),
    ] {
        server.script.issuer.is(Err(error.clone()));
        server
            .send(Method::Get, DISCOVERY, None, "")
            .refused(status, &text);
        server.script.keys.is(Err(error));
        let keys = server.send(Method::Get, KEYS, None, "");
        keys.refused(status, &text);
        assert_eq!(keys.0.header("cache-control"), Some("no-store"));
    }
}

#[test]
fn the_documents_are_only_read() {
    let server = Server::initialized();
    for target in [DISCOVERY, KEYS] {
        for method in [Method::Post, Method::Delete, Method::List] {
            server
                .send(method, target, Some(ROOT), "")
                .refused(405, "unsupported operation");
        }
    }
    server
        .send(Method::Get, "identity/oidc/plugins/.well-known/x", None, "")
        .refused(403, "permission denied");
}

#[test]
fn the_issuer_is_read_and_written_as_policies_allow() {
    let server = Server::initialized();
    server
        .send(Method::Get, CONFIG, None, "")
        .refused(403, "permission denied");
    let stranger = server.token_with(r#"path "x" { capabilities = ["read"] }"#);
    for method in [Method::Get, Method::Post] {
        server
            .send(method, CONFIG, Some(&stranger), r#"{"issuer":"x"}"#)
            .refused(403, &listed("permission denied"));
    }
    assert!(server.script.issuers.lock().unwrap().is_empty());

    server
        .script
        .set_issuer
        .is(Ok("https://a.example".to_owned()));
    let answer = server.get(CONFIG).expect(200);
    assert_eq!(answer.data(), json!({"issuer": "https://a.example"}));
    assert_eq!(answer.json()["mount_type"], "identity");
    let writer = server.token_with(r#"path "identity/oidc/config" { capabilities = ["update"] }"#);
    for (method, body, issuer, status) in [
        (
            Method::Post,
            r#"{"issuer":"https://b.example:8200"}"#,
            "https://b.example:8200",
            200,
        ),
        (Method::Put, r#"{"issuer":""}"#, "", 204),
    ] {
        server.script.issuer_write.is(Ok(()));
        let answer = server.send(method, CONFIG, Some(&writer), body);
        let answer = answer.expect(status);
        if status == 200 {
            let warning = answer.warnings().remove(0);
            assert!(warning.contains("name this issuer"), "{warning}");
        }
        assert_eq!(
            server.script.issuers.lock().unwrap().last().unwrap(),
            issuer
        );
    }
    server.post(CONFIG, r#"{"issuer":null}"#).expect(204);
    assert_eq!(server.script.issuers.lock().unwrap().len(), 2);
    for method in [Method::Delete, Method::List] {
        server
            .send(method, CONFIG, Some(ROOT), "")
            .refused(405, &listed("unsupported operation"));
    }
}

#[test]
fn an_issuer_that_is_no_url_is_refused() {
    let server = Server::initialized();
    server.script.issuer_write.is(Err(IssuerError::NotUrl));
    let text = "invalid issuer, which must include only a scheme, host, and optional port (e.g. https://example.com:8200)";
    server
        .post(CONFIG, r#"{"issuer":"https://a/b"}"#)
        .refused(400, text);
    server
        .script
        .issuer_write
        .is(Err(IssuerError::Storage(StoreError::Sealed.into())));
    server
        .post(CONFIG, r#"{"issuer":"https://a"}"#)
        .refused(503, "Vault is sealed");
}
