//! Tokens that token holders make (contract 5.4).

use std::sync::Arc;

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};

use crate::api::{
    BATCH_TOKEN_PREFIX, ClientToken, CreateError, CreateRequest, FieldTooLong, Issued, Lifetime,
    Parent, SERVICE_TOKEN_PREFIX, ServiceError, ServiceField, TokenCreation, TokenGrant,
    TokenReference, TokenRole, TokenRoles as _, TokenType, TokenWarning,
};
use crate::bounds::{MAXIMUM_POLICIES, require_short_policies};
use crate::bounds::{METADATA_BYTES, TEXT_BYTES, length_of_pairs};
use crate::lifetime::{GrantedTtl, PastMaxTtlError, Terms};
use crate::policy::{DEFAULT, ROOT, is_unassignable, sanitize};
use crate::records::{
    MountRecord, PolicyRecord, TOKEN_MOUNT, TokenRecord, cubbyhole_key, mount_key, policy_key,
    relinquished_key, token_key,
};
use crate::secret::TokenHash;
use crate::service::{AccessService, load_next};
use crate::system::is_usable_token_text;
use crate::token_location::StoredToken;
use crate::token_roles::{asked_alias, terms};
use crate::token_store::{
    LiveToken, MAXIMUM_POLICY_NAME_BYTES, grant, identity_policies, put_new_token,
};

/// Most ancestors of one token: each of them is read whenever the token is used.
const MAXIMUM_ANCESTORS: usize = 128;

/// The kind of token that a request asks for, within the limits of its role; none of its numbers is negative.
struct Asked {
    role: Option<TokenRole>,
    token_type: TokenType,
    lifetime: Lifetime,
    num_uses: u64,
    /// About limits of the role.
    warnings: Vec<TokenWarning>,
}

/// The token that a request asks for.
struct Child<'a> {
    parent: &'a Parent,
    request: &'a CreateRequest,
    asked: &'a Asked,
    /// The name of the entity alias, where the request gives one.
    alias: Option<&'a str>,
    /// The identifier, where the request chooses it.
    chosen_id: Option<&'a str>,
}

impl Child<'_> {
    /// Everything that its creator is to be told, in the order in which it is answered.
    fn warnings(
        &self,
        capped: Vec<TokenWarning>,
        unknown_policies: Vec<String>,
    ) -> Vec<TokenWarning> {
        let id = self.chosen_id.map(|_| match self.asked.token_type {
            TokenType::Service => TokenWarning::ChosenId,
            TokenType::Batch => TokenWarning::IgnoredId,
        });
        let mut warnings: Vec<TokenWarning> = id.into_iter().collect();
        warnings.extend_from_slice(&self.asked.warnings);
        warnings.extend(capped);
        let unknown = unknown_policies.into_iter();
        warnings.extend(unknown.map(TokenWarning::UnknownPolicy));
        warnings
    }
}

/// The caller that asks for a token.
struct Creator<'a> {
    token: &'a LiveToken,
    stored: &'a StoredToken,
    sudo: bool,
    /// True if the path itself makes orphans.
    orphan_path: bool,
}

impl Creator<'_> {
    /// True if the new token has no parent, which its creator must have the right to ask for.
    fn makes_orphan(
        &self,
        request: &CreateRequest,
        role: Option<&TokenRole>,
    ) -> Result<bool, CreateError> {
        match role {
            Some(role) => Ok(role.orphan),
            None if request.no_parent && !self.sudo && !self.orphan_path => {
                Err(CreateError::OrphanNeedsSudo)
            }
            None => Ok(request.no_parent || self.orphan_path),
        }
    }

    /// The ancestors of a child, oldest first, with the creator as the last.
    fn ancestors_of_child(&self) -> Result<Vec<TokenHash>, CreateError> {
        let ancestors = self.token.ancestors.iter().map(|(hash, _)| hash);
        let ancestors: Vec<_> = ancestors.chain([&self.stored.hash]).cloned().collect();
        match ancestors.len() <= MAXIMUM_ANCESTORS {
            true => Ok(ancestors),
            false => Err(CreateError::TooManyAncestors(MAXIMUM_ANCESTORS as u32)),
        }
    }

    /// The path at which the new token is asked for.
    fn issuing_path(&self, role: Option<&TokenRole>) -> String {
        match role {
            Some(role) => terms::issuing_path(role),
            None if self.orphan_path => "auth/token/create-orphan".to_owned(),
            None => "auth/token/create".to_owned(),
        }
    }
}

