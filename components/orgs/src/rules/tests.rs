//! Each field alone, and fields that depend on one another.

use Edition::{Hosted, SelfHosted};

use super::apply;
use crate::agent_pools::default::NamedPools;
use crate::world::text;
use crate::{
    Attribute, CollaboratorAuthPolicy, Edition, ExecutionMode, Fault, Field, OrganizationChanges,
    Settings,
};

type Faults = Vec<(Field, Fault)>;

const EMAIL: &str = "ops@example.com";

/// The pools that the organization has.
const OWN_POOL: &str = "apool-1";
const OTHER_OWN_POOL: &str = "apool-2";

fn stored() -> Settings {
    Settings {
        email: EMAIL.to_owned(),
        ..Settings::default()
    }
}

/// The outcome of `changes` to `settings`.
fn outcome(
    edition: Edition,
    settings: &Settings,
    changes: &OrganizationChanges,
) -> Result<Settings, Faults> {
    let mut settings = settings.clone();
    let pools = NamedPools::taken_for_known(&[OWN_POOL, OTHER_OWN_POOL]);
    let faults = apply(edition, changes, &pools, &mut settings);
    if faults.is_empty() {
        return Ok(settings);
    }
    Err(faults
        .into_iter()
        .map(|found| (found.field, found.fault))
        .collect())
}

fn hosted(changes: OrganizationChanges) -> Result<Settings, Faults> {
    outcome(Hosted, &stored(), &changes)
}

#[test]
fn nothing_mentioned_changes_nothing() {
    for edition in [Hosted, SelfHosted] {
        let unchanged = outcome(edition, &stored(), &OrganizationChanges::default());
        assert_eq!(unchanged, Ok(stored()));
    }
}

#[test]
fn contract_2_7_an_address_has_one_at_sign_with_something_on_both_sides() {
    let long = format!("{}@x.io", "n".repeat(249));
    for email in ["x@tfe.local", "a@b", "jürgen@bücher.example", &long] {
        let changed = hosted(OrganizationChanges {
            email: text(email),
            ..OrganizationChanges::default()
        });
        assert_eq!(changed.unwrap().email, email);
    }
    let too_long = format!("{}@x.io", "n".repeat(250));
    for email in [
        "ops", "@", "@host", "ops@", "a@b@c", "a b@c", "a@b c", " a@b", "a@b\n", "a@b\0", &too_long,
    ] {
        let changed = hosted(OrganizationChanges {
            email: text(email),
            ..OrganizationChanges::default()
        });
        assert_eq!(
            changed,
            Err(vec![(Field::Email, Fault::NotAnAddress)]),
            "{email:?}"
        );
    }
}

#[test]
fn contract_2_7_an_address_must_be_there() {
    for (email, fault) in [
        (text(""), Fault::Blank),
        (Attribute::Null, Fault::Blank),
        (Attribute::WrongType, Fault::NotText),
    ] {
        let changed = hosted(OrganizationChanges {
            email,
            ..OrganizationChanges::default()
        });
        assert_eq!(changed, Err(vec![(Field::Email, fault)]));
    }
    let created = outcome(
        Hosted,
        &Settings::default(),
        &OrganizationChanges::default(),
    );
    assert_eq!(created, Err(vec![(Field::Email, Fault::Blank)]));
}

#[test]
fn contract_2_2_minutes_are_at_least_one_and_null_resets_them() {
    let with = |session_timeout| {
        hosted(OrganizationChanges {
            session_timeout,
            ..OrganizationChanges::default()
        })
    };
    for (minutes, fault) in [
        (Attribute::Value(0), Fault::NotPositive),
        (Attribute::Value(i64::MIN), Fault::NotPositive),
        (
            Attribute::Value(2_147_483_648),
            Fault::TooLarge(2_147_483_647),
        ),
        (Attribute::WrongType, Fault::NotInteger),
    ] {
        assert_eq!(with(minutes), Err(vec![(Field::SessionTimeout, fault)]));
    }
    let set = with(Attribute::Value(1)).unwrap();
    assert_eq!(
        (set.session_timeout, set.effective_session_timeout()),
        (Some(1), 1)
    );
    let reset = outcome(
        Hosted,
        &set,
        &OrganizationChanges {
            session_timeout: Attribute::Null,
            ..OrganizationChanges::default()
        },
    );
    let reset = reset.unwrap();
    assert_eq!(
        (reset.session_timeout, reset.effective_session_timeout()),
        (None, 20160)
    );
}

