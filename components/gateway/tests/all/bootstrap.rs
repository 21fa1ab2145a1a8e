//! A first root token that the operator chose by its hash (SEC-A8).

use gatehouse_gateway::host::Host;
use gatehouse_gateway::{Initializer, Method, RootTokenHash, Settings};
use serde_json::json;

use super::server::{ROOT, Server};

const REFUSAL: &str =
    "the first root token has been chosen by its hash: present that token as X-Vault-Token";

fn chosen_token() -> String {
    format!("hvs.{}", "a".repeat(51))
}

fn server_for(token: &str) -> Server {
    let settings = Settings {
        initializer: Initializer::HolderOf(RootTokenHash::from_token(token)),
        ..Settings::default()
    };
    Server::on(Host::default(), settings)
}

#[test]
fn a8_only_who_has_the_chosen_token_initializes_the_server_and_gets_no_other() {
    let token = chosen_token();
    let server = server_for(&token);
    let other = token.replace('a', "b");
    for presented in [None, Some(ROOT), Some(other.as_str())] {
        let answer = server.send(Method::Put, "sys/init", presented, "{}");
        answer.refused(403, REFUSAL);
    }
    let named = json!({"root_token": ROOT}).to_string();
    let answer = server.send(Method::Put, "sys/init", Some(&token), &named);
    answer.refused(403, REFUSAL);
    let status = server.send(Method::Get, "sys/init", None, "").expect(200);
    assert_eq!(status.json(), json!({"initialized": false}));
    assert_eq!(server.commits(), 0);

    let made = server.send(Method::Put, "sys/init", Some(&token), "{}");
    assert_eq!(made.expect(200).json()["root_token"], token);
    let looked_up = server.send(Method::Get, "auth/token/lookup-self", Some(&token), "");
    assert_eq!(looked_up.expect(200).data()["policies"], json!(["root"]));
    let again = server.send(Method::Put, "sys/init", Some(&token), "{}");
    again.refused(400, "Vault is already initialized");
}

#[test]
fn a8_no_caller_initializes_a_server_for_which_a_token_must_be_chosen_and_was_not() {
    let settings = Settings {
        initializer: Initializer::NoCaller,
        ..Settings::default()
    };
    let server = Server::on(Host::default(), settings);
    let named = json!({"root_token": chosen_token()}).to_string();
    for (presented, body) in [(None, "{}"), (Some(ROOT), "{}"), (None, &named)] {
        let answer = server.send(Method::Put, "sys/init", presented, body);
        let told = answer.expect(403).json()["errors"][0].to_string();
        assert!(told.contains("set root_token_hash"), "{told}");
    }
    assert_eq!(server.commits(), 0);
}

#[test]
fn a8_the_token_may_stand_in_the_body() {
    let token = chosen_token();
    let body = json!({"root_token": token}).to_string();
    let made = server_for(&token).send(Method::Put, "sys/init", None, &body);
    assert_eq!(made.expect(200).json()["root_token"], token);
}

#[test]
fn a8_a_hash_of_a_weak_token_opens_nothing() {
    let server = server_for("password");
    let answer = server.send(Method::Put, "sys/init", Some("password"), "{}");
    answer.refused(403, REFUSAL);
}