fn not_negative(number: Option<i64>, negative: CreateError) -> Result<u64, CreateError> {
    u64::try_from(number.unwrap_or_default()).map_err(|_| negative)
}

fn asked_token(request: &CreateRequest, role: Option<TokenRole>) -> Result<Asked, CreateError> {
    let token_type = token_type(request, role.as_ref())?;
    let mut num_uses = not_negative(request.num_uses, CreateError::NegativeNumUses)?;
    let mut lifetime = Lifetime {
        explicit_max_ttl: not_negative(
            request.explicit_max_ttl,
            CreateError::NegativeExplicitMaxTtl,
        )?,
        period: not_negative(request.period, CreateError::NegativePeriod)?,
        ttl: not_negative(request.ttl, CreateError::NegativeTtl)?,
        max_ttl: 0,
    };
    let warnings = match &role {
        Some(role) => terms::limited(role, token_type, &mut lifetime, &mut num_uses)?,
        None => Vec::new(),
    };
    Ok(Asked {
        role,
        token_type,
        lifetime,
        num_uses,
        warnings,
    })
}

/// The type that the request asks for or its role prescribes, which its fields must allow.
fn token_type(request: &CreateRequest, role: Option<&TokenRole>) -> Result<TokenType, CreateError> {
    let name = request.token_type.as_deref().unwrap_or_default();
    let asks_for = |number: Option<i64>| number.unwrap_or_default() != 0;
    let of_service = [
        (request.explicit_max_ttl, ServiceField::ExplicitMaxTtl),
        (request.num_uses, ServiceField::NumUses),
        (request.period, ServiceField::Period),
    ];
    match role.map_or(name, |role| terms::token_type(role, name)) {
        "" | "service" => Ok(TokenType::Service),
        "batch" => match of_service.into_iter().find(|it| asks_for(it.0)) {
            Some((_, field)) => Err(CreateError::BatchWith(field)),
            None => Ok(TokenType::Batch),
        },
        _ => Err(CreateError::InvalidTokenType),
    }
}

/// Refuses identifiers that may not be chosen. A batch token has none, so the text is ignored.
fn require_allowed_id(id: &str, sudo: bool, token_type: TokenType) -> Result<(), CreateError> {
    if !sudo {
        return Err(CreateError::IdNeedsSudo);
    }
    if token_type == TokenType::Batch {
        return Ok(());
    }
    if id.starts_with(SERVICE_TOKEN_PREFIX) || id.starts_with("s.") {
        return Err(CreateError::IdWithReservedPrefix);
    }
    if id.contains('.') || !is_usable_token_text(id) {
        return Err(CreateError::UnusableId);
    }
    Ok(())
}

/// The new token's policies.
fn policies(
    parent: &TokenRecord,
    sudo: bool,
    request: &CreateRequest,
    role: Option<&TokenRole>,
) -> Result<Vec<String>, CreateError> {
    // This is decided before blanks are dropped: a list of blanks counts as given, so the token inherits nothing (SEC-A4).
    let given = request.policies.as_ref().filter(|given| !given.is_empty());
    let asked = given.map(sanitize);
    let policies = match role.filter(|role| terms::decides_policies(role)) {
        Some(role) => {
            let asked = asked.as_deref();
            terms::policies(role, asked, request.no_default_policy, &parent.policies)?
        }
        None => policies_of_parent(parent, sudo, request, asked)?,
    };
    if policies.iter().any(|policy| policy == ROOT) && !parent.is_root() {
        return Err(CreateError::RootFromNonRoot);
    }
    if let Some(policy) = policies.iter().find(|policy| is_unassignable(policy)) {
        return Err(CreateError::UnassignablePolicy(policy.clone()));
    }
    if policies.len() > MAXIMUM_POLICIES {
        return Err(CreateError::TooManyPolicies(MAXIMUM_POLICIES as u32));
    }
    Ok(policies)
}

