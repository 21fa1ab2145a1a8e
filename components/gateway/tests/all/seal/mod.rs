//! A server whose key is held in shares: initialization, unsealing, sealing (contract 6.1, 6.2, SEC-K2, A8, H13).

mod doubles;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_access::AccessService;
use gatehouse_auth_method::AuthMethodService;
use gatehouse_gateway::host::{Bucket, Host, Level, RateLimits};
use gatehouse_gateway::{Gateway, Method, Settings};
use gatehouse_orgs::Orgs;
use gatehouse_ports::doubles::{ManualClock, ScriptedHttp, SeededRandom};
use gatehouse_ports::{HttpError, NoCache, Store};
use serde_json::{Value, json};

use self::doubles::{Clock, GatedStore, ScriptedSeal, Step, Vault, share};
use super::server::{Answer, NOW, Server, listed, request};

type GatedGateway = Gateway<
    AuthMethodService<GatedStore, NoCache, ScriptedHttp, Clock, SeededRandom>,
    AccessService<GatedStore, Clock, SeededRandom>,
    Orgs<GatedStore, Clock, SeededRandom>,
>;

struct SharesServer {
    vault: &'static Vault,
    gateway: GatedGateway,
    operator_log: Arc<Mutex<Vec<String>>>,
}

impl SharesServer {
    fn empty() -> Self {
        let clock: Clock = Box::leak(Box::new(ManualClock::at_seconds(NOW)));
        let vault: &'static Vault = Box::leak(Box::new(Vault::empty(clock)));
        let random = SeededRandom::new;
        let http = ScriptedHttp::new(|_| Err(HttpError::Denied));
        let settings = gatehouse_auth_method::Settings::default();
        let store = || GatedStore(vault);
        let operator_log = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&operator_log);
        let gateway = Gateway::new(
            AuthMethodService::new(store(), NoCache, http, clock, random(1), settings),
            AccessService::new(store(), clock, random(2)),
            Orgs::new(store(), clock, random(3)),
            Settings::default(),
        )
        .with_host(Host {
            seal: Box::new(ScriptedSeal(vault)),
            ..Host::default()
        })
        .with_operator_log(move |line| log.lock().unwrap().push(line.to_owned()));
        Self {
            vault,
            gateway,
            operator_log,
        }
    }

    /// A sealed server with a threshold of two shares, and its root token.
    fn initialized() -> (Self, String) {
        let server = Self::empty();
        let made = server
            .put("sys/init", r#"{"secret_shares":3,"secret_threshold":2}"#)
            .expect(200);
        let root_token = made.json()["root_token"].as_str().unwrap().to_owned();
        (server, root_token)
    }

    fn send(&self, method: Method, target: &str, token: &str, body: &str) -> Answer {
        let mut request = request(method, target, body);
        if !token.is_empty() {
            request.headers.push("X-Vault-Token", token);
        }
        Answer(self.gateway.handle(&request))
    }

    fn put(&self, target: &str, body: &str) -> Answer {
        self.send(Method::Put, target, "", body)
    }

    fn get(&self, target: &str) -> Answer {
        self.send(Method::Get, target, "", "")
    }

    fn give(&self, number: u8) -> Answer {
        let key = STANDARD.encode(share(number));
        self.put("sys/unseal", &json!({ "key": key }).to_string())
    }

    fn fail(&self, step: impl Into<Option<Step>>) {
        *self.vault.fails.lock().unwrap() = step.into();
    }

    fn records(&self) -> usize {
        self.vault.store.scan("", None, 1000).unwrap().items.len()
    }

    /// `initialized`, `sealed`, `t`, `n` and `progress` of the status.
    fn status(&self) -> (bool, bool, u64, u64, u64) {
        let status = self.get("sys/seal-status").expect(200).json();
        assert_eq!(status["type"], "shamir");
        assert_eq!(status.get("cluster_id").is_none(), status["sealed"] == true);
        summary(&status)
    }
}

fn summary(status: &Value) -> (bool, bool, u64, u64, u64) {
    let flag = |name: &str| status[name].as_bool().unwrap();
    let number = |name: &str| status[name].as_u64().unwrap();
    assert_eq!(status["nonce"] == "", number("progress") == 0);
    (
        flag("initialized"),
        flag("sealed"),
        number("t"),
        number("n"),
        number("progress"),
    )
}

