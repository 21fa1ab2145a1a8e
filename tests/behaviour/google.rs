//! The Googles of the checks, and what their accounts have signed.

use std::sync::LazyLock;

use gatehouse_fake_google::{
    AccountSpec, Endpoint, FakeGoogle, FakeGoogleOptions, Fault, IdentityFormat, Population,
};
use gatehouse_tests::{INSTANCE, OPERATOR, ROLE, WORKLOAD};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

const OTHER: &str = "batch@demo-project.iam.gserviceaccount.com";
const NOBODY: &str = "nobody@demo-project.iam.gserviceaccount.com";
const DISABLED: &str = "disabled@demo-project.iam.gserviceaccount.com";
/// Nothing listens at the first of the ports that need privileges.
const UNREACHABLE: &str = "http://127.0.0.1:1";

/// The runtime of the Googles that belong to no server.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().unwrap()
});

/// A Google that answers all questions about keys with 503.
static FAILING: LazyLock<FakeGoogle> = LazyLock::new(|| at_fault(&Fault::unavailable()));
/// A Google that answers them with a body that is not JSON.
static GARBLED: LazyLock<FakeGoogle> = LazyLock::new(|| at_fault(&Fault::GarbageBody));

/// A Google with the usual population.
pub fn usual() -> FakeGoogle {
    start(FakeGoogleOptions::default())
}

fn start(options: FakeGoogleOptions) -> FakeGoogle {
    RUNTIME.block_on(FakeGoogle::start(options)).unwrap()
}

fn at_fault(fault: &Fault) -> FakeGoogle {
    let google = start(FakeGoogleOptions {
        population: Population::default(),
        ..FakeGoogleOptions::default()
    });
    for endpoint in [
        Endpoint::GoogleCertificates,
        Endpoint::GoogleKeySet,
        Endpoint::AccountCertificates,
        Endpoint::AccountKeySet,
    ] {
        google.set_fault(endpoint, fault.clone());
    }
    google
}

/// The meanings of texts with `$`, where `google` is the one that is asked.
pub fn values(google: &FakeGoogle) -> Value {
    google
        .add_account(AccountSpec::new("disabled", "demo-project"))
        .unwrap();
    google.set_disabled(DISABLED, true).unwrap();
    let usable = google.credentials_json(OPERATOR).unwrap();
    let mut unusable: Map<String, Value> = serde_json::from_str(&usable).unwrap();
    let key = unusable["private_key"].as_str().unwrap().to_owned();
    unusable.insert(
        "private_key".to_owned(),
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".into(),
    );
    json!({
        "account": {"workload": WORKLOAD, "other": OTHER, "server": OPERATOR, "disabled": DISABLED},
        "credentials": {"usable": usable, "unusable": Value::Object(unusable).to_string()},
        "google": {
            "address": google.base_url(),
            "unreachable": UNREACHABLE,
            "failing": FAILING.base_url(),
            "garbled": GARBLED.base_url(),
        },
        "jwt": tokens(google),
        "secret": {"private-key-line": key.lines().nth(2).unwrap()},
    })
}

fn tokens(google: &FakeGoogle) -> Value {
    let honest = FakeGoogle::login_claims(WORKLOAD, ROLE);
    let now = honest["iat"].as_u64().unwrap();
    let signed = |claims: &Map<String, Value>| google.sign_jwt(WORKLOAD, claims).unwrap();
    let with = |changes: &[(&str, Value)]| {
        let mut claims = honest.clone();
        claims.extend(
            changes
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone())),
        );
        claims
    };
    let without = |name: &str| {
        let mut claims = honest.clone();
        claims.remove(name);
        claims
    };
    let key = google.account_key(WORKLOAD).unwrap();
    let of_algorithm = |algorithm: &str| {
        let header = json!({"alg": algorithm, "kid": key.key_id(), "typ": "JWT"});
        let header = header.as_object().unwrap();
        key.sign_jwt_with_header(header, &honest).unwrap()
    };
    let for_another_role = signed(&FakeGoogle::login_claims(WORKLOAD, "other"));
    let as_somebody_else = |signer: &str| google.sign_jwt(signer, &honest).unwrap();
    json!({
        "honest": signed(&honest),
        "for-another-role": for_another_role,
        "without-audience": signed(&without("aud")),
        "expired": signed(&with(&[("iat", (now - 1500).into()), ("exp", (now - 600).into())])),
        "without-expiry": signed(&without("exp")),
        "from-the-future": signed(&with(&[("nbf", (now + 600).into())])),
        "of-half-an-hour": signed(&with(&[("exp", (now + 1800).into())])),
        "forged-signature": with_another_signature(&signed(&honest)),
        "forged-claims": joined(&signed(&honest), &for_another_role),
        "by-another-account": as_somebody_else(OPERATOR),
        "of-nobody": signed(&with(&[("sub", NOBODY.into())])),
        "of-a-disabled-account": google.sign_login_jwt(DISABLED, ROLE).unwrap(),
        "of-a-foreign-issuer": signed(&with(&[("iss", "https://accounts.example.com".into())])),
        "signed-by-google": google
            .identity_token(INSTANCE, &format!("http://vault/{ROLE}"), IdentityFormat::Standard)
            .unwrap(),
        "algorithm-none": of_algorithm("none"),
        "algorithm-hs256": of_algorithm("HS256"),
        "too-long": signed(&with(&[("padding", "x".repeat(20_000).into())])),
    })
}

/// The token with one digit of its signature changed.
fn with_another_signature(token: &str) -> String {
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (before, after) = signature.split_at(signature.len() / 2);
    let changed = if after.starts_with('A') { "B" } else { "A" };
    format!("{signed}.{before}{changed}{}", &after[1..])
}

/// The claims of one token, with the signature of another.
fn joined(claims: &str, signature: &str) -> String {
    let (signed, _) = claims.rsplit_once('.').unwrap();
    let (_, signature) = signature.rsplit_once('.').unwrap();
    format!("{signed}.{signature}")
}
