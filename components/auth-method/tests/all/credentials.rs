//! Service-account keys: contract 2.2, 2.5, 8.4.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use gatehouse_auth_method::{
    Config, ConfigChanges, ConfigError, CredentialsView, KeyFileError, LoginError,
};
use serde_json::{Value, json};

use crate::keys::{self, Token};
use crate::stage::{NOW, Stage, dev_role, key_file};

fn with(name: &str, value: impl Into<Value>) -> String {
    let mut file: Value = serde_json::from_str(&key_file()).unwrap();
    file[name] = value.into();
    file.to_string()
}

fn without(name: &str) -> String {
    let mut file: Value = serde_json::from_str(&key_file()).unwrap();
    file.as_object_mut().unwrap().remove(name);
    file.to_string()
}

fn write(stage: &Stage, credentials: &str) -> Result<(), ConfigError> {
    let changes = ConfigChanges {
        credentials: Some(credentials.to_owned()),
        ..ConfigChanges::default()
    };
    stage.service.write_config(&stage.mount, changes).map(drop)
}

#[test]
fn contract_2_5_only_the_four_identifying_members_can_be_read() {
    let stage = Stage::ready();
    let view = stage.service.read_config(&stage.mount).unwrap();
    let expected = CredentialsView {
        client_email: "root@ops.example".to_owned(),
        client_id: "999".to_owned(),
        private_key_id: "root-key".to_owned(),
        project_id: "ops".to_owned(),
    };
    assert_eq!(view.credentials, Some(expected));
    assert!(!format!("{view:?}").contains("PRIVATE KEY"));
}

#[test]
fn contract_2_2_urls_of_the_key_file_are_dropped() {
    let stage = Stage::ready();
    let stored = stage.store.values().concat();
    assert!(!String::from_utf8_lossy(&stored).contains("evil"));
    stage
        .log_in(&Token::of_account().signed_by(keys::of_account()))
        .unwrap();
    assert!(stage.http.urls().iter().all(|url| !url.contains("evil")));
}

#[test]
fn contract_2_2_bad_key_files_are_refused_and_nothing_is_stored() {
    let short_key = key_file().replace("MII", "MIA");
    for (credentials, expected) in [
        ("x".to_owned(), None),
        ("[]".to_owned(), None),
        ("7".to_owned(), None),
        ("{".to_owned(), None),
        (with("private_key_id", 7), None),
        (
            without("private_key_id"),
            Some(KeyFileError::PrivateKeyIdMissing),
        ),
        ("{}".to_owned(), Some(KeyFileError::PrivateKeyIdMissing)),
        (
            with("private_key_id", ""),
            Some(KeyFileError::PrivateKeyIdMissing),
        ),
        (
            with("type", "authorized_user"),
            Some(KeyFileError::NotServiceAccount),
        ),
        (
            without("client_email"),
            Some(KeyFileError::ClientEmailMissing),
        ),
        (
            without("private_key"),
            Some(KeyFileError::PrivateKeyUnusable),
        ),
        (
            with("private_key", "key"),
            Some(KeyFileError::PrivateKeyUnusable),
        ),
        (
            with("private_key", keys::of_account().certificate.clone()),
            Some(KeyFileError::PrivateKeyUnusable),
        ),
        (short_key, Some(KeyFileError::PrivateKeyUnusable)),
        (" ".repeat(65 * 1024), Some(KeyFileError::TooLong)),
    ] {
        let stage = Stage::bare();
        let refused = write(&stage, &credentials).unwrap_err();
        let ConfigError::Credentials(flaw) = &refused else {
            panic!("{refused:?}");
        };
        match expected {
            Some(expected) => assert_eq!(*flaw, expected),
            None => assert!(matches!(flaw, KeyFileError::NotJson(_)), "{flaw:?}"),
        }
        assert!(stage.store.keys().is_empty());
    }
}

#[test]
fn credentials_without_a_type_and_in_pkcs1_are_accepted() {
    let stage = Stage::bare();
    write(&stage, &without("type")).unwrap();
    let pkcs8 = keys::of_stranger().private_pem();
    let body: String = pkcs8
        .lines()
        .filter(|line| !line.starts_with('-'))
        .collect();
    let der = STANDARD.decode(body).unwrap();
    // PKCS#8 of an RSA key is a fixed head of 26 bytes before PKCS#1.
    let lines: Vec<String> = STANDARD
        .encode(&der[26..])
        .as_bytes()
        .chunks(64)
        .map(|line| String::from_utf8(line.to_vec()).unwrap())
        .collect();
    let head = "-----BEGIN RSA PRIVATE KEY-----";
    let pkcs1 = format!(
        "{head}\n{}\n-----END RSA PRIVATE KEY-----\n",
        lines.join("\n")
    );
    write(&stage, &with("private_key", pkcs1)).unwrap();
    stage.role(dev_role());
    assert!(
        stage
            .log_in(&Token::of_account().signed_by(keys::of_account()))
            .is_ok()
    );
}

#[test]
fn contract_2_2_empty_credentials_remove_the_stored_ones() {
    let stage = Stage::ready();
    assert_eq!(stage.keys(), ["m1/config", "m1/credentials", "m1/role/dev"]);
    write(&stage, "").unwrap();
    assert_eq!(stage.keys(), ["m1/config", "m1/role/dev"]);
    assert_eq!(
        stage.service.read_config(&stage.mount).unwrap().credentials,
        None
    );
    let refused = stage.log_in(&Token::of_account().signed_by(keys::of_account()));
    assert!(matches!(refused, Err(LoginError::Credentials(_))));
}

#[test]
fn contract_8_4_the_assertion_is_signed_by_the_stored_key() {
    let stage = Stage::ready();
    stage
        .log_in(&Token::of_account().signed_by(keys::of_account()))
        .unwrap();
    let state = stage.google.state();
    let request = state
        .requests
        .iter()
        .find(|request| request.url.ends_with("/token"))
        .unwrap();
    let form: Vec<(String, String)> = url::form_urlencoded::parse(request.body.as_bytes())
        .into_owned()
        .collect();
    assert_eq!(form[0].1, "urn:ietf:params:oauth:grant-type:jwt-bearer");
    assert_eq!(form[1].0, "assertion");
    let (input, signature) = form[1].1.rsplit_once('.').unwrap();
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    assert_eq!(
        signature,
        keys::of_stranger().sign(input),
        "PKCS#1 v1.5 is deterministic"
    );
    let part = |text: &str| -> Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
    };
    let (header, claims) = input.split_once('.').unwrap();
    assert_eq!(
        part(header),
        json!({"alg": "RS256", "typ": "JWT", "kid": "root-key"})
    );
    let expected = json!({
        "iss": "root@ops.example", "aud": "https://oauth2.googleapis.com/token",
        "scope": "https://www.googleapis.com/auth/cloud-platform", "iat": NOW, "exp": NOW + 3600,
    });
    assert_eq!(part(claims), expected);
}
