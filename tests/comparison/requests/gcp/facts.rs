//! Values that the requests name and that no server has given: addresses, credentials, and tokens that Google and its accounts sign.

use gatehouse_fake_google::{Claims, FakeGoogle, IdentityFormat};
use gatehouse_tests::{INSTANCE, OPERATOR, WORKLOAD};
use serde_json::{Value, json};

/// The second account of the fake's population, and its instance.
const BATCH: &str = "batch@demo-project.iam.gserviceaccount.com";
const BATCH_INSTANCE: &str = "batch-1";

/// The iam roles that the workload signs for: `<jwt of ...>`.
const IAM_ROLES: [&str; 10] = [
    "dev",
    "wide",
    "id",
    "elsewhere",
    "near",
    "counted",
    "batched",
    "periodic",
    "grouped",
    "rooted",
];

/// The gce roles that the instance has tokens for: `<instance jwt of ...>`.
const GCE_ROLES: [&str; 10] = [
    "vm",
    "zonal",
    "labelled",
    "mislabelled",
    "far",
    "foreign",
    "members",
    "nobodies",
    "owned",
    "dev",
];

/// Names of values, and the values.
pub fn facts(google: &FakeGoogle) -> Vec<(String, String)> {
    let base = google.base_url();
    let credentials = google.credentials_json(OPERATOR).unwrap();
    let quoted = Value::from(credentials).to_string();
    let mut facts = vec![
        ("google".to_owned(), base.clone()),
        // The reference takes an address with a scheme for the whole base: D25.
        (
            "endpoints".to_owned(),
            json!({"api": base, "iam": base, "crm": base, "compute": format!("{base}/compute/v1/")})
                .to_string(),
        ),
        (
            "credentials".to_owned(),
            quoted.trim_matches('"').to_owned(),
        ),
        ("workload".to_owned(), WORKLOAD.to_owned()),
        ("workload id".to_owned(), unique_id(google)),
    ];
    for role in IAM_ROLES {
        let jwt = google.sign_jwt(WORKLOAD, &claims(role)).unwrap();
        facts.push((format!("jwt of {role}"), jwt));
    }
    for role in GCE_ROLES {
        let jwt = identity(google, INSTANCE, role, IdentityFormat::Full);
        facts.push((format!("instance jwt of {role}"), jwt));
    }
    facts.extend(odd(google));
    facts
}

/// The unique ID of the workload's account.
fn unique_id(google: &FakeGoogle) -> String {
    let claims = google.identity_claims(INSTANCE, "any", IdentityFormat::Standard);
    claims.unwrap()["sub"].as_str().unwrap().to_owned()
}

/// Claims with which the workload logs in, valid for less than any role's limit.
fn claims(role: &str) -> Claims {
    let mut claims = FakeGoogle::login_claims(WORKLOAD, role);
    claims["exp"] = json!(claims["iat"].as_u64().unwrap() + 600);
    claims
}

fn identity(google: &FakeGoogle, instance: &str, role: &str, format: IdentityFormat) -> String {
    let audience = format!("https://vault.example.com:8200/vault/{role}");
    google.identity_token(instance, &audience, format).unwrap()
}

/// Tokens with something wrong or unusual about them, for the roles `dev` and `vm`.
fn odd(google: &FakeGoogle) -> Vec<(String, String)> {
    let signed = |change: &dyn Fn(&mut Claims)| {
        let mut claims = claims("dev");
        change(&mut claims);
        google.sign_jwt(WORKLOAD, &claims).unwrap()
    };
    let set = |name: &'static str, value: Value| {
        signed(&|claims| {
            claims.insert(name.to_owned(), value.clone());
        })
    };
    let without = |name: &'static str| {
        signed(&|claims| {
            claims.remove(name);
        })
    };
    let now = claims("dev")["iat"].as_u64().unwrap();
    let batch = google.sign_jwt(BATCH, &{
        let mut claims = claims("dev");
        claims["sub"] = json!(BATCH);
        claims
    });
    let of_instance = google
        .identity_claims(INSTANCE, "http://vault/vm", IdentityFormat::Full)
        .unwrap();
    [
        ("jwt for half an hour", set("exp", json!(now + 1800))),
        ("jwt for two hours", set("exp", json!(now + 7200))),
        ("expired jwt", set("exp", json!(now - 300))),
        ("jwt without exp", without("exp")),
        ("jwt of tomorrow", set("nbf", json!(now + 86_400))),
        ("jwt for another role", set("aud", json!("vault/other"))),
        ("jwt without aud", without("aud")),
        (
            "jwt with two aud",
            set("aud", json!(["vault/dev", "other"])),
        ),
        ("jwt with glued aud", set("aud", json!("notvault/dev"))),
        ("jwt with url aud", set("aud", json!("https://vault/dev"))),
        ("jwt without sub", without("sub")),
        (
            "jwt of nobody",
            set("sub", json!("nobody@demo-project.iam.gserviceaccount.com")),
        ),
        ("jwt of odd sub", set("sub", json!("../x"))),
        ("jwt by id", set("sub", json!(unique_id(google)))),
        (
            "jwt with issuer",
            set("iss", json!("https://accounts.google.com")),
        ),
        ("jwt of batch", batch.unwrap()),
        ("broken jwt", {
            let jwt = set("iat", json!(now));
            let (rest, signature) = jwt.rsplit_once('.').unwrap();
            let other = if signature.starts_with('A') { 'B' } else { 'A' };
            format!("{rest}.{other}{}", &signature[1..])
        }),
        (
            "forged instance jwt",
            google.sign_jwt(WORKLOAD, &of_instance).unwrap(),
        ),
        (
            "short instance jwt",
            identity(google, INSTANCE, "vm", IdentityFormat::Standard),
        ),
        (
            "short instance jwt of dev",
            identity(google, INSTANCE, "dev", IdentityFormat::Standard),
        ),
        (
            "batch instance jwt",
            identity(google, BATCH_INSTANCE, "vm", IdentityFormat::Full),
        ),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}
