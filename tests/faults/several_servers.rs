//! Several servers on one database: each knows the writes of the others, and serves or refuses when one of them or the database is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use gatehouse_histories::all_at_once;
use gatehouse_tests::{Answer, Installation, ServerProcess, Storage, number_from};
use serde_json::json;

use crate::cluster::{Cluster, Stopped, answer_of, await_that};

/// SEC-S8, and what a loaded machine needs to pass an answer on.
const BOUND: Duration = Duration::from_millis(3_000);

#[test]
fn every_server_is_active_lists_all_and_forgets_one_that_was_killed() {
    let mut cluster = Cluster::start(3, "");
    cluster.await_all_listed();
    let addresses: Vec<String> = cluster
        .servers()
        .iter()
        .map(|it| it.address().to_owned())
        .collect();
    for (number, address) in addresses.iter().enumerate() {
        assert_eq!(cluster.listed(number), addresses.iter().cloned().collect());
        let leader = cluster
            .as_root(number, "GET", "/v1/sys/leader", None)
            .json();
        assert_eq!(leader["ha_enabled"], true);
        assert_eq!(leader["is_self"], true);
        assert_eq!(leader["leader_address"], address.as_str());
        let health = cluster.as_root(number, "GET", "/v1/sys/health", None);
        assert_eq!(health.status, 200);
        assert_eq!(health.json()["standby"], false);
        assert_eq!(cluster.metric(number, "gatehouse_nodes_live"), Some(3.0));
    }
    // One is killed, one ends in order, which shows at the next beat.
    cluster.others[1].kill();
    await_that("the killed one is not listed", || {
        cluster.listed(0).len() == 2
    });
    assert!(!cluster.listed(0).contains(&addresses[2]));
    assert_eq!(cluster.others[0].terminate().unwrap(), Some(0));
    await_that("the one that ended is not listed", || {
        cluster.listed(0) == BTreeSet::from([addresses[0].clone()])
    });
}

#[test]
fn k2_servers_that_start_for_the_first_time_at_once_make_one_installation() {
    let installation = Installation::not_started(Storage::Postgres, "").unwrap();
    let start = || installation.another_server().unwrap();
    let servers: Vec<ServerProcess> = thread::scope(|scope| {
        let starting = [(); 3].map(|()| scope.spawn(start));
        starting.map(|server| server.join().unwrap()).into()
    });
    let initialize = |server: &ServerProcess| {
        let body = json!({});
        server.send("PUT", "/v1/sys/init", None, Some(&body))
    };
    let answers: Vec<Answer> = thread::scope(|scope| {
        let all = servers
            .iter()
            .map(|server| scope.spawn(|| initialize(server)));
        let all: Vec<_> = all.collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400, 400], "{answers:?}");
    let made = answers.iter().find(|answer| answer.status == 200).unwrap();
    let made = made.json();
    let root = made["root_token"].as_str();
    for (number, server) in servers.iter().enumerate() {
        let path = format!("/v1/sys/policies/acl/of-{number}");
        let policy = json!({"policy": "path \"demo/*\" { capabilities = [\"read\"] }"});
        let written = answer_of(|| server.send("PUT", &path, root, Some(&policy)));
        assert!(written.status < 300, "{written:?}");
        for server in &servers {
            let read = answer_of(|| server.send("GET", &path, root, None));
            assert_eq!(read.status, 200, "{read:?}");
        }
    }
}

#[test]
fn s7_a_token_revoked_at_one_server_is_refused_by_every_other_at_once() {
    const MOST_CLIENTS: usize = 32;
    const ROUNDS_OF_A_CLIENT: usize = 30;
    let mut cluster = Cluster::start(3, "");
    let root = cluster.installation.root_token().to_owned();
    let servers = cluster.servers();
    let revocations = number_from("GATEHOUSE_REVOCATIONS", 120);
    let clients = (revocations / ROUNDS_OF_A_CLIENT).clamp(1, MOST_CLIENTS);
    let began = Instant::now();
    all_at_once(clients, |client| {
        for round in (client..revocations).step_by(clients) {
            revoke_one(&servers, &root, round);
        }
    });
    eprintln!("{revocations} revocations took {:?}", began.elapsed());
}

