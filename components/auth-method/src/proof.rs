//! Proof of a token: whose it is, and that it may be used now and for this role (contract 4.2, steps 5 to 9; 4.4, I1 and I2).

use gatehouse_ports::{Clock, Http, Random};

use crate::excerpt::excerpt;
use crate::google::{CallError, Compatibility, Google, KeyError, KeyOwner, ServiceAccount};
use crate::jwt::{AudienceRule, CLOCK_SKEW, Claims, Issuer, Subject, UnverifiedJwt, VerifiedJwt};
use crate::trace::{Condition as _, Trace, input, list};
use crate::{Check, IamRules, KeyLookupError, KeyNotFound, LoginError, Role, RoleRules, RoleType};

/// Most of a `sub` that an error repeats, in bytes.
const SHOWN_SUBJECT_BYTES: usize = 320;
/// The issuers of Google's own tokens.
const GOOGLE_ISSUERS: [&str; 2] = ["https://accounts.google.com", "accounts.google.com"];

/// A token whose signature and claims have been checked.
pub(crate) struct Proof {
    pub(crate) subject: Subject,
    pub(crate) owner: KeyOwner,
    pub(crate) jwt: VerifiedJwt,
    /// Seconds since 1970.
    pub(crate) expires: u64,
}

/// The rules that a token is checked against.
#[derive(Clone, Copy)]
pub(crate) struct Terms<'a> {
    /// The role as the caller named it.
    pub(crate) requested_role: &'a str,
    pub(crate) role: &'a Role,
    pub(crate) compatibility: Compatibility,
}