#[test]
fn contract_2_2_choices_and_their_resets() {
    let chosen = hosted(OrganizationChanges {
        collaborator_auth_policy: text("two_factor_mandatory"),
        default_execution_mode: text("local"),
        stacks_default_execution_mode: text("agent"),
        ..OrganizationChanges::default()
    });
    let chosen = chosen.unwrap();
    assert_eq!(
        chosen.collaborator_auth_policy,
        CollaboratorAuthPolicy::TwoFactorMandatory
    );
    assert_eq!(chosen.default_execution_mode, ExecutionMode::Local);
    assert_eq!(chosen.stacks_default_execution_mode, ExecutionMode::Agent);
    let reset = outcome(
        Hosted,
        &chosen,
        &OrganizationChanges {
            collaborator_auth_policy: Attribute::Null,
            default_execution_mode: Attribute::Null,
            stacks_default_execution_mode: Attribute::Null,
            ..OrganizationChanges::default()
        },
    );
    assert_eq!(reset, Ok(stored()));
}

#[test]
fn contract_2_7_a_choice_that_is_not_in_the_list() {
    let changed = hosted(OrganizationChanges {
        collaborator_auth_policy: text("Password"),
        default_execution_mode: text("cloud"),
        stacks_default_execution_mode: text("local"),
        ..OrganizationChanges::default()
    });
    let expected = [
        Field::CollaboratorAuthPolicy,
        Field::DefaultExecutionMode,
        Field::StacksDefaultExecutionMode,
    ];
    let expected = expected.map(|field| (field, Fault::NotIncluded));
    assert_eq!(changed, Err(expected.to_vec()));
}

#[test]
fn contract_2_2_a_saml_role_is_unset_by_null_and_by_an_empty_text() {
    let with = |settings: &Settings, role| {
        let changes = OrganizationChanges {
            owners_team_saml_role_id: role,
            ..OrganizationChanges::default()
        };
        outcome(Hosted, settings, &changes)
    };
    let longest = "ö".repeat(255);
    let set = with(&stored(), text(&longest)).unwrap();
    assert_eq!(set.owners_team_saml_role_id, Some(longest));
    for unset in [Attribute::Null, text("")] {
        assert_eq!(with(&set, unset), Ok(stored()));
    }
    let too_long = Fault::TooLong(255);
    assert_eq!(
        with(&stored(), text(&"ö".repeat(256))),
        Err(vec![(Field::OwnersTeamSamlRoleId, too_long)])
    );
}

#[test]
fn contract_2_2_null_gives_every_flag_its_default() {
    let flags = |value: Attribute<bool>| OrganizationChanges {
        cost_estimation_enabled: value,
        aggregated_commit_status_enabled: value,
        speculative_plan_management_enabled: value,
        assessments_enforced: value,
        allow_force_delete_workspaces: value,
        stacks_enabled: value,
        user_tokens_enabled: value,
        max_ttl_enabled: value,
        registry_monorepo_support_enabled: value,
        recoverable_items_enabled: value,
        ..OrganizationChanges::default()
    };
    for edition in [Hosted, SelfHosted] {
        for value in [true, false] {
            let set = outcome(edition, &stored(), &flags(Attribute::Value(value))).unwrap();
            let all = [
                set.cost_estimation_enabled,
                set.aggregated_commit_status_enabled,
                set.speculative_plan_management_enabled,
                set.assessments_enforced,
                set.allow_force_delete_workspaces,
                set.stacks_enabled,
                set.user_tokens_enabled,
                set.max_ttl_enabled,
                set.registry_monorepo_support_enabled,
                set.recoverable_items_enabled,
            ];
            assert_eq!(all, [value; 10]);
            assert_eq!(
                outcome(edition, &set, &flags(Attribute::Null)),
                Ok(stored())
            );
        }
        let refused = outcome(edition, &stored(), &flags(Attribute::WrongType)).unwrap_err();
        assert_eq!(refused.len(), 10);
        assert!(refused.iter().all(|(_, fault)| *fault == Fault::NotBoolean));
    }
}

/// One row of contract 2.9: P and A stored, P and A asked for, P and A afterwards.
type StatusRow = (
    (bool, bool),
    (Attribute<bool>, Attribute<bool>),
    Option<(bool, bool)>,
);