#[test]
fn contract_6_2_a_server_goes_from_empty_over_sealed_to_active() {
    let server = SharesServer::empty();
    assert_eq!(server.status(), (false, true, 0, 0, 0));
    assert_eq!(server.get("sys/init").json(), json!({"initialized": false}));
    server.get("sys/health").expect(501);

    let asked = r#"{"secret_shares":3,"secret_threshold":2,"stored_shares":0,"pgp_keys":null,
        "recovery_shares":0,"recovery_threshold":0,"recovery_pgp_keys":null,"root_token_pgp_key":""}"#;
    let made = server.put("sys/init", asked).expect(200).json();
    let shares = (1..=3).map(share);
    let base64: Vec<String> = shares.clone().map(|share| STANDARD.encode(share)).collect();
    assert_eq!(made["keys_base64"], json!(base64));
    let hexadecimal: Vec<String> = (1..=3).map(|n| format!("{n:02x}").repeat(33)).collect();
    assert_eq!(made["keys"], json!(hexadecimal));
    let root_token = made["root_token"].as_str().unwrap();
    assert_eq!(made.as_object().unwrap().len(), 3);

    assert_eq!(server.status(), (true, true, 2, 3, 0));
    assert_eq!(server.get("sys/init").json(), json!({"initialized": true}));
    let health = server.get("sys/health").expect(503).json();
    assert_eq!(
        (&health["initialized"], &health["sealed"]),
        (&json!(true), &json!(true))
    );
    server
        .send(Method::Get, "sys/auth", root_token, "")
        .refused(503, "Vault is sealed");

    let one = server.give(3).expect(200).json();
    assert_eq!(summary(&one), (true, true, 2, 3, 1));
    let key = json!({ "key": hexadecimal[0].to_uppercase() });
    let two = server.put("sys/unseal", &key.to_string()).expect(200);
    assert_eq!(summary(&two.json()), (true, false, 2, 3, 0));
    assert!(two.json()["cluster_id"].is_string());
    assert_eq!(server.status(), (true, false, 2, 3, 0));
    server.get("sys/health").expect(200);
    server
        .send(Method::Get, "sys/auth", root_token, "")
        .expect(200);
}

