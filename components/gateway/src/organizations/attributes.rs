//! From a request's document to what it wants of an organization (contract 1.10, 2.2).

use std::collections::HashMap;

use gatehouse_orgs::{Attribute, Field, OrganizationChanges};
use serde_json::{Map, Value};

use super::fields;
use super::problem::{DocumentFault, Problem};
use crate::json;

/// How deep arrays and objects may stand within each other (contract section 7).
const MAXIMUM_DEPTH: usize = 64;

const RESOURCE_TYPE: &str = "organizations";

/// Reads the document of a create or an update. Of a member that is given twice the last one counts.
///
/// Fields of a wrong type are no fault here: the capability reports them together with all others.
///
/// # Errors
///
/// When the body is not JSON, or the document not what JSON:API asks for.
pub(super) fn read(body: &[u8]) -> Result<OrganizationChanges, Problem> {
    let text = json::check_to_depth(body, MAXIMUM_DEPTH)
        .map_err(|error| Problem::InvalidJson(error.to_string()))?;
    let document: Value =
        serde_json::from_str(text).map_err(|error| Problem::InvalidJson(error.to_string()))?;
    let Some(Value::Object(data)) = document.get("data") else {
        return Err(Problem::Document(vec![DocumentFault::Data]));
    };
    let mut faults = Vec::new();
    if data.get("type").and_then(Value::as_str) != Some(RESOURCE_TYPE) {
        faults.push(DocumentFault::Type);
    }
    let attributes = Members::of(data.get("attributes")).ok_or(DocumentFault::Attributes);
    let relationships = Members::of(data.get("relationships")).ok_or(DocumentFault::Relationships);
    match (attributes, relationships, faults.as_slice()) {
        (Ok(attributes), Ok(relationships), []) => Ok(changes(&attributes, &relationships)),
        (attributes, relationships, _) => {
            faults.extend(attributes.err().into_iter().chain(relationships.err()));
            Err(Problem::Document(faults))
        }
    }
}

fn changes(attributes: &Members<'_>, relationships: &Members<'_>) -> OrganizationChanges {
    let text = |field| attributes.read(field, |value| value.as_str().map(str::to_owned));
    let integer = |field| attributes.read(field, Value::as_i64);
    let boolean = |field| attributes.read(field, Value::as_bool);
    let pool = |field| related(relationships.get(field));
    OrganizationChanges {
        name: text(Field::Name),
        email: text(Field::Email),
        session_timeout: integer(Field::SessionTimeout),
        session_remember: integer(Field::SessionRemember),
        collaborator_auth_policy: text(Field::CollaboratorAuthPolicy),
        cost_estimation_enabled: boolean(Field::CostEstimationEnabled),
        send_passing_statuses_for_untriggered_speculative_plans: boolean(
            Field::SendPassingStatusesForUntriggeredSpeculativePlans,
        ),
        aggregated_commit_status_enabled: boolean(Field::AggregatedCommitStatusEnabled),
        speculative_plan_management_enabled: boolean(Field::SpeculativePlanManagementEnabled),
        owners_team_saml_role_id: text(Field::OwnersTeamSamlRoleId),
        assessments_enforced: boolean(Field::AssessmentsEnforced),
        allow_force_delete_workspaces: boolean(Field::AllowForceDeleteWorkspaces),
        default_execution_mode: text(Field::DefaultExecutionMode),
        default_agent_pool_id: text(Field::DefaultAgentPoolId),
        default_agent_pool: pool(Field::DefaultAgentPool),
        stacks_enabled: boolean(Field::StacksEnabled),
        stacks_default_execution_mode: text(Field::StacksDefaultExecutionMode),
        stacks_default_agent_pool: pool(Field::StacksDefaultAgentPool),
        user_tokens_enabled: boolean(Field::UserTokensEnabled),
        max_ttl_enabled: boolean(Field::MaxTtlEnabled),
        enforce_hyok: boolean(Field::EnforceHyok),
        registry_monorepo_support_enabled: boolean(Field::RegistryMonorepoSupportEnabled),
        recoverable_items_enabled: boolean(Field::RecoverableItemsEnabled),
    }
}

/// The members of an object under their dashed names, however they are spelled.
struct Members<'a>(HashMap<String, &'a Value>);

impl<'a> Members<'a> {
    /// The members of an object; none of what is absent or null; `None` of anything else.
    fn of(value: Option<&'a Value>) -> Option<Self> {
        match value {
            None | Some(Value::Null) => Some(Self(HashMap::new())),
            Some(Value::Object(object)) => Some(Self::dashed(object)),
            Some(_) => None,
        }
    }

