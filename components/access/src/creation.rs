//! Tokens that token holders make (contract 5.4).

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};

use crate::api::{
    CreateError, CreateRequest, Failure, Issued, Lifetime, Parent, ServiceField, TokenReference,
    TokenWarning,
};
use crate::initialization::is_usable_token_text;
use crate::lifetime::{GrantedTtl, PastMaxTtl, Terms};
use crate::login::MAXIMUM_POLICIES;
use crate::mounts::{TOKEN_MOUNT, mount_key};
use crate::policy::{DEFAULT, ROOT, is_unassignable, sanitize};
use crate::random::{self, SERVICE_TOKEN_PREFIX};
use crate::records::{MountRecord, PolicyRecord, TokenRecord, policy_key, token_key};
use crate::secret::ClientToken;
use crate::service::AccessService;
use crate::token_store::{LiveToken, MAXIMUM_POLICY_NAME_BYTES, grant, load_next, put_token};

/// Most ancestors of one token: each of them is read whenever it is used.
const MAXIMUM_ANCESTORS: usize = 128;

/// The numbers of a request, none of them negative.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    lifetime: Lifetime,
    num_uses: u64,
}

fn not_negative(number: Option<i64>, negative: CreateError) -> Result<u64, CreateError> {
    u64::try_from(number.unwrap_or_default()).map_err(|_| negative)
}

fn numbers(request: &CreateRequest) -> Result<Numbers, CreateError> {
    Ok(Numbers {
        num_uses: not_negative(request.num_uses, CreateError::NegativeNumUses)?,
        lifetime: Lifetime {
            explicit_max_ttl: not_negative(
                request.explicit_max_ttl,
                CreateError::NegativeExplicitMaxTtl,
            )?,
            period: not_negative(request.period, CreateError::NegativePeriod)?,
            ttl: not_negative(request.ttl, CreateError::NegativeTtl)?,
            max_ttl: 0,
        },
    })
}

fn require_service(request: &CreateRequest, numbers: Numbers) -> Result<(), CreateError> {
    match request.token_type.as_deref().unwrap_or_default() {
        "" | "service" => Ok(()),
        "batch" if numbers.num_uses > 0 => Err(CreateError::BatchWith(ServiceField::NumUses)),
        "batch" if numbers.lifetime.period > 0 => Err(CreateError::BatchWith(ServiceField::Period)),
        "batch" if numbers.lifetime.explicit_max_ttl > 0 => {
            Err(CreateError::BatchWith(ServiceField::ExplicitMaxTtl))
        }
        "batch" => Err(CreateError::BatchUnsupported),
        _ => Err(CreateError::InvalidTokenType),
    }
}

