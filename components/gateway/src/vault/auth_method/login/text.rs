//! Texts for a caller whose login failed (contract 4.2 to 4.7).

use gatehouse_access_api::LoginError as NotIssued;
use gatehouse_access_api::duration;
use gatehouse_auth_method_api::{
    AccountNotBound, AncestorNotBound, CreatedLater, GroupLocations, GroupNotFound, Instance,
    InstanceAccountNotBound, InstanceError, InstanceProjectNotBound, InstanceTooOld, JwtFlaw,
    KeyNotFound, LabelMissing, LoginError, ProjectNotBound, ProjectRefusal,
};

use super::super::google::{self, Needs};
use crate::vault::errors::ApiError;
use crate::vault::text;

/// The refusal of the auth method.
pub(in crate::vault::auth_method) fn refused(error: LoginError) -> ApiError {
    let text = match error {
        LoginError::Storage(error) => return error.into(),
        LoginError::Credentials(failure) => return google::credentials(&failure),
        LoginError::EndpointDenied(api) => return google::endpoint_denied(&api),
        LoginError::GoogleUnusable(api) => return google::unusable(&api),
        LoginError::GoogleUnavailable(api) => return google::unavailable(&api),
        LoginError::AddressNotAllowed => return ApiError::denied(),
        LoginError::RoleMissing => "role is required".to_owned(),
        LoginError::RoleNotFound(role) => format!("role {} not found", text::quoted(&role)),
        LoginError::JwtMissing => "jwt argument is required".to_owned(),
        LoginError::MalformedJwt(flaw) => malformed(flaw),
        LoginError::KeyNotFound(KeyNotFound {
            key_id,
            subject,
            refusal,
        }) => format!(
            "unable to get public key for signed JWT: unable to get public key {} for JWT subject {}: {refusal}",
            text::quoted(&key_id),
            text::quoted(&subject),
        ),
        LoginError::SignatureInvalid => "unable to verify JWT signature".to_owned(),
        LoginError::Expired => "JWT is expired or does not have proper 'exp' claim".to_owned(),
        LoginError::ExpiresTooLate(expires_in) => format!(
            "JWT must expire in 60 minutes, expires in {}",
            duration::full(expires_in)
        ),
        LoginError::NotYetValid => "JWT is not yet valid".to_owned(),
        LoginError::SubjectMissing => {
            "expected JWT to have 'sub' claim with service account id or email".to_owned()
        }
        LoginError::AudienceNotForRole(role) => format!(
            "at least one of the JWT claim 'aud' must end in {}",
            text::quoted(&format!("vault/{role}"))
        ),
        LoginError::IssuerNotAcceptable => "JWT issuer is not acceptable".to_owned(),
        LoginError::InferenceNotAllowed(role) => {
            format!(
                "Got GCE token but IAM role {} does not allow GCE inference",
                text::quoted(&role)
            )
        }
        LoginError::ExpiresBeyondRole(maximum_jwt_lifetime) => format!(
            "role requires that service account JWTs expire within {maximum_jwt_lifetime} seconds"
        ),
        LoginError::AccountNotFound(account) => {
            let before = "could not find service account 'projects/-/serviceAccounts/";
            return google::account_refused(&account, before, "'");
        }
        LoginError::AccountDisabled(email) => format!("service account {email} is disabled"),
        LoginError::AccountMismatch => "service account does not match the JWT subject".to_owned(),
        LoginError::ProjectNotBound(ProjectNotBound {
            email,
            bound_projects,
        }) => format!(
            "service account {} not in bound projects {}",
            text::quoted(&email),
            text::bare(&bound_projects)
        ),
        LoginError::AccountNotBound(AccountNotBound { email, unique_id }) => {
            format!("service account {email} (id: {unique_id}) is not authorized for role")
        }
        LoginError::NotGoogleSigned => {
            "role has 'live_checks' off, so it takes only JWTs that Google has signed".to_owned()
        }
        LoginError::Replayed => {
            "JWT has logged in before, and role takes a JWT only once".to_owned()
        }
        LoginError::InstanceClaimsMissing => "expected JWT to have claims with GCE metadata: request the identity token with format=full".to_owned(),
        LoginError::InstanceProjectNotBound(InstanceProjectNotBound {
            instance_id,
            project,
            bound_projects,
        }) => format!(
            "instance {} (project {}) not in bound projects {}",
            text::quoted(&instance_id),
            text::quoted(&project),
            text::bare(&bound_projects)
        ),
        LoginError::Instance(Instance {
            project,
            zone,
            name,
            flaw,
        }) => return instance(&project, &zone, &name, &flaw),
        LoginError::InstanceTooOld(InstanceTooOld { age, maximum }) => format!(
            "instance was created {} ago, and role allows at most {}",
            duration::full(age),
            duration::full(maximum)
        ),
        LoginError::LabelMissing(LabelMissing { key, value }) => format!(
            "instance missing bound label {}",
            text::quoted(&format!("{key}:{value}"))
        ),
        LoginError::ZoneNotBound(zones) => {
            format!("instance not in bound zones {}", text::quoted_list(&zones))
        }
        LoginError::RegionNotBound(regions) => {
            format!("instance not in bound regions {}", text::quoted_list(&regions))
        }
        LoginError::GroupNotFound(GroupNotFound {
            group,
            project,
            locations,
        }) => group_not_found(&group, &project, &locations),
        LoginError::NotInGroups(groups) => format!(
            "instance is not part of instance groups {}",
            text::quoted_list(&groups)
        ),
        LoginError::GroupsUnreadable(ProjectRefusal { project, refusal }) => {
            let why = google::why(&refusal, Needs::InstanceGroups);
            let project = text::quoted(&project);
            return google::refused(
                &refusal,
                format!("could not list instance groups of project {project}: {why}"),
            );
        }
        LoginError::BoundAccountNotFound(account) => {
            return google::account_refused(&account, "could not find service account \"", "\"");
        }
        LoginError::InstanceAccountNotFound(account) => {
            let after = "\" used for GCE metadata token";
            return google::account_refused(&account, "Could not find service account \"", after);
        }
        LoginError::InstanceAccountNotBound(InstanceAccountNotBound {
            unique_id,
            email,
            bound,
        }) => format!(
            "service account {} ({}) is not in bound service accounts {}",
            text::quoted(&unique_id),
            text::quoted(&email),
            text::quoted_list(&bound)
        ),
        LoginError::AccountNotAttached(email) => {
            format!("service account {email} is not attached to the instance")
        }
        LoginError::AncestryUnreadable(ProjectRefusal { project, refusal }) => {
            let why = google::why(&refusal, Needs::Ancestry);
            let project = text::quoted(&project);
            return google::refused(
                &refusal,
                format!("could not read the ancestors of project {project}: {why}"),
            );
        }
        LoginError::FolderNotBound(AncestorNotBound { project, bound }) => not_below(&project, "folders", &bound),
        LoginError::OrganizationNotBound(AncestorNotBound { project, bound }) => {
            not_below(&project, "organizations", &bound)
        }
        error @ LoginError::AliasEmpty => error.to_string(),
    };
    ApiError::plain(400, text)
}

