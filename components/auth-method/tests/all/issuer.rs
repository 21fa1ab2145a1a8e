//! The issuer of identity tokens and its keys: contract 7.4.

use std::time::Duration;

use gatehouse_auth_method::{
    Config, ConfigChanges, IdentityTokenError, IdentityTokens, IssuerError, PublicKey, Settings,
};
use gatehouse_ports::{CommitError, StoreError};

use crate::federation::federation;
use crate::google_credentials::{ISSUER, settings, stage};
use crate::stage::{NOW, Stage, mount};

const HOUR: Duration = Duration::from_secs(3600);
const KEYS: &str = "~identity-tokens/keys";

fn names(keys: &[PublicKey]) -> Vec<&str> {
    keys.iter().map(|key| key.key_id.as_str()).collect()
}

fn published(stage: &Stage) -> Vec<PublicKey> {
    stage.service.public_keys().unwrap()
}

/// The name of the key that signs now, seen by who is trusted.
fn signing(stage: &Stage, google: &crate::google_credentials::CredentialsGoogle) -> String {
    let found = published(stage).into_iter().find(|key| {
        google.state().trusted = vec![key.clone()];
        // A new configuration, so that no access token is remembered.
        stage.configure(ConfigChanges::default());
        let report = stage.service.check_config(&stage.mount, &[]).unwrap();
        report.failure.is_none()
    });
    found.unwrap().key_id
}

#[test]
fn contract_7_4_the_issuer_is_what_was_set_or_the_advertised_address() {
    let (stage, _) = stage(settings());
    assert_eq!(stage.service.read_issuer().unwrap(), "");
    assert_eq!(stage.service.issuer().unwrap(), ISSUER);
    stage
        .service
        .write_issuer("https://Other.example:8200/")
        .unwrap();
    let set = stage.service.read_issuer().unwrap();
    assert_eq!(set, "https://other.example:8200");
    let expected = "https://other.example:8200/v1/identity/oidc/plugins";
    assert_eq!(stage.service.issuer().unwrap(), expected);
    for text in [
        "http://other.example",
        "https://other.example/x",
        "other.example",
    ] {
        assert_eq!(stage.service.write_issuer(text), Err(IssuerError::NotUrl));
        assert_eq!(stage.service.read_issuer().unwrap(), set);
    }
    stage.service.write_issuer("").unwrap();
    assert_eq!(stage.service.issuer().unwrap(), ISSUER);
    assert!(stage.store.keys().is_empty());
}

#[test]
fn contract_7_4_without_an_address_there_is_no_issuer_and_no_key_is_made_unasked() {
    let (stage, _) = stage(Settings::default());
    assert_eq!(stage.service.issuer(), Err(IdentityTokenError::NoIssuer));
    stage.service.maintain_keys().unwrap();
    assert!(stage.store.keys().is_empty());
}

#[test]
fn contract_7_4_a_key_is_published_before_it_signs_and_until_its_last_token_has_expired() {
    let (stage, google) = stage(settings());
    stage.configure(federation());
    let first = published(&stage);
    assert_eq!((first.len(), first[0].modulus.len()), (1, 256));
    assert_eq!(first[0].exponent, [1, 0, 1]);
    assert_eq!(signing(&stage, &google), first[0].key_id);

    stage.clock.advance(24 * HOUR - Duration::from_secs(1));
    stage.service.maintain_keys().unwrap();
    assert_eq!(published(&stage), first, "a day has not passed");
    stage.clock.advance(Duration::from_secs(1));
    assert_eq!(published(&stage), first, "making a key is not for requests");
    stage.service.maintain_keys().unwrap();
    let both = published(&stage);
    assert_eq!(both.len(), 2);
    assert_eq!(both[1], first[0], "the newest comes first");
    assert_eq!(
        signing(&stage, &google),
        first[0].key_id,
        "nobody knows the new one yet"
    );
    stage.service.maintain_keys().unwrap();
    assert_eq!(published(&stage), both, "once is enough");

    stage.clock.advance(HOUR);
    assert_eq!(signing(&stage, &google), both[0].key_id);
    // The last token of the first key was made just now, and may be valid for a day.
    stage.clock.advance(24 * HOUR + Duration::from_secs(60));
    assert!(names(&published(&stage)).contains(&first[0].key_id.as_str()));
    stage.clock.advance(Duration::from_secs(1));
    assert!(!names(&published(&stage)).contains(&first[0].key_id.as_str()));
}

#[test]
fn contract_7_4_a_key_stays_published_for_tokens_of_unusual_length() {
    let (stage, google) = stage(settings());
    stage.configure(ConfigChanges {
        identity_token_ttl: Some(100 * 3600),
        ..federation()
    });
    let first = signing(&stage, &google);
    stage.clock.advance(24 * HOUR);
    stage.service.maintain_keys().unwrap();
    stage.clock.advance(101 * HOUR);
    assert!(names(&published(&stage)).contains(&first.as_str()));
    stage.clock.advance(Duration::from_secs(61));
    assert!(!names(&published(&stage)).contains(&first.as_str()));
}

#[test]
fn contract_7_4_requests_make_a_key_themselves_without_background_work() {
    let (stage, google) = stage(settings());
    stage.configure(federation());
    let first = published(&stage);
    stage.clock.advance(48 * HOUR - Duration::from_secs(1));
    assert_eq!(signing(&stage, &google), first[0].key_id);
    assert_eq!(published(&stage), first);
    stage.clock.advance(Duration::from_secs(1));
    let both = published(&stage);
    assert_eq!(both.len(), 2);
    assert_eq!(signing(&stage, &google), first[0].key_id);
}

#[test]
fn contract_7_4_two_instances_make_one_key() {
    let (stage, _) = stage(settings());
    let other = stage.another_instance();
    // Another instance was faster while this one made a key of its own.
    let conflict = CommitError::Conflict(KEYS.to_owned());
    stage.store.fail_next_commit(conflict);
    let made = published(&stage);
    assert_eq!(other.public_keys().unwrap(), made);
    assert_eq!(stage.store.commits(), 1);
}

#[test]
fn contract_7_4_a_key_that_could_not_be_stored_is_not_used() {
    let (stage, _) = stage(settings());
    let sealed = StoreError::Sealed;
    stage
        .store
        .fail_next_commit(CommitError::Failed(sealed.clone()));
    let refused = stage.service.public_keys();
    assert_eq!(refused, Err(IdentityTokenError::Storage(sealed.into())));
    assert!(stage.store.keys().is_empty());
}

#[test]
fn no_mount_can_reach_the_keys_of_the_issuer() {
    let (stage, _) = stage(settings());
    let keys = published(&stage);
    for id in [
        "~identity-tokens",
        "",
        "identity-tokens",
        "%7Eidentity-tokens",
    ] {
        stage.service.forget_mount(id).unwrap();
        stage.service.delete_config(&mount(id)).unwrap();
    }
    assert_eq!(published(&stage), keys);
}

#[test]
fn l6_the_age_of_the_newest_key_is_told() {
    let (stage, _) = stage(settings());
    assert_eq!(stage.service.maintain_keys().unwrap(), Some(NOW));
    stage.clock.advance(HOUR);
    assert_eq!(stage.service.maintain_keys().unwrap(), Some(NOW));
    stage.clock.advance(24 * HOUR);
    let made_at = NOW + 25 * 3600;
    assert_eq!(stage.service.maintain_keys().unwrap(), Some(made_at));
    let (without_issuer, _) = self::stage(Settings::default());
    assert_eq!(without_issuer.service.maintain_keys().unwrap(), None);
}
