//! Tokens by their owners: who can have one, and which.

use std::collections::HashMap;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};

use super::lifetime::{self};
use super::record::{slot_key, token_key, tokens_of_prefix};
use super::store::StoredToken;
use crate::agent_pools::record::AGENT_POOL_PREFIX;
use crate::audit_trail::AuditedOperations as _;
use crate::authority::TeamsInScope as _;
use crate::name::FoldedName;
use crate::owned_keys::{self, PointerRecord, WhoseRecord, kind, whose_key};
use crate::record::{ExternalIdRecord, OrganizationRecord, external_id_key, organization_key};
use crate::team::TEAM_PREFIX;
use crate::users::user_key;
use crate::{
    ApiToken, AttributeIssue, Caller, DelegationScope, Fault, IssueError, IssuedToken,
    LifetimeChange, LifetimeError, LifetimePolicy, MAXIMUM_DESCRIPTION, MAXIMUM_TOKENS,
    MAXIMUM_TOKENS_OF_ORGANIZATION, Orgs, OwnedToken, Resource, ServiceError, TeamToken,
    TokenOwner, TokenRequest, Tokens, User,
};

/// Most tokens cleared away in one commit.
const CLEARED_AT_ONCE: usize = 50;

impl<S: Store, C: Clock, R: Random> Orgs<S, C, R> {
    fn try_issue(
        &self,
        owner: &TokenOwner,
        request: &TokenRequest,
        by: &Caller,
    ) -> Result<Attempt<IssuedToken>, IssueError> {
        let mut transaction = Transaction::new();
        let Some(organization) = self.require_owner(&mut transaction, owner)? else {
            return Err(IssueError::NoOwner);
        };
        let maximum = match &organization {
            Some(organization) => self.longest_life(&mut transaction, organization, owner)?,
            None => None,
        };
        let now = self.clock.now_milliseconds();
        let (request, issues) = self.judge(owner, request, now, maximum)?;
        if !issues.is_empty() {
            return Err(IssueError::Invalid(issues));
        }
        if slot_key(owner).is_none() {
            let held = self.tokens_owned_by(owner)?.into_iter();
            if held.filter(|token| token.record.is_live(now)).count() >= MAXIMUM_TOKENS {
                return Err(IssueError::TooMany);
            }
            if let Some(organization) = owner.organization()
                && self.number_of(organization, kind::TOKEN)?
                    >= u64::from(MAXIMUM_TOKENS_OF_ORGANIZATION)
            {
                return Err(IssueError::TooManyOfOrganization);
            }
        }
        let issued = self.add_token_made_at(now, &mut transaction, owner.clone(), &request, by)?;
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, issued)?)
    }

    /// Adds to `transaction` that the owner of a token stays, and tells its organization, or that it has none; `None` if there is
    /// no such owner.
    ///
    /// The record of an owner who may have many tokens is written again: concurrent requests for tokens of one owner conflict there, so
    /// that they do not make too many.
    fn require_owner(
        &self,
        transaction: &mut Transaction,
        owner: &TokenOwner,
    ) -> Result<Option<Option<OrganizationRecord>>, ServiceError> {
        if let TokenOwner::User(id) = owner {
            let key = user_key(id);
            let user = self.records.get::<User>(&key)?;
            let Some(user) = user else {
                return Ok(None);
            };
            transaction
                .require(&key, user.version)
                .put(key, &user.record)?;
            return Ok(Some(None));
        }
        let part = match owner {
            TokenOwner::Team(team) | TokenOwner::TeamNamed(team) => Some((TEAM_PREFIX, &team.id)),
            TokenOwner::AgentPool(pool) => Some((AGENT_POOL_PREFIX, &pool.id)),
            TokenOwner::User(_) | TokenOwner::Organization(_) | TokenOwner::AuditTrail(_) => None,
        };
        let external_id = owner.organization().unwrap_or_default();
        if let Some((prefix, id)) = part {
            let key = whose_key(id);
            let whose = self.records.get::<WhoseRecord>(&key)?;
            let belongs = |whose: &WhoseRecord| whose.organization == external_id;
            let Some(whose) =
                whose.filter(|whose| belongs(&whose.record) && id.starts_with(prefix))
            else {
                return Ok(None);
            };
            transaction.require(&key, whose.version);
            if slot_key(owner).is_none() {
                transaction.put(key, &whose.record)?;
            }
        }
        let key = external_id_key(external_id);
        let Some(found) = self.records.get::<ExternalIdRecord>(&key)? else {
            return Ok(None);
        };
        transaction.require(key, found.version);
        let Some(name) = FoldedName::fold(&found.record.name) else {
            return Ok(None);
        };
        let Some(organization) = self.load(&name)? else {
            return Ok(None);
        };
        transaction.require(organization_key(&name), organization.version);
        Ok(Some(Some(organization.record)))
    }

    /// The request with the end that it gets, and everything that is wrong with it. It is made `now`, and may live for `maximum`
    /// milliseconds.
    fn judge(
        &self,
        owner: &TokenOwner,
        request: &TokenRequest,
        now: u64,
        maximum: Option<u64>,
    ) -> Result<(TokenRequest, Vec<AttributeIssue>), ServiceError> {
        let mut issues = Vec::new();
        let latest = maximum.map(|maximum| now.saturating_add(maximum));
        let expires_at = match (request.expires_at, latest) {
            (Some(wanted), Some(latest)) if wanted > latest => {
                issues.push(AttributeIssue::new("expired-at", Fault::LifetimeExceeded));
                None
            }
            (Some(wanted), _) => Some(wanted),
            (None, latest) => lifetime::usual_end(owner, now)
                .into_iter()
                .chain(latest)
                .min(),
        };
        let description = request.description.as_deref();
        let length = description.map_or(0, |description| description.chars().count());
        let fault = if length > MAXIMUM_DESCRIPTION as usize {
            Some(Fault::TooLong(MAXIMUM_DESCRIPTION))
        } else {
            self.fault_of_name(owner, description)?
        };
        issues.extend(fault.map(|fault| AttributeIssue::new("description", fault)));
        let request = TokenRequest {
            description: request.description.clone(),
            expires_at,
        };
        Ok((request, issues))
    }

    /// The fault of a description, for an owner whose tokens are distinguished by it.
    fn fault_of_name(
        &self,
        owner: &TokenOwner,
        description: Option<&str>,
    ) -> Result<Option<Fault>, ServiceError> {
        let TokenOwner::TeamNamed(team) = owner else {
            return Ok(None);
        };
        // The empty one is a description as good as any other.
        let Some(description) = description else {
            return Ok(Some(Fault::Blank));
        };
        let key = self.description_key_of(team, description)?;
        let taken = self.records.get::<PointerRecord>(&key)?;
        Ok(taken.map(|_| Fault::Taken))
    }

    /// The tokens of an owner, oldest first.
    fn tokens_owned_by(&self, owner: &TokenOwner) -> Result<Vec<StoredToken>, ServiceError> {
        let mut tokens = self.stored_tokens(&tokens_of_prefix(owner))?;
        tokens.retain(|token| token.record.owner == *owner);
        Ok(tokens)
    }

    /// Clears away what is over of the tokens of an owner who may have many: one that takes the place of another goes by that.
    fn clear_expired(&self, owner: &TokenOwner) -> Result<(), ServiceError> {
        if slot_key(owner).is_some() {
            return Ok(());
        }
        let clear_some =
            || commit_with_retries(&self.clock, &self.random, || self.try_clear(owner));
        while clear_some()? == CLEARED_AT_ONCE {}
        Ok(())
    }

    /// How many of them are gone by it.
    fn try_clear(&self, owner: &TokenOwner) -> Result<Attempt<usize>, ServiceError> {
        let now = self.clock.now_milliseconds();
        let mut expired = self.tokens_owned_by(owner)?;
        expired.retain(|token| !token.record.is_live(now));
        expired.truncate(CLEARED_AT_ONCE);
        if expired.is_empty() {
            return Ok(Attempt::Done(0));
        }
        let mut transaction = Transaction::new();
        for token in &expired {
            // Or its description may be another token's by now.
            transaction.require(token_key(&token.hash), token.version);
            self.end_token(&mut transaction, &token.hash, &token.record)?;
        }
        let outcome = self.records.commit(transaction);
        Ok(Attempt::from_commit(outcome, expired.len())?)
    }

    /// The token in the slot of an owner.
    fn token_in_slot(&self, owner: &TokenOwner) -> Result<Option<StoredToken>, ServiceError> {
        let Some(slot) = slot_key(owner) else {
            return Ok(None);
        };
        match self.records.get::<PointerRecord>(&slot)? {
            Some(pointer) => self.token_with_hash(pointer.record.id),
            None => Ok(None),
        }
    }

    /// A token as it is shown, once the audit trail tells so.
    fn shown_token(
        &self,
        token: Option<StoredToken>,
        by: &Caller,
    ) -> Result<Option<ApiToken>, ServiceError> {
        let Some(token) = token else {
            return Ok(None);
        };
        let mut transaction = Transaction::new();
        let audited = Resource::AuthenticationToken.shown(&token.record.id);
        self.note_token(&mut transaction, &token.record, by, audited)?;
        self.commit_unconditionally(transaction)?;
        Ok(self.with_uses(vec![token])?.pop())
    }

    fn try_revoke(
        &self,
        token: Option<StoredToken>,
        by: &Caller,
    ) -> Result<Attempt<bool>, ServiceError> {
        let Some(token) = token else {
            return Ok(Attempt::Done(false));
        };
        let mut transaction = Transaction::new();
        self.revoke(&mut transaction, &token, by)?;
        Ok(Attempt::from_commit(
            self.records.commit(transaction),
            true,
        )?)
    }
}

