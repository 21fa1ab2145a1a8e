//! Every refusal of a login, with status and text (contract 4.2, 4.3, 4.4, 4.6, 4.7).

use gatehouse_auth_method::{
    AccountNotBound, AncestorNotBound, CreatedLater, CredentialsError, CredentialsRefusal,
    CredentialsStep, GroupLocations, GroupNotFound, Instance, InstanceAccountNotBound,
    InstanceError, InstanceProjectNotBound, InstanceTooOld, JwtError, KeyLookupError, KeyNotFound,
    LabelMissing, LoginError, ProjectNotBound, ProjectRefusal,
};
use gatehouse_gateway::Method;
use gatehouse_ports::StoreError;

use super::rows::{absent, account, hidden, rows, texts};
use super::server::Server;

const BODY: &str = r#"{"role":"dev","jwt":"a.b.c"}"#;

fn refused(error: LoginError, status: u16, text: &str) {
    let server = Server::with_role();
    let before = server.commits();
    let is_operators = status >= 500 || text.contains("Error 403");
    server.script.login.is(Err(error));
    server
        .send(Method::Put, "auth/gcp/login", None, BODY)
        .refused(status, text);
    assert_eq!(server.commits(), before);
    let lines = server.operator_lines();
    if is_operators {
        assert_eq!(lines, [format!("auth/gcp/: {text}")]);
    } else {
        assert!(lines.is_empty(), "{lines:?}");
    }
}

fn key_refused(refusal: KeyLookupError) -> LoginError {
    LoginError::KeyNotFound(KeyNotFound {
        key_id: "k\"1".to_owned(),
        subject: "s".to_owned(),
        refusal,
    })
}