/// Refuses identifiers that may not be chosen.
fn require_allowed_id(id: &str, sudo: bool) -> Result<(), CreateError> {
    if !sudo {
        return Err(CreateError::IdNeedsSudo);
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
) -> Result<Vec<String>, CreateError> {
    let asked = sanitize(request.policies.iter().flatten());
    let inherits = asked.is_empty();
    let mut policies = if inherits {
        parent.policies.clone()
    } else {
        asked
    };
    if !sudo && !policies.iter().all(|it| parent.policies.contains(it)) {
        return Err(CreateError::PoliciesNotSubset);
    }
    if request.no_default_policy {
        policies.retain(|policy| !inherits || policy != DEFAULT);
    } else if sudo || parent.policies.iter().any(|policy| policy == DEFAULT) {
        policies.push(DEFAULT.to_owned());
    }
    let policies = sanitize(&policies);
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

/// `token`, and the given name in letters, digits and `-`.
fn display_name(given: Option<&str>) -> String {
    let given: String = given
        .unwrap_or_default()
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() { it } else { '-' })
        .collect();
    format!("token-{given}").trim_end_matches('-').to_owned()
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    pub(crate) fn create_child(
        &self,
        parent: &Parent<'_>,
        request: &CreateRequest,
    ) -> Result<Issued, CreateError> {
        if request
            .entity_alias
            .as_deref()
            .is_some_and(|it| !it.is_empty())
        {
            return Err(CreateError::EntityAliasWithoutRole);
        }
        if parent.limited_uses {
            return Err(CreateError::RestrictedUseParent);
        }
        let numbers = numbers(request)?;
        require_service(request, numbers)?;
        let chosen = request.id.as_deref().filter(|id| !id.is_empty());
        let client_token = match chosen {
            None => random::client_token(&self.random)?,
            Some(id) => ClientToken::new(id.to_owned()),
        };
        let accessor = random::accessor(&self.random)?;
        let hasher = self.hasher()?;
        let hash = hasher.token(client_token.expose());
        let key = token_key(&hash);

        let mut grant = commit_with_retries(&self.clock, &self.random, || {
            let living = self
                .find(TokenReference::Id(parent.token))?
                .ok_or(CreateError::InvalidToken)?;
            if living.record.num_uses > 0 {
                return Err(CreateError::RestrictedUseParent);
            }
            let sudo = parent.sudo || living.record.is_root();
            if let Some(id) = chosen {
                require_allowed_id(id, sudo)?;
                if self.records.get::<TokenRecord>(&key)?.is_some() {
                    return Err(CreateError::DuplicateId);
                }
            }
            let (record, ttl, warnings) =
                self.child_record(&living, parent, sudo, request, numbers, &accessor)?;
            let mut transaction = Transaction::new();
            transaction.require_absent(key.as_str());
            // No child comes to be under a token that is being revoked (SEC-T5).
            transaction.require(token_key(&living.hash), living.version);
            for (ancestor, version) in &living.ancestors {
                transaction.require(ancestor.as_str(), *version);
            }
            put_token(&mut transaction, hasher, &hash, &record)?;
            let identity_policies = match &record.entity_id {
                Some(_) => living.identity_policies(),
                None => Vec::new(),
            };
            let mut grant = grant(&record, identity_policies, ttl);
            grant.warnings = warnings;
            Ok(Attempt::from_commit(
                self.records.commit(transaction),
                grant,
            )?)
        })?;

        if chosen.is_some() {
            grant.warnings.insert(0, TokenWarning::ChosenId);
        }
        let unknown = self.unknown_policies(&grant.token_policies)?;
        grant
            .warnings
            .extend(unknown.into_iter().map(TokenWarning::UnknownPolicy));
        Ok(Issued {
            client_token,
            grant,
        })
    }

    /// The new token's record, its time to live (0 for none), and what was cut.
    fn child_record(
        &self,
        living: &LiveToken,
        parent: &Parent<'_>,
        sudo: bool,
        request: &CreateRequest,
        numbers: Numbers,
        accessor: &str,
    ) -> Result<(TokenRecord, u64, Vec<TokenWarning>), CreateError> {
        let policies = policies(&living.record, sudo, request)?;
        if request.no_parent && !sudo && !parent.orphan_path {
            return Err(CreateError::OrphanNeedsSudo);
        }
        let orphan = request.no_parent || parent.orphan_path;
        let Numbers { lifetime, num_uses } = numbers;
        if lifetime.period > 0 && !sudo {
            return Err(CreateError::PeriodNeedsSudo);
        }
        let mut ancestors = Vec::new();
        if !orphan {
            ancestors.clone_from(&living.record.ancestors);
            ancestors.push(living.hash.clone());
            if ancestors.len() > MAXIMUM_ANCESTORS {
                return Err(CreateError::TooManyAncestors(MAXIMUM_ANCESTORS as u32));
            }
        }

        let mount = self.token_mount()?;
        let now = self.clock.now_seconds();
        let root = policies.iter().any(|policy| policy == ROOT);
        let endless = root && lifetime == Lifetime::default();
        let GrantedTtl { ttl, warnings } = if endless {
            if living.record.expire_time.is_some() {
                return Err(CreateError::EndlessRootFromExpiring);
            }
            GrantedTtl {
                ttl: 0,
                warnings: Vec::new(),
            }
        } else {
            Self::child_ttl(&mount, now, lifetime)?
        };
        let record = TokenRecord {
            accessor: accessor.to_owned(),
            ancestors,
            origin: None,
            generation: mount.generations.current(),
            policies,
            entity_id: living.record.entity_id.clone().filter(|_| !orphan),
            display_name: display_name(request.display_name.as_deref()),
            path: if parent.orphan_path {
                "auth/token/create-orphan".to_owned()
            } else {
                "auth/token/create".to_owned()
            },
            metadata: request.metadata.clone(),
            // A token bound to addresses cannot make one that is not.
            bound_cidrs: living.record.bound_cidrs.clone(),
            creation_time: now,
            creation_ttl: ttl,
            expire_time: (!endless).then_some(now.saturating_add(ttl)),
            last_renewal_time: None,
            explicit_max_ttl: lifetime.explicit_max_ttl,
            period: lifetime.period,
            num_uses,
            renewable: !endless && request.renewable.unwrap_or(true),
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
        terms
            .grant()
            .map_err(|PastMaxTtl| Failure::Damaged("a lease limit of 0".to_owned()).into())
    }

    /// The mount of tokens that no login made.
    pub(crate) fn token_mount(&self) -> Result<MountRecord, Failure> {
        let mount = self.records.get::<MountRecord>(&mount_key(TOKEN_MOUNT))?;
        Ok(mount.ok_or(Failure::NotInitialized)?.record)
    }

    /// Those of `policies` that do not exist.
    fn unknown_policies(&self, policies: &[String]) -> Result<Vec<String>, Failure> {
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
