//! The rules about the fields of an organization, alone and together (contract 2.2, 2.7 to 2.9).

use crate::agent_pools::default::NamedPools;
use crate::numbers::LARGEST_NUMBER;
use crate::{
    Attribute, CollaboratorAuthPolicy, Edition, ExecutionMode, Fault, Field, FieldFault,
    OrganizationChanges, Settings,
};

/// Most characters in an e-mail address.
const MAXIMUM_EMAIL_CHARACTERS: usize = 254;

/// Most characters in the id of a SAML role.
const MAXIMUM_ROLE_CHARACTERS: u32 = 255;

/// Brings `changes` into `settings` and tells everything that is wrong with them, in the order of [`Field`]. `pools` are those
/// among the named ones that the organization has.
///
/// The name is not a setting and is judged elsewhere. Where there is a fault, `settings` is not to be used.
pub fn apply(
    edition: Edition,
    changes: &OrganizationChanges,
    pools: &NamedPools,
    settings: &mut Settings,
) -> Vec<FieldFault> {
    let mut judge = Judge {
        pools,
        defaults: Settings::default(),
        faults: Vec::new(),
    };
    judge.email(&changes.email, &mut settings.email);
    judge.minutes(
        Field::SessionTimeout,
        &changes.session_timeout,
        &mut settings.session_timeout,
    );
    judge.minutes(
        Field::SessionRemember,
        &changes.session_remember,
        &mut settings.session_remember,
    );
    judge.choice(
        Field::CollaboratorAuthPolicy,
        &changes.collaborator_auth_policy,
        CollaboratorAuthPolicy::parse,
        judge.defaults.collaborator_auth_policy,
        &mut settings.collaborator_auth_policy,
    );
    judge.role(
        &changes.owners_team_saml_role_id,
        &mut settings.owners_team_saml_role_id,
    );
    for flag in settings.independent_flags(changes) {
        judge.flag(flag.field, flag.change, flag.default, flag.kept);
    }
    match edition {
        Edition::Hosted => {
            judge.commit_statuses(changes, settings);
            judge.own_key(&changes.enforce_hyok, settings);
        }
        // Neither passing statuses nor keys of the customer's own exist here; what is said about them is ignored.
        Edition::SelfHosted => judge.flag(
            Field::AggregatedCommitStatusEnabled,
            &changes.aggregated_commit_status_enabled,
            judge.defaults.aggregated_commit_status_enabled,
            &mut settings.aggregated_commit_status_enabled,
        ),
    }
    judge.execution(changes, settings);
    judge.stacks(changes, settings);
    judge.faults.sort_by_key(|found| found.field);
    judge.faults
}

/// Collects faults.
struct Judge<'p> {
    pools: &'p NamedPools,
    /// The values that null gives back.
    defaults: Settings,
    faults: Vec<FieldFault>,
}