#[test]
fn contract_2_9_commit_statuses_hosted() {
    use Attribute::{Absent, Null, Value};
    let rows: [StatusRow; 14] = [
        ((false, true), (Value(true), Value(true)), None),
        ((false, false), (Value(true), Value(true)), None),
        ((false, true), (Value(true), Absent), Some((true, false))),
        ((false, false), (Value(true), Absent), Some((true, false))),
        (
            (false, true),
            (Value(true), Value(false)),
            Some((true, false)),
        ),
        ((true, false), (Absent, Value(true)), None),
        ((true, false), (Absent, Value(false)), Some((true, false))),
        (
            (true, false),
            (Value(false), Value(true)),
            Some((false, true)),
        ),
        (
            (false, false),
            (Value(false), Value(true)),
            Some((false, true)),
        ),
        ((false, false), (Absent, Value(true)), Some((false, true))),
        ((false, true), (Absent, Value(false)), Some((false, false))),
        // Null stands for the default: false for the one, true for the other.
        ((true, false), (Null, Absent), Some((false, false))),
        ((true, false), (Absent, Null), None),
        ((true, false), (Null, Null), Some((false, true))),
    ];
    for (before, (passing, aggregated), after) in rows {
        let settings = Settings {
            send_passing_statuses_for_untriggered_speculative_plans: before.0,
            aggregated_commit_status_enabled: before.1,
            ..stored()
        };
        let changes = OrganizationChanges {
            send_passing_statuses_for_untriggered_speculative_plans: passing,
            aggregated_commit_status_enabled: aggregated,
            ..OrganizationChanges::default()
        };
        let found = outcome(Hosted, &settings, &changes).map(|settings| {
            (
                settings.send_passing_statuses_for_untriggered_speculative_plans,
                settings.aggregated_commit_status_enabled,
            )
        });
        let expected = after.ok_or(vec![(
            Field::AggregatedCommitStatusEnabled,
            Fault::ExcludedByPassingStatuses,
        )]);
        assert_eq!(found, expected, "{before:?} {changes:?}");
    }
}

#[test]
fn contract_2_9_self_hosted_ignores_passing_statuses_whatever_they_are() {
    use Attribute::{Absent, Null, Value, WrongType};
    for passing in [Value(true), Value(false), Null, WrongType, Absent] {
        for (aggregated, after) in [(Value(true), true), (Value(false), false), (Absent, true)] {
            let changes = OrganizationChanges {
                send_passing_statuses_for_untriggered_speculative_plans: passing,
                aggregated_commit_status_enabled: aggregated,
                ..OrganizationChanges::default()
            };
            let found = outcome(SelfHosted, &stored(), &changes).unwrap();
            assert!(!found.send_passing_statuses_for_untriggered_speculative_plans);
            assert_eq!(found.aggregated_commit_status_enabled, after);
        }
    }
}

#[test]
fn contract_2_2_enforcing_own_keys_needs_a_key_where_there_are_such_keys() {
    let with = |edition, enforce_hyok| {
        let changes = OrganizationChanges {
            enforce_hyok,
            ..OrganizationChanges::default()
        };
        outcome(edition, &stored(), &changes)
    };
    assert_eq!(
        with(Hosted, Attribute::Value(true)),
        Err(vec![(Field::EnforceHyok, Fault::KeyRequired)])
    );
    assert_eq!(with(Hosted, Attribute::Value(false)), Ok(stored()));
    for ignored in [Attribute::Value(true), Attribute::WrongType] {
        assert_eq!(with(SelfHosted, ignored), Ok(stored()));
    }
}

/// The outcome of a mode and a pool, by attribute or by relationship, asked of an organization in `mode` with `pool`.
fn execution(
    before: (ExecutionMode, Option<&str>),
    mode: Attribute<String>,
    by_attribute: Attribute<String>,
    by_relationship: Attribute<String>,
) -> Result<(ExecutionMode, Option<String>), Faults> {
    let settings = Settings {
        default_execution_mode: before.0,
        default_agent_pool_id: before.1.map(str::to_owned),
        ..stored()
    };
    let changes = OrganizationChanges {
        default_execution_mode: mode,
        default_agent_pool_id: by_attribute,
        default_agent_pool: by_relationship,
        ..OrganizationChanges::default()
    };
    outcome(Hosted, &settings, &changes).map(|settings| {
        (
            settings.default_execution_mode,
            settings.default_agent_pool_id,
        )
    })
}

const REMOTE: (ExecutionMode, Option<&str>) = (ExecutionMode::Remote, None);
const AGENT: (ExecutionMode, Option<&str>) = (ExecutionMode::Agent, Some("apool-1"));

#[test]
fn contract_2_8_mode_agent_needs_a_pool() {
    for pool in [Attribute::Absent, Attribute::Null] {
        assert_eq!(
            execution(REMOTE, text("agent"), pool, Attribute::Absent),
            Err(vec![(Field::DefaultAgentPoolId, Fault::PoolRequired)])
        );
    }
    assert_eq!(
        execution(REMOTE, text("agent"), Attribute::Absent, Attribute::Null),
        Err(vec![(Field::DefaultAgentPool, Fault::PoolRequired)])
    );
    assert_eq!(
        execution(AGENT, Attribute::Absent, Attribute::Null, Attribute::Absent),
        Err(vec![(Field::DefaultAgentPoolId, Fault::PoolRequired)])
    );
}

