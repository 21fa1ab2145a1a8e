//! Fields by the names that the wire gives them, and sentences about what is wrong with them (contract 2.7 to 2.9).

use super::attribute_fault::AttributeFault;
use std::borrow::Cow;

use gatehouse_orgs_api::{AttributeIssue, Fault, Field, FieldFault};

/// The name of a field on the wire.
pub(super) const fn name(field: Field) -> &'static str {
    match field {
        Field::Name => "name",
        Field::Email => "email",
        Field::SessionTimeout => "session-timeout",
        Field::SessionRemember => "session-remember",
        Field::CollaboratorAuthPolicy => "collaborator-auth-policy",
        Field::CostEstimationEnabled => "cost-estimation-enabled",
        Field::SendPassingStatusesForUntriggeredSpeculativePlans => {
            "send-passing-statuses-for-untriggered-speculative-plans"
        }
        Field::AggregatedCommitStatusEnabled => "aggregated-commit-status-enabled",
        Field::SpeculativePlanManagementEnabled => "speculative-plan-management-enabled",
        Field::OwnersTeamSamlRoleId => "owners-team-saml-role-id",
        Field::AssessmentsEnforced => "assessments-enforced",
        Field::AllowForceDeleteWorkspaces => "allow-force-delete-workspaces",
        Field::DefaultExecutionMode => "default-execution-mode",
        Field::DefaultAgentPoolId => "default-agent-pool-id",
        Field::DefaultAgentPool => "default-agent-pool",
        Field::StacksEnabled => "stacks-enabled",
        Field::StacksDefaultExecutionMode => "stacks-default-execution-mode",
        Field::StacksDefaultAgentPool => "stacks-default-agent-pool",
        Field::UserTokensEnabled => "user-tokens-enabled",
        Field::MaxTtlEnabled => "max-ttl-enabled",
        Field::EnforceHyok => "enforce-hyok",
        Field::RegistryMonorepoSupportEnabled => "registry-monorepo-support-enabled",
        Field::RecoverableItemsEnabled => "recoverable-items-enabled",
    }
}

/// Where a fault of anything but an organization is, and the sentence about it.
pub(super) fn of_issue(issue: &AttributeIssue) -> AttributeFault {
    AttributeFault::attribute(&issue.attribute, &predicate(issue.fault))
}

/// The same of what is a relationship.
pub(super) fn of_related(issue: &AttributeIssue) -> AttributeFault {
    AttributeFault::relationship(&issue.attribute, &predicate(issue.fault))
}

/// Where a fault is, and the sentence about it.
pub(super) fn described(found: &FieldFault) -> AttributeFault {
    let name = name(found.field);
    let predicate = predicate(found.fault);
    match found.field {
        Field::DefaultAgentPool | Field::StacksDefaultAgentPool => {
            AttributeFault::relationship(name, &predicate)
        }
        _ => AttributeFault::attribute(name, &predicate),
    }
}

/// What is said about the field.
fn predicate(fault: Fault) -> Cow<'static, str> {
    Cow::Borrowed(match fault {
        Fault::Blank => "can't be blank",
        Fault::ForbiddenCharacter => "can only include letters, numbers, -, and _.",
        Fault::TooLong(maximum) => {
            return Cow::Owned(format!("is too long (maximum is {maximum} characters)"));
        }
        Fault::Taken => "has already been taken",
        Fault::NotAnAddress | Fault::UnknownPool | Fault::UnknownTeam | Fault::UnknownEntity => {
            "is invalid"
        }
        Fault::NotIncluded => "is not included in the list",
        Fault::NotText => "must be a string",
        Fault::NotInteger => "is not a number",
        Fault::NotBoolean => "must be true or false",
        Fault::NotObject => "must be an object",
        Fault::NotPositive => "must be greater than 0",
        Fault::Negative => "must be greater than or equal to 0",
        Fault::TooLarge(maximum) => {
            return Cow::Owned(format!("must be less than or equal to {maximum}"));
        }
        Fault::PoolRequired => "must be specified when using 'agent' execution mode",
        Fault::PoolWithoutAgentMode => "must not be specified unless using 'agent' execution mode",
        Fault::PoolsDiffer => "must be the same as the relationship's",
        Fault::ExcludedByPassingStatuses => {
            "can't be used when send passing statuses for untriggered speculative plans is enabled"
        }
        Fault::KeyRequired => "requires a primary key configuration",
        Fault::NotTimestamp => "is not a valid timestamp",
        Fault::LifetimeExceeded => "exceeds the maximum allowed lifetime",
        Fault::Protected => "cannot be changed",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(described(&FieldFault { field, fault }).detail, text);
        }
    }

    #[test]
    fn contract_2_8_the_pointer_tells_attribute_from_relationship() {
        let pointer = |field| {
            let fault = Fault::UnknownPool;
            described(&FieldFault { field, fault }).pointer
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
}
