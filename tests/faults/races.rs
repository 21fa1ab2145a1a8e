//! Requests that reach three servers on one database at one time, and may take effect once (SEC-T4, S6, K4).

use std::collections::BTreeMap;
use std::time::Instant;

use gatehouse_histories::all_at_once;
use gatehouse_tests::{Answer, ServerProcess, number_from};
use serde_json::{Value, json};

use crate::cluster::{Cluster, answer_of};

const SERVERS: usize = 3;
/// Callers at each of the servers.
const CALLERS: usize = 2;

/// Has callers of every server do `one_thing` at one moment.
fn at_every_server<T: Send>(
    servers: &[&ServerProcess],
    one_thing: impl Fn(&ServerProcess, usize) -> T + Sync,
) -> Vec<T> {
    all_at_once(servers.len() * CALLERS, |caller| {
        one_thing(servers[caller % servers.len()], caller)
    })
}

/// The number of answers of each status.
fn statuses(answers: &[Answer]) -> BTreeMap<u16, usize> {
    let mut statuses = BTreeMap::new();
    for answer in answers {
        *statuses.entry(answer.status).or_default() += 1;
    }
    statuses
}

/// Uses the token until it is refused; returns the number of uses left after each accepted use, and the number of uses without an outcome.
fn take_all(server: &ServerProcess, token: &str, uses: u64) -> (Vec<u64>, u64) {
    let (mut left, mut unknown) = (Vec::new(), 0);
    loop {
        let used = server.send_and_keep("GET", "/v1/auth/token/lookup-self", Some(token), None);
        match used.status {
            200 => left.push(used.json()["data"]["num_uses"].as_u64().unwrap()),
            // A busy store: the use may have been counted, and was not answered.
            503 => unknown += 1,
            403 => return (left, unknown),
            _ => panic!("{used:?}"),
        }
        let accepted = u64::try_from(left.len()).unwrap();
        assert!(accepted <= uses && unknown < 100, "{left:?}, {unknown}");
    }
}

#[test]
fn t4_of_uses_taken_at_three_servers_at_once_as_many_are_accepted_as_the_token_has() {
    const MOST_AT_ONCE: usize = 8;
    const ONE_AFTER_THE_OTHER: usize = 15;
    /// On average: tokens have 1 to 5.
    const USES_OF_A_TOKEN: usize = 3;
    let mut cluster = Cluster::start(SERVERS, "");
    let root = cluster.installation.root_token().to_owned();
    let servers = cluster.servers();
    let uses = number_from("GATEHOUSE_USES", 180);
    let tokens = uses.div_ceil(USES_OF_A_TOKEN);
    let at_once = (tokens / ONE_AFTER_THE_OTHER).clamp(1, MOST_AT_ONCE);
    let began = Instant::now();
    all_at_once(at_once, |first| {
        for number in (first..tokens).step_by(at_once) {
            use_up(&servers, &root, number);
        }
    });
    let took = began.elapsed();
    eprintln!("{tokens} tokens with {uses} uses were used up in {took:?}");
}

/// Makes a token of a few uses, has callers of every server take them, and checks that each was taken once.
fn use_up(servers: &[&ServerProcess], root: &str, number: usize) {
    let uses = 1 + u64::try_from(number % 5).unwrap();
    let body = json!({"policies": ["default"], "num_uses": uses, "ttl": "1h"});
    let path = "/v1/auth/token/create-orphan";
    let maker = servers[number % SERVERS];
    let made = answer_of(|| maker.send_and_keep("POST", path, Some(root), Some(&body)));
    let made = made.json();
    let token = made["auth"]["client_token"].as_str().unwrap();
    let taken = at_every_server(servers, |server, _| take_all(server, token, uses));
    let unknown: u64 = taken.iter().map(|(_, unknown)| unknown).sum();
    let mut left: Vec<u64> = taken.into_iter().flat_map(|(left, _)| left).collect();
    left.sort_unstable();
    if unknown == 0 {
        let expected: Vec<u64> = (0..uses).collect();
        assert_eq!(left, expected, "{number}");
    } else {
        let accepted = u64::try_from(left.len()).unwrap();
        let is_right = accepted <= uses && accepted + unknown >= uses;
        assert!(is_right, "{number}: {left:?} of {uses}, {unknown} unknown");
        let is_distinct = left.is_sorted_by(|one, next| one < next);
        assert!(is_distinct, "{number}: {left:?} counts one twice");
    }
    for server in servers {
        let path = "/v1/auth/token/lookup-self";
        let later = answer_of(|| server.send_and_keep("GET", path, Some(token), None));
        assert_eq!(later.status, 403, "{number}: {later:?}");
    }
}

/// An organization, and a user whom it has invited.
struct Invited {
    organization: String,
    membership: String,
    user: String,
}

impl Invited {
    fn new(server: &ServerProcess, root: &str, name: &str) -> Self {
        let post = |path: &str, kind: &str, attributes: Value| -> Value {
            let body = json!({"data": {"type": kind, "attributes": attributes}});
            let path = format!("/api/v2/{path}");
            let answer = answer_of(|| server.send("POST", &path, Some(root), Some(&body)));
            assert_eq!(answer.status, 201, "{answer:?}");
            answer.json()
        };
        let email = format!("{name}@example.com");
        let user = json!({"username": name, "email": email});
        let user = post("admin/users", "users", user);
        let attributes = json!({"name": name, "email": "owner@example.com"});
        post("organizations", "organizations", attributes);
        let memberships = format!("organizations/{name}/organization-memberships");
        let invited = json!({ "email": email });
        let invited = post(&memberships, "organization-memberships", invited);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self {
            organization: name.to_owned(),
            membership: text(&invited["data"]["id"]),
            user: text(&user["meta"]["token"]),
        }
    }

