//! The changes that documents ask for, and the texts of their faults.

use gatehouse_orgs_api::{Attribute, Fault, Field, FieldFault};
use serde_json::{Value, json};

use super::*;

fn read_json(document: &Value) -> Result<OrganizationChanges, ApiError> {
    changes_in(document.to_string().as_bytes())
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
        assert!(matches!(refused, Err(ApiError::Unprocessable(_))), "{kind}");
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
    assert!(changes_in(nested(64).as_bytes()).is_ok());
    for text in [nested(65), nested(127), nested(500), "[".repeat(1 << 20)] {
        assert!(matches!(
            changes_in(text.as_bytes()),
            Err(ApiError::InvalidJson(_))
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
        let refused = changes_in(format!(r#"{{"data":{inner}}}"#).as_bytes());
        assert_eq!(refused, Err(ApiError::InvalidJson(expected.to_owned())));
    }
}

#[test]
fn contract_7_of_repeated_members_the_last_wins() {
    let text =
        r#"{"data":{},"data":{"type":"organizations","attributes":{"email":"a","email":"b"}}}"#;
    let changes = changes_in(text.as_bytes()).unwrap();
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
        let Err(ApiError::InvalidJson(text)) = changes_in(body) else {
            panic!("{body:?}");
        };
        assert!(!text.contains("secret"), "{text}");
        assert!(
            text.contains("line") || text == "body is not UTF-8",
            "{text}"
        );
    }
}

#[test]
fn contract_2_7_to_2_9_every_text() {
    for (field, fault, text) in [
        (Field::Name, Fault::Blank, "Name can't be blank"),
        (
            Field::Name,
            Fault::ForbiddenCharacter,
            "Name can only include letters, numbers, -, and _.",
        ),
        (
            Field::Name,
            Fault::TooLong(90),
            "Name is too long (maximum is 90 characters)",
        ),
        (Field::Name, Fault::Taken, "Name has already been taken"),
        (Field::Name, Fault::NotText, "Name must be a string"),
        (Field::Email, Fault::Blank, "Email can't be blank"),
        (Field::Email, Fault::NotAnAddress, "Email is invalid"),
        (
            Field::CollaboratorAuthPolicy,
            Fault::NotIncluded,
            "Collaborator auth policy is not included in the list",
        ),
        (
            Field::DefaultExecutionMode,
            Fault::NotIncluded,
            "Default execution mode is not included in the list",
        ),
        (
            Field::SessionTimeout,
            Fault::NotInteger,
            "Session timeout is not a number",
        ),
        (
            Field::SessionTimeout,
            Fault::NotPositive,
            "Session timeout must be greater than 0",
        ),
        (
            Field::SessionTimeout,
            Fault::TooLarge(2_147_483_647),
            "Session timeout must be less than or equal to 2147483647",
        ),
        (
            Field::CostEstimationEnabled,
            Fault::NotBoolean,
            "Cost estimation enabled must be true or false",
        ),
        (
            Field::DefaultAgentPoolId,
            Fault::UnknownPool,
            "Default agent pool is invalid",
        ),
        (
            Field::DefaultAgentPoolId,
            Fault::PoolRequired,
            "Default agent pool must be specified when using 'agent' execution mode",
        ),
        (
            Field::DefaultAgentPool,
            Fault::PoolWithoutAgentMode,
            "Default agent pool must not be specified unless using 'agent' execution mode",
        ),
        (
            Field::AggregatedCommitStatusEnabled,
            Fault::ExcludedByPassingStatuses,
            "Aggregated commit status enabled can't be used when send passing statuses for untriggered speculative plans is enabled",
        ),
    ] {
        assert_eq!(attribute_error(&FieldFault { field, fault }).detail, text);
    }
}

#[test]
fn contract_2_8_the_pointer_tells_attribute_from_relationship() {
    let pointer = |field| {
        let fault = Fault::UnknownPool;
        attribute_error(&FieldFault { field, fault }).pointer
    };
    assert_eq!(
        pointer(Field::DefaultAgentPoolId),
        "/data/attributes/default-agent-pool-id"
    );
    assert_eq!(
        pointer(Field::DefaultAgentPool),
        "/data/relationships/default-agent-pool"
    );
}
