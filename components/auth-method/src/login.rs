//! Logging in, in the order of contract 4.2, and explaining the outcome of a login.

use gatehouse_ports::{Cache, Clock, Http, Random, Store, networks};

use crate::authorization::{Caller, Claimant, authorize};
use crate::excerpt::excerpt;
use crate::google::{KeyOwner, MountMemory};
use crate::proof::{Proof, Terms, check_account_issuer};
use crate::renewal::RenewalState;
use crate::service::AuthMethodService;
use crate::trace::{Condition as _, Decide, Explain, Trace, input, list};
use crate::{
    Check, CheckReport, Identity, Login, LoginError, LoginRequest, Mount, RenewalError,
    RenewalRequest, Renewed, Role, RoleName, RoleRules, entity, renewal, replay,
};

/// Most of a role's name that an error repeats, in bytes.
const SHOWN_ROLE_BYTES: usize = 256;

/// A caller who may log in, unless the role refuses replays and the token has been used.
struct Admitted {
    proof: Proof,
    caller: Caller,
}

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> Login for AuthMethodService<S, M, H, C, R> {
    fn login(&self, mount: &Mount, request: &LoginRequest) -> Result<Identity, LoginError> {
        let (name, memory, role) = self.role_of_login(mount, request)?;
        let admitted = self.admit(mount, &memory, &role, request, &mut Decide)?;
        let Admitted { proof, caller } = admitted;
        let alias_name = entity::alias_name(&role, &memory.config, &caller);
        if alias_name.is_empty() {
            return Err(LoginError::AliasEmpty);
        }
        let metadata = entity::metadata(&name, role.rules.role_type(), &memory.config, &caller);
        let state = RenewalState::new(&name, &role, &caller, proof.owner);
        if role.options.refuse_replay {
            replay::take(self.records(), mount, &proof)?;
        }
        Ok(Identity {
            role: name.as_str().to_owned(),
            display_name: entity::display_name(&caller),
            alias_name,
            metadata,
            renewal_state: state.to_bytes()?,
            // A caller that logs in under a role that does not ask for groups is in none: turning the option off ends what it brought.
            group_aliases: caller.group_aliases.unwrap_or_default(),
            role_id: role.role_id,
            token: role.token,
        })
    }

    fn explain(&self, mount: &Mount, request: &LoginRequest) -> Vec<CheckReport> {
        let mut trace = Explain::default();
        let found = self.role_of_login(mount, request);
        let inputs = || vec![input("role", excerpt(&request.role, SHOWN_ROLE_BYTES))];
        let Ok((_, memory, role)) = trace.require(Check::Role, inputs, found) else {
            return trace.into_reports(&[]);
        };
        // The trace has the check that ended it, if one did.
        if let Ok(admitted) = self.admit(mount, &memory, &role, request, &mut trace)
            && role.options.refuse_replay
        {
            let used = replay::is_used(self.records(), mount, &admitted.proof);
            let outcome = used
                .map_err(Into::into)
                .and_then(|used| (!used).otherwise(LoginError::Replayed));
            let _ = trace.judge(Check::Replay, Vec::new, outcome);
        }
        trace.into_reports(&planned(&role))
    }

    fn revalidate(&self, mount: &Mount, request: &RenewalRequest) -> Result<Renewed, RenewalError> {
        renewal::revalidate(self, mount, request)
    }
}

