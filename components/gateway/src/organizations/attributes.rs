//! From a request's document to what it wants of an organization (contract 1.10, 2.2).

use gatehouse_orgs_api::{Field, OrganizationChanges};

use super::fields;
use super::input::{Input, Kinds, Resource};
use super::problem::Problem;

const RESOURCE_TYPES: &[&str] = &["organizations"];

/// Reads the document of a create or an update.
///
/// Fields of a wrong type are no fault here: the capability reports them together with all others.
///
/// # Errors
///
/// When the body is not JSON, or the document not what JSON:API asks for.
pub(super) fn read(body: &[u8]) -> Result<OrganizationChanges, Problem> {
    let input = Input::read(body)?;
    let organization = input.resource(Kinds::Only(RESOURCE_TYPES))?;
    Ok(changes(&organization))
}

fn changes(organization: &Resource<'_>) -> OrganizationChanges {
    let attributes = &organization.attributes;
    let text = |field| attributes.text(fields::name(field));
    let integer = |field| attributes.integer(fields::name(field));
    let boolean = |field| attributes.boolean(fields::name(field));
    let pool = |field| organization.relationships.to_one(fields::name(field));
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

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_orgs_api::Attribute;
    use serde_json::{Value, json};

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
    fn contract_1_8_only_organizations_are_taken_and_they_need_say_nothing() {
        for kind in [json!(null), json!("organization"), json!(["organizations"])] {
            let refused = read_json(&json!({"data": {"type": kind}}));
            assert!(matches!(refused, Err(Problem::Unprocessable(_))), "{kind}");
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
