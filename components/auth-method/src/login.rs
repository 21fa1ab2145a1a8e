//! Logging in, in the order of contract 4.2.

use gatehouse_ports::{Clock, Http, Random, Store};

use crate::authorization::{self, Refusal};
use crate::excerpt::excerpt;
use crate::google::{AccountError, CallError, Google, KeyError, KeyOwner, ServiceAccount};
use crate::jwt::{CLOCK_SKEW, Claims, Issuer, Subject, UnverifiedJwt, check_claims};
use crate::renewal::RenewalState;
use crate::roles::RoleName;
use crate::service::AuthMethodService;
use crate::{
    AliasSource, Identity, KeyRefusal, LoginError, LoginRequest, Mount, Role, RoleRules, networks,
};

/// Most of a role's name that an error repeats, in bytes.
const SHOWN_ROLE_BYTES: usize = 256;
/// Most of a `sub` that an error repeats, in bytes.
const SHOWN_SUBJECT_BYTES: usize = 320;
/// Whom Google's own tokens are issued by.
const GOOGLE_ISSUERS: [&str; 2] = ["https://accounts.google.com", "accounts.google.com"];

/// A token whose signature and claims have been checked.
struct Proof {
    subject: Subject,
    owner: KeyOwner,
    claims: Claims,
    /// Seconds since 1970.
    expires: u64,
}

impl<S: Store, H: Http, C: Clock, R: Random> AuthMethodService<S, H, C, R> {
    pub(crate) fn log_in(
        &self,
        mount: &Mount,
        request: &LoginRequest,
    ) -> Result<Identity, LoginError> {
        let deadline = self.deadline();
        if request.role.is_empty() {
            return Err(LoginError::RoleMissing);
        }
        let not_found = || LoginError::RoleNotFound(excerpt(&request.role, SHOWN_ROLE_BYTES));
        let name = RoleName::new(&request.role).ok_or_else(not_found)?;
        let (memory, role) = self.mount_and_role(mount, &name)?;
        let role = role.ok_or_else(not_found)?;
        if request.jwt.is_empty() {
            return Err(LoginError::JwtMissing);
        }
        if !networks::allow(&role.token.bound_cidrs, request.source_address) {
            return Err(LoginError::AddressNotAllowed);
        }
        let jwt = UnverifiedJwt::parse(&request.jwt).map_err(LoginError::MalformedJwt)?;
        self.with_google(mount, &memory, deadline, |google| {
            let proof = self.prove(jwt, &request.role, google)?;
            self.check_rules(&role, &name, &proof)?;
            let account = account_of(&proof, google)?;
            authorization::check(&role, &account)?;
            let alias_name = match memory.config.iam_alias {
                AliasSource::RoleId => role.role_id.clone(),
                AliasSource::Caller => account.unique_id.clone(),
            };
            if alias_name.is_empty() {
                return Err(LoginError::AliasEmpty);
            }
            let state = RenewalState::new(&name, &role, &account, proof.owner);
            Ok(Identity {
                role: name.as_str().to_owned(),
                display_name: account.email.clone(),
                alias_name,
                metadata: metadata(memory.config.iam_metadata_names(), &name, &account),
                renewal_state: state.to_bytes()?,
                role_id: role.role_id,
                token: role.token,
            })
        })
    }

    /// Steps 6 to 9: whose token it is, and that it may be used now and for this role.
    fn prove(
        &self,
        jwt: UnverifiedJwt<'_>,
        role: &str,
        google: &Google<'_, H, C, R>,
    ) -> Result<Proof, LoginError> {
        // Before any key is asked for: what a signature could not save is refused at once.
        let subject = check_claims(jwt.claims(), role, self.now())?.subject;
        let key_not_found = |refusal| LoginError::KeyNotFound {
            key_id: jwt.key_id().to_owned(),
            subject: excerpt(subject, SHOWN_SUBJECT_BYTES),
            refusal,
        };
        let subject =
            Subject::new(subject).ok_or_else(|| key_not_found(KeyRefusal::SubjectShape))?;
        let (key, owner) =
            google
                .find_key(jwt.key_id(), &subject)
                .map_err(|error| match error {
                    KeyError::Call(error) => error.into(),
                    KeyError::Refused(refusal) => key_not_found(refusal),
                })?;
        let jwt = jwt.verify(&key).ok_or(LoginError::SignatureInvalid)?;
        let claims = jwt.into_claims();
        // Again, since fetching the key may have taken a while.
        let expires = check_claims(&claims, role, self.now())?.expires;
        if !may_issue(claims.issuer(), owner, &subject) {
            return Err(LoginError::IssuerNotAcceptable);
        }
        Ok(Proof {
            subject,
            owner,
            claims,
            expires,
        })
    }

