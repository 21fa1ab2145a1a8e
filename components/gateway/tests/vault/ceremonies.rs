//! What holders of shares do together, and the key that seals what is stored (contract 6.1, SEC-K2, K4).

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use gatehouse_access::AccessService;
use gatehouse_auth_method::AuthMethodService;
use gatehouse_gateway::host::{
    Bucket, Ceremonies, Ceremony, CeremonyError, Host, KeyStatus, Keys, Level, RateLimits,
    RekeyProgress, RootProgress, RotationPolicy, SealFailure,
};
use gatehouse_gateway::{Gateway, Method, Settings};
use gatehouse_orgs::Orgs;
use gatehouse_ports::doubles::{ManualClock, MemoryStore, ScriptedHttp, SeededRandom};
use gatehouse_ports::{HttpError, NoCache};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::recorder::{Fails, Recorder};
use super::server::{Answer, NOW, request};

type Clock = &'static ManualClock;
type OwnGateway = Gateway<
    AuthMethodService<MemoryStore<Clock>, NoCache, ScriptedHttp, Clock, SeededRandom>,
    AccessService<MemoryStore<Clock>, Clock, SeededRandom>,
    Orgs<MemoryStore<Clock>, Clock, SeededRandom>,
>;

const NONCE: &str = "nonce-of-the-ceremony";
const VERIFICATION: &str = "nonce-of-the-verification";

/// Two of three shares are enough; share n is 33 bytes of n. New shares are 9 and 10.
#[derive(Default)]
struct Script {
    password: Option<Vec<u8>>,
    given: Vec<Vec<u8>>,
    rekey: Option<(u32, u32, bool)>,
    pending: bool,
    rotations: u32,
    policy: Option<RotationPolicy>,
    origins: Vec<String>,
    requests_left: u32,
}

#[derive(Clone)]
struct Holders(Arc<Mutex<Script>>);

impl Holders {
    fn edit<T>(&self, edit: impl FnOnce(&mut Script) -> T) -> T {
        edit(&mut self.0.lock().unwrap())
    }
}

fn share(number: u8) -> Vec<u8> {
    vec![number; 33]
}

fn rekey_of(script: &Script) -> Ceremony {
    let (shares, threshold, verification) = script.rekey.unwrap_or_default();
    Ceremony {
        nonce: script.rekey.map(|_| NONCE.to_owned()),
        given: script.given.len() as u32,
        required: 2,
        shares,
        threshold,
        verification,
        verification_nonce: script.pending.then(|| VERIFICATION.to_owned()),
    }
}

fn root_of(script: &Script) -> Ceremony {
    Ceremony {
        nonce: script.password.as_ref().map(|_| NONCE.to_owned()),
        given: script.given.len() as u32,
        required: 2,
        ..Ceremony::default()
    }
}

/// Takes a share of the numbers `from` on; says whether there are enough.
fn give(script: &mut Script, given: &[u8], nonce: &str, from: u8) -> Result<bool, CeremonyError> {
    if given.len() != 33 {
        return Err(CeremonyError::Malformed);
    }
    if nonce != if from == 9 { VERIFICATION } else { NONCE } {
        return Err(CeremonyError::OtherNonce(NONCE.to_owned()));
    }
    if script.given.contains(&given.to_vec()) {
        return Err(CeremonyError::GivenBefore);
    }
    script.given.push(given.to_vec());
    if script.given.len() < 2 {
        return Ok(false);
    }
    let given = std::mem::take(&mut script.given);
    match given
        .iter()
        .all(|share| (from..from + 3).contains(&share[0]))
    {
        true => Ok(true),
        false => Err(CeremonyError::WrongShares),
    }
}

impl Ceremonies for Holders {
    fn root_generation(&self) -> Result<Ceremony, CeremonyError> {
        self.edit(|script| Ok(root_of(script)))
    }