#[test]
fn contract_2_8_a_pool_that_the_organization_does_not_have_is_refused() {
    assert_eq!(
        execution(REMOTE, text("agent"), text("apool-9"), Attribute::Absent),
        Err(vec![(Field::DefaultAgentPoolId, Fault::UnknownPool)])
    );
    assert_eq!(
        execution(REMOTE, text("agent"), Attribute::Absent, text("apool-9")),
        Err(vec![(Field::DefaultAgentPool, Fault::UnknownPool)])
    );
}

#[test]
fn contract_2_8_a_pool_of_the_organization_is_stored_however_it_is_named() {
    for before in [REMOTE, AGENT] {
        for (by_attribute, by_relationship) in [
            (text(OTHER_OWN_POOL), Attribute::Absent),
            (Attribute::Absent, text(OTHER_OWN_POOL)),
            (text(OTHER_OWN_POOL), text(OTHER_OWN_POOL)),
        ] {
            assert_eq!(
                execution(before, text("agent"), by_attribute, by_relationship),
                Ok((ExecutionMode::Agent, Some(OTHER_OWN_POOL.to_owned())))
            );
        }
    }
}

#[test]
fn contract_2_8_a_stored_pool_is_kept_in_mode_agent_and_dropped_when_it_is_left() {
    let kept = (ExecutionMode::Agent, Some("apool-1".to_owned()));
    assert_eq!(
        execution(AGENT, text("agent"), Attribute::Absent, Attribute::Absent),
        Ok(kept)
    );
    for (mode, after) in [
        ("remote", ExecutionMode::Remote),
        ("local", ExecutionMode::Local),
    ] {
        for pool in [Attribute::Absent, Attribute::Null] {
            assert_eq!(
                execution(AGENT, text(mode), pool, Attribute::Absent),
                Ok((after, None))
            );
        }
    }
}

#[test]
fn contract_2_8_a_pool_without_mode_agent_is_refused_by_the_way_it_was_named() {
    for mode in [Attribute::Absent, text("remote"), text("local")] {
        assert_eq!(
            execution(REMOTE, mode.clone(), text("apool-1"), Attribute::Absent),
            Err(vec![(
                Field::DefaultAgentPoolId,
                Fault::PoolWithoutAgentMode
            )])
        );
        assert_eq!(
            execution(REMOTE, mode, Attribute::Absent, text("apool-1")),
            Err(vec![(Field::DefaultAgentPool, Fault::PoolWithoutAgentMode)])
        );
    }
}

#[test]
fn contract_2_2_attribute_and_relationship_must_name_the_same_pool() {
    for (by_attribute, by_relationship) in [
        (text("apool-1"), text("apool-2")),
        (text("apool-1"), Attribute::Null),
        (Attribute::Null, text("apool-1")),
    ] {
        assert_eq!(
            execution(REMOTE, Attribute::Absent, by_attribute, by_relationship),
            Err(vec![(Field::DefaultAgentPoolId, Fault::PoolsDiffer)])
        );
    }
    assert_eq!(
        execution(REMOTE, Attribute::Absent, Attribute::Null, Attribute::Null),
        Ok((ExecutionMode::Remote, None))
    );
}

#[test]
fn a_mode_that_is_at_fault_hides_no_fault_of_the_pool_and_adds_none() {
    assert_eq!(
        execution(REMOTE, text("cloud"), text("apool-1"), Attribute::Absent),
        Err(vec![(Field::DefaultExecutionMode, Fault::NotIncluded)])
    );
    assert_eq!(
        execution(
            REMOTE,
            text("cloud"),
            Attribute::WrongType,
            Attribute::Absent
        ),
        Err(vec![
            (Field::DefaultExecutionMode, Fault::NotIncluded),
            (Field::DefaultAgentPoolId, Fault::NotText),
        ])
    );
}

#[test]
fn contract_2_2_a_pool_for_stacks_is_one_that_the_organization_has() {
    let with = |stacks_default_agent_pool| {
        hosted(OrganizationChanges {
            stacks_default_agent_pool,
            ..OrganizationChanges::default()
        })
    };
    let pool = |changed: Result<Settings, Faults>| changed.unwrap().stacks_default_agent_pool_id;
    assert_eq!(pool(with(Attribute::Null)), None);
    assert_eq!(pool(with(text(OWN_POOL))), Some(OWN_POOL.to_owned()));
    for (change, fault) in [
        (text("apool-9"), Fault::UnknownPool),
        (Attribute::WrongType, Fault::NotText),
    ] {
        assert_eq!(
            with(change),
            Err(vec![(Field::StacksDefaultAgentPool, fault)])
        );
    }
}
