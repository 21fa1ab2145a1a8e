//! A host whose store fails, is slow, or answers what is no answer: clear words for the caller, and nothing half done.
//!
//! Where time has to pass, it is Tokio's paused clock, which moves on only when nobody has anything to do.

use serde_json::{Value, json};

use crate::composed::{FRESH, Product, organization};
use crate::faulty_backend::Fault;
use gatehouse::runtime::pool::ServeError;
use gatehouse_components::Flavour;
use gatehouse_store::Namespace;

/// A request by the holder of the root token.
type Asked = (&'static str, &'static str, Option<Value>);

/// Each reads records of one capability or another.
fn reads() -> Vec<Asked> {
    vec![
        ("GET", "/v1/auth/token/lookup-self", None),
        ("GET", "/v1/sys/auth", None),
        ("GET", "/v1/sys/policies/acl/acme", None),
        ("GET", "/v1/auth/gcp/role/dev", None),
        ("GET", "/v1/auth/gcp/config", None),
        ("GET", "/api/v2/organizations/acme", None),
    ]
}

/// Each reads pages.
fn scans() -> Vec<Asked> {
    vec![
        ("LIST", "/v1/auth/gcp/role", None),
        ("LIST", "/v1/auth/token/accessors", None),
        ("LIST", "/v1/auth/token/roles", None),
    ]
}

/// Each would change something.
fn writes() -> Vec<Asked> {
    let role = json!({"bound_service_accounts": "other@p1.iam.gserviceaccount.com"});
    vec![
        ("POST", "/v1/auth/gcp/role/dev", Some(role.clone())),
        (
            "POST",
            "/v1/auth/gcp/config",
            Some(json!({"iam_alias": "unique_id"})),
        ),
        (
            "PUT",
            "/v1/sys/policies/acl/acme",
            Some(json!({"policy": "path \"b\" { capabilities = [\"read\"] }"})),
        ),
        (
            "POST",
            "/v1/auth/token/create",
            Some(json!({"policies": ["acme"], "ttl": "1h"})),
        ),
        (
            "POST",
            "/v1/identity/entity",
            Some(json!({"name": "somebody"})),
        ),
        ("POST", "/v1/sys/auth/other", Some(json!({"type": "gcp"}))),
        ("DELETE", "/v1/sys/auth/gcp", None),
        ("POST", "/api/v2/organizations", Some(organization("other"))),
        ("DELETE", "/api/v2/organizations/acme", None),
    ]
}

type Stored = Vec<(String, Vec<u8>)>;

/// A product in use, and the root token.
async fn product() -> (Product, String) {
    let product = Product::new(FRESH, Flavour::Wide);
    let root = product.initialize().await;
    let role = json!({"type": "iam", "bound_service_accounts": "dev@p1.iam.gserviceaccount.com"});
    for (method, path, body) in [
        ("POST", "/v1/sys/auth/gcp", json!({"type": "gcp"})),
        ("POST", "/v1/auth/gcp/role/dev", role),
        (
            "POST",
            "/v1/auth/gcp/config",
            json!({"iam_alias": "role_id"}),
        ),
        (
            "PUT",
            "/v1/sys/policies/acl/acme",
            json!({"policy": "path \"a\" { capabilities = [\"read\"] }"}),
        ),
        ("POST", "/v1/auth/token/roles/some", json!({})),
        ("POST", "/api/v2/organizations", organization("acme")),
    ] {
        let (status, answer) = product.send(method, path, Some(&root), Some(body)).await;
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
    }
    (product, root)
}

async fn stored(product: &Product) -> Vec<Stored> {
    product.surroundings.faults().set_fault(None);
    let mut stored = Vec::new();
    for namespace in [Namespace::AuthMethod, Namespace::Access, Namespace::Orgs] {
        stored.push(product.surroundings.entries(namespace).await);
    }
    stored
}

/// Every one of `requests` is answered with a failure of the server while there is `fault`, and leaves the store as it was.
async fn each_fails(faults: &[Fault], requests: &[Asked]) {
    let (product, root) = product().await;
    let before = stored(&product).await;
    for fault in faults {
        for (method, path, body) in requests {
            product.surroundings.faults().set_fault(Some(*fault));
            let answer = product.send(method, path, Some(&root), body.clone());
            let (status, answer) = answer.await;
            let said = format!("{fault:?}: {method} {path}: {status} {answer}");
            assert!((500..600).contains(&status), "{said}");
            assert!(
                answer["errors"].as_array().is_some_and(|it| !it.is_empty()),
                "{said}"
            );
            assert!(stored(&product).await == before, "{said}");
        }
    }
    for (method, path, body) in requests {
        let (status, answer) = product.send(method, path, Some(&root), body.clone()).await;
        assert!(
            (200..300).contains(&status),
            "healed: {method} {path}: {status} {answer}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn reads_of_a_store_that_does_not_answer_as_it_should_are_failures_of_the_server() {
    each_fails(&Fault::OF_READING, &reads()).await;
}

#[tokio::test(start_paused = true)]
async fn writes_to_a_store_that_cannot_be_read_change_nothing() {
    each_fails(&Fault::OF_READING, &writes()).await;
}

#[tokio::test(start_paused = true)]
async fn writes_that_the_store_refuses_change_nothing() {
    // A change that checks no version is made whatever versions the store tells.
    let refusing = Fault::OF_WRITING.into_iter();
    let refusing = refusing.filter(|fault| !matches!(fault, Fault::ChangingVersions));
    each_fails(&refusing.collect::<Vec<_>>(), &writes()).await;
}

#[tokio::test(start_paused = true)]
async fn pages_that_are_none_are_failures_of_the_server_and_end() {
    each_fails(&Fault::OF_SCANNING, &scans()).await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_stays_silent_costs_its_request_and_no_other() {
    let (product, root) = product().await;
    let before = stored(&product).await;
    for (method, path, body) in writes() {
        product.surroundings.faults().set_fault(Some(Fault::Silent));
        let outcome = product.try_send(method, path, Some(&root), body).await;
        assert!(
            matches!(outcome, Err(ServeError::TimedOut(_))),
            "{method} {path}"
        );
        assert!(stored(&product).await == before, "{method} {path}");
    }
    let (status, _) = product
        .send("GET", "/v1/auth/token/lookup-self", Some(&root), None)
        .await;
    assert_eq!(status, 200);
}