/// The policies of a token that may only have policies of its parent, unless the caller has `sudo`. Without `asked` it gets those of its
/// parent, but not `default` if the request declines that.
fn policies_of_parent(
    parent: &TokenRecord,
    sudo: bool,
    request: &CreateRequest,
    asked: Option<Vec<String>>,
) -> Result<Vec<String>, CreateError> {
    let Some(mut policies) = asked else {
        let mut inherited = parent.policies.clone();
        inherited.retain(|policy| !request.no_default_policy || policy != DEFAULT);
        return Ok(inherited);
    };
    if !sudo && !policies.iter().all(|it| parent.policies.contains(it)) {
        return Err(CreateError::PoliciesNotSubset);
    }
    let adds_default = sudo || parent.policies.iter().any(|policy| policy == DEFAULT);
    if adds_default && !request.no_default_policy {
        policies.push(DEFAULT.to_owned());
    }
    Ok(sanitize(&policies))
}

/// `token`, and the given name in letters, digits and `-`.
fn display_name(given: Option<&str>) -> String {
    let given: String = given
        .unwrap_or_default()
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() { it } else { '-' })
        .collect();
    format!("token-{given}").trim_end_matches('-').to_owned()
}

/// Refuses fields that are too long for a token's record.
fn require_short(request: &CreateRequest) -> Result<(), FieldTooLong> {
    let display_name = request.display_name.as_ref().map_or(0, String::len);
    FieldTooLong::check("display_name", display_name, TEXT_BYTES)?;
    let metadata = request.metadata.iter().flatten();
    let metadata = metadata.map(|(name, value)| (name, value));
    FieldTooLong::check("meta", length_of_pairs(metadata), METADATA_BYTES)?;
    require_short_policies(request.policies.as_deref().unwrap_or_default())
}

