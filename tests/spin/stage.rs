//! An installation that holds one of each thing, and what shows that it does.

use gatehouse_tests::Installation;
use serde_json::{Value, json};

/// Writes as the operator, and asserts that it is taken.
pub fn write(installation: &Installation, path: &str, body: &Value) -> Value {
    let written = installation.as_root("POST", path, Some(body));
    assert!(written.status < 300, "{path}: {written:?}");
    written.json()
}

/// Makes one of each thing that moves, and an organization.
pub fn fill(installation: &Installation) {
    installation.set_up_login().unwrap();
    let tuning = json!({"description": "workloads", "default_lease_ttl": "2h"});
    write(installation, "/v1/sys/auth/gcp/tune", &tuning);
    let role = json!({"allowed_policies": "demo", "token_period": "2h", "renewable": false});
    write(installation, "/v1/auth/token/roles/ci", &role);
    let entity = json!({"metadata": {"team": "engines"}, "policies": ["demo"]});
    let entity = write(installation, "/v1/identity/entity/name/ada", &entity);
    let group = json!({"policies": ["demo"], "member_entity_ids": [entity["data"]["id"]]});
    write(installation, "/v1/identity/group/name/engines", &group);
    make_organization(installation, "demo-acme");
}

pub fn make_organization(installation: &Installation, name: &str) {
    let attributes =
        json!({"name": name, "email": "ops@example.com", "collaborator-auth-policy": "password"});
    let organization = json!({"data": {"type": "organizations", "attributes": attributes}});
    write(installation, "/api/v2/organizations", &organization);
}

pub fn logged_in(from: &Installation, into: &Installation) -> String {
    let body = json!({"role": "dev", "jwt": from.login_jwt().unwrap()});
    let login = into.send("POST", "/v1/auth/gcp/login", None, Some(&body));
    assert_eq!(login.status, 200, "{login:?}");
    let token = &login.json()["auth"]["client_token"];
    token.as_str().unwrap().to_owned()
}

pub fn status_of(installation: &Installation, token: &str) -> u16 {
    let path = "/v1/auth/token/lookup-self";
    installation.send("GET", path, Some(token), None).status
}