    fn dashed(object: &'a Map<String, Value>) -> Self {
        let mut members = HashMap::with_capacity(object.len());
        for (name, value) in object {
            let dashed = dashed(name);
            // Of several spellings the dashed one wins.
            if dashed == *name || !members.contains_key(&dashed) {
                members.insert(dashed, value);
            }
        }
        Self(members)
    }

    fn get(&self, field: Field) -> Option<&'a Value> {
        self.0.get(fields::name(field)).copied()
    }

    fn read<T>(&self, field: Field, convert: impl Fn(&Value) -> Option<T>) -> Attribute<T> {
        match self.get(field) {
            None => Attribute::Absent,
            Some(Value::Null) => Attribute::Null,
            Some(value) => convert(value).map_or(Attribute::WrongType, Attribute::Value),
        }
    }
}

/// `session_timeout` and `sessionTimeout` as `session-timeout`.
fn dashed(name: &str) -> String {
    let mut dashed = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        match character {
            '_' => dashed.push('-'),
            'A'..='Z' => {
                dashed.push('-');
                dashed.push(character.to_ascii_lowercase());
            }
            _ => dashed.push(character),
        }
    }
    dashed
}

/// The id in a relationship to one resource: `{"data": {"id": "..."}}`, or `{"data": null}` for none.
fn related(relationship: Option<&Value>) -> Attribute<String> {
    match relationship {
        None => Attribute::Absent,
        Some(relationship) => match relationship.get("data") {
            Some(Value::Null) => Attribute::Null,
            Some(data) => match data.get("id").and_then(Value::as_str) {
                Some(id) => Attribute::Value(id.to_owned()),
                None => Attribute::WrongType,
            },
            None => Attribute::WrongType,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_json(document: &Value) -> Result<OrganizationChanges, Problem> {
        read(document.to_string().as_bytes())
    }

    fn with_attributes(attributes: &Value) -> OrganizationChanges {
        let data = json!({"type": "organizations", "attributes": attributes});
        read_json(&json!({"data": data})).unwrap()
    }

    #[test]
    fn contract_1_10_all_spellings_of_an_attribute_are_the_same() {
        for spelling in ["session-timeout", "session_timeout", "sessionTimeout"] {
            let changes = with_attributes(&json!({spelling: 60}));
            assert_eq!(changes.session_timeout, Attribute::Value(60), "{spelling}");
        }
        for spelling in [
            "send_passing_statuses_for_untriggered_speculative_plans",
            "sendPassingStatusesForUntriggeredSpeculativePlans",
        ] {
            let changes = with_attributes(&json!({spelling: true}));
            assert_eq!(
                changes.send_passing_statuses_for_untriggered_speculative_plans,
                Attribute::Value(true)
            );
        }
    }

    #[test]
    fn contract_1_10_of_several_spellings_the_dashed_one_wins() {
        for other in ["session_timeout", "sessionTimeout", "session-timeout"] {
            let text = format!(
                r#"{{"data":{{"type":"organizations","attributes":{{"{other}":1,"session-timeout":2,"{other}":3}}}}}}"#
            );
            let expected = if other == "session-timeout" { 3 } else { 2 };
            let changes = read(text.as_bytes()).unwrap();
            assert_eq!(
                changes.session_timeout,
                Attribute::Value(expected),
                "{other}"
            );
        }
    }

    #[test]
    fn contract_1_10_what_is_unknown_or_read_only_is_ignored() {
        let changes = with_attributes(&json!({
            "created-at": 7, "external_id": [], "permissions": {}, "saml-enabled": "x", "frob": null,
            "effective-session-timeout": 1, "two-factor-conformant": 5, "global-module-sharing": true,
        }));
        assert_eq!(changes, OrganizationChanges::default());
    }

    #[test]
    fn contract_2_2_types_are_strict_and_null_is_told_apart() {
        let changes = with_attributes(&json!({
            "name": 5, "email": null, "session-timeout": "60", "session-remember": 1.5,
            "stacks-enabled": "true", "max-ttl-enabled": 1, "user-tokens-enabled": null,
            "default-agent-pool-id": null,
        }));
        assert_eq!(changes.name, Attribute::WrongType);
        assert_eq!(changes.email, Attribute::Null);
        assert_eq!(changes.session_timeout, Attribute::WrongType);
        assert_eq!(changes.session_remember, Attribute::WrongType);
        assert_eq!(changes.stacks_enabled, Attribute::WrongType);
        assert_eq!(changes.max_ttl_enabled, Attribute::WrongType);
        assert_eq!(changes.user_tokens_enabled, Attribute::Null);
        assert_eq!(changes.default_agent_pool_id, Attribute::Null);
        assert_eq!(changes.stacks_default_execution_mode, Attribute::Absent);
        let huge = with_attributes(&json!({"session-timeout": u64::MAX}));
        assert_eq!(huge.session_timeout, Attribute::WrongType);
    }

    #[test]
    fn contract_2_2_a_pool_can_be_named_by_a_relationship() {
        let read = |relationship: Value| {
            let relationships = json!({"default-agent-pool": relationship});
            let data = json!({"type": "organizations", "relationships": relationships});
            read_json(&json!({"data": data}))
                .unwrap()
                .default_agent_pool
        };
        let pool = json!({"data": {"id": "apool-1", "type": "agent-pools"}});
        assert_eq!(read(pool), Attribute::Value("apool-1".to_owned()));
        assert_eq!(read(json!({"data": null})), Attribute::Null);
        for odd in [
            json!(null),
            json!({}),
            json!("x"),
            json!({"data": []}),
            json!({"data": {"id": 1}}),
        ] {
            assert_eq!(read(odd), Attribute::WrongType);
        }
    }

    #[test]
    fn contract_1_8_document_faults_come_together() {
        for document in [
            json!({}),
            json!([]),
            json!(1),
            json!(null),
            json!({"data": null}),
            json!({"data": []}),
        ] {
            let refused = Err(Problem::Document(vec![DocumentFault::Data]));
            assert_eq!(read_json(&document), refused, "{document}");
        }
        for kind in [json!(null), json!("organization"), json!(["organizations"])] {
            let data = json!({"type": kind, "attributes": [], "relationships": 5});
            let all = [
                DocumentFault::Type,
                DocumentFault::Attributes,
                DocumentFault::Relationships,
            ];
            let refused = Err(Problem::Document(all.to_vec()));
            assert_eq!(read_json(&json!({"data": data})), refused);
        }
        let bare = json!({"data": {"type": "organizations", "attributes": null}});
        assert_eq!(read_json(&bare), Ok(OrganizationChanges::default()));
    }

    fn nested(levels: usize) -> String {
        let inner = levels - 3;
        format!(
            r#"{{"data":{{"type":"organizations","attributes":{{"x":{}{}}}}}}}"#,
            "[".repeat(inner),
            "]".repeat(inner)
        )
    }

    #[test]
    fn contract_7_depth_is_limited_exactly_and_depth_bombs_are_harmless() {
        assert!(read(nested(64).as_bytes()).is_ok());
        for text in [nested(65), nested(127), nested(500), "[".repeat(1 << 20)] {
            assert!(matches!(
                read(text.as_bytes()),
                Err(Problem::InvalidJson(_))
            ));
        }
    }

    #[test]
    fn h11_members_and_digits_are_limited() {
        for (inner, expected) in [
            (
                format!("[{}]", vec!["0"; 10_000].join(",")),
                "more than 10000 members and elements",
            ),
            ("9".repeat(65), "a number of more than 64 characters"),
        ] {
            let refused = read(format!(r#"{{"data":{inner}}}"#).as_bytes());
            assert_eq!(refused, Err(Problem::InvalidJson(expected.to_owned())));
        }
    }

    #[test]
    fn contract_7_of_repeated_members_the_last_wins() {
        let text =
            r#"{"data":{},"data":{"type":"organizations","attributes":{"email":"a","email":"b"}}}"#;
        let changes = read(text.as_bytes()).unwrap();
        assert_eq!(changes.email, Attribute::Value("b".to_owned()));
    }

    #[test]
    fn contract_7_what_is_not_json_or_not_utf8_is_refused_without_repeating_it() {
        let cases: [&[u8]; 7] = [
            b"",
            b"{",
            b"secret",
            b"{\"data\":{}} secret",
            b"{'secret':1}",
            b"{\"secret\":\"\xff\"}",
            b"\xef\xbb\xbf{}",
        ];
        for body in cases {
            let Err(Problem::InvalidJson(text)) = read(body) else {
                panic!("{body:?}");
            };
            assert!(!text.contains("secret"), "{text}");
            assert!(
                text.contains("line") || text == "body is not UTF-8",
                "{text}"
            );
        }
    }
}
