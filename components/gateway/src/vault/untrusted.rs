//! The parsers of the bodies that callers send to the auth method, one pure function per kind of body: for tests that feed generated input (SEC-V1).

use gatehouse_auth_method_api::{ConfigChanges, RoleChanges};

use super::auth_method::config::fields as config;
use super::auth_method::roles::fields as role;
use super::call::only_known;
use super::field::Field;
use super::fields::Fields;
use crate::http::Request;

/// The changes of a write to `role/<name>` with the body of `request`; `None` where it is refused.
#[must_use]
pub fn role_body(request: &Request) -> Option<RoleChanges> {
    role::changes(&body(request, role::FIELDS, &[role::NAME.name])?).ok()
}

/// The changes of a write to `config` with the body of `request`; `None` where it is refused.
#[must_use]
pub fn config_body(request: &Request) -> Option<ConfigChanges> {
    config::changes(&body(request, config::FIELDS, &[])?).ok()
}

fn body<'a>(
    request: &'a Request,
    takes: &[Field],
    captured: &[&'static str],
) -> Option<Fields<'a>> {
    let names = takes.iter().map(|field| field.name);
    let known = names.chain(captured.iter().copied()).collect();
    only_known(Fields::of_body(request).ok()?.expecting(known)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Method;

    #[test]
    fn v1_bodies_are_read_as_writes_read_them() {
        let request = |body: &str| Request {
            body: body.into(),
            ..Request::new(Method::Post, "/v1/auth/gcp/x")
        };
        let role = role_body(&request(r#"{"type":"iam","ttl":"1h"}"#)).unwrap();
        assert_eq!(
            (role.role_type.as_deref(), role.ttl),
            (Some("iam"), Some(3600))
        );
        let config = config_body(&request(r#"{"iam_alias":"unique_id"}"#)).unwrap();
        assert_eq!(config.iam_alias.as_deref(), Some("unique_id"));
        for refused in [r#"{"x":1}"#, "[]", r#"{"ttl":-1,"rotation_period":-1}"#] {
            assert!(role_body(&request(refused)).is_none(), "{refused}");
            assert!(config_body(&request(refused)).is_none(), "{refused}");
        }
    }
}
