//! Logging in on gce roles: contract 4.6, G1 to G7, and what Google answers badly; SEC-G2, G6, G9, G10; D10.

use gatehouse_auth_method::{
    ApiRefusal, ConfigChanges, CreatedLater, Identity, Instance, InstanceError,
    InstanceProjectNotBound, KeyLookupError, KeyNotFound, LoginError, RoleChanges, Roles,
};
use gatehouse_ports::HttpError;
use serde_json::{Value, json};

use crate::compute::{self, CREATED, INSTANCE_ID, ZONE, token, token_with};
use crate::google::{self, EMAIL, Fault, UNIQUE_ID};
use crate::keys::{self, Token};
use crate::roles::{list, text};
use crate::stage::{Stage, key_file};

/// A gce role that binds nothing.
pub fn gce() -> RoleChanges {
    RoleChanges {
        role_type: text("gce"),
        token_policies: list(&["Prod"]),
        ..RoleChanges::default()
    }
}

/// Credentials and the gce role `dev`.
pub fn stage(changes: RoleChanges) -> Stage {
    let stage = Stage::bare();
    stage.configure(ConfigChanges {
        credentials: Some(key_file()),
        ..ConfigChanges::default()
    });
    stage.role(changes);
    stage
}

pub fn signed(token: &Token) -> String {
    token.signed_by(keys::of_google())
}

/// The outcome of a login on a gce role with these changes, after `prepare` has had its way with Google.
pub fn outcome(
    changes: RoleChanges,
    prepare: impl FnOnce(&mut compute::Instance),
) -> Result<Identity, LoginError> {
    let stage = stage(changes);
    prepare(&mut stage.google.state().compute.instances[0]);
    stage.log_in(&signed(&token()))
}

fn flawed(flaw: InstanceError) -> LoginError {
    LoginError::Instance(Instance {
        project: "p1".to_owned(),
        zone: ZONE.to_owned(),
        name: "web-1".to_owned(),
        flaw,
    })
}

pub fn not_found() -> ApiRefusal {
    ApiRefusal {
        status: 404,
        message: "The resource was not found".to_owned(),
        reason: "notFound".to_owned(),
    }
}

pub fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn an_instance_logs_in() {
    let stage = stage(gce());
    let role = stage
        .service
        .read_role(&stage.mount, "dev")
        .unwrap()
        .unwrap();
    let identity = stage.log_in(&signed(&token())).unwrap();
    assert_eq!(identity.display_name, "web-1");
    assert_eq!(identity.alias_name, role.role_id);
    let mut metadata = identity.metadata.clone();
    metadata.sort();
    let created = CREATED.to_string();
    let expected = [
        ("instance_creation_timestamp", created.as_str()),
        ("instance_id", INSTANCE_ID),
        ("instance_name", "web-1"),
        ("project_id", "p1"),
        ("project_number", "77"),
        ("role", "dev"),
        ("service_account_email", EMAIL),
        ("service_account_id", UNIQUE_ID),
        ("zone", ZONE),
    ];
    let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    assert_eq!(metadata, expected.map(pair));
    assert_eq!(identity.token.policies, ["Prod"]);
    let urls = stage.http.urls();
    let expected = [
        "https://www.googleapis.com/oauth2/v1/certs".to_owned(),
        "https://oauth2.googleapis.com/token".to_owned(),
        format!(
            "https://compute.googleapis.com/compute/v1/projects/p1/zones/{ZONE}/instances/web-1"
        ),
        format!("https://iam.googleapis.com/v1/projects/-/serviceAccounts/{UNIQUE_ID}"),
    ];
    assert_eq!(urls, expected);
}

#[test]
fn alias_contract_7_1_the_instance_names_the_entity_when_the_mount_or_the_role_says_so() {
    let alias = format!("gce-{INSTANCE_ID}");
    let stage = stage(gce());
    stage.configure(ConfigChanges {
        gce_alias: text("instance_id"),
        ..ConfigChanges::default()
    });
    assert_eq!(stage.log_in(&signed(&token())).unwrap().alias_name, alias);
    stage.role(RoleChanges {
        alias_source: text("role_id"),
        ..RoleChanges::default()
    });
    assert_ne!(stage.log_in(&signed(&token())).unwrap().alias_name, alias);
    let changes = RoleChanges {
        alias_source: text("instance_id"),
        ..gce()
    };
    assert_eq!(outcome(changes, |_| {}).unwrap().alias_name, alias);
}

