//! A script of a client against a server of its own.

use std::fs;

use gatehouse_fake_google::{FakeGoogle, IdentityFormat};
use gatehouse_tests::{
    Client, ClientRun, Host, INSTANCE, INSTANCE_ROLE, Installation, OPERATOR, ROLE, Storage,
    WORKLOAD,
};

pub const HOSTED: &str = "hosted";
pub const SELF_HOSTED: &str = "self-hosted";

/// Runs `script` against a server of its own, with everything that the scripts want to know.
pub fn assert_content(host: Host, script: &'static str, edition: &str) {
    let settings = format!("[organizations]\nedition = {edition:?}");
    let installation =
        Installation::start_program(host.program(), Storage::Durable, &settings).unwrap();
    let address = format!("http://{}", installation.address());
    let run = run_at(&address, &installation, script, edition);
    assert!(
        run.succeeded,
        "{script} against a {edition} server on {host:?}:\n{}",
        run.output
    );
}

/// Runs `script` against the server at `address`, which has what `installation` has.
pub fn run_at(
    address: &str,
    installation: &Installation,
    script: &'static str,
    edition: &str,
) -> ClientRun {
    let google = installation.google();
    let credentials = installation.folder().join("credentials.json");
    fs::write(&credentials, google.credentials_json(OPERATOR).unwrap()).unwrap();
    Client::new(script)
        .with("GATEHOUSE_ADDRESS", address)
        .with("GATEHOUSE_ROOT_TOKEN", installation.root_token())
        .with("GATEHOUSE_EDITION", edition)
        .with(
            "GATEHOUSE_CREDENTIALS_FILE",
            credentials.display().to_string(),
        )
        .with("GATEHOUSE_GOOGLE_ADDRESS", google.base_url())
        .with("GATEHOUSE_SERVICE_ACCOUNT", WORKLOAD)
        .with("GATEHOUSE_PROJECT", "demo-project")
        .with("GATEHOUSE_ROLE", ROLE)
        .with("GATEHOUSE_JWT", installation.login_jwt().unwrap())
        .with("GATEHOUSE_INSTANCE", INSTANCE)
        .with("GATEHOUSE_INSTANCE_ROLE", INSTANCE_ROLE)
        .with(
            "GATEHOUSE_INSTANCE_JWT",
            installation.instance_jwt().unwrap(),
        )
        .with("GATEHOUSE_INFERRED_JWT", inferred_jwt(google))
        .run()
}

/// The token that the metadata server gives a workload that wants to log in under an iam role.
fn inferred_jwt(google: &FakeGoogle) -> String {
    let audience = format!("http://vault/{ROLE}");
    google
        .identity_token(INSTANCE, &audience, IdentityFormat::Standard)
        .unwrap()
}