impl<S: Store, M: Cache, H: Http, C: Clock, R: Random> AuthMethodService<S, M, H, C, R> {
    /// Steps 1 and 2: the role that the caller names.
    #[allow(
        clippy::type_complexity,
        reason = "three things that are read together"
    )]
    fn role_of_login(
        &self,
        mount: &Mount,
        request: &LoginRequest,
    ) -> Result<(RoleName, std::sync::Arc<MountMemory>, Role), LoginError> {
        if request.role.is_empty() {
            return Err(LoginError::RoleMissing);
        }
        let not_found = || LoginError::RoleNotFound(excerpt(&request.role, SHOWN_ROLE_BYTES));
        let name = RoleName::new(&request.role).ok_or_else(not_found)?;
        let (memory, role) = self.mount_and_role(mount, &name)?;
        let role = role.ok_or_else(not_found)?;
        Ok((name, memory, role))
    }

    /// Steps 3 to 10.
    fn admit(
        &self,
        mount: &Mount,
        memory: &MountMemory,
        role: &Role,
        request: &LoginRequest,
        trace: &mut impl Trace,
    ) -> Result<Admitted, LoginError> {
        let deadline = self.deadline();
        if request.jwt.is_empty() {
            return trace.require(Check::Form, Vec::new, Err(LoginError::JwtMissing));
        }
        let cidrs = &role.token.bound_cidrs;
        trace.judge(
            Check::SourceAddress,
            || {
                let address = request.source_address.as_ref();
                let address = address.map_or_else(String::new, ToString::to_string);
                vec![input("address", address), list("token_bound_cidrs", cidrs)]
            },
            networks::allow(cidrs, request.source_address).otherwise(LoginError::AddressNotAllowed),
        )?;
        let terms = Terms {
            requested_role: &request.role,
            role,
            compatibility: self.settings().compatibility,
        };
        self.with_google(mount, memory, deadline, |google| {
            let proof = terms.prove(&request.jwt, google, trace)?;
            let name = request.role.to_ascii_lowercase();
            terms.check_token(&name, &proof, self.now(), trace)?;
            let by_google = proof.owner == KeyOwner::Google;
            let claims = proof.jwt.claims();
            let claimant = Claimant {
                subject: proof.subject.as_str(),
                // The words of an account about itself or an instance prove nothing (SEC-G2, G3).
                email: claims.email().filter(|_| by_google).unwrap_or_default(),
                instance: claims.instance().filter(|_| by_google),
            };
            let confirm = |account: &_| {
                if terms.compatibility.ignore_issuer_and_beginning {
                    return Ok(());
                }
                check_account_issuer(&proof, account)
            };
            let caller = authorize(role, &claimant, google, confirm, trace)?;
            Ok(Admitted { proof, caller })
        })
    }
}

/// The checks that a login under `role` goes through, in their order.
fn planned(role: &Role) -> Vec<Check> {
    let live = !role.options.trust_claims;
    let mut checks = vec![
        Check::SourceAddress,
        Check::Form,
        Check::Expiry,
        Check::Beginning,
        Check::Subject,
        Check::Audience,
        Check::Key,
        Check::Signature,
        Check::Issuer,
    ];
    let by_type: &[(Check, bool)] = match &role.rules {
        RoleRules::Iam(_) => &[
            (Check::Inference, true),
            (Check::Lifetime, true),
            (Check::Account, true),
            (Check::Project, true),
            (Check::BoundAccount, true),
        ],
        RoleRules::Gce(rules) => &[
            (Check::InstanceClaims, true),
            (Check::Project, true),
            (Check::Instance, live),
            (Check::InstanceAge, rules.maximum_instance_age > 0),
            (Check::Labels, !rules.bound_labels.is_empty()),
            (
                Check::Location,
                !rules.bound_zones.is_empty() || !rules.bound_regions.is_empty(),
            ),
            (
                Check::InstanceGroups,
                !rules.bound_instance_groups.is_empty(),
            ),
            (Check::Account, true),
            (Check::BoundAccount, true),
        ],
    };
    let common = [
        (Check::Folder, !role.options.bound_folders.is_empty()),
        (
            Check::Organization,
            !role.options.bound_organizations.is_empty(),
        ),
        (Check::GroupAliases, role.add_group_aliases),
        (Check::Replay, role.options.refuse_replay),
    ];
    let applies = |&(check, applies): &(Check, bool)| applies.then_some(check);
    checks.extend(by_type.iter().filter_map(applies));
    checks.extend(common.iter().filter_map(applies));
    checks
}