#[test]
fn cve_2020_16251_instance_claims_signed_by_an_account_are_refused_without_asking_for_the_instance()
{
    let by_account =
        |token: Token, key_id: &str| token.header("kid", key_id).signed_by(keys::of_account());
    for issuer in [
        Value::Null,
        EMAIL.into(),
        "https://accounts.google.com".into(),
    ] {
        let stage = stage(gce());
        let jwt = by_account(token().claim("iss", issuer.clone()), "account-key");
        let (error, _) = stage.refuse(&jwt);
        let expected = LoginError::KeyNotFound(KeyNotFound {
            key_id: "account-key".to_owned(),
            subject: UNIQUE_ID.to_owned(),
            refusal: KeyLookupError::NotGoogles,
        });
        assert_eq!(error, expected);
        let (error, _) = stage.refuse(&by_account(token().claim("iss", issuer), "google-key"));
        assert_eq!(
            error,
            LoginError::SignatureInvalid,
            "under the name of Google's key"
        );
        for part in [
            "compute",
            "x509",
            "serviceAccounts",
            "oauth2.googleapis.com",
        ] {
            assert_eq!(stage.google.calls(part), 0, "{part}");
        }
    }
}

#[test]
fn g2_a_token_without_complete_instance_claims_cannot_use_a_gce_role() {
    let stage = stage(gce());
    let compute_engine = |claims: Value| token().claim("google", json!({"compute_engine": claims}));
    for token in [
        Token::of_google(),
        token().claim("google", json!({})),
        token().claim("google", "x"),
        compute_engine(Value::Null),
        compute_engine(json!([])),
        compute_engine(json!({})),
        token_with("instance_id", ""),
        token_with("instance_id", Value::Null),
        token_with("project_id", "../p"),
        token_with("zone", "a/../b"),
        token_with("instance_name", "web-1?alt=media"),
        token_with("project_number", "x"),
        token_with("instance_creation_timestamp", 1.5),
    ] {
        assert_eq!(
            stage.log_in(&signed(&token)).unwrap_err(),
            LoginError::InstanceClaimsMissing
        );
    }
    assert_eq!(stage.google.calls("compute"), 0);
    assert_eq!(stage.google.calls("serviceAccounts"), 0);
}

#[test]
fn g10_the_claimed_project_is_one_of_the_roles_and_its_number_is_no_id() {
    let bound = |projects: &[&str]| RoleChanges {
        bound_projects: list(projects),
        ..gce()
    };
    assert!(outcome(bound(&["p0", "p1"]), |_| {}).is_ok());
    let stage = stage(bound(&["p2", "77"]));
    let expected = LoginError::InstanceProjectNotBound(InstanceProjectNotBound {
        instance_id: INSTANCE_ID.to_owned(),
        project: "p1".to_owned(),
        bound_projects: names(&["77", "p2"]),
    });
    assert_eq!(
        stage.refuse(&signed(&token())),
        (expected, 1),
        "only Google's keys are read"
    );
    let of_a_domain = token_with("project_id", "example.com:p1");
    for (bound_projects, is_bound) in [
        ("example.com:p1", true),
        ("p1", false),
        ("example.com", false),
    ] {
        let refused = self::stage(bound(&[bound_projects])).log_in(&signed(&of_a_domain));
        let refused = refused.unwrap_err();
        let is_its_project = matches!(refused, LoginError::InstanceProjectNotBound(_));
        assert_eq!(is_its_project, !is_bound, "{bound_projects}: {refused:?}");
    }
}

#[test]
fn an_instance_that_is_not_there_or_not_shown_is_refused() {
    let stage = stage(gce());
    stage.google.state().compute.instances.clear();
    let expected = flawed(InstanceError::Refused(not_found()));
    assert_eq!(stage.log_in(&signed(&token())).unwrap_err(), expected);
    let hidden = google::refusal(403, "Required 'compute.instances.get'", "forbidden");
    stage.google.fail("instances/", Fault::Answer(hidden), 1);
    let expected = flawed(InstanceError::Refused(ApiRefusal {
        status: 403,
        message: "Required 'compute.instances.get'".to_owned(),
        reason: "forbidden".to_owned(),
    }));
    assert_eq!(stage.log_in(&signed(&token())).unwrap_err(), expected);
    assert_eq!(stage.google.calls("serviceAccounts"), 0);
}