rows! { refused:
    step_1_role_missing: LoginError::RoleMissing => 400 "role is required";
    step_2_role_unknown: LoginError::RoleNotFound("x\n".to_owned()) => 400 "role \"x\\n\" not found";
    step_3_jwt_missing: LoginError::JwtMissing => 400 "jwt argument is required";
    step_4_address: LoginError::AddressNotAllowed => 403 "permission denied";
    step_5_too_long: LoginError::MalformedJwt(JwtError::TooLong) => 400 "unable to parse signed JWT: the token is longer than 16 KiB";
    step_5_not_a_jwt_gets_a_hint: LoginError::MalformedJwt(JwtError::NotThreeParts) => 400 "unable to parse signed JWT: the token does not have three non-empty parts; this is not a JWT: send one from signJwt, generateIdToken or the metadata server, not an access token";
    step_5_not_base64url: LoginError::MalformedJwt(JwtError::NotBase64Url) => 400 "unable to parse signed JWT: a part is not base64url without padding; this is not a JWT: send one from signJwt, generateIdToken or the metadata server, not an access token";
    step_5_header: LoginError::MalformedJwt(JwtError::Header) => 400 "unable to parse signed JWT: the header is not a JSON object with unique member names";
    step_5_claims: LoginError::MalformedJwt(JwtError::Claims) => 400 "unable to parse signed JWT: the claims are not a JSON object with unique member names";
    step_5_too_complex: LoginError::MalformedJwt(JwtError::TooComplex) => 400 "unable to parse signed JWT: the JSON of the token is too deep or has too many members";
    step_5_algorithm: LoginError::MalformedJwt(JwtError::Algorithm) => 400 "unable to parse signed JWT: alg is not RS256";
    step_5_key_id: LoginError::MalformedJwt(JwtError::KeyId) => 400 "unable to parse signed JWT: kid is missing or not 1 to 256 printable ASCII characters";
    step_5_extension: LoginError::MalformedJwt(JwtError::Extension) => 400 "unable to parse signed JWT: the header asks for an extension that is not supported";
    step_5_type: LoginError::MalformedJwt(JwtError::Type) => 400 "unable to parse signed JWT: typ is not JWT";
    step_7_subject_shape: key_refused(KeyLookupError::SubjectShape) => 400 "unable to get public key for signed JWT: unable to get public key \"k\\\"1\" for JWT subject \"s\": the subject is neither a unique id nor an e-mail address of a service account";
    step_7_account_unknown: key_refused(KeyLookupError::AccountUnknown) => 400 "unable to get public key for signed JWT: unable to get public key \"k\\\"1\" for JWT subject \"s\": no keys are published for the service account";
    step_7_key_unknown: key_refused(KeyLookupError::KeyUnknown) => 400 "unable to get public key for signed JWT: unable to get public key \"k\\\"1\" for JWT subject \"s\": the service account has no such key";
    step_7_not_googles_key_on_a_gce_role: key_refused(KeyLookupError::NotGoogles) => 400 "unable to get public key for signed JWT: unable to get public key \"k\\\"1\" for JWT subject \"s\": no Google OAuth2 provider key found for GCE role";
    step_7_document_unreadable: key_refused(KeyLookupError::DocumentUnreadable) => 400 "unable to get public key for signed JWT: unable to get public key \"k\\\"1\" for JWT subject \"s\": the key document could not be read";
    step_8_signature: LoginError::SignatureInvalid => 400 "unable to verify JWT signature";
    step_9a_expired: LoginError::Expired => 400 "JWT is expired or does not have proper 'exp' claim";
    step_9b_expires_too_late: LoginError::ExpiresTooLate(7260) => 400 "JWT must expire in 60 minutes, expires in 2h1m0s";
    step_9c_not_yet_valid: LoginError::NotYetValid => 400 "JWT is not yet valid";
    step_9d_subject_missing: LoginError::SubjectMissing => 400 "expected JWT to have 'sub' claim with service account id or email";
    step_9e_audience: LoginError::AudienceNotForRole("Dev".to_owned()) => 400 "at least one of the JWT claim 'aud' must end in \"vault/Dev\"";
    step_9f_issuer: LoginError::IssuerNotAcceptable => 400 "JWT issuer is not acceptable";
    step_11_alias_empty: LoginError::AliasEmpty => 400 "the alias would have no name";

    i1_inference_not_allowed: LoginError::InferenceNotAllowed("dev".to_owned()) => 400 "Got GCE token but IAM role \"dev\" does not allow GCE inference";
    i2_expires_beyond_role: LoginError::ExpiresBeyondRole(900) => 400 "role requires that service account JWTs expire within 900 seconds";
    i3_account_absent: LoginError::AccountNotFound(account(absent())) => 400 "could not find service account 'projects/-/serviceAccounts/x@p': googleapi: Error 404: Not found, notFound";
    i3_account_hidden: LoginError::AccountNotFound(account(hidden())) => 400 "could not find service account 'projects/-/serviceAccounts/x@p': googleapi: Error 403: Permission denied, forbidden (the credentials of the mount may lack the permission iam.serviceAccounts.get)";
    i4_account_disabled: LoginError::AccountDisabled("x@p".to_owned()) => 400 "service account x@p is disabled";
    i4_account_mismatch: LoginError::AccountMismatch => 400 "service account does not match the JWT subject";
    i5_project_not_bound: LoginError::ProjectNotBound(ProjectNotBound { email: "x@p".to_owned(), bound_projects: texts(&["p1", "p2"]) }) => 400 "service account \"x@p\" not in bound projects [p1 p2]";
    i6_account_not_bound: LoginError::AccountNotBound(AccountNotBound { email: "x@p".to_owned(), unique_id: "123".to_owned() }) => 400 "service account x@p (id: 123) is not authorized for role";

    g1_g2_no_instance_claims: LoginError::InstanceClaimsMissing => 400 "expected JWT to have claims with GCE metadata: request the identity token with format=full";
    g3_project_not_bound: LoginError::InstanceProjectNotBound(InstanceProjectNotBound { instance_id: "12".to_owned(), project: "p".to_owned(), bound_projects: texts(&["a", "b"]) }) => 400 "instance \"12\" (project \"p\") not in bound projects [a b]";
    g4_instance_absent: instance(InstanceError::Refused(absent())) => 400 "error when attempting to find instance (project p, zone: z, instance: n) :googleapi: Error 404: Not found, notFound";
    g4_instance_hidden: instance(InstanceError::Refused(hidden())) => 400 "error when attempting to find instance (project p, zone: z, instance: n) :googleapi: Error 403: Permission denied, forbidden (the credentials of the mount may lack the permission compute.instances.get)";
    g5_status: instance(InstanceError::Status("TERMINATED".to_owned())) => 400 "error when attempting to find instance (project p, zone: z, instance: n) :authenticating instance n found but has invalid status 'TERMINATED'";
    g6_other_id: instance(InstanceError::OtherId) => 400 "error when attempting to find instance (project p, zone: z, instance: n) :instance id does not match";
    g7_created_later: instance(InstanceError::CreatedLater(CreatedLater { claimed: 5, created: 9 })) => 400 "error when attempting to find instance (project p, zone: z, instance: n) :metadata instance_creation_timestamp 5 is before instance's creation time 9";
    g8_label_missing: LoginError::LabelMissing(LabelMissing { key: "k".to_owned(), value: "v".to_owned() }) => 400 "instance missing bound label \"k:v\"";
    g9_zone_not_bound: LoginError::ZoneNotBound(texts(&["a", "b"])) => 400 "instance not in bound zones [\"a\" \"b\"]";
    g10_region_not_bound: LoginError::RegionNotBound(texts(&["a"])) => 400 "instance not in bound regions [\"a\"]";
    g11_no_group_in_zones: no_group(GroupLocations::Zones(texts(&["z"]))) => 400 "instance group \"g\" does not exist in zones [\"z\"] for project \"p\"";
    g11_no_group_in_regions: no_group(GroupLocations::Regions(texts(&["r", "s"]))) => 400 "instance group \"g\" does not exist in regions [\"r\" \"s\"] for project \"p\"";
    g11_not_in_groups: LoginError::NotInGroups(texts(&["g"])) => 400 "instance is not part of instance groups [\"g\"]";
    g11_groups_unreadable: LoginError::GroupsUnreadable(ProjectRefusal { project: "p".to_owned(), refusal: hidden() }) => 400 "could not list instance groups of project \"p\": googleapi: Error 403: Permission denied, forbidden (the credentials of the mount may lack the permission compute.instanceGroups.list and compute.instanceGroups.get)";
    g12_bound_account_absent: LoginError::BoundAccountNotFound(account(absent())) => 400 "could not find service account \"x@p\": googleapi: Error 404: Not found, notFound";
    g12_account_not_bound: LoginError::InstanceAccountNotBound(InstanceAccountNotBound { unique_id: "1".to_owned(), email: "x@p".to_owned(), bound: texts(&["a"]) }) => 400 "service account \"1\" (\"x@p\") is not in bound service accounts [\"a\"]";
    g12_account_not_attached: LoginError::AccountNotAttached("x@p".to_owned()) => 400 "service account x@p is not attached to the instance";
    g13_account_absent: LoginError::InstanceAccountNotFound(account(absent())) => 400 "Could not find service account \"x@p\" used for GCE metadata token: googleapi: Error 404: Not found, notFound";
    g13_account_hidden: LoginError::InstanceAccountNotFound(account(hidden())) => 400 "Could not find service account \"x@p\" used for GCE metadata token: googleapi: Error 403: Permission denied, forbidden (the credentials of the mount may lack the permission iam.serviceAccounts.get)";

    claims_trusted_only_from_google: LoginError::NotGoogleSigned => 400 "role has 'live_checks' off, so it takes only JWTs that Google has signed";
    replayed: LoginError::Replayed => 400 "JWT has logged in before, and role takes a JWT only once";
    instance_too_old: LoginError::InstanceTooOld(InstanceTooOld { age: 7200, maximum: 3600 }) => 400 "instance was created 2h0m0s ago, and role allows at most 1h0m0s";
    ancestors_unreadable: LoginError::AncestryUnreadable(ProjectRefusal { project: "p".to_owned(), refusal: hidden() }) => 400 "could not read the ancestors of project \"p\": googleapi: Error 403: Permission denied, forbidden (the credentials of the mount may lack the permission resourcemanager.projects.get)";
    folder_not_bound: LoginError::FolderNotBound(AncestorNotBound { project: "p".to_owned(), bound: texts(&["1", "2"]) }) => 400 "project \"p\" is not in bound folders [\"1\" \"2\"]";
    organization_not_bound: LoginError::OrganizationNotBound(AncestorNotBound { project: "p".to_owned(), bound: texts(&["1"]) }) => 400 "project \"p\" is not in bound organizations [\"1\"]";

    d19_no_credentials: LoginError::Credentials(CredentialsError::NotFound) => 502 "failed to create oauth2 http client: could not find default credentials";
    d19_key_unusable: LoginError::Credentials(CredentialsError::Unusable) => 502 "failed to create oauth2 http client: the stored private key is not usable";
    d19_default_credentials_unusable: LoginError::Credentials(CredentialsError::DefaultUnusable) => 502 "failed to create oauth2 http client: the application default credentials of the server are not usable";
    d19_no_identity_token: LoginError::Credentials(CredentialsError::NoIdentityToken) => 502 "failed to create oauth2 http client: no identity token could be made for federation";
    d19_credentials_refused: LoginError::Credentials(CredentialsError::Refused(CredentialsRefusal { step: CredentialsStep::Exchange, status: 400, message: "invalid_grant".to_owned() })) => 502 "failed to create oauth2 http client: Google refused the credentials at the token exchange with status 400: invalid_grant";
    d19_token_answer_unreadable: LoginError::Credentials(CredentialsError::AnswerUnreadable) => 502 "failed to create oauth2 http client: Google's answer could not be read";
    d19_endpoint_denied: LoginError::EndpointDenied("iam".into()) => 502 "outgoing requests to the iam API are not allowed: add its host to the allowed hosts of the server";
    d19_google_unusable: LoginError::GoogleUnusable("compute".into()) => 502 "google API gave an unusable answer: compute";
    d19_google_unavailable: LoginError::GoogleUnavailable("iam".into()) => 503 "google API unavailable: iam";
}

