//! The first users of a server, from the command line.

use std::process::{Command, Output};

use gatehouse_tests::gatehouse_binary;

use crate::fixtures::unique;
use crate::server::{Edition, Server};

/// Runs `gatehouse operator user create` with this token.
fn create_user(server: &Server, token: &str, username: &str, more: &[&str]) -> Output {
    let email = format!("{username}@tfe.local");
    let mut command = Command::new(gatehouse_binary());
    for variable in ["BAO_TOKEN", "VAULT_TOKEN"] {
        command.env_remove(variable);
    }
    command
        .env("GATEHOUSE_TOKEN", token)
        .args(["operator", "user", "create", "--username", username])
        .args(["--email", &email, "--address", &server.address()])
        .args(more)
        .output()
        .unwrap()
}

fn printed(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout.clone())
        .unwrap()
        .trim()
        .to_owned()
}

#[test]
fn an_operator_makes_the_first_administrator_who_makes_others() {
    let server = Server::shared(Edition::SelfHosted);
    let name = format!("first-{}", unique());
    let administrator = printed(&create_user(
        server,
        server.root_token(),
        &name,
        &["--site-admin"],
    ));
    let found = server
        .bearer(&administrator)
        .get("account/details")
        .expect(200);
    assert_eq!(found.text("/data/attributes/username"), name);
    let other = format!("other-{}", unique());
    let user = printed(&create_user(server, &administrator, &other, &[]));
    server.bearer(&user).get("admin/organizations").expect(404);
    server
        .bearer(&administrator)
        .get("admin/organizations")
        .expect(200);
}

#[test]
fn an_operator_is_told_why_a_user_cannot_be_made() {
    let server = Server::shared(Edition::SelfHosted);
    let name = format!("taken-{}", unique());
    printed(&create_user(server, server.root_token(), &name, &[]));
    for (token, username, reason) in [
        (
            server.root_token(),
            name.as_str(),
            "Username has already been taken",
        ),
        (
            server.root_token(),
            "not a name",
            "can only include letters",
        ),
        ("hvs.unknown", "somebody", "401"),
    ] {
        let refused = create_user(server, token, username, &[]);
        let errors = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success());
        assert!(errors.contains(reason), "{errors}");
        assert!(refused.stdout.is_empty());
    }
}
