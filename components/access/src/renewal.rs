//! Renewing tokens (contract 4.10 and 5.3).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_ports::{Clock, IpAddress, Random, Store};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};

use crate::api::{
    Lifetime, RenewError, Renewal, RenewalSubject, Revalidated, Revalidation, ServiceError,
    TokenGrant, TokenReference, TokenRoles as _,
};
use crate::identity::{Claims, MAXIMUM_GROUP_ALIASES};
use crate::lifetime::{GrantedTtl, PastMaxTtlError, Terms};
use crate::records::{TokenRecord, token_key};
use crate::service::AccessService;
use crate::token_store::{LiveToken, grant, put_token};

impl<S: Store, C: Clock, R: Random> Renewal for AccessService<S, C, R> {
    fn renewal(
        &self,
        reference: &TokenReference,
        source_address: Option<IpAddress>,
    ) -> Result<RenewalSubject, RenewError> {
        let token = self.renewable(reference)?;
        if !token.may_be_used_from(source_address) {
            return Err(RenewError::AddressDenied);
        }
        let (Some(origin), Some(mount)) = (token.record.origin, token.issuer) else {
            return Ok(RenewalSubject { revalidation: None });
        };
        let renewal_state = STANDARD.decode(&origin.renewal_state).map_err(|_| {
            ServiceError::Damaged("a token's renewal state is malformed".to_owned())
        })?;
        Ok(RenewalSubject {
            revalidation: Some(Revalidation {
                mount: mount.in_force(),
                renewal_state,
                token_policies: token.record.policies,
            }),
        })
    }

    fn renew_token(
        &self,
        reference: &TokenReference,
        increment: u64,
        fresh: Option<&Revalidated>,
    ) -> Result<TokenGrant, RenewError> {
        let hasher = self.hasher()?;
        commit_with_retries(&self.clock, &self.random, || {
            let mut token = self.renewable(reference)?;
            let stored = token.stored.take().ok_or(RenewError::BatchToken)?;
            let mut transaction = Transaction::new();
            if let Some(names) = fresh.and_then(|fresh| fresh.group_aliases.as_ref()) {
                self.follow_renewed_claims(&mut transaction, &mut token, names)?;
            }
            let identity_policies = token.identity_policies();
            let leases = match &token.issuer {
                Some(mount) => mount.leases(),
                None => self.token_mount()?.leases(),
            };
            let mut record = token.record;
            let lifetime = match (&record.origin, fresh) {
                (None, _) => self.lifetime_now(&record)?,
                (Some(_), None) => return Err(RenewError::RevalidationMissing),
                (Some(_), Some(fresh)) => Lifetime {
                    explicit_max_ttl: record.explicit_max_ttl,
                    ..fresh.lifetime
                },
            };
            let now = self.clock.now_seconds();
            let terms = Terms {
                now,
                issued: record.creation_time,
                mount_default: leases.default_ttl,
                mount_max: leases.max_ttl,
                lifetime,
                increment,
            };
            let GrantedTtl { ttl, warnings } = terms
                .grant()
                .map_err(|PastMaxTtlError| RenewError::PastMaxTtl)?;
            record.period = lifetime.period;
            record.expire_time = Some(now.saturating_add(ttl));
            record.last_renewal_time = Some(now);

            transaction.require(token_key(&stored.hash), stored.version);
            put_token(&mut transaction, hasher, &stored.hash, &record)?;
            self.stage_secrets_end(&mut transaction, &stored.hash, &record)?;
            let mut grant = grant(&record, identity_policies, ttl);
            grant.orphan = token.ancestors.is_empty();
            grant.warnings = warnings;
            Ok(Attempt::from_commit(
                self.records.commit(transaction),
                grant,
            )?)
        })
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// How long a created token may live: as its creator fixed, with the period that its role has now.
    fn lifetime_now(&self, record: &TokenRecord) -> Result<Lifetime, RenewError> {
        let fixed = record.created_lifetime();
        let Some(name) = &record.role else {
            return Ok(fixed);
        };
        let gone = || RenewError::RoleGone(name.clone());
        let role = self.read_token_role(name)?.ok_or_else(gone)?;
        Ok(Lifetime {
            period: role.period,
            ..fixed
        })
    }

    /// Brings the groups of the token's entity at the token's mount to what the revalidation says (contract 4.10).
    fn follow_renewed_claims(
        &self,
        transaction: &mut Transaction,
        token: &mut LiveToken,
        names: &[String],
    ) -> Result<(), RenewError> {
        if names.len() > MAXIMUM_GROUP_ALIASES {
            return Err(RenewError::TooManyGroupAliases(
                MAXIMUM_GROUP_ALIASES as u32,
            ));
        }
        let is_of_login = token.record.origin.is_some();
        let mount = token.issuer.as_ref().filter(|_| is_of_login);
        let (Some(mount), Some(entity)) = (mount, &mut token.entity) else {
            return Ok(());
        };
        let claims = Claims::new(self.hasher()?, &mount.id, names);
        let mut reads = self.read_cached(claims.keys().iter().cloned())?;
        let claimed = claims.resolve(&mut reads)?;
        if self.follow_claims(transaction, entity, claimed, &mount.accessor)? {
            token.groups = self.groups_of(&entity.record)?;
        }
        Ok(())
    }

    fn renewable(&self, reference: &TokenReference) -> Result<LiveToken, RenewError> {
        let token = self.find(reference)?.ok_or(RenewError::UnknownToken)?;
        if token.stored.is_none() {
            return Err(RenewError::BatchToken);
        }
        if token.record.renewable && token.record.expire_time.is_some() {
            Ok(token)
        } else {
            Err(RenewError::NotRenewable)
        }
    }
}
