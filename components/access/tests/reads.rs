//! What one request costs in round trips to the store.

mod server;

use std::sync::atomic::{AtomicUsize, Ordering};

use gatehouse_access::{Access, AccessService, Operation, Request, TokenParameters};
use gatehouse_ports::{Change, Check, CommitError, Entry, Page, Store, StoreError};
use server::{Server, TestStore, policies};

/// Counts the calls that reach a store.
struct Counting {
    store: &'static TestStore,
    reads: AtomicUsize,
    commits: AtomicUsize,
}

impl Store for Counting {
    fn get(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, StoreError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.store.get(keys)
    }

    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Page, StoreError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.store.scan(prefix, after, limit)
    }

    fn commit(&self, checks: Vec<Check>, changes: Vec<Change>) -> Result<(), CommitError> {
        self.commits.fetch_add(1, Ordering::SeqCst);
        self.store.commit(checks, changes)
    }
}

impl Counting {
    fn take(&self) -> (usize, usize) {
        (
            self.reads.swap(0, Ordering::SeqCst),
            self.commits.swap(0, Ordering::SeqCst),
        )
    }
}

#[test]
fn a_warm_instance_admits_with_two_reads_and_logs_in_with_two_reads_and_one_commit() {
    let server = Server::ready();
    for name in ["a", "b", "c"] {
        let text = "path \"auth/gcp/role/*\" { capabilities = [\"read\"] }";
        server.access.write_policy(name, text).unwrap();
    }
    let grant = server.grant("1234", policies(&["a", "b", "c"]));
    let token = server.log_in(policies(&["a", "b", "c"]));
    let counting = Counting {
        store: server.store,
        reads: AtomicUsize::new(0),
        commits: AtomicUsize::new(0),
    };
    let access = AccessService::new(&counting, server.clock, server.random);
    let request = Request {
        token: Some(token.client_token.expose()),
        operation: Operation::Read,
        path: "auth/gcp/role/dev",
        source_address: None,
        wrap_ttl: None,
        parameters: None,
    };
    access.admit(&request).unwrap();
    assert_eq!(
        counting.take(),
        (3, 0),
        "the first request also reads the server's secret"
    );
    access.admit(&request).unwrap();
    assert_eq!(counting.take(), (2, 0));
    let login = Request {
        token: None,
        path: "auth/gcp/login",
        operation: Operation::Update,
        ..request
    };
    access.admit(&login).unwrap();
    assert_eq!(counting.take(), (1, 0));
    access.issue_login(&grant).ok().unwrap();
    assert_eq!(counting.take(), (2, 1));

    let limited = server.log_in(TokenParameters {
        num_uses: 9,
        ..policies(&["a"])
    });
    let token = Some(limited.client_token.expose());
    access.admit(&Request { token, ..request }).unwrap();
    assert_eq!(counting.take(), (2, 1));
}