/// Makes a token at one server, has another one revoke it, and asks all of them before and after.
fn revoke_one(servers: &[&ServerProcess], root: &str, round: usize) {
    let (one, other) = (servers[round % 3], servers[(round + 1) % 3]);
    let body = json!({});
    let created =
        answer_of(|| one.send_and_keep("POST", "/v1/auth/token/create", Some(root), Some(&body)));
    let created = created.json();
    let token = created["auth"]["client_token"].as_str();
    let looked_up = |server: &ServerProcess| {
        answer_of(|| server.send_and_keep("GET", "/v1/auth/token/lookup-self", token, None))
    };
    for server in servers.iter().copied() {
        let found = looked_up(server);
        assert_eq!(found.status, 200, "{round}: {found:?}");
    }
    let body = json!({ "token": token });
    let revoked =
        answer_of(|| other.send_and_keep("POST", "/v1/auth/token/revoke", Some(root), Some(&body)));
    assert_eq!(revoked.status, 204, "{round}: {revoked:?}");
    for server in servers.iter().copied() {
        let refused = looked_up(server);
        assert_eq!(refused.status, 403, "{round}: {refused:?}");
    }
}

#[test]
fn s6_of_organizations_of_one_name_that_several_servers_are_asked_for_one_is_made() {
    let mut cluster = Cluster::start(3, "");
    let root = cluster.installation.root_token().to_owned();
    let servers = cluster.servers();
    for number in 0..20 {
        let name = format!("raced-{number}");
        let create = |server: &ServerProcess| {
            let email = format!("{}@example.com", server.id());
            let attributes = json!({"name": name, "email": email});
            let body = json!({"data": {"type": "organizations", "attributes": attributes}});
            let path = "/api/v2/organizations";
            let answer = answer_of(|| server.send("POST", path, Some(&root), Some(&body)));
            (answer.status, email)
        };
        let outcomes: Vec<(u16, String)> = thread::scope(|scope| {
            let all = servers.iter().map(|server| scope.spawn(|| create(server)));
            let all: Vec<_> = all.collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let made: Vec<&String> = outcomes
            .iter()
            .filter(|(status, _)| *status == 201)
            .map(|(_, email)| email)
            .collect();
        let refused = outcomes.iter().filter(|(status, _)| *status == 422).count();
        assert_eq!((made.len(), refused), (1, 2), "{outcomes:?}");
        for server in &servers {
            let path = format!("/api/v2/organizations/{name}");
            let shown = answer_of(|| server.send("GET", &path, Some(&root), None)).json();
            assert_eq!(shown["data"]["attributes"]["email"], made[0].as_str());
        }
    }
}

#[test]
fn s8_servers_without_their_database_say_so_within_two_seconds_and_recover_by_themselves() {
    let mut cluster = Cluster::start(2, "");
    let root = cluster.installation.root_token().to_owned();
    cluster.await_all_listed();
    // Of each request the quicker of two rounds counts: any one of them may have waited for a busy machine.
    let mut quickest = BTreeMap::new();
    for _ in 0..2 {
        cluster.installation.database().stop();
        for server in cluster.servers() {
            for (number, (path, token)) in [
                ("/v1/sys/health", None),
                ("/v1/sys/health", None),
                ("/v1/auth/token/lookup-self", Some(root.as_str())),
                ("/v1/sys/auth", Some(root.as_str())),
                ("/v1/auth/gcp/config", Some(root.as_str())),
                ("/api/v2/organizations", Some(root.as_str())),
            ]
            .into_iter()
            .enumerate()
            {
                let asked = Instant::now();
                let answer = server.send("GET", path, token, None);
                let took = asked.elapsed();
                assert_eq!(answer.status, 503, "{path}: {answer:?}");
                assert_eq!(
                    answer.header("retry-after"),
                    Some("1"),
                    "{path}: {answer:?}"
                );
                let request = (server.address().to_owned(), number, path);
                let quickest = quickest.entry(request).or_insert(took);
                *quickest = took.min(*quickest);
            }
            let login = json!({"role": "dev", "jwt": "a.b.c"});
            let login = server.send("POST", "/v1/auth/gcp/login", None, Some(&login));
            assert_eq!(login.status, 503, "{login:?}");
            // Requests that need no store are still answered.
            let ping = server.send("GET", "/api/v2/ping", None, None);
            assert_eq!(ping.status, 204);
        }
        cluster.installation.database().start_again();
        for server in cluster.servers() {
            await_that("the server is healthy again", || {
                server.send("GET", "/v1/sys/health", None, None).status == 200
            });
            let path = "/v1/auth/token/lookup-self";
            let found = answer_of(|| server.send("GET", path, Some(&root), None));
            assert_eq!(found.status, 200, "{found:?}");
        }
        cluster.await_all_listed();
    }
    let is_in_time = |took: &Duration| *took < BOUND;
    assert!(quickest.values().all(is_in_time), "{quickest:?}");
}

#[test]
fn s8_a_server_whose_database_stays_silent_says_so_within_two_seconds_and_recovers_by_itself() {
    let mut cluster = Cluster::start(1, "");
    let root = cluster.installation.root_token().to_owned();
    let mut quickest = BTreeMap::new();
    for _ in 0..2 {
        let silent = Stopped::stop(cluster.installation.database());
        for (number, (path, token)) in [
            // The first one finds connections that were sound.
            ("/v1/sys/health", None),
            ("/v1/sys/health", None),
            ("/v1/auth/token/lookup-self", Some(root.as_str())),
        ]
        .into_iter()
        .enumerate()
        {
            let asked = Instant::now();
            let answer = cluster.installation.send("GET", path, token, None);
            let took = asked.elapsed();
            assert_eq!(answer.status, 503, "{path}: {answer:?}");
            assert_eq!(answer.header("retry-after"), Some("1"), "{answer:?}");
            let quickest = quickest.entry((number, path)).or_insert(took);
            *quickest = took.min(*quickest);
        }
        drop(silent);
        await_that("the server is healthy again", || {
            cluster.as_root(0, "GET", "/v1/sys/health", None).status == 200
        });
        let found = answer_of(|| cluster.as_root(0, "GET", "/v1/auth/token/lookup-self", None));
        assert_eq!(found.status, 200, "{found:?}");
    }
    let is_in_time = |took: &Duration| *took < BOUND;
    assert!(quickest.values().all(is_in_time), "{quickest:?}");
    assert_eq!(cluster.installation.server().terminate().unwrap(), Some(0));
}

#[test]
fn r1_servers_divide_the_limits_of_logins_among_them() {
    const LIMITS: &str = "[limits]\nlogin_rate_per_source = \"none\"\nlogin_rate_per_mount = 1\nlogin_burst_per_mount = 12\n";
    let cluster = Cluster::start(3, LIMITS);
    cluster.installation.set_up_login().unwrap();
    cluster.await_all_listed();
    let login = json!({"role": "dev", "jwt": "a.b.c"});
    for server in &cluster.others {
        let began = Instant::now();
        let let_through = std::iter::repeat_with(|| {
            let answer = server.send("POST", "/v1/auth/gcp/login", None, Some(&login));
            answer.status
        });
        let let_through = let_through.take_while(|status| *status != 429).count();
        // A third of the burst, and a third of the rate.
        let gained = usize::try_from(began.elapsed().as_secs() / 3).unwrap();
        assert!((4..=5 + gained).contains(&let_through), "{let_through}");
    }
}

#[test]
fn one_server_at_a_time_does_the_background_work_and_is_succeeded() {
    let mut cluster = Cluster::start(3, "[limits]\nbackground_interval = \"1s\"\n");
    let done = r#"gatehouse_background_duties_total{duty="maintain-access",outcome="done"}"#;
    let works = |cluster: &Cluster, server| {
        cluster.metric(server, "gatehouse_background_work_here") == Some(1.0)
    };
    cluster.await_all_listed();
    assert!(works(&cluster, 0), "the first one has begun it");
    let rounds = cluster.metric(0, done).unwrap();
    await_that("rounds go on", || {
        cluster.metric(0, done).unwrap() >= rounds + 2.0
    });
    for other in [1, 2] {
        assert!(!works(&cluster, other));
        assert_eq!(cluster.metric(other, done), Some(0.0));
    }
    // Its requests go to another one from here on.
    cluster.installation.server().kill();
    let other_works = |cluster: &Cluster| [1, 2].map(|other| works(cluster, other));
    await_that("another one follows", || {
        other_works(&cluster).contains(&true)
    });
    assert_ne!(other_works(&cluster), [true, true]);
    let successor = if works(&cluster, 1) { 1 } else { 2 };
    await_that("it works", || {
        cluster.metric(successor, done).unwrap() > 0.0
    });
    // One that ends in order lets go of it at once.
    cluster.others[successor - 1].terminate().unwrap();
    let last = 3 - successor;
    let asked = Instant::now();
    await_that("the last one follows", || works(&cluster, last));
    assert!(
        asked.elapsed() < Duration::from_secs(12),
        "{:?}",
        asked.elapsed()
    );
    await_that("it is alone", || {
        cluster.metric(last, "gatehouse_nodes_live") == Some(1.0)
    });
}

#[test]
fn k4_a_rotation_at_one_server_is_followed_by_the_others() {
    let cluster = Cluster::start(2, "");
    let path = |name: &str| format!("/v1/sys/policies/acl/{name}");
    let body = json!({"policy": "path \"demo/*\" { capabilities = [\"read\"] }"});
    let term = |server| {
        let status = answer_of(|| cluster.as_root(server, "GET", "/v1/sys/key-status", None));
        status.json()["data"]["term"].as_u64().unwrap()
    };
    for round in 0..4 {
        let (rotates, follows) = (round % 2, (round + 1) % 2);
        let before = term(rotates);
        let rotated = cluster.as_root(rotates, "PUT", "/v1/sys/rotate", None);
        assert!(rotated.status < 300, "{rotated:?}");
        for (writes, reads) in [(rotates, follows), (follows, rotates)] {
            let path = path(&format!("of-{round}-{writes}"));
            let written = answer_of(|| cluster.as_root(writes, "PUT", &path, Some(&body)));
            assert!(written.status < 300, "{written:?}");
            let read = answer_of(|| cluster.as_root(reads, "GET", &path, None));
            assert_eq!(read.status, 200, "{read:?}");
        }
        assert_eq!([term(rotates), term(follows)], [before + 1; 2]);
    }
}

#[test]
fn a8_one_call_seals_all_servers_that_share_the_store_or_the_one_alone() {
    let cluster = Cluster::start(3, "");
    let is_sealed = |server| {
        let health = cluster.as_root(server, "GET", "/v1/sys/health", None);
        health.json()["sealed"] == true
    };
    let alone = cluster.as_root(2, "PUT", "/v1/sys/seal", None);
    assert_eq!(alone.status, 204, "{alone:?}");
    assert!(is_sealed(2) && !is_sealed(0) && !is_sealed(1));

    let all = json!({"cluster": true});
    let sealed = cluster.as_root(0, "PUT", "/v1/sys/seal", Some(&all));
    assert_eq!(sealed.status, 204, "{sealed:?}");
    assert!(is_sealed(0));
    await_that("the other server is sealed", || is_sealed(1));
}
