//! Workload identity federation end to end: Google fetches our keys, takes our token, and lets us act as an account (contract 2.6,
//! 7.4, 8.4).

use gatehouse_fake_google::{Endpoint, WorkloadIdentityProvider};
use gatehouse_tests::{Host, Installation, OPERATOR};
use serde_json::{Value, json};

use crate::HOST;
use crate::stage::{MOUNT, PROJECT, Stage, assert_granted, assert_refused};

const PROJECT_NUMBER: u64 = 402_615_379_128;

/// Where federation is to be found.
pub fn federation_settings(installation: &Installation) -> String {
    let google = installation.google().base_url();
    format!(
        "sts_url = \"{google}/v1/token\"\niam_credentials_url = \"{google}\"\napplication_credentials = \"none\""
    )
}

/// The provider that Google has for a server at this address.
fn provider_of(stage: &Stage) -> WorkloadIdentityProvider {
    let address = stage.installation.address();
    let issuer = format!("http://{address}/v1/identity/oidc/plugins");
    WorkloadIdentityProvider::new(PROJECT_NUMBER, "pool", "gatehouse", &issuer)
}

/// Makes the server an issuer that Google lets act as the operator's account, and returns the configuration of mounts that do.
pub fn trust(stage: &Stage) -> Value {
    let address = format!("http://{}", stage.installation.address());
    stage.write("identity/oidc/config", &json!({"issuer": address}));
    let provider = provider_of(stage);
    let audience = provider.audience();
    let google = stage.google();
    google.add_workload_identity_provider(provider);
    google.allow_impersonation(&audience, OPERATOR).unwrap();
    json!({"identity_token_audience": audience, "service_account_email": OPERATOR})
}

/// A server whose only mount has no other credentials than its name.
struct Federated {
    stage: Stage,
    provider: WorkloadIdentityProvider,
}

fn federated() -> Federated {
    let stage = Stage::aware(federation_settings);
    let config = trust(&stage);
    stage.enable(MOUNT, config);
    stage.workload_role(MOUNT);
    let provider = provider_of(&stage);
    Federated { stage, provider }
}

impl Federated {
    /// Has the provider admit only this subject, and the mount forget what it got before.
    fn admit(&self, subject: &str) {
        let mut provider = self.provider.clone();
        provider.condition_subject = Some(subject.to_owned());
        let google = self.stage.google();
        google.add_workload_identity_provider(provider);
        self.stage.forget(MOUNT);
    }
}

#[test]
fn contract_8_4_without_any_stored_secret_a_workload_logs_in() {
    let Federated { stage, provider } = federated();
    let google = stage.google();
    assert_eq!(google.requests(), [], "writing calls nobody");
    assert_granted(&stage.log_in(MOUNT, "dev"));
    for endpoint in [
        Endpoint::SecurityTokenService,
        Endpoint::GenerateAccessToken,
        Endpoint::ServiceAccount,
    ] {
        assert_eq!(google.calls(endpoint), 1, "{endpoint:?}");
    }
    assert_eq!(google.calls(Endpoint::Token), 0);

    let check = stage.read(&format!("auth/{MOUNT}/config/check?projects={PROJECT}"));
    assert_eq!(
        (&check["credentials_source"], &check["usable"]),
        (&json!("wif"), &json!(true)),
        "{check}"
    );
    let config = stage.read(&format!("auth/{MOUNT}/config"));
    assert_eq!(
        config["identity_token_audience"],
        provider.audience().as_str()
    );
    assert_eq!(google.calls(Endpoint::SecurityTokenService), 1);
}

#[test]
fn contract_7_4_a_condition_can_name_the_mount() {
    let federated = federated();
    let stage = &federated.stage;
    let accessor = stage.accessor(MOUNT);
    federated.admit(&format!("plugin-identity:root:auth:{accessor}"));
    assert_granted(&stage.log_in(MOUNT, "dev"));

    federated.admit("plugin-identity:root:auth:auth_gcp_00000000");
    let refused = stage.log_in(MOUNT, "dev");
    assert_refused(&refused, 502, "failed to create oauth2 http client: ");
    let check = stage.read(&format!("auth/{MOUNT}/config/check"));
    assert_eq!(check["usable"], false, "{check}");
    assert_eq!(
        stage.google().calls(Endpoint::GenerateAccessToken),
        1,
        "a refused token opens nothing"
    );
}

#[test]
fn contract_8_4_without_the_right_to_impersonate_nobody_logs_in() {
    let Federated { stage, provider } = federated();
    let google = stage.google();
    google
        .forbid_impersonation(&provider.audience(), OPERATOR)
        .unwrap();
    let refused = stage.log_in(MOUNT, "dev");
    assert_refused(&refused, 502, "failed to create oauth2 http client: ");
    google
        .allow_impersonation(&provider.audience(), OPERATOR)
        .unwrap();
    assert_granted(&stage.log_in(MOUNT, "dev"));
}

#[test]
fn contract_7_4_keys_outlive_a_restart() {
    let Federated { mut stage, .. } = federated();
    assert_granted(&stage.log_in(MOUNT, "dev"));
    let path = "/v1/identity/oidc/plugins/.well-known/keys";
    let published = |stage: &Stage| stage.installation.send("GET", path, None, None).json();
    let before = published(&stage);
    assert_eq!(before["keys"][0]["alg"], "RS256", "{before}");
    stage.restart_with(str::to_owned);
    assert_eq!(published(&stage), before);
    assert_granted(&stage.log_in(MOUNT, "dev"));
    let exchanges = stage.google().calls(Endpoint::SecurityTokenService);
    // Under Spin instances share what they know through the store, where it is sealed and outlives them.
    let expected = match HOST {
        Host::Gatehouse => 2,
        Host::Spin3
        | Host::Spin3Postgres
        | Host::Spin4
        | Host::SpinPostgres
        | Host::SpinKeyValue => 1,
    };
    assert_eq!(exchanges, expected, "on {HOST:?}");
}