    /// Accepts or declines the invitation at a server.
    fn answer(&self, server: &ServerProcess, action: &str) -> Answer {
        let path = format!(
            "/api/v2/organization-memberships/{}/actions/{action}",
            self.membership
        );
        server.send("POST", &path, Some(&self.user), Some(&json!({})))
    }

    /// True if the user is a member, by the answer of every server.
    fn is_member(&self, servers: &[&ServerProcess]) -> bool {
        let path = format!(
            "/api/v2/organizations/{}/entitlement-set",
            self.organization
        );
        let shown = servers.iter();
        let ask = |server: &ServerProcess| server.send("GET", &path, Some(&self.user), None);
        let shown = shown.map(|server| answer_of(|| ask(server)));
        let shown: Vec<Answer> = shown.collect();
        match &statuses(&shown).into_iter().collect::<Vec<_>>()[..] {
            [(200, SERVERS)] => true,
            [(404, SERVERS)] => false,
            _ => panic!("{shown:?}"),
        }
    }
}

#[test]
fn s6_an_invitation_that_is_accepted_at_three_servers_at_once_is_accepted_once() {
    let mut cluster = Cluster::start(SERVERS, "");
    let root = cluster.installation.root_token().to_owned();
    let servers = cluster.servers();
    for round in 0..8 {
        let invited = Invited::new(servers[round % SERVERS], &root, &format!("raced-{round}"));
        assert!(!invited.is_member(&servers));
        let answers = at_every_server(&servers, |server, _| invited.answer(server, "accept"));
        let expected = BTreeMap::from([(200, 1), (404, SERVERS * CALLERS - 1)]);
        assert_eq!(statuses(&answers), expected, "{answers:?}");
        assert!(invited.is_member(&servers));
    }
}

#[test]
fn s6_an_invitation_that_is_declined_while_it_is_accepted_ends_one_way_or_the_other() {
    let mut cluster = Cluster::start(SERVERS, "");
    let root = cluster.installation.root_token().to_owned();
    let servers = cluster.servers();
    for round in 0..8 {
        let invited = Invited::new(servers[round % SERVERS], &root, &format!("raced-{round}"));
        let answers = at_every_server(&servers, |server, caller| {
            let action = ["accept", "decline"][caller % 2];
            invited.answer(server, action)
        });
        // The first successful answer ended the invitation, whether it accepted or declined it.
        let status = match invited.is_member(&servers) {
            true => 200,
            false => 204,
        };
        let expected = BTreeMap::from([(status, 1), (404, SERVERS * CALLERS - 1)]);
        assert_eq!(statuses(&answers), expected, "{answers:?}");
    }
}

#[test]
fn k4_servers_that_rotate_the_key_at_once_all_go_on_to_read_and_write() {
    let mut cluster = Cluster::start(SERVERS, "");
    let root = cluster.installation.root_token().to_owned();
    let servers = cluster.servers();
    let term_at = |server: &&ServerProcess| {
        let path = "/v1/sys/key-status";
        let status = answer_of(|| server.send("GET", path, Some(&root), None));
        status.json()["data"]["term"].as_u64().unwrap()
    };
    let mut term = term_at(&servers[0]);
    for round in 0..8 {
        let policy = json!({"policy": "path \"demo/*\" { capabilities = [\"read\"] }"});
        let path = |caller: usize| format!("/v1/sys/policies/acl/of-{round}-{caller}");
        // Half of the callers rotate the key, and half write meanwhile.
        let answers = at_every_server(&servers, |server, caller| match caller < SERVERS {
            true => server.send("PUT", "/v1/sys/rotate", Some(&root), None),
            false => answer_of(|| server.send("PUT", &path(caller), Some(&root), Some(&policy))),
        });
        let (rotations, writes) = answers.split_at(SERVERS);
        let rotated = rotations
            .iter()
            .filter(|answer| answer.status < 300)
            .count();
        assert!(rotated > 0, "{rotations:?}");
        assert!(
            writes.iter().all(|answer| answer.status < 300),
            "{writes:?}"
        );
        for caller in SERVERS..SERVERS * CALLERS {
            for server in &servers {
                let read = answer_of(|| server.send("GET", &path(caller), Some(&root), None));
                assert_eq!(read.status, 200, "{round}: {read:?}");
            }
        }
        for (number, server) in servers.iter().enumerate() {
            let path = path(number);
            let written = answer_of(|| server.send("PUT", &path, Some(&root), Some(&policy)));
            assert!(written.status < 300, "{round}: {written:?}");
        }
        let terms: Vec<u64> = servers.iter().map(term_at).collect();
        let expected = term + u64::try_from(rotated).unwrap();
        assert_eq!(terms, [expected; SERVERS], "{rotations:?}");
        term = expected;
    }
    // A server that starts later reads a policy that was sealed under the first key.
    let late = cluster.installation.another_server().unwrap();
    let path = "/v1/sys/policies/acl/of-0-3";
    let read = answer_of(|| late.send("GET", path, Some(&root), None));
    assert_eq!(read.status, 200, "{read:?}");
}