impl<S: Store, C: Clock, R: Random> TokenCreation for AccessService<S, C, R> {
    fn create_token(
        &self,
        parent: &Parent,
        request: &CreateRequest,
    ) -> Result<Issued, CreateError> {
        // This refusal takes precedence over every fault of the request.
        if parent.token.starts_with(BATCH_TOKEN_PREFIX) {
            return Err(CreateError::BatchParent);
        }
        if parent.limited_uses {
            return Err(CreateError::RestrictedUseParent);
        }
        require_short(request)?;
        let role = match &request.role {
            Some(name) => {
                let unknown = || CreateError::UnknownRole(name.clone());
                Some(self.read_token_role(name)?.ok_or_else(unknown)?)
            }
            None => None,
        };
        let asked = asked_token(request, role)?;
        let alias = asked_alias(asked.role.as_ref(), request.entity_alias.as_deref())?;
        let child = Child {
            parent,
            request,
            asked: &asked,
            alias: alias.as_deref(),
            chosen_id: request.id.as_deref().filter(|id| !id.is_empty()),
        };
        let mut first_attempt = true;
        let (client_token, grant) = commit_with_retries(&self.clock, &self.random, || {
            self.attempt_child(&child, std::mem::take(&mut first_attempt))
        })?;
        Ok(Issued {
            client_token: client_token.expose().to_owned(),
            grant,
        })
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Makes one attempt: reads the parent and commits, for a service token on the condition that the parent and its ancestors have not changed.
    fn attempt_child(
        &self,
        child: &Child<'_>,
        is_first: bool,
    ) -> Result<Attempt<(ClientToken, TokenGrant)>, CreateError> {
        let &Child {
            parent,
            request,
            asked,
            alias,
            chosen_id,
        } = child;
        let living = self
            .find(&TokenReference::Id(parent.token.clone()))?
            .ok_or(CreateError::InvalidToken)?;
        let stored = living.stored.as_ref().ok_or(CreateError::BatchParent)?;
        if living.record.num_uses > 0 {
            return Err(CreateError::RestrictedUseParent);
        }
        let sudo = parent.sudo || living.record.is_root();
        if let Some(id) = chosen_id {
            require_allowed_id(id, sudo, asked.token_type)?;
        }
        let creator = Creator {
            token: &living,
            stored,
            sudo,
            orphan_path: parent.orphan_path,
        };
        let mut transaction = Transaction::new();
        let named = match (alias, &asked.role) {
            (Some(alias), Some(role)) => {
                let alias = (role.name.as_str(), alias);
                Some(self.entity_behind(&mut transaction, alias, is_first)?)
            }
            _ => None,
        };
        let (mut record, ttl, capped) = self.child_record(&creator, request, asked)?;
        if let Some(entity) = &named {
            record.entity_id = Some(entity.id.clone());
        }
        let client_token = match asked.token_type {
            TokenType::Service => {
                // No child is made under a token that is being revoked (SEC-T5).
                transaction.require(token_key(&stored.hash), stored.version);
                for (ancestor, version) in &living.ancestors {
                    transaction.require(token_key(ancestor), *version);
                }
                self.stage_service_child(&mut transaction, chosen_id, &mut record)?
            }
            // A batch token needs no such condition: it is not valid without its ancestors, whenever they are revoked.
            TokenType::Batch => self.stage_batch_token(&mut transaction, &record)?,
        };
        let identity_policies = match (&named, &record.entity_id) {
            (Some(entity), _) => identity_policies(entity, &self.group_policies(entity)?),
            (None, Some(_)) => living.identity_policies(),
            (None, None) => Vec::new(),
        };
        let mut grant = grant(&record, identity_policies, ttl);
        let unknown = self.unknown_policies(&grant.token_policies)?;
        grant.warnings.extend(child.warnings(capped, unknown));
        // Nothing can fail from here on: a token that exists is answered (SEC-T11).
        Ok(Attempt::from_commit(
            self.records.commit(transaction),
            (client_token, grant),
        )?)
    }

    /// Adds a new service token, with a chosen or a generated identifier, to a commit.
    fn stage_service_child(
        &self,
        transaction: &mut Transaction,
        chosen: Option<&str>,
        record: &mut TokenRecord,
    ) -> Result<ClientToken, CreateError> {
        let Some(id) = chosen else {
            return Ok(self.stage_service_token(transaction, record)?);
        };
        let hasher = self.hasher()?;
        let names = hasher.names(id);
        let hash = &names.hash;
        let key = token_key(hash);
        if self.records.get::<TokenRecord>(&key)?.is_some() || !self.clear_for_reuse(hash)? {
            return Err(CreateError::DuplicateId);
        }
        transaction
            .require_absent(key)
            .require_absent(relinquished_key(hash))
            // An earlier token of this identifier may have left its secrets there for its last answer.
            .delete(cubbyhole_key(hash));
        put_new_token(transaction, hasher, &self.random, names, record)?;
        Ok(ClientToken::new(id.to_owned()))
    }

    /// The new token's record, its time to live (0 for none), and what was cut.
    fn child_record(
        &self,
        creator: &Creator<'_>,
        request: &CreateRequest,
        asked: &Asked,
    ) -> Result<(TokenRecord, u64, Vec<TokenWarning>), CreateError> {
        let living = creator.token;
        let &Asked {
            ref role,
            token_type,
            lifetime,
            num_uses,
            ..
        } = asked;
        let role = role.as_ref();
        let policies = policies(&living.record, creator.sudo, request, role)?;
        let orphan = creator.makes_orphan(request, role)?;
        // A period in the request needs `sudo`; the period of a role is for every caller that may use the role.
        if request.period.is_some_and(|period| period > 0) && !creator.sudo {
            return Err(CreateError::PeriodNeedsSudo);
        }
        let ancestors = match orphan {
            true => Vec::new(),
            false => creator.ancestors_of_child()?,
        };

        let mount = match &living.issuer {
            Some(issuer) if issuer.path == TOKEN_MOUNT => issuer.clone(),
            _ => self.token_mount()?,
        };
        let now = self.clock.now_seconds();
        let root = policies.iter().any(|policy| policy == ROOT);
        if root && token_type == TokenType::Batch {
            return Err(CreateError::BatchRoot);
        }
        let endless = root && lifetime == Lifetime::default();
        if endless && living.record.expire_time.is_some() {
            return Err(CreateError::EndlessRootFromExpiring);
        }
        let (ttl, warnings) = if endless {
            (0, Vec::new())
        } else {
            let GrantedTtl { ttl, warnings } = Self::child_ttl(&mount, now, lifetime)?;
            (ttl, warnings)
        };
        let record = TokenRecord {
            accessor: String::new(),
            proof: None,
            ancestors,
            origin: None,
            generation: mount.generations.current(),
            policies,
            entity_id: living.record.entity_id.clone().filter(|_| !orphan),
            display_name: display_name(request.display_name.as_deref()),
            path: creator.issuing_path(role),
            role: role.map(|role| role.name.clone()),
            metadata: request
                .metadata
                .as_ref()
                .map(|it| it.iter().cloned().collect()),
            bound_cidrs: match role {
                Some(role) => role.bound_cidrs.clone(),
                // A token bound to addresses cannot make one that is not.
                None => living.record.bound_cidrs.clone(),
            },
            creation_time: now,
            creation_ttl: ttl,
            expire_time: (!endless).then_some(now.saturating_add(ttl)),
            last_renewal_time: None,
            explicit_max_ttl: lifetime.explicit_max_ttl,
            period: lifetime.period,
            num_uses,
            renewable: token_type == TokenType::Service
                && !endless
                && request.renewable.unwrap_or(true)
                && role.is_none_or(|role| role.renewable),
            places: Vec::new(),
            keeps_secrets: false,
        };
        Ok((record, ttl, warnings))
    }

    fn child_ttl(
        mount: &MountRecord,
        now: u64,
        lifetime: Lifetime,
    ) -> Result<GrantedTtl, CreateError> {
        let leases = mount.leases();
        let terms = Terms {
            now,
            issued: now,
            mount_default: leases.default_ttl,
            mount_max: leases.max_ttl,
            lifetime,
            increment: 0,
        };
        // A new token has all of its life left, and no limit in force is 0.
        terms.grant().map_err(|PastMaxTtlError| {
            ServiceError::Damaged("a lease limit of 0".to_owned()).into()
        })
    }

    /// The mount of tokens that no login made.
    pub(crate) fn token_mount(&self) -> Result<Arc<MountRecord>, ServiceError> {
        let mut reads = self.read_cached([mount_key(TOKEN_MOUNT)])?;
        let mount = reads.next_record::<MountRecord>()?;
        Ok(mount.ok_or(ServiceError::NotInitialized)?.record)
    }

    /// The names among `policies` of policies that do not exist.
    fn unknown_policies(&self, policies: &[String]) -> Result<Vec<String>, ServiceError> {
        let (looked_up, too_long): (Vec<&String>, Vec<&String>) = policies
            .iter()
            .filter(|policy| *policy != ROOT)
            .partition(|policy| policy.len() <= MAXIMUM_POLICY_NAME_BYTES);
        let keys: Vec<String> = looked_up.iter().map(|policy| policy_key(policy)).collect();
        let mut entries = self.read_all(keys.iter())?;
        let mut unknown = Vec::new();
        for policy in looked_up {
            if load_next::<S, PolicyRecord>(&mut entries)?.is_none() {
                unknown.push(policy.clone());
            }
        }
        unknown.extend(too_long.into_iter().cloned());
        Ok(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::display_name;

    #[test]
    fn contract_5_4_display_names_are_cleaned() {
        assert_eq!(display_name(None), "token");
        assert_eq!(display_name(Some("")), "token");
        assert_eq!(display_name(Some("my app/1!")), "token-my-app-1");
    }
}