    fn begin_root_generation(
        &self,
        password: &[u8],
        origin: &str,
    ) -> Result<Ceremony, CeremonyError> {
        self.edit(|script| {
            if script.password.is_some() {
                return Err(CeremonyError::UnderWay);
            }
            script.password = Some(password.to_vec());
            script.origins.push(origin.to_owned());
            Ok(root_of(script))
        })
    }

    fn cancel_root_generation(&self, origin: &str) -> Result<(), CeremonyError> {
        self.edit(|script| {
            if script.origins.last().is_some_and(|began| began != origin) {
                return Err(CeremonyError::OthersOwn);
            }
            (script.password, script.given) = (None, Vec::new());
            Ok(())
        })
    }

    fn give_for_root(&self, share: &[u8], nonce: &str) -> Result<RootProgress, CeremonyError> {
        self.edit(|script| {
            if script.password.is_none() {
                return Err(CeremonyError::NotUnderWay);
            }
            let enough = give(script, share, nonce, 1)?;
            let password = script.password.take_if(|_| enough);
            Ok(RootProgress {
                ceremony: root_of(script),
                one_time_password: password.map(Zeroizing::new),
            })
        })
    }

    fn rekey(&self) -> Result<Ceremony, CeremonyError> {
        self.edit(|script| Ok(rekey_of(script)))
    }

    fn begin_rekey(
        &self,
        shares: u32,
        threshold: u32,
        verification: bool,
        _: &str,
    ) -> Result<Ceremony, CeremonyError> {
        if shares == 0 {
            return Err(CeremonyError::InvalidNumbers);
        }
        self.edit(|script| {
            script.rekey = Some((shares, threshold, verification));
            Ok(rekey_of(script))
        })
    }

    fn cancel_rekey(&self, _: &str) -> Result<(), CeremonyError> {
        self.edit(|script| (script.rekey, script.pending) = (None, false));
        Ok(())
    }

    fn give_for_rekey(&self, share: &[u8], nonce: &str) -> Result<RekeyProgress, CeremonyError> {
        self.edit(|script| {
            let Some((_, _, verification)) = script.rekey else {
                return Err(CeremonyError::NotUnderWay);
            };
            let mut new_shares = Vec::new();
            if give(script, share, nonce, 1)? {
                new_shares = vec![self::share(9).into(), self::share(10).into()];
                script.pending = verification;
                script.rekey = script.rekey.filter(|_| verification);
            }
            Ok(RekeyProgress {
                ceremony: rekey_of(script),
                new_shares,
            })
        })
    }

    fn rekey_verification(&self) -> Result<Ceremony, CeremonyError> {
        self.edit(|script| match script.rekey {
            Some(_) => Ok(rekey_of(script)),
            None => Err(CeremonyError::NotUnderWay),
        })
    }

    fn verify_rekey(&self, share: &[u8], nonce: &str) -> Result<Ceremony, CeremonyError> {
        self.edit(|script| {
            if !script.pending {
                return Err(CeremonyError::NothingToVerify);
            }
            if give(script, share, nonce, 9)? {
                (script.rekey, script.pending) = (None, false);
                return Ok(Ceremony {
                    verification_nonce: Some(VERIFICATION.to_owned()),
                    ..Ceremony::default()
                });
            }
            Ok(rekey_of(script))
        })
    }

    fn restart_rekey_verification(&self, _: &str) -> Result<Ceremony, CeremonyError> {
        self.edit(|script| script.given.clear());
        self.rekey_verification()
    }
}

impl Keys for Holders {
    fn current(&self) -> Result<KeyStatus, SealFailure> {
        self.edit(|script| {
            Ok(KeyStatus {
                term: 1 + script.rotations,
                installed_at: 1_795_249_110_123,
                encryptions: 42,
            })
        })
    }

    fn rotate(&self) -> Result<(), SealFailure> {
        self.edit(|script| script.rotations += 1);
        Ok(())
    }

    fn policy(&self) -> Result<RotationPolicy, SealFailure> {
        let default = RotationPolicy {
            enabled: true,
            max_operations: 3_865_470_566,
            interval: 0,
        };
        self.edit(|script| Ok(script.policy.unwrap_or(default)))
    }