fn instance(flaw: InstanceError) -> LoginError {
    LoginError::Instance(Instance {
        project: "p".to_owned(),
        zone: "z".to_owned(),
        name: "n".to_owned(),
        flaw,
    })
}

fn no_group(locations: GroupLocations) -> LoginError {
    LoginError::GroupNotFound(GroupNotFound {
        group: "g".to_owned(),
        project: "p".to_owned(),
        locations,
    })
}

#[test]
fn a_refusal_without_a_reason_ends_with_googles_message() {
    let mut refusal = absent();
    refusal.reason.clear();
    let text = "could not find service account \"x@p\": googleapi: Error 404: Not found";
    refused(
        LoginError::BoundAccountNotFound(account(refusal)),
        400,
        text,
    );
}

#[test]
fn of_a_failed_store_only_the_operator_hears() {
    let server = Server::with_role();
    let failed = StoreError::Unavailable("disk full".to_owned());
    server
        .script
        .login
        .is(Err(LoginError::Storage(failed.into())));
    let answer = server.send(Method::Put, "auth/gcp/login", None, BODY);
    answer.refused(500, "internal error");
    let lines = server.operator_lines();
    assert!(lines[0].starts_with("auth/gcp/: ") && lines[0].contains("disk full"));
    server
        .script
        .login
        .is(Err(LoginError::Storage(StoreError::Sealed.into())));
    let answer = server.send(Method::Put, "auth/gcp/login", None, BODY);
    answer.refused(503, "Vault is sealed");
}
