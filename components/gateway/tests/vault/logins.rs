//! Logins and their renewals, as far as the front has a part in them (contract 4).

use gatehouse_auth_method::{
    AccountRefusal, CredentialsFailure, JwtFlaw, KeyRefusal, LoginError, RenewalError,
    TokenParameters,
};
use gatehouse_gateway::Method;
use serde_json::json;

use super::server::{Answer, Server, identity, listed, parameters};

fn login(server: &Server, body: &str) -> Answer {
    server.send(Method::Put, "auth/gcp/login", None, body)
}

const BODY: &str = r#"{"role":"dev","jwt":"a.b.c"}"#;

#[test]
fn a_login_hands_out_a_token_that_works() {
    let server = Server::with_role();
    server.next_login(Ok(identity()));
    let envelope = login(&server, BODY).expect(200).json();
    assert_eq!(
        (&envelope["data"], &envelope["mount_type"]),
        (&json!(null), &json!("gcp"))
    );
    let auth = &envelope["auth"];
    let token = auth["client_token"].as_str().unwrap();
    assert_eq!(
        *auth,
        json!({"client_token": token, "accessor": auth["accessor"], "policies": ["default", "prod"],
            "token_policies": ["default", "prod"], "metadata": {"project_id": "p1", "role": "dev"},
            "lease_duration": 2_764_800, "renewable": true, "entity_id": auth["entity_id"], "token_type": "service",
            "orphan": true, "mfa_requirement": null, "num_uses": 0})
    );
    let data = server
        .send(Method::Get, "auth/token/lookup-self", Some(token), "")
        .expect(200)
        .data();
    assert_eq!(data["display_name"], "gcp-dev@p1.iam.gserviceaccount.com");
    assert_eq!(data["path"], "auth/gcp/login");
}