    /// I1 and I2: what an iam role says about the token itself.
    fn check_rules(&self, role: &Role, name: &RoleName, proof: &Proof) -> Result<(), LoginError> {
        let RoleRules::Iam {
            maximum_jwt_lifetime,
            allow_gce_inference,
        } = role.rules;
        let latest = self
            .now()
            .saturating_add(maximum_jwt_lifetime)
            .saturating_add(CLOCK_SKEW);
        match proof.owner {
            KeyOwner::Google if !allow_gce_inference => {
                Err(LoginError::InferenceNotAllowed(name.as_str().to_owned()))
            }
            KeyOwner::Account if proof.expires > latest => Err(LoginError::ExpiresBeyondRole {
                maximum_jwt_lifetime,
            }),
            // The lifetime of Google's own tokens cannot be chosen.
            KeyOwner::Google | KeyOwner::Account => Ok(()),
        }
    }
}

/// I3 and I4: the account that the token is about, as Google knows it now.
fn account_of<H: Http, C: Clock, R: Random>(
    proof: &Proof,
    google: &Google<'_, H, C, R>,
) -> Result<std::sync::Arc<ServiceAccount>, LoginError> {
    let account = google.service_account(proof.subject.as_str())?;
    if !account.is_called(proof.subject.as_str()) {
        return Err(LoginError::AccountMismatch);
    }
    if account.disabled {
        return Err(LoginError::AccountDisabled(account.email.clone()));
    }
    if proof.owner == KeyOwner::Account
        && let Issuer::Named(issuer) = proof.claims.issuer()
        && !account.is_called(issuer)
    {
        return Err(LoginError::IssuerNotAcceptable);
    }
    Ok(account)
}

/// Whether the owner of the key can have issued a token for `subject`, as far as that can be told without asking for the account. An
/// account may issue under its other name, which only the account's state can confirm.
fn may_issue(issuer: &Issuer, owner: KeyOwner, subject: &Subject) -> bool {
    match (owner, issuer) {
        (KeyOwner::Google, Issuer::Named(issuer)) => GOOGLE_ISSUERS.contains(&issuer.as_str()),
        (KeyOwner::Account, Issuer::Absent) => true,
        (KeyOwner::Account, Issuer::Named(issuer)) => {
            issuer == subject.as_str()
                || Subject::new(issuer).is_some_and(|other| other.is_email() != subject.is_email())
        }
        (KeyOwner::Google, Issuer::Absent) | (_, Issuer::Unusable) => false,
    }
}

/// The selected facts that have a value (contract 4.9).
fn metadata(
    names: Vec<String>,
    role: &RoleName,
    account: &ServiceAccount,
) -> Vec<(String, String)> {
    let value = |name: &str| match name {
        "role" => Some(role.as_str()),
        "project_id" => Some(account.project_id.as_str()),
        "service_account_id" => Some(account.unique_id.as_str()),
        "service_account_email" => Some(account.email.as_str()),
        _ => None,
    };
    names
        .into_iter()
        .filter_map(|name| {
            let value = value(&name).filter(|value| !value.is_empty())?.to_owned();
            Some((name, value))
        })
        .collect()
}

impl From<CallError> for LoginError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Unavailable(api) => Self::GoogleUnavailable(api.name().into()),
            CallError::Denied(api) => Self::EndpointDenied(api.name().into()),
        }
    }
}

impl From<AccountError> for LoginError {
    fn from(error: AccountError) -> Self {
        match error {
            AccountError::Refused(refusal) => Self::AccountNotFound(refusal),
            AccountError::Credentials(failure) => Self::Credentials(failure),
            AccountError::Call(error) => error.into(),
            AccountError::Storage(error) => Self::Storage(error),
        }
    }
}

impl From<Refusal> for LoginError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Project {
                email,
                bound_projects,
            } => Self::ProjectNotBound {
                email,
                bound_projects,
            },
            Refusal::Account { email, unique_id } => Self::AccountNotBound { email, unique_id },
        }
    }
}