/// The refusal of a token after the method let the caller in.
pub(super) fn not_issued(error: NotIssued) -> ApiError {
    let text = match error {
        NotIssued::Failure(failure) => return failure.into(),
        NotIssued::AddressDenied | NotIssued::EntityUnusable => return ApiError::denied(),
        // As for a login where no mount is.
        NotIssued::MountGone => return ApiError::plain(403, "permission denied"),
        NotIssued::RootPolicy => "auth methods cannot create root tokens".to_owned(),
        NotIssued::UnassignablePolicy(name) => {
            format!("cannot assign policy {}", text::quoted(&name))
        }
        NotIssued::InvalidBoundCidr(address) => {
            format!("error parsing address {}", text::quoted(&address))
        }
        NotIssued::BatchWithNumUses => "batch tokens cannot have \"num_uses\" set".to_owned(),
        NotIssued::BatchWithPeriod => "batch tokens cannot have \"period\" set".to_owned(),
        error @ (NotIssued::EmptyAliasName
        | NotIssued::TooManyPolicies(_)
        | NotIssued::TooManyGroupAliases(_)
        | NotIssued::BatchTooLarge(_)
        | NotIssued::TooLong(_)) => error.to_string(),
        error @ (NotIssued::TooManyTokensOfMount(_) | NotIssued::TooManyTokensOfRole(_)) => {
            return ApiError::plain(429, error.to_string());
        }
    };
    ApiError::plain(400, text)
}

fn malformed(flaw: JwtFlaw) -> String {
    let text = format!("unable to parse signed JWT: {flaw}");
    match flaw {
        // Clients that ask Google for the wrong kind of token send this.
        JwtFlaw::NotThreeParts | JwtFlaw::NotBase64Url => format!(
            "{text}; this is not a JWT: send one from signJwt, generateIdToken or the metadata server, not an access token"
        ),
        _ => text,
    }
}

/// The flaw of an instance at a login (G4 to G7).
fn instance(project: &str, zone: &str, name: &str, flaw: &InstanceError) -> ApiError {
    flawed_instance(name, flaw).after(&format!(
        "error when attempting to find instance (project {project}, zone: {zone}, instance: {name}) :"
    ))
}

/// The same in itself, as renewals tell it (R6).
pub(in crate::vault::auth_method) fn flawed_instance(name: &str, flaw: &InstanceError) -> ApiError {
    let why = match flaw {
        InstanceError::Refused(refusal) => {
            return google::refused(refusal, google::why(refusal, Needs::Instance));
        }
        InstanceError::Status(status) => {
            format!("authenticating instance {name} found but has invalid status '{status}'")
        }
        InstanceError::OtherId => "instance id does not match".to_owned(),
        InstanceError::CreatedLater(CreatedLater { claimed, created }) => format!(
            "metadata instance_creation_timestamp {claimed} is before instance's creation time {created}"
        ),
    };
    ApiError::plain(400, why)
}

fn group_not_found(group: &str, project: &str, locations: &GroupLocations) -> String {
    let (kind, names) = match locations {
        GroupLocations::Zones(names) => ("zones", names),
        GroupLocations::Regions(names) => ("regions", names),
    };
    format!(
        "instance group {} does not exist in {kind} {} for project {}",
        text::quoted(group),
        text::quoted_list(names),
        text::quoted(project),
    )
}

fn not_below(project: &str, what: &str, bound: &[String]) -> String {
    format!(
        "project {} is not in bound {what} {}",
        text::quoted(project),
        text::quoted_list(bound),
    )
}
