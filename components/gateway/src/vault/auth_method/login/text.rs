//! The texts for a caller whose login failed (contract 4.2 to 4.7).

use gatehouse_access_api::LoginError as NotIssued;
use gatehouse_access_api::duration;
use gatehouse_auth_method_api::{
    AccountNotBound, AncestorNotBound, CreatedLater, GroupLocations, GroupNotFound, Instance,
    InstanceAccountNotBound, InstanceError, InstanceProjectNotBound, InstanceTooOld, JwtError,
    KeyNotFound, LabelMissing, LoginError, ProjectNotBound, ProjectRefusal,
};

use super::super::google::{self, Needs};
use crate::vault::errors::ApiError;
use crate::vault::text::{self, quoted, quoted_list as list};

/// The refusal by the auth method: one row for each case, and a function below for each text of several parts.
pub(in crate::vault::auth_method) fn refused(error: LoginError) -> ApiError {
    use LoginError as E;
    let text = match error {
        E::Storage(error) => return error.into(),
        E::Credentials(failure) => return google::credentials(&failure),
        E::EndpointDenied(api) => return google::endpoint_denied(&api),
        E::GoogleUnusable(api) => return google::unusable(&api),
        E::GoogleUnavailable(api) => return google::unavailable(&api),
        E::AddressNotAllowed => return ApiError::denied(),
        E::AccountNotFound(account) => {
            let before = "could not find service account 'projects/-/serviceAccounts/";
            return google::account_refused(&account, before, "'");
        }
        E::BoundAccountNotFound(account) => {
            return google::account_refused(&account, "could not find service account \"", "\"");
        }
        E::InstanceAccountNotFound(account) => {
            let after = "\" used for GCE metadata token";
            return google::account_refused(&account, "Could not find service account \"", after);
        }
        E::Instance(found) => return instance(&found),
        E::GroupsUnreadable(read) => {
            return unreadable("list instance groups", &read, Needs::InstanceGroups);
        }
        E::AncestryUnreadable(read) => {
            return unreadable("read the ancestors", &read, Needs::Ancestry);
        }
        E::RoleMissing => "role is required".to_owned(),
        E::RoleNotFound(role) => format!("role {} not found", quoted(&role)),
        E::JwtMissing => "jwt argument is required".to_owned(),
        E::MalformedJwt(flaw) => malformed(flaw),
        E::KeyNotFound(key) => key_not_found(&key),
        E::SignatureInvalid => "unable to verify JWT signature".to_owned(),
        E::Expired => "JWT is expired or does not have proper 'exp' claim".to_owned(),
        E::ExpiresTooLate(left) => expires_too_late(left),
        E::NotYetValid => "JWT is not yet valid".to_owned(),
        E::SubjectMissing => SUBJECT_MISSING.to_owned(),
        E::AudienceNotForRole(role) => audience_not_for_role(&role),
        E::IssuerNotAcceptable => "JWT issuer is not acceptable".to_owned(),
        E::InferenceNotAllowed(role) => inference_not_allowed(&role),
        E::ExpiresBeyondRole(most) => {
            format!("role requires that service account JWTs expire within {most} seconds")
        }
        E::AccountDisabled(email) => format!("service account {email} is disabled"),
        E::AccountMismatch => "service account does not match the JWT subject".to_owned(),
        E::ProjectNotBound(account) => project_not_bound(&account),
        E::AccountNotBound(AccountNotBound { email, unique_id }) => {
            format!("service account {email} (id: {unique_id}) is not authorized for role")
        }
        E::NotGoogleSigned => NOT_GOOGLE_SIGNED.to_owned(),
        E::Replayed => "JWT has logged in before, and role takes a JWT only once".to_owned(),
        E::InstanceClaimsMissing => INSTANCE_CLAIMS_MISSING.to_owned(),
        E::InstanceProjectNotBound(instance) => instance_project_not_bound(&instance),
        E::InstanceTooOld(instance) => instance_too_old(&instance),
        E::LabelMissing(label) => label_missing(&label),
        E::ZoneNotBound(zones) => format!("instance not in bound zones {}", list(&zones)),
        E::RegionNotBound(regions) => format!("instance not in bound regions {}", list(&regions)),
        E::GroupNotFound(missing) => group_not_found(&missing),
        E::NotInGroups(groups) => {
            format!("instance is not part of instance groups {}", list(&groups))
        }
        E::InstanceAccountNotBound(account) => instance_account_not_bound(&account),
        E::AccountNotAttached(email) => {
            format!("service account {email} is not attached to the instance")
        }
        E::FolderNotBound(project) => not_below("folders", &project),
        E::OrganizationNotBound(project) => not_below("organizations", &project),
        error @ E::AliasEmpty => error.to_string(),
    };
    ApiError::plain(400, text)
}

const SUBJECT_MISSING: &str = "expected JWT to have 'sub' claim with service account id or email";
const NOT_GOOGLE_SIGNED: &str =
    "role has 'live_checks' off, so it takes only JWTs that Google has signed";
