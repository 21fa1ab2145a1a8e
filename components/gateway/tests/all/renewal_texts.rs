//! Every refusal of a renewal, with status and text (contract 4.10).

use gatehouse_auth_method::{
    CreatedLater, CredentialsError, Instance, InstanceError, InstanceProjectNotBound,
    InstanceRefused, LabelMissing, LoginError, RenewalError,
};
use gatehouse_gateway::Method;
use gatehouse_ports::StoreError;

use super::rows::{absent, account, rows, texts};
use super::server::{Server, identity, listed};

fn refused(error: RenewalError, status: u16, text: &str) {
    let server = Server::with_role();
    server.script.login.is(Ok(identity()));
    let login = server.send(
        Method::Put,
        "auth/gcp/login",
        None,
        r#"{"role":"dev","jwt":"a.b.c"}"#,
    );
    let token = login.json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let before = server.commits();
    server.script.renewal.is(Err(error));
    server
        .send(Method::Put, "auth/token/renew-self", Some(&token), "{}")
        .refused(status, text);
    assert_eq!(server.commits(), before);
    server
        .send(Method::Get, "auth/token/lookup-self", Some(&token), "")
        .expect(200);
}

fn instance_refused(refusal: LoginError) -> RenewalError {
    RenewalError::InstanceRefused(InstanceRefused {
        role: "dev".to_owned(),
        refusal,
    })
}

fn instance(flaw: InstanceError) -> RenewalError {
    instance_refused(LoginError::Instance(Instance {
        project: "p".to_owned(),
        zone: "z".to_owned(),
        name: "n".to_owned(),
        flaw,
    }))
}

rows! { refused:
    r1_role_gone: RenewalError::RoleGone("dev".to_owned()) => 400 "role \"dev\" no longer exists";
    r2_policies_changed: RenewalError::PoliciesChanged("dev".to_owned()) => 400 "policies on role \"dev\" have changed, cannot renew";
    r3_account_gone: RenewalError::AccountNotFound("1".to_owned()) => 400 "cannot find service account 1";
    r4_inference_not_allowed: RenewalError::InferenceNotAllowed("dev".to_owned()) => 400 "GCE inferrence is no longer allowed for role dev";
    r5_account_not_bound: RenewalError::AccountNotBound("dev".to_owned()) => 400 "service account is no longer authorized for role dev";
    r6_g3_project: instance_refused(LoginError::InstanceProjectNotBound(InstanceProjectNotBound { instance_id: "12".to_owned(), project: "p".to_owned(), bound_projects: texts(&["a"]) })) => 400 "could not renew token for role dev: instance \"12\" (project \"p\") not in bound projects [a]";
    r6_g4_instance_gone_is_plain: instance(InstanceError::Refused(absent())) => 400 "googleapi: Error 404: Not found, notFound";
    r6_g5_status_is_plain: instance(InstanceError::Status("STOPPING".to_owned())) => 400 "authenticating instance n found but has invalid status 'STOPPING'";
    r6_g6_other_id_is_plain: instance(InstanceError::OtherId) => 400 "instance id does not match";
    r6_g7_created_later_is_plain: instance(InstanceError::CreatedLater(CreatedLater { claimed: 1, created: 3 })) => 400 "metadata instance_creation_timestamp 1 is before instance's creation time 3";
    r6_g8_label: instance_refused(LoginError::LabelMissing(LabelMissing { key: "k".to_owned(), value: "v".to_owned() })) => 400 "could not renew token for role dev: instance missing bound label \"k:v\"";
    r6_g9_zone: instance_refused(LoginError::ZoneNotBound(texts(&["a"]))) => 400 "could not renew token for role dev: instance not in bound zones [\"a\"]";
    r6_g10_region: instance_refused(LoginError::RegionNotBound(texts(&["a"]))) => 400 "could not renew token for role dev: instance not in bound regions [\"a\"]";
    r6_g11_groups: instance_refused(LoginError::NotInGroups(texts(&["g"]))) => 400 "could not renew token for role dev: instance is not part of instance groups [\"g\"]";
    r6_g12_account: instance_refused(LoginError::BoundAccountNotFound(account(absent()))) => 400 "could not renew token for role dev: could not find service account \"x@p\": googleapi: Error 404: Not found, notFound";
    r6_outage_is_no_refusal: instance_refused(LoginError::GoogleUnavailable("compute".into())) => 503 "google API unavailable: compute";
    r7_address: RenewalError::AddressNotAllowed => 403 &listed("permission denied");
    outage_keeps_the_lease: RenewalError::GoogleUnavailable("iam".into()) => 503 "google API unavailable: iam";
    google_unusable: RenewalError::GoogleUnusable("iam".into()) => 502 "google API gave an unusable answer: iam";
    credentials: RenewalError::Credentials(CredentialsError::NotFound) => 502 "failed to create oauth2 http client: could not find default credentials";
    endpoint_denied: RenewalError::EndpointDenied("iam".into()) => 502 "outgoing requests to the iam API are not allowed: add its host to the allowed hosts of the server";
    state_unreadable: RenewalError::StateUnreadable => 500 &listed("internal error");
    sealed: RenewalError::Storage(StoreError::Sealed.into()) => 503 "Vault is sealed";
}