impl<S: Store, C: Clock, R: Random> Tokens for Orgs<S, C, R> {
    fn issue_token(
        &self,
        owner: &TokenOwner,
        request: &TokenRequest,
        by: &Caller,
    ) -> Result<IssuedToken, IssueError> {
        self.clear_expired(owner)?;
        commit_with_retries(&self.clock, &self.random, || {
            self.try_issue(owner, request, by)
        })
    }

    fn token_of(&self, owner: &TokenOwner, by: &Caller) -> Result<Option<ApiToken>, ServiceError> {
        self.shown_token(self.token_in_slot(owner)?, by)
    }

    fn tokens_of(&self, owner: &TokenOwner) -> Result<Vec<ApiToken>, ServiceError> {
        self.with_uses(self.tokens_owned_by(owner)?)
    }

    fn tokens_of_teams(
        &self,
        organization: &str,
        scope: &DelegationScope,
    ) -> Result<Vec<TeamToken>, ServiceError> {
        let teams = self.visible_teams(organization, scope)?.into_iter();
        let names: HashMap<String, String> = teams
            .filter(|team| scope.speaks_for(team))
            .map(|team| (team.id, team.name))
            .collect();
        let name_of = |token: &ApiToken| match &token.owner {
            TokenOwner::Team(team) | TokenOwner::TeamNamed(team) => names.get(&team.id).cloned(),
            _ => None,
        };
        let tokens = self.stored_tokens(&owned_keys::prefix(organization, kind::TOKEN))?;
        let tokens = self.with_uses(tokens)?;
        Ok(tokens
            .into_iter()
            .filter_map(|token| {
                let team_name = name_of(&token)?;
                Some(TeamToken { token, team_name })
            })
            .collect())
    }

