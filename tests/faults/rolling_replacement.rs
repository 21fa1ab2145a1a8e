//! Servers on one database are replaced one after the other under load, behind a balancer: no request fails (SEC-O1, S7).

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gatehouse_tests::{Balancer, Installation, ServerProcess, Storage};
use reqwest::blocking::Client;
use serde_json::{Value, json};

const SERVERS: usize = 3;
const CLIENTS: usize = 4;
/// Logins that are answered between two replacements.
const LOGINS: usize = 20;
const PATIENCE: Duration = Duration::from_secs(120);

fn addresses(servers: &[ServerProcess]) -> Vec<String> {
    let addresses = servers.iter().map(|server| server.address().to_owned());
    addresses.collect()
}

/// Tells the clients to end, also when a check fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Logs in and looks the token up, each time at other servers, until `end`. The token of one is known to all.
fn log_in_again_and_again(balancer: &str, login: &Value, end: &AtomicBool, logins: &AtomicUsize) {
    let client = Client::builder().timeout(PATIENCE).build().unwrap();
    while !end.load(Ordering::Relaxed) {
        let request = client.post(format!("{balancer}/v1/auth/gcp/login"));
        let answer = request.body(login.to_string()).send().unwrap();
        let status = answer.status();
        let text = answer.text().unwrap();
        assert_eq!(status, 200, "{text}");
        let answer: Value = serde_json::from_str(&text).unwrap();
        let token = answer["auth"]["client_token"].as_str().unwrap();
        for _ in 0..SERVERS {
            let request = client.get(format!("{balancer}/v1/auth/token/lookup-self"));
            let answer = request.header("X-Vault-Token", token).send().unwrap();
            assert_eq!(answer.status(), 200);
        }
        logins.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn o1_s7_servers_are_replaced_one_after_the_other_without_a_failed_request() {
    let installation = Installation::start(Storage::Postgres, "").unwrap();
    installation.set_up_login().unwrap();
    let start = |_| installation.another_server().unwrap();
    let mut servers: Vec<ServerProcess> = (0..SERVERS).map(start).collect();
    let balancer = Balancer::start(addresses(&servers)).unwrap();
    let address = balancer.address();
    let login = json!({"role": gatehouse_tests::ROLE, "jwt": installation.login_jwt().unwrap()});
    let (end, logins) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let _end = End(&end);
        for _ in 0..CLIENTS {
            scope.spawn(|| log_in_again_and_again(&address, &login, &end, &logins));
        }
        for place in 0..SERVERS {
            let before = logins.load(Ordering::Relaxed);
            let deadline = Instant::now() + PATIENCE;
            while logins.load(Ordering::Relaxed) < before + LOGINS {
                assert!(Instant::now() < deadline, "logins stand still");
                thread::sleep(Duration::from_millis(10));
            }
            let mut replaced = mem::replace(&mut servers[place], start(place));
            balancer.replace_servers(addresses(&servers));
            assert_eq!(replaced.terminate().unwrap(), Some(0));
        }
    });
    assert!(logins.load(Ordering::Relaxed) >= SERVERS * LOGINS);
}
