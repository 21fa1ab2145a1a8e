//! A host whose store fails, is slow, or gives an invalid answer: clear words for the caller, and nothing half done.
//!
//! Where time has to pass, it is Tokio's paused clock, which moves on only when no task has anything to do.

use serde_json::{Value, json};

use crate::composed::{FRESH, Product, organization};
use crate::faulty_backend::Fault;
use gatehouse::runtime::exchange::ServeError;
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

/// In each store, the keys of the entries that are new or different, and of the entries that are gone.
type Changed = Vec<[Vec<String>; 2]>;

/// The number of keys of each kind. The numbers show whether the same was done, since new entries have other keys every time.
type Counts = Vec<[usize; 2]>;

/// More calls of the store than any of the requests makes.
const MOST_CALLS: u64 = 200;

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

/// The entries stored once everything is over that a request of this method leads to. A deleted one is out of reach at once; to clear
/// it away may be left to background work.
async fn settled(product: &Product, method: &str) -> Vec<Stored> {
    product.surroundings.faults().set_fault(None);
    if method == "DELETE" {
        product.run_background().await;
    }
    stored(product).await
}

fn changed(before: &[Stored], after: &[Stored]) -> Changed {
    let of_one = |(before, after): (&Stored, &Stored)| {
        let key = |(key, _): &(String, Vec<u8>)| key.clone();
        let is_there = |key: &String| after.iter().any(|(found, _)| found == key);
        let written = after.iter().filter(|entry| !before.contains(entry));
        let gone = before.iter().filter(|(key, _)| !is_there(key));
        [written.map(key).collect(), gone.map(key).collect()]
    };
    before.iter().zip(after).map(of_one).collect()
}

fn counted(changed: &Changed) -> Counts {
    let of_one = |keys: &[Vec<String>; 2]| keys.each_ref().map(Vec::len);
    changed.iter().map(of_one).collect()
}

fn is_nothing(counts: &[[usize; 2]]) -> bool {
    counts.as_flattened().iter().all(|count| *count == 0)
}

fn assert_is_failure_of_the_server(status: u16, answer: &Value, said: &str) {
    assert!((500..600).contains(&status), "{said}");
    assert!(
        answer["errors"].as_array().is_some_and(|it| !it.is_empty()),
        "{said}"
    );
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
            assert_is_failure_of_the_server(status, &answer, &said);
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

/// Whichever call of the store `fault` begins with, everything is stored that the request stores as a rule, or nothing; and nothing only
/// where the request is answered with a failure of the server.
async fn is_done_or_not(fault: Fault, (method, path, body): &Asked) {
    let mut unchanged = None;
    let mut outcomes: Vec<(String, bool, Counts)> = Vec::new();
    for calls in 0..MOST_CALLS {
        let (product, root, before) = match unchanged.take() {
            Some(unchanged) => unchanged,
            None => {
                let (product, root) = product().await;
                let before = settled(&product, method).await;
                (product, root, before)
            }
        };
        let faults = product.surroundings.faults();
        faults.set_fault_after(calls, fault);
        let answer = product.send(method, path, Some(&root), body.clone());
        let (status, answer) = answer.await;
        let was_met = faults.was_met();
        let changed = changed(&before, &settled(&product, method).await);
        let done = counted(&changed);
        let said = format!(
            "{fault:?} after {calls} calls: {method} {path}: {status} {answer}: {changed:?}"
        );
        let succeeded = (200..300).contains(&status);
        if !was_met {
            assert!(succeeded && !is_nothing(&done), "{said}");
            outcomes.retain(|(_, succeeded, found)| {
                *found != done && (*succeeded || !is_nothing(found))
            });
            assert!(outcomes.is_empty(), "{outcomes:#?}\nbut as a rule\n{said}");
            return;
        }
        if !succeeded {
            assert_is_failure_of_the_server(status, &answer, &said);
        }
        if is_nothing(&done) {
            unchanged = Some((product, root, before));
        }
        outcomes.push((said, succeeded, done));
    }
    panic!("{method} {path}: more than {MOST_CALLS} calls of the store");
}

async fn each_is_done_or_not(fault: Fault) {
    for request in writes() {
        is_done_or_not(fault, &request).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_during_which_the_store_goes_away_is_done_or_not() {
    each_is_done_or_not(Fault::Unavailable).await;
}

#[tokio::test(start_paused = true)]
async fn a_write_during_which_the_store_ceases_to_take_commits_is_done_or_not() {
    each_is_done_or_not(Fault::CommitFails).await;
}

#[tokio::test(start_paused = true)]
async fn a_write_during_which_others_begin_to_be_faster_is_done_or_not() {
    each_is_done_or_not(Fault::CommitConflicts).await;
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
