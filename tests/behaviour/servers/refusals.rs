//! How requests are told what operations are refused with: a status, and words that tell one refusal from another.

use gatehouse_tests::Answer;
use serde_json::Value;

/// True if `answer` tells the refusal that is expected of an operation with these arguments.
pub fn fits(
    operation: &str,
    given: &Value,
    expected: &Value,
    answer: &Answer,
) -> Result<(), String> {
    let (status, words) = if operation.ends_with("-organization") {
        of_organizations(expected)
    } else {
        of_the_method(given, expected)
    };
    let is_told = words.iter().all(|word| answer.body.contains(word));
    if answer.status == status && is_told {
        return Ok(());
    }
    Err(format!(
        "{operation}: {status} with {words:?} was expected, not {answer:?}"
    ))
}

fn of_organizations(expected: &Value) -> (u16, Vec<String>) {
    if expected["tag"] == "not-found" {
        return (404, vec!["not found".to_owned()]);
    }
    let faults = expected["val"].as_array().into_iter().flatten();
    let words = faults.flat_map(|fault| {
        let field = text(&fault["field"]);
        let mut label = field.to_owned();
        label.get_mut(..1).map(str::make_ascii_uppercase);
        let predicate = match text(&fault["fault"]["tag"]) {
            "blank" => "can't be blank",
            "forbidden-character" => "can only include letters, numbers, -, and _.",
            "taken" => "has already been taken",
            "not-an-address" => "is invalid",
            other => panic!("there are no words for {other}"),
        };
        [
            format!("/data/attributes/{field}"),
            format!("{label} {predicate}"),
        ]
    });
    (422, words.collect())
}

fn of_the_method(given: &Value, expected: &Value) -> (u16, Vec<String>) {
    let held = &expected["val"];
    // As JSON has it in a text: what stands between quotes is quoted once more.
    let quoted = |value: &Value| format!("\\\"{}\\\"", text(value));
    let role = || quoted(&given["request"]["role"]);
    let told = match text(&expected["tag"]) {
        // Configuration.
        "credentials" => return credentials(held),
        "endpoint-key" => format!("invalid custom endpoint type {}", quoted(held)),
        "endpoint-value" => match text(&held["flaw"]) {
            "link-local" => {
                "link-local addresses and metadata servers are never allowed".to_owned()
            }
            other => panic!("there are no words for {other}"),
        },
        "credentials-twice" => {
            "only one of 'credentials' or 'identity_token_audience' can be set".to_owned()
        }
        // Roles.
        "no-service-accounts" => "IAM role type must have at least one service account".to_owned(),
        "type-missing" => "role type cannot be empty".to_owned(),
        "type-changed" => "role type cannot be changed for an existing role".to_owned(),
        "fields-of-other-type" => format!(
            "invalid args found for role of type iam: {}",
            text(&held["fields"][0])
        ),
        "wildcard-with-others" => "cannot provide IAM service account wildcard '*'".to_owned(),
        "jwt-lifetime-too-long" => "max_jwt_exp cannot be more than 60 minutes".to_owned(),
        "bound-cidr" => format!("error parsing address {}", quoted(held)),
        // Logins.
        "role-missing" => "role is required".to_owned(),
        "jwt-missing" => "jwt argument is required".to_owned(),
        "role-not-found" => format!("role {} not found", quoted(held)),
        "malformed-jwt" => malformed(held),
        "key-not-found" => return key_not_found(held),
        "signature-invalid" => "unable to verify JWT signature".to_owned(),
        "expired" => "JWT is expired or does not have proper 'exp' claim".to_owned(),
        "not-yet-valid" => "JWT is not yet valid".to_owned(),
        "audience-not-for-role" => format!("must end in \\\"vault/{}\\\"", text(held)),
        "issuer-not-acceptable" => "JWT issuer is not acceptable".to_owned(),
        "inference-not-allowed" => format!("IAM role {} does not allow GCE inference", role()),
        "expires-beyond-role" => {
            format!("role requires that service account JWTs expire within {held} seconds")
        }
        "account-disabled" => format!("service account {} is disabled", text(held)),
        "project-not-bound" => {
            let account = quoted(&held["email"]);
            format!("service account {account} not in bound projects")
        }
        "account-not-bound" => format!("service account {} (id: ", text(&held["email"])),
        "replayed" => "JWT has logged in before".to_owned(),
        "address-not-allowed" => return (403, vec!["permission denied".to_owned()]),
        "google-unusable" => return (502, vec!["google API gave an unusable answer".to_owned()]),
        "google-unavailable" => return (503, vec!["google API unavailable".to_owned()]),
        other => panic!("there are no words for {other}"),
    };
    (400, vec![told])
}

/// Credentials are at fault where they are written, and where they are used.
fn credentials(flaw: &Value) -> (u16, Vec<String>) {
    let (status, told) = match text(&flaw["tag"]) {
        "not-json" => (400, "not a JSON object of a key file"),
        "private-key-unusable" => (400, "private_key is not a usable PEM RSA key"),
        "not-found" => (
            502,
            "failed to create oauth2 http client: could not find default credentials",
        ),
        other => panic!("there are no words for {other}"),
    };
    (status, vec![told.to_owned()])
}

fn malformed(flaw: &Value) -> String {
    let why = match text(flaw) {
        "algorithm" => "alg is not RS256",
        "not-three-parts" => "the token does not have three non-empty parts",
        "too-long" => "the token is longer than 16 KiB",
        other => panic!("there are no words for {other}"),
    };
    format!("unable to parse signed JWT: {why}")
}

fn key_not_found(held: &Value) -> (u16, Vec<String>) {
    let why = match text(&held["refusal"]) {
        "key-unknown" => "the service account has no such key",
        "account-unknown" => "no keys are published for the service account",
        other => panic!("there are no words for {other}"),
    };
    let subject = held["subject"].as_str().unwrap_or_default();
    let told = ["unable to get public key for signed JWT", why, subject];
    (400, told.map(str::to_owned).to_vec())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