#[test]
fn a7_a_caller_chooses_role_and_jwt_only() {
    let server = Server::with_role();
    let before = server.commits();
    for field in ["policies", "ttl", "num_uses", "metadata", "token"] {
        let body = format!(r#"{{"role":"dev","jwt":"a.b.c","{field}":"x"}}"#);
        login(&server, &body).refused(422, &format!("unknown fields: [\"{field}\"]"));
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn a_token_is_ignored_and_other_operations_are_unsupported() {
    let server = Server::with_role();
    for token in [None, Some("hvs.bad")] {
        server
            .send(Method::Post, "auth/gcp/login", token, "{}")
            .refused(400, "role is required");
        server
            .send(Method::Get, "auth/gcp/login", token, "")
            .refused(405, "unsupported operation");
    }
    server
        .send(Method::Post, "auth/none/login", None, BODY)
        .refused(403, "permission denied");
}

#[test]
fn refusals_of_the_real_method_reach_the_caller() {
    let server = Server::with_role();
    let before = server.commits();
    for (body, text) in [
        ("{}", "role is required"),
        (r#"{"role":"none","jwt":"x"}"#, "role \"none\" not found"),
        (r#"{"role":"dev"}"#, "jwt argument is required"),
        (
            r#"{"role":"dev","jwt":"x"}"#,
            "unable to parse signed JWT: the token does not have three non-empty parts",
        ),
    ] {
        login(&server, body).refused(400, text);
    }
    server
        .post(
            "auth/gcp/role/dev",
            r#"{"token_bound_cidrs":"198.51.100.0/24"}"#,
        )
        .expect(200);
    login(&server, BODY).refused(403, "permission denied");
    assert_eq!(server.commits(), before + 1);
}

#[test]
fn every_refusal_has_its_status_and_text() {
    let server = Server::with_role();
    let before = server.commits();
    let account = || AccountRefusal {
        account: "x@p".to_owned(),
        status: 404,
        message: "Unknown service account".to_owned(),
        reason: "notFound".to_owned(),
    };
    for (error, status, text) in [
        (
            LoginError::MalformedJwt(JwtFlaw::Algorithm),
            400,
            "unable to parse signed JWT: alg is not RS256",
        ),
        (
            LoginError::KeyNotFound {
                key_id: "k".to_owned(),
                subject: "s".to_owned(),
                refusal: KeyRefusal::KeyUnknown,
            },
            400,
            "unable to get public key for signed JWT: unable to get public key \"k\" for JWT subject \"s\": the service account has no such key",
        ),
        (
            LoginError::SignatureInvalid,
            400,
            "unable to verify JWT signature",
        ),
        (
            LoginError::Expired,
            400,
            "JWT is expired or does not have proper 'exp' claim",
        ),
        (
            LoginError::ExpiresTooLate { expires_in: 7260 },
            400,
            "JWT must expire in 60 minutes, expires in 2h1m0s",
        ),
        (LoginError::NotYetValid, 400, "JWT is not yet valid"),
        (
            LoginError::SubjectMissing,
            400,
            "expected JWT to have 'sub' claim with service account id or email",
        ),
        (
            LoginError::AudienceNotForRole("Dev".to_owned()),
            400,
            "at least one of the JWT claim 'aud' must end in \"vault/Dev\"",
        ),
        (
            LoginError::IssuerNotAcceptable,
            400,
            "JWT issuer is not acceptable",
        ),
        (
            LoginError::InferenceNotAllowed("dev".to_owned()),
            400,
            "Got GCE token but IAM role \"dev\" does not allow GCE inference",
        ),
        (
            LoginError::ExpiresBeyondRole {
                maximum_jwt_lifetime: 900,
            },
            400,
            "role requires that service account JWTs expire within 900 seconds",
        ),
        (
            LoginError::AccountNotFound(account()),
            400,
            "could not find service account 'projects/-/serviceAccounts/x@p': googleapi: Error 404: Unknown service account, notFound",
        ),
        (
            LoginError::AccountDisabled("x@p".to_owned()),
            400,
            "service account x@p is disabled",
        ),
        (
            LoginError::AccountMismatch,
            400,
            "service account does not match the JWT subject",
        ),
        (
            LoginError::ProjectNotBound {
                email: "x@p".to_owned(),
                bound_projects: vec!["p1".to_owned(), "p2".to_owned()],
            },
            400,
            "service account \"x@p\" not in bound projects [p1 p2]",
        ),
        (
            LoginError::AccountNotBound {
                email: "x@p".to_owned(),
                unique_id: "123".to_owned(),
            },
            400,
            "service account x@p (id: 123) is not authorized for role",
        ),
        (LoginError::AddressNotAllowed, 403, "permission denied"),
        (
            LoginError::Credentials(CredentialsFailure::NotFound),
            502,
            "failed to create oauth2 http client: could not find default credentials",
        ),
        (
            LoginError::GoogleUnavailable("iam".into()),
            503,
            "google API unavailable: iam",
        ),
    ] {
        server.next_login(Err(error));
        login(&server, BODY).refused(status, text);
    }
    assert_eq!(server.commits(), before);
    let log = server.operator_log.lock().unwrap();
    assert_eq!(
        log.len(),
        2,
        "what the operator can mend is logged, what the caller did is not: {log:?}"
    );
}

#[test]
fn a_login_never_yields_root() {
    let server = Server::with_role();
    let before = server.commits();
    for policy in ["root", " Root "] {
        let mut root = identity();
        root.token.policies = vec![policy.to_owned()];
        server.next_login(Ok(root));
        login(&server, BODY).refused(400, "auth methods cannot create root tokens");
    }
    assert_eq!(server.commits(), before);
}

#[test]
fn renewal_asks_the_method_and_takes_what_the_role_says_now() {
    let server = Server::with_role();
    server.next_login(Ok(identity()));
    let token = login(&server, BODY).json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let renew = || {
        server.send(
            Method::Put,
            "auth/token/renew-self",
            Some(&token),
            r#"{"increment":0}"#,
        )
    };

    server.next_renewal(Ok(TokenParameters {
        ttl: 1800,
        ..parameters()
    }));
    let auth = renew().expect(200).json()["auth"].clone();
    assert_eq!(
        (&auth["lease_duration"], &auth["client_token"]),
        (&json!(1800), &json!(token))
    );

    let before = server.commits();
    for (error, status, text) in [
        (
            RenewalError::RoleGone("dev".to_owned()),
            400,
            "role \"dev\" no longer exists".to_owned(),
        ),
        (
            RenewalError::PoliciesChanged("dev".to_owned()),
            400,
            "policies on role \"dev\" have changed, cannot renew".to_owned(),
        ),
        (
            RenewalError::AccountNotFound("1".to_owned()),
            400,
            "cannot find service account 1".to_owned(),
        ),
        (
            RenewalError::InferenceNotAllowed("dev".to_owned()),
            400,
            "GCE inferrence is no longer allowed for role dev".to_owned(),
        ),
        (
            RenewalError::AccountNotBound("dev".to_owned()),
            400,
            "service account is no longer authorized for role dev".to_owned(),
        ),
        (
            RenewalError::AddressNotAllowed,
            403,
            listed("permission denied"),
        ),
        (
            RenewalError::GoogleUnavailable("iam".into()),
            503,
            "google API unavailable: iam".to_owned(),
        ),
    ] {
        server.next_renewal(Err(error));
        renew().refused(status, &text);
    }
    assert_eq!(server.commits(), before);
    server
        .send(Method::Get, "auth/token/lookup-self", Some(&token), "")
        .expect(200);
}
