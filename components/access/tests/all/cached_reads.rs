//! Records that an instance keeps decoded never outlive a change (SEC-S7): every change counts at the next request, also when another
//! instance made it.

use crate::server::{Server, Service, policies};
use gatehouse_access::{
    AdmissionError, Entities as _, EntityChanges, IdentityReference, IdentityTarget, Logins as _,
    Mounts as _, Operation, Policies as _, Request, Requests as _,
};
use gatehouse_ports::IpAddress;

const PATH: &str = "auth/gcp/role/dev";

fn read(instance: &Service, token: &str) -> Result<(), AdmissionError> {
    let request = Request {
        token: Some(token.into()),
        operation: Operation::Read,
        path: PATH.into(),
        parameters: None,
        wrap_ttl: None,
        source_address: Some(IpAddress::Ipv4((192, 0, 2, 1))),
    };
    instance.admit(&request).map(|_| ())
}

/// A token whose standing and rights an instance has read twice, and that instance.
fn warm(server: &Server) -> (Service, String, String) {
    let issued = server.log_in_with_policy(&reading(PATH));
    let token = issued.client_token.clone();
    let instance = server.another_instance();
    for _ in 0..2 {
        assert_eq!(read(&instance, &token), Ok(()));
    }
    let entity = issued.grant.entity_id.unwrap();
    (instance, token, entity)
}

fn reading(path: &str) -> String {
    format!("path \"{path}\" {{ capabilities = [\"read\"] }}")
}

#[test]
fn s7_a_rewritten_and_a_deleted_policy_count_at_once() {
    let server = Server::ready();
    let (instance, token, _) = warm(&server);
    server
        .access
        .write_policy("own", &reading("other"))
        .unwrap();
    assert_eq!(read(&instance, &token), Err(AdmissionError::Denied));
    server.access.write_policy("own", &reading(PATH)).unwrap();
    assert_eq!(read(&instance, &token), Ok(()));
    server.access.delete_policy("own").unwrap();
    assert_eq!(read(&instance, &token), Err(AdmissionError::Denied));
}

#[test]
fn s7_a_disabled_a_deleted_and_a_changed_entity_count_at_once() {
    let server = Server::ready();
    let (instance, token, entity) = warm(&server);
    let change = |changes: EntityChanges| {
        let target = &IdentityTarget::Id(entity.clone());
        server.access.write_entity(target, &changes).unwrap();
    };
    change(EntityChanges {
        disabled: Some(true),
        ..EntityChanges::default()
    });
    assert_eq!(read(&instance, &token), Err(AdmissionError::EntityUnusable));
    change(EntityChanges {
        disabled: Some(false),
        policies: Some(vec!["more".to_owned()]),
        ..EntityChanges::default()
    });
    server.access.delete_policy("own").unwrap();
    assert_eq!(read(&instance, &token), Err(AdmissionError::Denied));
    server.access.write_policy("more", &reading(PATH)).unwrap();
    assert_eq!(read(&instance, &token), Ok(()));
    let reference = &IdentityReference::Id(entity.clone());
    assert!(server.access.delete_entity(reference).unwrap());
    assert_eq!(read(&instance, &token), Err(AdmissionError::EntityUnusable));
}

#[test]
fn s7_a_mount_that_went_away_takes_its_tokens_with_it_also_when_another_takes_its_place() {
    let server = Server::ready();
    let (instance, token, _) = warm(&server);
    server.access.disable_mount("gcp/").unwrap();
    assert_eq!(read(&instance, &token), Err(AdmissionError::InvalidToken));
    server.enable("gcp");
    assert_eq!(read(&instance, &token), Err(AdmissionError::InvalidToken));
}

#[test]
fn s7_a_login_sees_what_became_of_the_identity_that_it_knew() {
    let server = Server::ready();
    let (instance, _, entity) = warm(&server);
    let grant = server.grant("1234", policies(&["own"]));
    let log_in = || {
        let issued = instance.issue_login(&grant);
        issued.ok().and_then(|issued| issued.grant.entity_id)
    };
    assert_eq!(log_in().as_ref(), Some(&entity));
    let disabled = EntityChanges {
        disabled: Some(true),
        ..EntityChanges::default()
    };
    let target = &IdentityTarget::Id(entity.clone());
    server.access.write_entity(target, &disabled).unwrap();
    assert_eq!(log_in(), None);
    let reference = &IdentityReference::Id(entity.clone());
    assert!(server.access.delete_entity(reference).unwrap());
    let fresh = log_in().unwrap();
    assert_ne!(fresh, entity);
}
