//! The places where a secret may stand although no member of the record is secret: in a path, in the name of a field, and in a field that an operator
//! wants to be readable.

use std::borrow::Cow;

use gatehouse_access_api::{BATCH_TOKEN_PREFIX, SERVICE_TOKEN_PREFIX};
use gatehouse_ports::organizations_api::TOKEN_MARK;

use crate::http::Request;

/// The beginnings of tokens and signed tokens.
const TOKEN_BEGINNINGS: [&str; 6] = [
    SERVICE_TOKEN_PREFIX,
    BATCH_TOKEN_PREFIX,
    "hvr.",
    "s.",
    "b.",
    "eyJ",
];

/// The length from which a text with such a beginning counts as a token.
const SHORTEST_TOKEN: usize = 16;

/// The maximum length of a field name, in bytes.
const LONGEST_NAME: usize = 64;

/// Paths below which old clients put a token into the path itself.
const PATHS_WITH_TOKENS: [&str; 4] = [
    "auth/token/lookup/",
    "auth/token/renew/",
    "auth/token/revoke/",
    "auth/token/revoke-orphan/",
];

/// The text that replaces a secret in a path.
pub(super) const MASK: &str = "<secret>";

/// The fields that are hashed even where the operator of a mount lists them (contract 6.5). `id` is a token where tokens are created and shown.
const NEVER_READABLE: [&str; 8] = [
    "jwt",
    "credentials",
    "token",
    "client_token",
    "id",
    "private_key",
    "secret",
    "secret_id",
];

/// True if an operator may have this field of a mount's requests or answers in clear.
pub(super) fn may_be_readable(field: &str) -> bool {
    !NEVER_READABLE
        .iter()
        .any(|name| field.eq_ignore_ascii_case(name))
}

/// True if the client may have meant this as the name of a field. A secret that is sent in place of a form would be parsed as a name.
pub(super) fn is_plausible_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME && name != MASK && !looks_like_token(name)
}

/// The client's name for an exchange, if the records may show it: it has only safe characters, is short, and is not a secret.
pub(crate) fn client_request_id(request: &Request) -> Option<&str> {
    let id = request.client_request_id()?;
    (!looks_like_token(id)).then_some(id)
}

fn looks_like_token(text: &str) -> bool {
    text.len() >= SHORTEST_TOKEN
        && (text.contains(TOKEN_MARK)
            || TOKEN_BEGINNINGS
                .iter()
                .any(|beginning| text.starts_with(beginning)))
}

/// The path with its possible secret masked, and that secret.
pub(super) fn masked_path(path: &str) -> (Cow<'_, str>, Option<&str>) {
    let below = PATHS_WITH_TOKENS
        .iter()
        .find_map(|prefix| path.strip_prefix(prefix));
    let secret = below
        .filter(|secret| !secret.is_empty())
        .or_else(|| path.split('/').find(|segment| looks_like_token(segment)));
    match secret {
        Some(secret) => (Cow::Owned(masked_text(path, Some(secret))), Some(secret)),
        None => (Cow::Borrowed(path), None),
    }
}

/// A text about a request without the secret of its path, and without words that look like a token. A refusal repeats names that the caller sent, and
/// a token that is sent in place of a form is parsed as a name.
pub(super) fn masked_text(text: &str, secret: Option<&str>) -> String {
    let text = secret.map_or(Cow::Borrowed(text), |secret| {
        Cow::Owned(text.replace(secret, MASK))
    });
    let is_outside = |character: char| {
        !(character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-' | '+' | '='))
    };
    let masked = |piece: &str| match piece.trim_end_matches(is_outside) {
        word if looks_like_token(word) => piece.replacen(word, MASK, 1),
        _ => piece.to_owned(),
    };
    text.split_inclusive(is_outside).map(masked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l2_tokens_in_paths_are_masked() {
        for (path, masked, secret) in [
            (
                "auth/token/revoke/custom",
                "auth/token/revoke/<secret>",
                "custom",
            ),
            (
                "sys/x/hvs.0123456789abcdef/y",
                "sys/x/<secret>/y",
                "hvs.0123456789abcdef",
            ),
            (
                "api/v2/authentication-tokens/abc.atlasv1.def0123",
                "api/v2/authentication-tokens/<secret>",
                "abc.atlasv1.def0123",
            ),
        ] {
            assert_eq!(masked_path(path), (Cow::Borrowed(masked), Some(secret)));
        }
        let path = "sys/hvs.0123456789abcdef/hvb.0123456789abcdef";
        assert_eq!(masked_path(path).0, "sys/<secret>/<secret>");
        for path in [
            "auth/token/revoke-self",
            "auth/token/lookup",
            "auth/gcp/role/s.b",
        ] {
            assert_eq!(masked_path(path), (Cow::Borrowed(path), None));
        }
        assert_eq!(
            masked_text("no custom here", Some("custom")),
            "no <secret> here"
        );
    }

    #[test]
    fn l2_tokens_in_errors_are_masked() {
        for (error, masked) in [
            (
                r#"unknown fields: ["eyJhbGciOiJSUzI1NiJ9.e30.c2ln" "x"]"#,
                r#"unknown fields: ["<secret>" "x"]"#,
            ),
            ("hvs.0123456789abcdef", "<secret>"),
            ("no role s.x, no é", "no role s.x, no é"),
            ("", ""),
        ] {
            assert_eq!(masked_text(error, None), masked);
        }
    }

    #[test]
    fn a_secret_is_no_name_of_a_field() {
        assert!(is_plausible_name("bound_service_accounts"));
        assert!(is_plausible_name("s.x"));
        assert!(!is_plausible_name("hvs.0123456789abcdef"));
        assert!(!is_plausible_name(&"x".repeat(65)));
    }
}