impl Terms<'_> {
    fn audience(&self) -> AudienceRule<'_> {
        AudienceRule {
            role: self.requested_role,
            bound: &self.role.options.bound_audiences,
            accept_missing: self.compatibility.accept_missing_audience,
            accept_without_boundary: self.compatibility.accept_audience_without_boundary,
        }
    }

    /// The checks that need no key. They are made twice: before any key is fetched, to refuse cheaply, and of the claims that the
    /// signature has proven.
    fn check_claims<'c>(
        &self,
        claims: &'c Claims,
        now: u64,
        trace: &mut impl Trace,
    ) -> Result<(&'c str, u64), LoginError> {
        let inputs = || {
            let times = claims.times().into_iter();
            let known = times.filter_map(|(name, time)| Some(input(name, time?)));
            known.chain([input("now", now)]).collect()
        };
        let expires = claims.expiry(now);
        let end = expires.as_ref().copied().unwrap_or_default();
        trace.judge(Check::Expiry, inputs, expires.map(drop))?;
        if !self.compatibility.ignore_issuer_and_beginning {
            trace.judge(Check::Beginning, inputs, claims.beginning(now))?;
        }
        let subject = claims.subject();
        let shown = || {
            let subject = claims.subject().unwrap_or_default();
            vec![input("sub", excerpt(subject, SHOWN_SUBJECT_BYTES))]
        };
        let subject = trace.require(Check::Subject, shown, subject)?;
        let rule = self.audience();
        trace.judge(
            Check::Audience,
            || {
                let wanted = format!("vault/{}", self.role_shown());
                vec![
                    input("aud", claims.audiences().join(", ")),
                    input("wanted", wanted),
                    list("bound_audiences", rule.bound),
                ]
            },
            claims.audience(rule),
        )?;
        Ok((subject, end))
    }

    fn role_shown(&self) -> String {
        excerpt(self.requested_role, SHOWN_SUBJECT_BYTES)
    }

    /// Checks the form, the claims, the signature and the issuer of `token`.
    pub(crate) fn prove<H: Http, C: Clock, R: Random>(
        &self,
        token: &str,
        google: &Google<'_, H, C, R>,
        trace: &mut impl Trace,
    ) -> Result<Proof, LoginError> {
        let parsed = UnverifiedJwt::parse(token).map_err(LoginError::MalformedJwt);
        let jwt = trace.require(Check::Form, Vec::new, parsed)?;
        let (subject, _) = self.check_claims(jwt.claims(), google.now(), trace)?;
        let key_not_found = |refusal| {
            LoginError::KeyNotFound(KeyNotFound {
                key_id: jwt.key_id().to_owned(),
                subject: excerpt(subject, SHOWN_SUBJECT_BYTES),
                refusal,
            })
        };
        let shown = || vec![input("sub", excerpt(subject, SHOWN_SUBJECT_BYTES))];
        let subject = trace.require(
            Check::Subject,
            shown,
            Subject::new(subject).ok_or_else(|| key_not_found(KeyLookupError::SubjectShape)),
        )?;
        let found = match self.role.rules.role_type() {
            RoleType::Iam => google.find_key(jwt.key_id(), &subject),
            // The owner of an account could claim any instance: only Google's own word counts (CVE-2020-16251).
            RoleType::Gce => google.find_google_key(jwt.key_id()),
        };
        let (key, owner) = trace.require(
            Check::Key,
            || vec![input("kid", jwt.key_id()), input("sub", subject.as_str())],
            found.map_err(|error| match error {
                KeyError::Call(error) => error.into(),
                KeyError::Refused(refusal) => key_not_found(refusal),
            }),
        )?;
        let signer = || vec![input("signer", owner.name())];
        let verified = jwt.verify(&key).ok_or(LoginError::SignatureInvalid);
        let jwt = trace.require(Check::Signature, signer, verified)?;
        let claims = jwt.claims();
        // Fetching the key may have taken a while.
        let (_, expires) = self.check_claims(claims, google.now(), trace)?;
        if !self.compatibility.ignore_issuer_and_beginning {
            let acceptable = may_issue(claims.issuer(), owner, &subject);
            trace.judge(
                Check::Issuer,
                || vec![input("iss", claims.issuer()), input("signer", owner.name())],
                acceptable.otherwise(LoginError::IssuerNotAcceptable),
            )?;
        }
        Ok(Proof {
            subject,
            owner,
            jwt,
            expires,
        })
    }

    /// I1 and I2, and whether the role needs Google's signature: what a role says about the token itself.
    pub(crate) fn check_token(
        &self,
        name: &str,
        proof: &Proof,
        now: u64,
        trace: &mut impl Trace,
    ) -> Result<(), LoginError> {
        let by_google = proof.owner == KeyOwner::Google;
        let signer = || vec![input("signer", proof.owner.name())];
        if self.role.options.trust_claims {
            let outcome = by_google.otherwise(LoginError::NotGoogleSigned);
            trace.require(Check::Signature, signer, outcome)?;
        }
        let RoleRules::Iam(IamRules {
            maximum_jwt_lifetime,
            allow_gce_inference,
            ..
        }) = self.role.rules
        else {
            return Ok(());
        };
        let inferred = allow_gce_inference || self.compatibility.ignore_allow_gce_inference;
        trace.judge(
            Check::Inference,
            || {
                let allowed = input("allow_gce_inference", allow_gce_inference);
                vec![input("signer", proof.owner.name()), allowed]
            },
            (!by_google || inferred)
                .otherwise_with(|| LoginError::InferenceNotAllowed(name.to_owned())),
        )?;
        let latest = now
            .saturating_add(maximum_jwt_lifetime)
            .saturating_add(CLOCK_SKEW);
        // The lifetime of Google's own tokens cannot be chosen.
        let exempt = by_google && !self.compatibility.bound_google_signed_lifetime;
        trace.judge(
            Check::Lifetime,
            || {
                let limit = input("max_jwt_exp", maximum_jwt_lifetime);
                vec![input("exp", proof.expires), input("now", now), limit]
            },
            (exempt || proof.expires <= latest)
                .otherwise(LoginError::ExpiresBeyondRole(maximum_jwt_lifetime)),
        )
    }
}

/// The last word on the issuer of a token that an account has signed: its other name may stand there, which only the account's state
/// can confirm.
pub(crate) fn check_account_issuer(
    proof: &Proof,
    account: &ServiceAccount,
) -> Result<(), LoginError> {
    match (proof.owner, proof.jwt.claims().issuer()) {
        (KeyOwner::Account, Issuer::Named(issuer)) => account
            .is_called(issuer)
            .otherwise(LoginError::IssuerNotAcceptable),
        _ => Ok(()),
    }
}

/// True if the owner of the key can have issued a token for `subject`, as far as that can be told without asking for the account.
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

impl From<CallError> for LoginError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Unavailable(api) => Self::GoogleUnavailable(api.name().into()),
            CallError::Unusable(api) => Self::GoogleUnusable(api.name().into()),
            CallError::Denied(api) => Self::EndpointDenied(api.name().into()),
        }
    }
}