const INSTANCE_CLAIMS_MISSING: &str =
    "expected JWT to have claims with GCE metadata: request the identity token with format=full";

/// The refusal to create a token after the method has accepted the login.
pub(super) fn not_issued(error: NotIssued) -> ApiError {
    let text = match error {
        NotIssued::Failure(failure) => return failure.into(),
        NotIssued::AddressDenied | NotIssued::EntityUnusable => return ApiError::denied(),
        // The text is that of a login at a path without a mount.
        NotIssued::MountGone => return ApiError::plain(403, "permission denied"),
        NotIssued::RootPolicy => "auth methods cannot create root tokens".to_owned(),
        NotIssued::UnassignablePolicy(name) => {
            format!("cannot assign policy {}", quoted(&name))
        }
        NotIssued::InvalidBoundCidr(address) => {
            format!("error parsing address {}", quoted(&address))
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

fn malformed(flaw: JwtError) -> String {
    let text = format!("unable to parse signed JWT: {flaw}");
    match flaw {
        // Clients send such a token if they ask Google for the wrong kind of token.
        JwtError::NotThreeParts | JwtError::NotBase64Url => format!(
            "{text}; this is not a JWT: send one from signJwt, generateIdToken or the metadata server, not an access token"
        ),
        _ => text,
    }
}

fn key_not_found(key: &KeyNotFound) -> String {
    let (key_id, subject) = (quoted(&key.key_id), quoted(&key.subject));
    let refusal = &key.refusal;
    format!(
        "unable to get public key for signed JWT: unable to get public key {key_id} for JWT subject {subject}: {refusal}"
    )
}

fn expires_too_late(seconds: u64) -> String {
    let left = duration::full(seconds);
    format!("JWT must expire in 60 minutes, expires in {left}")
}

fn audience_not_for_role(role: &str) -> String {
    let audience = quoted(&format!("vault/{role}"));
    format!("at least one of the JWT claim 'aud' must end in {audience}")
}

fn inference_not_allowed(role: &str) -> String {
    let role = quoted(role);
    format!("Got GCE token but IAM role {role} does not allow GCE inference")
}

fn project_not_bound(account: &ProjectNotBound) -> String {
    let email = quoted(&account.email);
    let bound = text::bare(&account.bound_projects);
    format!("service account {email} not in bound projects {bound}")
}

fn instance_project_not_bound(instance: &InstanceProjectNotBound) -> String {
    let (id, project) = (quoted(&instance.instance_id), quoted(&instance.project));
    let bound = text::bare(&instance.bound_projects);
    format!("instance {id} (project {project}) not in bound projects {bound}")
}

fn instance_too_old(instance: &InstanceTooOld) -> String {
    let (age, most) = (
        duration::full(instance.age),
        duration::full(instance.maximum),
    );
    format!("instance was created {age} ago, and role allows at most {most}")
}

fn label_missing(label: &LabelMissing) -> String {
    let label = quoted(&format!("{}:{}", label.key, label.value));
    format!("instance missing bound label {label}")
}

fn instance_account_not_bound(account: &InstanceAccountNotBound) -> String {
    let (unique_id, email) = (quoted(&account.unique_id), quoted(&account.email));
    let bound = list(&account.bound);
    format!("service account {unique_id} ({email}) is not in bound service accounts {bound}")
}

/// The refusal because Google did not allow a read of data of a project.
fn unreadable(
    read: &str,
    ProjectRefusal { project, refusal }: &ProjectRefusal,
    needs: Needs,
) -> ApiError {
    let (project, why) = (quoted(project), google::reason(refusal, needs));
    let text = format!("could not {read} of project {project}: {why}");
    google::refused(refusal, text)
}

/// The flaw of an instance at a login (G4 to G7).
fn instance(found: &Instance) -> ApiError {
    let Instance {
        project,
        zone,
        name,
        flaw,
    } = found;
    flawed_instance(name, flaw).after(&format!(
        "error when attempting to find instance (project {project}, zone: {zone}, instance: {name}) :"
    ))
}

/// The same without the words about the search for the instance, as renewals report it (R6).
pub(in crate::vault::auth_method) fn flawed_instance(name: &str, flaw: &InstanceError) -> ApiError {
    let why = match flaw {
        InstanceError::Refused(refusal) => {
            return google::refused(refusal, google::reason(refusal, Needs::Instance));
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

fn group_not_found(missing: &GroupNotFound) -> String {
    let (kind, names) = match &missing.locations {
        GroupLocations::Zones(names) => ("zones", names),
        GroupLocations::Regions(names) => ("regions", names),
    };
    let (group, project) = (quoted(&missing.group), quoted(&missing.project));
    let names = list(names);
    format!("instance group {group} does not exist in {kind} {names} for project {project}")
}

fn not_below(kind: &str, AncestorNotBound { project, bound }: &AncestorNotBound) -> String {
    let (project, bound) = (quoted(project), list(bound));
    format!("project {project} is not in bound {kind} {bound}")
}