    fn set_policy(&self, policy: RotationPolicy) -> Result<(), SealFailure> {
        self.edit(|script| script.policy = Some(policy));
        Ok(())
    }
}

impl RateLimits for Holders {
    fn take(&self, buckets: &[Bucket]) -> Result<Vec<Level>, u32> {
        assert!(
            buckets
                .iter()
                .all(|bucket| bucket.key.starts_with("seal/ceremonies/"))
        );
        self.edit(|script| {
            script.requests_left = script.requests_left.checked_sub(1).ok_or(1500_u32)?;
            Ok(Vec::new())
        })
    }
}

struct Server {
    holders: Holders,
    gateway: OwnGateway,
    root: String,
}

impl Server {
    fn new() -> Self {
        let clock: Clock = Box::leak(Box::new(ManualClock::at_seconds(NOW)));
        let holders = Holders(Arc::default());
        holders.edit(|script| script.requests_left = 1000);
        let store = || MemoryStore::new(clock);
        let http = ScriptedHttp::new(|_| Err(HttpError::Denied));
        let random = SeededRandom::new;
        let settings = gatehouse_auth_method::Settings::default();
        let gateway = Gateway::new(
            AuthMethodService::new(store(), NoCache, http, clock, random(1), settings),
            AccessService::new(store(), clock, random(2)),
            Orgs::new(store(), clock, random(3)),
            Settings::default(),
        )
        .with_operator_log(|_| ())
        .with_host(Host {
            keys: Box::new(holders.clone()),
            ceremonies: Box::new(holders.clone()),
            rate_limits: Box::new(holders.clone()),
            ..Host::default()
        });
        let mut server = Self {
            holders,
            gateway,
            root: String::new(),
        };
        let made = server.put("sys/init", json!({})).expect(200).json();
        server.root = made["root_token"].as_str().unwrap().to_owned();
        server
    }

    /// The same, with a log.
    fn recorded_by(self, recorder: &Recorder) -> Self {
        let host = Host {
            keys: Box::new(self.holders.clone()),
            ceremonies: Box::new(self.holders.clone()),
            rate_limits: Box::new(self.holders.clone()),
            audit: Box::new(recorder.clone()),
            ..Host::default()
        };
        let gateway = self.gateway.with_host(host);
        Self { gateway, ..self }
    }

    fn send(&self, method: Method, target: &str, token: &str, body: &Value) -> Answer {
        let mut request = request(method, target, &body.to_string());
        if !token.is_empty() {
            request.headers.push("X-Vault-Token", token);
        }
        Answer(self.gateway.handle(&request))
    }

    fn put(&self, target: &str, body: Value) -> Answer {
        self.send(Method::Put, target, "", &body)
    }

    fn get(&self, target: &str) -> Value {
        self.send(Method::Get, target, "", &Value::Null)
            .expect(200)
            .json()
    }

    fn give(&self, target: &str, number: u8, nonce: &str) -> Answer {
        let key = STANDARD.encode(share(number));
        self.put(target, json!({"key": key, "nonce": nonce}))
    }
}

/// What clients do with an encoded token and the password that they keep.
fn revealed(encoded: &Value, password: &Value) -> String {
    let encoded = STANDARD_NO_PAD.decode(encoded.as_str().unwrap()).unwrap();
    let password = password.as_str().unwrap().bytes();
    let token = encoded.iter().zip(password).map(|(byte, pad)| byte ^ pad);
    String::from_utf8(token.collect()).unwrap()
}