    fn owner_of_token(&self, id: &str) -> Result<Option<OwnedToken>, ServiceError> {
        let Some(token) = self.token_with_id(id)? else {
            return Ok(None);
        };
        let owner = token.record.owner;
        let organization = match owner.organization() {
            Some(external_id) => self.existing(external_id.to_owned())?,
            None => None,
        };
        Ok(Some(OwnedToken {
            organization: organization.map(|existing| existing.name),
            owner,
        }))
    }

    fn token(&self, id: &str, by: &Caller) -> Result<Option<ApiToken>, ServiceError> {
        self.shown_token(self.token_with_id(id)?, by)
    }

    fn revoke_token(&self, id: &str, by: &Caller) -> Result<bool, ServiceError> {
        commit_with_retries(&self.clock, &self.random, || {
            self.try_revoke(self.token_with_id(id)?, by)
        })
    }

    fn revoke_token_of(&self, owner: &TokenOwner, by: &Caller) -> Result<bool, ServiceError> {
        commit_with_retries(&self.clock, &self.random, || {
            self.try_revoke(self.token_in_slot(owner)?, by)
        })
    }

    fn token_lifetimes(&self, organization: &str) -> Result<Vec<LifetimePolicy>, ServiceError> {
        let lifetimes = self.load_lifetimes(organization)?;
        Ok(lifetimes.map_or_else(Vec::new, |lifetimes| lifetimes.record.policies))
    }

    fn set_token_lifetimes(
        &self,
        organization: &str,
        changes: &[LifetimeChange],
        by: &Caller,
    ) -> Result<Vec<LifetimePolicy>, LifetimeError> {
        commit_with_retries(&self.clock, &self.random, || {
            self.try_set_lifetimes(organization, changes, by)
        })
    }
}
