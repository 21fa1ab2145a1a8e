//! The file in which Google hands out a service-account key.

use serde_json::{Value, json};

use crate::account::AccountSpec;
use crate::google::token_url_of;
use crate::signing_key::SigningKey;

/// A whole key file, with the addresses of the fake at `base_url` in it. Holds a private key.
pub(crate) fn key_file(spec: &AccountSpec, key: &SigningKey, base_url: &str) -> Value {
    json!({
        "type": "service_account",
        "project_id": spec.project_id,
        "private_key_id": key.key_id(),
        "private_key": key.private_key_pem(),
        "client_email": spec.email,
        "client_id": spec.unique_id,
        "auth_uri": format!("{base_url}/o/oauth2/auth"),
        "token_uri": token_url_of(base_url),
        "auth_provider_x509_cert_url": format!("{base_url}/oauth2/v1/certs"),
        "client_x509_cert_url": format!("{base_url}/service_accounts/v1/metadata/x509/{}", spec.email),
        "universe_domain": "googleapis.com",
    })
}
