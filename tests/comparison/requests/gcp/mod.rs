//! The method itself, which OpenBao has not: its configuration, roles, logins and renewals (contract 2 to 4, 7).

mod config;
mod facts;
mod logins;
mod renewals;
mod roles;

pub use self::facts::facts;

use crate::step::{Step, delete, post};

/// Everything that is asked of the method, at mounts of its own.
pub fn requests() -> Vec<Step> {
    [
        config::requests(),
        roles::requests(),
        logins::requests(),
        renewals::requests(),
    ]
    .concat()
}

/// A write to a role of the mount `g/`.
fn role(name: &str, body: &str) -> Step {
    post(format!("auth/g/role/{name}"), body)
}

/// A login at the mount `g/` with a JWT that has this name.
fn login(role: &str, jwt: &str) -> Step {
    let body = format!(r#"{{"role":"{role}","jwt":"<{jwt}>"}}"#);
    post("auth/g/login", body).by_nobody()
}

/// A mount that asks the fake Google with the operator's key.
fn enabled() -> Vec<Step> {
    vec![
        post("sys/auth/g", r#"{"type":"gcp"}"#),
        post(
            "auth/g/config",
            r#"{"credentials":"<credentials>","custom_endpoint":<endpoints>}"#,
        ),
    ]
}

fn disabled() -> Step {
    delete("sys/auth/g")
}