#[test]
fn k2_enough_shares_make_a_root_token_that_only_the_password_reveals() {
    let server = Server::new();
    let idle = json!({
        "nonce": "", "started": false, "progress": 0, "required": 2, "complete": false,
        "encoded_token": "", "encoded_root_token": "", "pgp_fingerprint": "", "otp": "",
        "otp_length": 47,
    });
    assert_eq!(server.get("sys/generate-root/attempt"), idle);
    server
        .give("sys/generate-root/update", 1, NONCE)
        .refused(400, "no root generation in progress");
    let begun = server.put(
        "sys/generate-root/attempt",
        json!({"otp": "", "pgp_key": ""}),
    );
    let begun = begun.expect(200).json();
    assert_eq!(
        (&begun["started"], &begun["nonce"]),
        (&json!(true), &json!(NONCE))
    );
    let password = &begun["otp"];
    let shown = password.as_str().unwrap();
    assert_eq!(shown.len(), 47);
    assert!(shown.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    assert_eq!(server.get("sys/generate-root/attempt")["otp"], "");
    server
        .put("sys/generate-root/attempt", json!({}))
        .refused(400, "root generation already in progress");

    let one = server.give("sys/generate-root/update", 1, NONCE);
    let one = one.expect(200).json();
    assert_eq!(
        (&one["progress"], &one["complete"]),
        (&json!(1), &json!(false))
    );
    server.give("sys/generate-root/update", 1, NONCE).refused(
        400,
        "given key has already been provided during this generation operation",
    );
    server.give("sys/generate-root/update", 2, "other").refused(
        400,
        &format!(
            "incorrect nonce supplied; nonce for this root generation operation is \"{NONCE}\""
        ),
    );
    let key = json!({"key": "ab".repeat(8), "nonce": NONCE});
    server
        .put("sys/generate-root/update", key)
        .refused(400, "invalid key: key is shorter than minimum 16 bytes");
    let done = server.give("sys/generate-root/update", 3, NONCE);
    let done = done.expect(200).json();
    assert_eq!(
        (&done["complete"], &done["progress"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(done["encoded_token"], done["encoded_root_token"]);
    let token = revealed(&done["encoded_token"], password);
    assert!(token.starts_with("hvs.") && token != server.root);
    let looked_up = server.send(Method::Get, "auth/token/lookup-self", &token, &Value::Null);
    let data = &looked_up.expect(200).json()["data"];
    assert_eq!(
        (&data["policies"], &data["ttl"]),
        (&json!(["root"]), &json!(0))
    );
    assert_eq!(server.get("sys/generate-root/attempt"), idle);
}

#[test]
fn openbao_finds_the_same_ceremonies_at_its_own_paths() {
    let server = Server::new();
    let status = server.get("sys/generate-root-token/attempt");
    assert_eq!(status["data"]["required"], 2);
    let otp = "o".repeat(47);
    server
        .put("sys/generate-root-token/attempt", json!({"otp": otp}))
        .expect(200);
    server
        .give("sys/generate-root-token/update", 1, NONCE)
        .expect(200);
    let done = server.give("sys/generate-root-token/update", 2, NONCE);
    let done = done.expect(200).json();
    let token = revealed(&done["data"]["encoded_token"], &json!(otp));
    assert!(token.starts_with("hvs."));

    let init = "sys/rotate/root/init";
    let asked = json!({"secret_shares": 2, "secret_threshold": 2});
    server.put(init, asked.clone()).expect(403);
    let begun = server.send(Method::Post, init, &server.root, &asked);
    assert_eq!(begun.expect(200).json()["data"]["n"], 2);
    let cancelled = server.send(Method::Delete, init, &server.root, &Value::Null);
    cancelled.expect(204);
}

#[test]
fn k2_a_wrong_share_or_a_password_of_another_length_makes_no_token() {
    let server = Server::new();
    server
        .put("sys/generate-root/attempt", json!({"otp": "short"}))
        .refused(400, "OTP string is wrong length");
    server
        .put("sys/generate-root/attempt", json!({"pgp_key": "a key"}))
        .refused(400, "pgp_key is not supported: leave it out");
    server
        .put("sys/generate-root/attempt", json!({}))
        .expect(200);
    server
        .give("sys/generate-root/update", 1, NONCE)
        .expect(200);
    server.give("sys/generate-root/update", 77, NONCE).refused(
        400,
        "root generation aborted: the shares do not yield the key",
    );
    let cancelled = server.send(
        Method::Delete,
        "sys/generate-root/attempt",
        "",
        &Value::Null,
    );
    cancelled.expect(204);
    assert_eq!(server.get("sys/generate-root/attempt")["started"], false);
}

#[test]
fn a_stranger_cannot_cancel_and_cannot_ask_without_end() {
    let server = Server::new();
    server
        .put("sys/generate-root/attempt", json!({}))
        .expect(200);
    let stranger = || {
        let mut stranger = request(Method::Delete, "sys/generate-root/attempt", "");
        stranger.peer = Some("198.51.100.7".parse().unwrap());
        Answer(server.gateway.handle(&stranger))
    };
    let refused = stranger().expect(400);
    assert!(refused.text().contains("ten minutes"), "{}", refused.text());
    server.holders.edit(|script| script.requests_left = 0);
    let limited = stranger().expect(429);
    assert!(limited.text().contains("rate limit"));
}

#[test]
fn k4_shares_are_replaced_with_and_without_verification() {
    let server = Server::new();
    let status = json!({
        "nonce": "", "started": false, "t": 0, "n": 0, "progress": 0, "required": 2,
        "pgp_fingerprints": null, "backup": false, "verification_required": false,
    });
    assert_eq!(server.get("sys/rekey/init"), status);
    for (asked, text) in [
        (
            json!({"secret_shares": 2, "secret_threshold": 3}),
            "provided threshold greater than the total shares",
        ),
        (
            json!({"secret_shares": 1, "secret_threshold": 1, "pgp_keys": ["a"]}),
            "pgp_keys is not supported: leave it out",
        ),
        (
            json!({"secret_shares": 1, "secret_threshold": 1, "backup": true}),
            "backup is not supported: new shares are shown once and kept nowhere",
        ),
        (
            json!({}),
            "invalid rekey seal configuration: there are 1 to 255 shares, of which 2 to all unseal, or 1 of 1",
        ),
    ] {
        server.put("sys/rekey/init", asked).refused(400, text);
    }
    let asked = |verification: bool| json!({"secret_shares": 2, "secret_threshold": 2, "require_verification": verification});
    let begun = server
        .put("sys/rekey/init", asked(false))
        .expect(200)
        .json();
    assert_eq!(
        (&begun["t"], &begun["n"], &begun["nonce"]),
        (&json!(2), &json!(2), &json!(NONCE))
    );
    let one = server.give("sys/rekey/update", 1, NONCE).expect(200).json();
    assert_eq!(one["progress"], 1);
    let made = server.give("sys/rekey/update", 2, NONCE).expect(200).json();
    let base64 = [share(9), share(10)].map(|share| STANDARD.encode(share));
    assert_eq!(made["keys_base64"], json!(base64));
    assert_eq!(made["keys"], json!(["09".repeat(33), "0a".repeat(33)]));
    assert_eq!(
        (&made["complete"], &made["verification_required"]),
        (&json!(true), &json!(false))
    );

    server
        .send(Method::Get, "sys/rekey/verify", "", &Value::Null)
        .refused(400, "no rekey configuration found");
    server.put("sys/rekey/init", asked(true)).expect(200);
    server.give("sys/rekey/update", 1, NONCE).expect(200);
    let made = server.give("sys/rekey/update", 3, NONCE).expect(200).json();
    assert_eq!(made["verification_nonce"], VERIFICATION);
    let verify = |number| server.give("sys/rekey/verify", number, VERIFICATION);
    assert_eq!(verify(9).expect(200).json()["progress"], 1);
    verify(1).refused(
        400,
        "rekey verification failed; incorrect key shares supplied",
    );
    verify(9).expect(200);
    let done = verify(10).expect(200).json();
    assert_eq!(done, json!({"nonce": VERIFICATION, "complete": true}));
    server
        .send(Method::Get, "sys/rekey/backup", "", &Value::Null)
        .refused(400, "no backed-up keys found");
    server
        .send(Method::Get, "sys/rekey-recovery-key/init", "", &Value::Null)
        .refused(
            400,
            "recovery rekeying not supported: there are no recovery keys",
        );
}

#[test]
fn a_key_file_has_no_ceremonies_and_the_refusal_names_the_command_that_does_it() {
    let server = super::server::Server::initialized();
    for (path, command) in [
        ("sys/generate-root/attempt", "operator generate-root"),
        ("sys/rekey/init", "operator rekey"),
    ] {
        let refused = server.send(Method::Get, path, None, "").expect(400);
        assert!(refused.text().contains(command), "{}", refused.text());
    }
}

#[test]
fn k4_the_key_is_shown_and_rotated_by_those_who_may() {
    let server = Server::new();
    let send = |method, path: &str, body: Value| server.send(method, path, &server.root, &body);
    server.put("sys/rotate", json!({})).expect(403);
    assert_eq!(server.holders.edit(|script| script.rotations), 0);
    for path in ["sys/rotate", "sys/rotate/keyring"] {
        send(Method::Put, path, json!({})).expect(204);
    }
    let status = send(Method::Get, "sys/key-status", Value::Null);
    let status = status.expect(200).json();
    for shown in [&status, &status["data"]] {
        assert_eq!(shown["term"], 3);
        assert_eq!(shown["install_time"], "2026-11-21T08:18:30.123Z");
        assert_eq!(shown["encryptions"], 42);
    }
    send(Method::Get, "sys/rotate", Value::Null).expect(405);
}

#[test]
fn k4_the_policy_of_rotation_is_kept_within_its_bounds() {
    let server = Server::new();
    let send = |method, path: &str, body: Value| server.send(method, path, &server.root, &body);
    let read = || {
        send(Method::Get, "sys/rotate/config", Value::Null)
            .expect(200)
            .json()
    };
    let default = json!({"max_operations": 3_865_470_566_u64, "enabled": true, "interval": 0});
    assert_eq!(read()["data"], default);
    let asked = json!({"interval": "25h", "max_operations": 1_000_000, "enabled": false});
    send(Method::Post, "sys/rotate/config", asked).expect(204);
    let set = json!({"max_operations": 1_000_000, "enabled": false, "interval": "25h0m0s"});
    assert_eq!(read()["data"], set);
    for (asked, text) in [
        (
            json!({"interval": "23h"}),
            "interval must be greater or equal to 24h0m0s",
        ),
        (
            json!({"max_operations": 3_865_470_567_u64}),
            "max_operations must be in the range [1000000,3865470566]",
        ),
        (
            json!({"max_operations": 999_999}),
            "max_operations must be in the range [1000000,3865470566]",
        ),
    ] {
        send(Method::Post, "sys/rotate/config", asked).refused(400, text);
    }
    assert_eq!(read()["data"], set);
}

#[test]
fn l1_a_root_token_whose_answer_cannot_be_recorded_ends_at_once() {
    let recorder = Recorder::default();
    let server = Server::new().recorded_by(&recorder);
    let accessors = || {
        let target = "auth/token/accessors?list=true";
        let listed = server.send(Method::Get, target, &server.root, &Value::Null);
        listed.expect(200).json()["data"]["keys"].clone()
    };
    let before = accessors();
    assert_eq!(before.as_array().unwrap().len(), 1);
    for family in ["generate-root", "generate-root-token"] {
        let attempt = format!("sys/{family}/attempt");
        let update = format!("sys/{family}/update");
        let otp = "o".repeat(47);
        server.put(&attempt, json!({"otp": otp})).expect(200);
        server.give(&update, 1, NONCE).expect(200);
        recorder.fails(Fails::ForAnswers);
        server.give(&update, 2, NONCE).expect(500);
        recorder.fails(Fails::Never);
        assert_eq!(accessors(), before, "{family}");
    }
    // Recorded, it stays.
    let attempt = json!({"otp": "o".repeat(47)});
    server.put("sys/generate-root/attempt", attempt).expect(200);
    server
        .give("sys/generate-root/update", 1, NONCE)
        .expect(200);
    server
        .give("sys/generate-root/update", 2, NONCE)
        .expect(200);
    assert_eq!(accessors().as_array().unwrap().len(), 2);
}