#[test]
fn g9_only_instances_that_run_or_are_about_to_log_in() {
    for status in ["PROVISIONING", "STAGING", "RUNNING"] {
        assert!(
            outcome(gce(), |instance| instance.set("status", status)).is_ok(),
            "{status}"
        );
    }
    for status in [
        "STOPPING",
        "SUSPENDING",
        "SUSPENDED",
        "REPAIRING",
        "TERMINATED",
        "running",
        "",
    ] {
        let refused = outcome(gce(), |instance| instance.set("status", status)).unwrap_err();
        assert_eq!(refused, flawed(InstanceError::Status(status.to_owned())));
    }
}

#[test]
fn d10_g9_another_instance_of_the_same_name_is_refused() {
    for id in ["4242424242424242425", "04242424242424242424", "0"] {
        let refused = outcome(gce(), |instance| instance.set("id", id)).unwrap_err();
        assert_eq!(refused, flawed(InstanceError::OtherId));
    }
}

#[test]
fn g6_an_answer_that_is_not_about_the_instance_asked_for_is_of_no_use() {
    let unusable = LoginError::GoogleUnusable("compute".into());
    for (name, value) in [
        ("name", json!("web-2")),
        ("name", Value::Null),
        ("id", Value::Null),
        ("status", Value::Null),
        ("creationTimestamp", Value::Null),
        ("creationTimestamp", json!("soon")),
        ("zone", Value::Null),
        ("selfLink", Value::Null),
        (
            "selfLink",
            json!("https://www.googleapis.com/compute/v1/projects/p1"),
        ),
    ] {
        let refused = outcome(gce(), |instance| instance.set(name, value)).unwrap_err();
        assert_eq!(refused, unusable, "{name}");
    }
    for body in ["", "<html>", "{}", "[]", r#"{"error":{"code":404}}"#] {
        let stage = stage(gce());
        stage
            .google
            .fail("instances/", Fault::Answer(google::text(200, body)), 1);
        assert_eq!(
            stage.log_in(&signed(&token())).unwrap_err(),
            unusable,
            "{body}"
        );
    }
}

#[test]
fn g9_a_token_older_than_the_instance_is_refused_beyond_a_second() {
    let log_in = |claimed: u64| {
        let token = token_with("instance_creation_timestamp", claimed);
        stage(gce()).log_in(&signed(&token))
    };
    assert!(log_in(CREATED).is_ok());
    assert!(log_in(CREATED + 5).is_ok());
    assert!(log_in(CREATED - 1).is_ok());
    let expected = flawed(InstanceError::CreatedLater(CreatedLater {
        claimed: CREATED - 2,
        created: CREATED,
    }));
    assert_eq!(log_in(CREATED - 2).unwrap_err(), expected);
    assert!(
        stage(gce())
            .log_in(&signed(&token_with(
                "instance_creation_timestamp",
                CREATED.to_string()
            )))
            .is_ok()
    );
}

#[test]
fn contract_4_7_compute_out_of_reach_is_an_outage_and_bad_credentials_are_the_mounts() {
    let stage = stage(gce());
    for fault in [
        Fault::Error(HttpError::TimedOut),
        Fault::Answer(google::text(503, "")),
        Fault::Answer(google::text(429, "")),
    ] {
        stage.google.fail("instances/", fault, 3);
        let expected = LoginError::GoogleUnavailable("compute".into());
        assert_eq!(stage.log_in(&signed(&token())).unwrap_err(), expected);
        stage.google.heal();
    }
    let refused = google::refusal(401, "Invalid Credentials", "authError");
    stage.google.fail("instances/", Fault::Answer(refused), 2);
    let error = stage.log_in(&signed(&token())).unwrap_err();
    assert!(matches!(error, LoginError::Credentials(_)), "{error:?}");
    stage
        .google
        .fail("instances/", Fault::Error(HttpError::Denied), 1);
    let expected = LoginError::EndpointDenied("compute".into());
    assert_eq!(stage.log_in(&signed(&token())).unwrap_err(), expected);
    stage
        .google
        .fail("instances/", Fault::Error(HttpError::TooLarge), 1);
    let expected = LoginError::GoogleUnusable("compute".into());
    assert_eq!(stage.log_in(&signed(&token())).unwrap_err(), expected);
    assert!(stage.log_in(&signed(&token())).is_ok());
}

#[test]
fn instances_are_never_remembered() {
    let stage = stage(gce());
    stage.log_in(&signed(&token())).unwrap();
    stage.log_in(&signed(&token())).unwrap();
    assert_eq!(stage.google.calls("/instances/"), 2);
    stage.google.state().compute.instances[0].set("status", "TERMINATED");
    assert!(stage.log_in(&signed(&token())).is_err());
}