impl Judge<'_> {
    fn add(&mut self, field: Field, fault: Fault) {
        self.faults.push(FieldFault { field, fault });
    }

    fn email(&mut self, change: &Attribute<String>, stored: &mut String) {
        match change {
            Attribute::Absent => {}
            Attribute::Null => stored.clear(),
            Attribute::WrongType => return self.add(Field::Email, Fault::NotText),
            Attribute::Value(email) => stored.clone_from(email),
        }
        if stored.is_empty() {
            self.add(Field::Email, Fault::Blank);
        } else if !is_email_address(stored) {
            self.add(Field::Email, Fault::NotAnAddress);
        }
    }

    fn minutes(&mut self, field: Field, change: &Attribute<i64>, stored: &mut Option<u64>) {
        match change {
            Attribute::Absent => {}
            Attribute::Null => *stored = None,
            Attribute::WrongType => self.add(field, Fault::NotInteger),
            Attribute::Value(minutes) => match u64::try_from(*minutes) {
                Ok(minutes) if minutes > u64::from(LARGEST_NUMBER) => {
                    self.add(field, Fault::TooLarge(LARGEST_NUMBER));
                }
                Ok(minutes) if minutes > 0 => *stored = Some(minutes),
                _ => self.add(field, Fault::NotPositive),
            },
        }
    }

    fn flag(&mut self, field: Field, change: &Attribute<bool>, default: bool, stored: &mut bool) {
        match change {
            Attribute::Absent => {}
            Attribute::Null => *stored = default,
            Attribute::WrongType => self.add(field, Fault::NotBoolean),
            Attribute::Value(flag) => *stored = *flag,
        }
    }

    /// Returns whether the choice is a good one.
    fn choice<T>(
        &mut self,
        field: Field,
        change: &Attribute<String>,
        parse: impl Fn(&str) -> Option<T>,
        default: T,
        stored: &mut T,
    ) -> bool {
        match change {
            Attribute::Absent => {}
            Attribute::Null => *stored = default,
            Attribute::WrongType => {
                self.add(field, Fault::NotText);
                return false;
            }
            Attribute::Value(name) => match parse(name) {
                Some(choice) => *stored = choice,
                None => {
                    self.add(field, Fault::NotIncluded);
                    return false;
                }
            },
        }
        true
    }

    fn role(&mut self, change: &Attribute<String>, stored: &mut Option<String>) {
        match change {
            Attribute::Absent => {}
            Attribute::Null => *stored = None,
            Attribute::WrongType => self.add(Field::OwnersTeamSamlRoleId, Fault::NotText),
            Attribute::Value(role) if role.is_empty() => *stored = None,
            Attribute::Value(role) => {
                if role.chars().nth(MAXIMUM_ROLE_CHARACTERS as usize).is_some() {
                    let maximum = MAXIMUM_ROLE_CHARACTERS;
                    self.add(Field::OwnersTeamSamlRoleId, Fault::TooLong(maximum));
                }
                *stored = Some(role.clone());
            }
        }
    }

    /// Passing statuses and one aggregated status exclude each other (contract 2.9). Asking for the former alone switches the
    /// latter off; asking for the latter while the former stays is a fault.
    fn commit_statuses(&mut self, changes: &OrganizationChanges, settings: &mut Settings) {
        let passing = &changes.send_passing_statuses_for_untriggered_speculative_plans;
        let aggregated = &changes.aggregated_commit_status_enabled;
        self.flag(
            Field::SendPassingStatusesForUntriggeredSpeculativePlans,
            passing,
            self.defaults
                .send_passing_statuses_for_untriggered_speculative_plans,
            &mut settings.send_passing_statuses_for_untriggered_speculative_plans,
        );
        self.flag(
            Field::AggregatedCommitStatusEnabled,
            aggregated,
            self.defaults.aggregated_commit_status_enabled,
            &mut settings.aggregated_commit_status_enabled,
        );
        let both = settings.send_passing_statuses_for_untriggered_speculative_plans
            && settings.aggregated_commit_status_enabled;
        if !both {
            return;
        }
        match (passing, aggregated) {
            (_, Attribute::Absent) => settings.aggregated_commit_status_enabled = false,
            // Its own fault has been reported, and what it would have become is not known.
            (Attribute::WrongType, _) | (_, Attribute::WrongType) => {}
            (_, Attribute::Null | Attribute::Value(_)) => self.add(
                Field::AggregatedCommitStatusEnabled,
                Fault::ExcludedByPassingStatuses,
            ),
        }
    }

    fn own_key(&mut self, change: &Attribute<bool>, settings: &mut Settings) {
        self.flag(
            Field::EnforceHyok,
            change,
            self.defaults.enforce_hyok,
            &mut settings.enforce_hyok,
        );
        // Keys of the customer's own cannot be configured, so none is.
        if *change == Attribute::Value(true) {
            self.add(Field::EnforceHyok, Fault::KeyRequired);
        }
    }

    /// The mode after the change decides whether there must be a pool, or must be none (contract 2.8).
    fn execution(&mut self, changes: &OrganizationChanges, settings: &mut Settings) {
        let mode_is_known = self.choice(
            Field::DefaultExecutionMode,
            &changes.default_execution_mode,
            ExecutionMode::parse,
            self.defaults.default_execution_mode,
            &mut settings.default_execution_mode,
        );
        let Some((field, pool)) = self.mentioned_pool(changes) else {
            return;
        };
        if !mode_is_known {
            return;
        }
        let agent = settings.default_execution_mode == ExecutionMode::Agent;
        match (agent, pool) {
            (true, Attribute::Absent) if settings.default_agent_pool_id.is_some() => {}
            (true, Attribute::Absent | Attribute::Null) => self.add(field, Fault::PoolRequired),
            (true, change) => self.pool(field, change, &mut settings.default_agent_pool_id),
            (false, Attribute::Absent | Attribute::Null) => settings.default_agent_pool_id = None,
            (false, _) => self.add(field, Fault::PoolWithoutAgentMode),
        }
    }

    /// The default pool that the request wants, by attribute or by relationship; `None` after a fault.
    fn mentioned_pool<'a>(
        &mut self,
        changes: &'a OrganizationChanges,
    ) -> Option<(Field, &'a Attribute<String>)> {
        let by_attribute = &changes.default_agent_pool_id;
        let by_relationship = &changes.default_agent_pool;
        let faults = self.faults.len();
        for (field, change) in [
            (Field::DefaultAgentPoolId, by_attribute),
            (Field::DefaultAgentPool, by_relationship),
        ] {
            if *change == Attribute::WrongType {
                self.add(field, Fault::NotText);
            }
        }
        if self.faults.len() > faults {
            return None;
        }
        match (by_attribute, by_relationship) {
            (Attribute::Absent, Attribute::Absent) | (_, Attribute::Absent) => {
                Some((Field::DefaultAgentPoolId, by_attribute))
            }
            (Attribute::Absent, _) => Some((Field::DefaultAgentPool, by_relationship)),
            (one, other) if one == other => Some((Field::DefaultAgentPoolId, by_attribute)),
            _ => {
                self.add(Field::DefaultAgentPoolId, Fault::PoolsDiffer);
                None
            }
        }
    }

    fn stacks(&mut self, changes: &OrganizationChanges, settings: &mut Settings) {
        self.choice(
            Field::StacksDefaultExecutionMode,
            &changes.stacks_default_execution_mode,
            |name| ExecutionMode::parse(name).filter(|mode| *mode != ExecutionMode::Local),
            self.defaults.stacks_default_execution_mode,
            &mut settings.stacks_default_execution_mode,
        );
        self.pool(
            Field::StacksDefaultAgentPool,
            &changes.stacks_default_agent_pool,
            &mut settings.stacks_default_agent_pool_id,
        );
    }

    /// A pool can be named if the organization has it, and unset.
    fn pool(&mut self, field: Field, change: &Attribute<String>, stored: &mut Option<String>) {
        match change {
            Attribute::Absent => {}
            Attribute::Null => *stored = None,
            Attribute::WrongType => self.add(field, Fault::NotText),
            Attribute::Value(id) if self.pools.contains(id) => *stored = Some(id.clone()),
            Attribute::Value(_) => self.add(field, Fault::UnknownPool),
        }
    }
}

/// One `@`, something before it, a host after it, no blanks, not too long. Delivery is not checked.
pub fn is_email_address(text: &str) -> bool {
    let blank = |character: char| character.is_whitespace() || character.is_control();
    let parts = text.split_once('@');
    parts.is_some_and(|(local, host)| !local.is_empty() && !host.is_empty() && !host.contains('@'))
        && !text.contains(blank)
        && text.chars().nth(MAXIMUM_EMAIL_CHARACTERS).is_none()
}

#[cfg(test)]
mod tests;