#[test]
fn numbers_of_shares_that_no_seal_has_are_refused_and_nothing_is_stored() {
    let server = SharesServer::empty();
    for (asked, text) in [
        ("{}", "shares must be at least one"),
        (
            r#"{"secret_shares":-1,"secret_threshold":2}"#,
            "shares must be at least one",
        ),
        (r#"{"secret_shares":5}"#, "threshold must be at least one"),
        (
            r#"{"secret_shares":256,"secret_threshold":2}"#,
            "shares must be less than 256",
        ),
        (
            r#"{"secret_shares":1,"secret_threshold":2}"#,
            "threshold cannot be larger than shares",
        ),
        (
            r#"{"secret_shares":2,"secret_threshold":1}"#,
            "threshold must be greater than one for multiple shares",
        ),
    ] {
        let text = format!("invalid seal configuration: {text}");
        server.put("sys/init", asked).refused(400, &text);
    }
    for field in [
        r#""stored_shares":3"#,
        r#""recovery_shares":5"#,
        r#""recovery_threshold":3"#,
        r#""pgp_keys":["a","b","c"]"#,
        r#""recovery_pgp_keys":["a"]"#,
        r#""root_token_pgp_key":"a""#,
        r#""secret_shares":"x""#,
    ] {
        let rest = match field.contains("secret_shares") {
            true => "",
            false => r#","secret_shares":3"#,
        };
        let body = format!(r#"{{{field}{rest},"secret_threshold":2}}"#);
        let refused = server.put("sys/init", &body).expect(400);
        let name = field.split('"').nth(1).unwrap();
        assert!(refused.text().contains(name), "{}", refused.text());
    }
    assert_eq!(server.status(), (false, true, 0, 0, 0));
    assert_eq!(server.records(), 0);
}

#[test]
fn a8_an_initialized_server_is_not_initialized_again_sealed_or_not() {
    let (server, _) = SharesServer::initialized();
    let records = server.records();
    let again = || server.put("sys/init", r#"{"secret_shares":1,"secret_threshold":1}"#);
    again().refused(400, "Vault is already initialized");
    server
        .put("sys/init", "{}")
        .refused(400, "Vault is already initialized");
    server.give(1).expect(200);
    server.give(2).expect(200);
    again().refused(400, "Vault is already initialized");
    assert_eq!(server.records(), records);
}

#[test]
fn a8_of_many_initializations_at_once_one_makes_a_root_token() {
    for _ in 0..20 {
        let server = SharesServer::empty();
        let init = || server.put("sys/init", r#"{"secret_shares":3,"secret_threshold":2}"#);
        let answers: Vec<Answer> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8).map(|_| scope.spawn(init)).collect();
            starts
                .into_iter()
                .map(|start| start.join().unwrap())
                .collect()
        });
        let mut won = 0;
        for answer in answers {
            match answer.0.status {
                200 => won += 1,
                _ => answer.refused(400, "Vault is already initialized"),
            }
        }
        assert_eq!(won, 1);
    }
}

#[test]
fn a_first_start_that_fails_half_way_gives_nothing_away_and_can_be_done_again() {
    for step in [Step::Store, Step::Finish] {
        let server = SharesServer::empty();
        server.fail(step);
        let init = || server.put("sys/init", r#"{"secret_shares":3,"secret_threshold":2}"#);
        let refused = init().expect(500);
        assert!(!refused.text().contains("key") && !refused.text().contains("token"));
        assert_eq!(server.operator_log.lock().unwrap().len(), 1);
        assert_eq!(server.status(), (false, true, 0, 0, 0));
        assert_eq!(server.records(), 0);
        server.fail(None);
        init().expect(200);
    }
    let server = SharesServer::empty();
    let unusable = r#"{"secret_shares":1,"secret_threshold":1,"root_token":"with space"}"#;
    server.put("sys/init", unusable).expect(400);
    assert_eq!(server.status(), (false, true, 0, 0, 0));
}

#[test]
fn unsealing_refuses_what_is_no_key_and_keeps_what_was_given() {
    let (server, _) = SharesServer::initialized();
    server.give(1).expect(200);
    let absent = "'key' must be specified in request body as JSON, or 'reset' set to true";
    let unreadable = "'key' must be a valid hex or base64 string";
    for (body, text) in [
        ("", absent),
        ("{}", absent),
        (r#"{"key":""}"#, absent),
        (r#"{"key":null,"reset":false}"#, absent),
        (r#"{"key":"zz!"}"#, unreadable),
        (r#"{"key":"abc"}"#, unreadable),
        (
            r#"{"key":"abcd"}"#,
            "invalid key: key is shorter than minimum 16 bytes",
        ),
        (
            &json!({ "key": "ab".repeat(34) }).to_string(),
            "invalid key: key is longer than maximum 33 bytes",
        ),
        (
            &json!({ "key": "ab".repeat(20) }).to_string(),
            "invalid key: no share of this server has 20 bytes",
        ),
        (
            r#"{"key":"abcd","migrate":true}"#,
            "can't perform a seal migration, no migration seal found",
        ),
    ] {
        server.put("sys/unseal", body).refused(400, text);
    }
    server
        .put("sys/unseal", r#"{"key":["a"],"key":1}"#)
        .expect(400);
    assert_eq!(server.status(), (true, true, 2, 3, 1));
}

#[test]
fn a_wrong_share_begins_the_attempt_anew_and_so_does_a_reset() {
    let (server, _) = SharesServer::initialized();
    server.give(1).expect(200);
    let wrong = server.give(200).expect(400);
    assert!(
        wrong
            .text()
            .contains("invalid key: the shares do not yield the key")
    );
    assert_eq!(server.status(), (true, true, 2, 3, 0));
    server.give(1).expect(200);
    // As in the reference, a reset takes precedence over a key in the same request.
    let reset = json!({ "reset": true, "key": "00" }).to_string();
    let answer = server.put("sys/unseal", &reset).expect(200).json();
    assert_eq!(summary(&answer), (true, true, 2, 3, 0));
    server.give(2).expect(200);
    server.give(3).expect(200);
    server
        .put("sys/unseal", &reset)
        .refused(400, "vault is unsealed");
    let more = server.give(1).expect(200).json();
    assert_eq!(summary(&more), (true, false, 2, 3, 0));
}

/// Buckets with a given content, which never refill.
#[derive(Clone, Default)]
struct Emptying(Arc<Mutex<Vec<(String, u32)>>>);

impl RateLimits for Emptying {
    fn take(&self, buckets: &[Bucket]) -> Result<Vec<Level>, u32> {
        let [bucket] = buckets else {
            panic!("one at a time")
        };
        assert!(bucket.events > 0 && bucket.period >= 60_000);
        let mut taken = self.0.lock().unwrap();
        let place = taken.iter().position(|(key, _)| *key == bucket.key);
        let place = place.unwrap_or_else(|| {
            taken.push((bucket.key.clone(), 0));
            taken.len() - 1
        });
        if taken[place].1 == bucket.burst {
            return Err(2_500);
        }
        taken[place].1 += 1;
        Ok(Vec::new())
    }
}

impl SharesServer {
    fn with_rate_limits(self, limits: Emptying) -> Self {
        let host = Host {
            seal: Box::new(ScriptedSeal(self.vault)),
            rate_limits: Box::new(limits),
            ..Host::default()
        };
        let gateway = self.gateway.with_host(host);
        Self { gateway, ..self }
    }

    fn unseal_from(&self, address: &str, body: &Value) -> Answer {
        let mut request = request(Method::Put, "sys/unseal", &body.to_string());
        request.peer = Some(address.parse().unwrap());
        Answer(self.gateway.handle(&request))
    }
}

#[test]
fn k2_strangers_reset_and_give_only_so_often_from_one_address() {
    let limits = Emptying::default();
    let (server, _) = SharesServer::initialized();
    let server = server.with_rate_limits(limits.clone());
    let reset = json!({"reset": true});
    for _ in 0..3 {
        server.unseal_from("2001:db8::1", &reset).expect(200);
    }
    server.give(1).expect(200);
    let refused = server.unseal_from("2001:db8::ffff", &reset);
    assert_eq!(refused.0.header("retry-after"), Some("3"));
    refused.refused(429, "rate limit quota exceeded");
    assert_eq!(
        server.status(),
        (true, true, 2, 3, 1),
        "nothing is forgotten"
    );
    // Any body that is not a reset counts as a share.
    for body in [json!({}), json!({"key": "00"}), json!({"reset": "maybe"})] {
        for _ in 0..4 {
            server.unseal_from("192.0.2.7", &body).expect(400);
        }
    }
    let wrong = json!({"key": STANDARD.encode(share(200))});
    server.unseal_from("192.0.2.7", &wrong).expect(429);
    assert_eq!(server.status(), (true, true, 2, 3, 1));
    // The limit does not apply to another address, nor to an unsealed server.
    server.give(2).expect(200);
    let more = server.unseal_from("192.0.2.7", &wrong).expect(200).json();
    assert_eq!(summary(&more), (true, false, 2, 3, 0));
    let mut keys: Vec<String> = limits
        .0
        .lock()
        .unwrap()
        .iter()
        .map(|(key, _)| key.clone())
        .collect();
    keys.sort();
    keys.retain(|key| !key.ends_with("192.0.2.1"));
    let expected = ["unseal/reset/2001:db8::", "unseal/share/192.0.2.7"];
    assert_eq!(keys, expected);
}

#[test]
fn an_empty_server_takes_no_shares() {
    let server = SharesServer::empty();
    server.give(1).refused(400, "Vault is not initialized");
    let reset = server.put("sys/unseal", r#"{"reset":true}"#).expect(200);
    assert_eq!(summary(&reset.json()), (false, true, 0, 0, 0));
}

#[test]
fn a_seal_that_cannot_be_reached_is_a_failure_that_only_its_operator_reads_about() {
    let (server, _) = SharesServer::initialized();
    for (step, target) in [
        (Step::Status, "sys/seal-status"),
        (Step::Status, "sys/health"),
        (Step::Status, "sys/init"),
    ] {
        server.fail(step);
        server.get(target).expect(500);
    }
    server.fail(Step::Unseal);
    let refused = server.give(1).expect(500);
    assert!(!refused.text().contains("disk"));
    let log = server.operator_log.lock().unwrap().join("\n");
    assert_eq!(log.matches("the disk is gone").count(), 4);
}

#[test]
fn h13_nothing_but_unsealing_and_status_is_open_to_everybody() {
    let (server, _) = SharesServer::initialized();
    server.give(1).expect(200);
    server.give(2).expect(200);
    for method in [Method::Get, Method::Delete, Method::List, Method::Head] {
        let answer = server.send(method, "sys/unseal", "", "");
        assert_eq!(answer.0.status, 405);
    }
    for token in ["", "unknown"] {
        let refused = server.send(Method::Put, "sys/seal", token, "{}");
        assert_eq!(refused.0.status, 403);
    }
    assert_eq!(server.status(), (true, false, 2, 3, 0));
}

#[test]
fn sealing_needs_sudo_and_closes_the_server_until_it_is_unsealed() {
    let (server, root) = SharesServer::initialized();
    let unseal = || {
        server.give(1).expect(200);
        server.give(2).expect(200);
    };
    unseal();
    let token_with = |capabilities: &str| {
        let policy = format!("path \"sys/seal\" {{ capabilities = [{capabilities}] }}");
        let policy = json!({ "policy": policy }).to_string();
        let target = "sys/policies/acl/under-test";
        server.send(Method::Put, target, &root, &policy).expect(204);
        let fields = r#"{"policies":["under-test"]}"#;
        let made = server.send(Method::Put, "auth/token/create", &root, fields);
        let token = &made.expect(200).json()["auth"]["client_token"];
        token.as_str().unwrap().to_owned()
    };
    let seal = |method, token: &str| server.send(method, "sys/seal", token, "");
    seal(Method::Put, &token_with("\"update\"")).refused(403, &listed("permission denied"));
    assert_eq!(server.status(), (true, false, 2, 3, 0));
    let allowed = token_with("\"update\", \"sudo\"");
    for (method, token) in [(Method::Put, &allowed), (Method::Post, &root)] {
        seal(method, token).expect(204);
        assert_eq!(server.status(), (true, true, 2, 3, 0));
        seal(method, token).refused(503, "Vault is sealed");
        unseal();
    }
    seal(Method::Get, &root).expect(405);
    server.send(Method::Get, "sys/auth", &root, "").expect(200);
}

#[test]
fn a8_sealing_concerns_the_other_servers_only_where_the_caller_says_so() {
    let (server, root) = SharesServer::initialized();
    for (path, body, concerns_others) in [
        ("sys/seal", "", false),
        ("sys/seal", "{}", false),
        ("sys/seal", r#"{"cluster":false}"#, false),
        ("sys/seal?cluster=true", r#"{"cluster":false}"#, false),
        ("sys/seal?cluster=false", "", false),
        ("sys/seal", r#"{"cluster":true}"#, true),
        ("sys/seal?cluster=true", "", true),
        ("sys/seal?cluster=false", r#"{"cluster":true}"#, true),
    ] {
        server.give(1).expect(200);
        server.give(2).expect(200);
        server.vault.others_sealed.store(false, Ordering::SeqCst);
        server.send(Method::Put, path, &root, body).expect(204);
        assert_eq!(server.status(), (true, true, 2, 3, 0));
        let others_sealed = server.vault.others_sealed.load(Ordering::SeqCst);
        assert_eq!(others_sealed, concerns_others, "{path} {body}");
    }
    server.give(1).expect(200);
    server.give(2).expect(200);
    let unclear = server.send(Method::Put, "sys/seal?cluster=perhaps", &root, "");
    unclear.expect(400);
    assert_eq!(server.status(), (true, false, 2, 3, 0));
}

#[test]
fn an_automatic_seal_takes_no_shares_and_says_what_it_is() {
    let server = Server::empty();
    let put = |target: &str, body: &str| server.send(Method::Put, target, None, body);
    let key = json!({ "key": "ab".repeat(33) }).to_string();
    put("sys/unseal", &key).refused(400, "Vault is not initialized");
    let made = put("sys/init", "{}").expect(200).json();
    assert_eq!(
        (&made["keys"], &made["keys_base64"]),
        (&json!([]), &json!([]))
    );
    let status = put("sys/unseal", &key).expect(200).json();
    assert_eq!(
        (&status["type"], &status["sealed"]),
        (&json!("static"), &json!(false))
    );
    put("sys/unseal", r#"{"reset":true}"#).refused(400, "vault is unsealed");
    for field in ["recovery_shares", "recovery_threshold", "stored_shares"] {
        let empty = Server::empty();
        let body = json!({ field: 5 }).to_string();
        let refused = empty.send(Method::Put, "sys/init", None, &body).expect(400);
        assert!(
            refused
                .text()
                .contains(&format!("{field} is not supported"))
        );
        assert_eq!(empty.commits(), 0);
    }
}
