//! A host whose share holders follow a script, and a gateway on it.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use gatehouse_access::AccessService;
use gatehouse_auth_method::AuthMethodService;
use gatehouse_gateway::host::{
    Bucket, Ceremonies, Ceremony, CeremonyError, Host, KeyStatus, Keys, Level, RateLimits,
    RekeyProgress, RootProgress, RotationPolicy, SealError,
};
use gatehouse_gateway::{Gateway, Method, Settings};
use gatehouse_orgs::Orgs;
use gatehouse_ports::doubles::{ManualClock, MemoryStore, ScriptedHttp, SeededRandom};
use gatehouse_ports::{HttpError, NoCache};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::recorder::Recorder;
use crate::server::{Answer, NOW, request};

type Clock = &'static ManualClock;
type OwnGateway = Gateway<
    AuthMethodService<MemoryStore<Clock>, NoCache, ScriptedHttp, Clock, SeededRandom>,
    AccessService<MemoryStore<Clock>, Clock, SeededRandom>,
    Orgs<MemoryStore<Clock>, Clock, SeededRandom>,
>;

pub const NONCE: &str = "nonce-of-the-ceremony";
pub const VERIFICATION: &str = "nonce-of-the-verification";

/// The state of the scripted share holders. Two of three shares are enough. Share n is 33 bytes of n, and the new shares are 9 and 10.
#[derive(Default)]
pub struct Script {
    password: Option<Vec<u8>>,
    given: Vec<Vec<u8>>,
    rekey: Option<(u32, u32, bool)>,
    pending: bool,
    pub rotations: u32,
    policy: Option<RotationPolicy>,
    origins: Vec<String>,
    pub requests_left: u32,
}

#[derive(Clone)]
pub struct Holders(Arc<Mutex<Script>>);

impl Holders {
    pub fn edit<T>(&self, edit: impl FnOnce(&mut Script) -> T) -> T {
        edit(&mut self.0.lock().unwrap())
    }
}

pub fn share(number: u8) -> Vec<u8> {
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

/// Accepts a share with a number of `from` or above. Returns true once there are enough.
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
    fn current(&self) -> Result<KeyStatus, SealError> {
        self.edit(|script| {
            Ok(KeyStatus {
                term: 1 + script.rotations,
                installed_at: 1_795_249_110_123,
                encryptions: 42,
            })
        })
    }

    fn rotate(&self) -> Result<(), SealError> {
        self.edit(|script| script.rotations += 1);
        Ok(())
    }

    fn policy(&self) -> Result<RotationPolicy, SealError> {
        let default = RotationPolicy {
            enabled: true,
            max_operations: 3_865_470_566,
            interval: 0,
        };
        self.edit(|script| Ok(script.policy.unwrap_or(default)))
    }

    fn set_policy(&self, policy: RotationPolicy) -> Result<(), SealError> {
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

pub struct Server {
    pub holders: Holders,
    pub gateway: OwnGateway,
    pub root: String,
}

impl Server {
    pub fn new() -> Self {
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
            keys: Some(Box::new(holders.clone())),
            ceremonies: Some(Box::new(holders.clone())),
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

    /// The same with an audit log.
    pub fn recorded_by(self, recorder: &Recorder) -> Self {
        let host = Host {
            keys: Some(Box::new(self.holders.clone())),
            ceremonies: Some(Box::new(self.holders.clone())),
            rate_limits: Box::new(self.holders.clone()),
            audit: Box::new(recorder.clone()),
            ..Host::default()
        };
        let gateway = self.gateway.with_host(host);
        Self { gateway, ..self }
    }

    pub fn send(&self, method: Method, target: &str, token: &str, body: &Value) -> Answer {
        let mut request = request(method, target, &body.to_string());
        if !token.is_empty() {
            request.headers.push("X-Vault-Token", token);
        }
        Answer(self.gateway.handle(&request))
    }

    pub fn put(&self, target: &str, body: Value) -> Answer {
        self.send(Method::Put, target, "", &body)
    }

    pub fn get(&self, target: &str) -> Value {
        self.send(Method::Get, target, "", &Value::Null)
            .expect(200)
            .json()
    }

    pub fn give(&self, target: &str, number: u8, nonce: &str) -> Answer {
        let key = STANDARD.encode(share(number));
        self.put(target, json!({"key": key, "nonce": nonce}))
    }
}

/// Decodes an encoded token with the one-time password, as clients do.
pub fn revealed(encoded: &Value, password: &Value) -> String {
    let encoded = STANDARD_NO_PAD.decode(encoded.as_str().unwrap()).unwrap();
    let password = password.as_str().unwrap().bytes();
    let token = encoded.iter().zip(password).map(|(byte, pad)| byte ^ pad);
    String::from_utf8(token.collect()).unwrap()
}
