//! The claims of a token about the instance that it was made on (contract 4.6, G1 and G2).

use serde::{Deserialize, Serialize};

use serde_json::{Map, Value};

/// Longest name of a project, with the domain that old ones have before a colon.
const MAXIMUM_PROJECT_BYTES: usize = 320;
/// Longest name of a zone or an instance.
const MAXIMUM_NAME_BYTES: usize = 63;
/// Longest id of an instance, in digits.
const MAXIMUM_ID_DIGITS: usize = 20;

/// Instance claims, complete and of the shapes that Google gives: they become parts of URLs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstanceClaims {
    pub(crate) project_id: String,
    pub(crate) project_number: u64,
    pub(crate) zone: String,
    pub(crate) instance_id: String,
    pub(crate) instance_name: String,
    /// Seconds since 1970.
    pub(crate) instance_creation_timestamp: u64,
}

impl InstanceClaims {
    /// `None` when a claim is missing or of another shape.
    pub(super) fn from_members(members: &Map<String, Value>) -> Option<Self> {
        let Some(Value::Object(google)) = members.get("google") else {
            return None;
        };
        let Some(Value::Object(claims)) = google.get("compute_engine") else {
            return None;
        };
        let text = |name: &str, fits: fn(&str) -> bool| match claims.get(name) {
            Some(Value::String(text)) if fits(text) => Some(text.clone()),
            _ => None,
        };
        let number = |name: &str| match claims.get(name) {
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) if is_decimal(text) => text.parse().ok(),
            _ => None,
        };
        Some(Self {
            project_id: text("project_id", is_project)?,
            project_number: number("project_number")?,
            zone: text("zone", is_name)?,
            instance_id: text("instance_id", is_decimal)?,
            instance_name: text("instance_name", is_name)?,
            instance_creation_timestamp: number("instance_creation_timestamp")?,
        })
    }
}

fn is_decimal(text: &str) -> bool {
    (1..=MAXIMUM_ID_DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Lower-case letters, digits and hyphens, the first a letter and the last no hyphen.
fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.len() <= MAXIMUM_NAME_BYTES
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && !text.ends_with('-')
        && text.bytes().all(allowed)
}

/// True if `text` can be the id of a project: a name, or one behind the domain that it belongs to, `example.com:project`.
pub(crate) fn is_project(text: &str) -> bool {
    let is_domain = |domain: &str| {
        domain.split('.').all(|label| {
            let inner =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            !label.is_empty()
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(inner)
        })
    };
    text.len() <= MAXIMUM_PROJECT_BYTES
        && match text.split_once(':') {
            Some((domain, name)) => is_domain(domain) && is_name(name),
            None => is_name(text),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(claims: &str) -> Option<InstanceClaims> {
        let text = format!(r#"{{"google":{{"compute_engine":{claims}}}}}"#);
        InstanceClaims::from_members(&serde_json::from_str(&text).unwrap())
    }

    fn with(name: &str, value: &str) -> Option<InstanceClaims> {
        let mut claims = serde_json::json!({
            "project_id": "p1", "project_number": 7, "zone": "us-central1-a", "instance_id": "42",
            "instance_name": "web-1", "instance_creation_timestamp": 1_700_000_000,
        });
        claims[name] = serde_json::from_str(value).unwrap();
        read(&claims.to_string())
    }

    #[test]
    fn g1_g2_complete_claims_are_read() {
        let claims = with("zone", r#""us-central1-a""#).unwrap();
        assert_eq!(
            (claims.project_id.as_str(), claims.project_number),
            ("p1", 7)
        );
        assert_eq!(
            with("project_number", r#""12345678901""#)
                .unwrap()
                .project_number,
            12_345_678_901
        );
        assert!(with("project_id", r#""example.com:p1""#).is_some());
    }

    #[test]
    fn g2_whatever_is_missing_or_of_another_shape_leaves_nothing() {
        for name in [
            "project_id",
            "project_number",
            "zone",
            "instance_id",
            "instance_name",
            "instance_creation_timestamp",
        ] {
            for value in [
                "null",
                r#""""#,
                "[]",
                "{}",
                "true",
                "-1",
                "1.5",
                r#""../x""#,
                r#""a b""#,
                r#""-1""#,
            ] {
                assert_eq!(with(name, value), None, "{name} {value}");
            }
        }
        for name in ["project_id", "zone", "instance_name"] {
            for value in [
                r#""A""#,
                r#""a/b""#,
                r#""a%2fb""#,
                r#""a?b""#,
                r#""a-""#,
                r#""1a""#,
                "7",
            ] {
                assert_eq!(with(name, value), None, "{name} {value}");
            }
        }
        assert_eq!(
            with("instance_id", "42"),
            None,
            "a number would lose digits elsewhere"
        );
        for claims in ["null", "[]", "{}", r#""x""#] {
            assert_eq!(read(claims), None);
        }
    }
}
