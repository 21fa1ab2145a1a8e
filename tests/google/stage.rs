//! A server with its Google, and the mounts, roles and logins that the tests make on it.

use std::fs;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gatehouse_fake_google::{Claims, FakeGoogle, IdentityFormat};
use gatehouse_tests::{Answer, INSTANCE, Installation, OPERATOR, Storage, WORKLOAD};
use serde_json::{Value, json};

use crate::HOST;

/// The project of all accounts and instances in the fake's population.
pub const PROJECT: &str = "demo-project";
/// Where the tests' only mount is, if they need no other.
pub const MOUNT: &str = "gcp";
/// The longest time that a change which happens by itself may take; a machine under load is no failure.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A server, its Google, and what it has logged.
pub struct Stage {
    pub installation: Installation,
    tokens: AtomicU64,
}

impl Stage {
    /// A server that keeps its records in memory. `settings` comes right after the section `[google]`.
    pub fn new(settings: &str) -> Self {
        Self::start(Storage::Memory, settings)
    }

    /// A server that keeps its records in a file, and was started twice: the second time with `settings`, which may name its Google,
    /// after the section `[google]` of its configuration.
    pub fn aware(settings: impl FnOnce(&Installation) -> String) -> Self {
        let mut stage = Self::start(Storage::Durable, "");
        let settings = settings(&stage.installation);
        stage.restart_with(|configuration| {
            let own = configuration.replace("application_credentials = \"none\"\n", "");
            format!("{own}{settings}\n")
        });
        stage
    }

    pub fn start(storage: Storage, settings: &str) -> Self {
        let installation =
            Installation::start_program(HOST.program().logging(), storage, settings).unwrap();
        Self {
            installation,
            tokens: AtomicU64::new(0),
        }
    }

    /// Stops the server and starts it again with another configuration file.
    pub fn restart_with(&mut self, change: impl FnOnce(&str) -> String) {
        assert_eq!(self.installation.server().terminate().unwrap(), Some(0));
        let path = self.installation.configuration();
        let configuration = change(&fs::read_to_string(&path).unwrap());
        fs::write(path, configuration).unwrap();
        self.installation.run().unwrap();
    }

    pub fn google(&self) -> &FakeGoogle {
        self.installation.google()
    }

    /// Everything that the server has logged so far, at the level `debug`.
    pub fn log(&self) -> String {
        let path = self.installation.configuration();
        fs::read_to_string(path.with_extension("toml.log")).unwrap()
    }

    /// The configuration of a mount that asks this Google.
    pub fn endpoints(&self) -> Value {
        let google = self.google().base_url();
        json!({"api": google, "iam": google, "compute": google, "crm": google})
    }

    /// Writes as the operator, which must succeed.
    pub fn write(&self, path: &str, body: &Value) -> Answer {
        let answer = self
            .installation
            .as_root("POST", &format!("/v1/{path}"), Some(body));
        assert!(answer.status < 300, "{path}: {answer:?}");
        answer
    }

    /// `data` of what the operator reads, which must be there.
    pub fn read(&self, path: &str) -> Value {
        let answer = self
            .installation
            .as_root("GET", &format!("/v1/{path}"), None);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()["data"].clone()
    }

    /// Enables the method at `mount` with the members of `config` besides the endpoints.
    pub fn enable(&self, mount: &str, mut config: Value) {
        config["custom_endpoint"] = self.endpoints();
        self.write(&format!("sys/auth/{mount}"), &json!({"type": "gcp"}));
        self.write(&format!("auth/{mount}/config"), &config);
    }

    /// The same with the operator's key file.
    pub fn enable_with_key(&self, mount: &str) {
        let credentials = self.google().credentials_json(OPERATOR).unwrap();
        self.enable(mount, json!({"credentials": credentials}));
    }

    /// Writes a role.
    pub fn role(&self, mount: &str, name: &str, role: &Value) {
        self.write(&format!("auth/{mount}/role/{name}"), role);
    }

    /// Writes the role `dev` of the workload.
    pub fn workload_role(&self, mount: &str) {
        let role = json!({"type": "iam", "bound_service_accounts": WORKLOAD});
        self.role(mount, "dev", &role);
    }

    /// Makes the mount forget what it remembers of Google.
    pub fn forget(&self, mount: &str) {
        self.write(&format!("auth/{mount}/config"), &json!({}));
    }

    /// The accessor of a mount.
    pub fn accessor(&self, mount: &str) -> String {
        text(&self.read(&format!("sys/auth/{mount}"))["accessor"])
    }

    /// Claims with which the workload logs in under a role. No two of them are alike.
    pub fn claims(&self, role: &str) -> Claims {
        let mut claims = FakeGoogle::login_claims(WORKLOAD, role);
        let number = self.tokens.fetch_add(1, Ordering::Relaxed);
        claims.insert("jti".to_owned(), number.into());
        claims
    }

    /// A JWT with which the workload logs in under a role.
    pub fn jwt(&self, role: &str) -> String {
        let claims = self.claims(role);
        self.google().sign_jwt(WORKLOAD, &claims).unwrap()
    }

    /// The identity token with which the instance logs in under a role.
    pub fn instance_jwt(&self, role: &str) -> String {
        let audience = format!("https://gatehouse.example.com/vault/{role}");
        let format = IdentityFormat::Full;
        let google = self.google();
        google.identity_token(INSTANCE, &audience, format).unwrap()
    }

    /// Logs in with a JWT.
    pub fn show(&self, mount: &str, role: &str, jwt: &str) -> Answer {
        let path = format!("/v1/auth/{mount}/login");
        let body = json!({"role": role, "jwt": jwt});
        self.installation.send("POST", &path, None, Some(&body))
    }

    /// Logs the workload in.
    pub fn log_in(&self, mount: &str, role: &str) -> Answer {
        self.show(mount, role, &self.jwt(role))
    }

    /// Logs the instance in.
    pub fn log_instance_in(&self, mount: &str, role: &str) -> Answer {
        self.show(mount, role, &self.instance_jwt(role))
    }

    /// Renews the caller's token.
    pub fn renew(&self, token: &str) -> Answer {
        let path = "/v1/auth/token/renew-self";
        self.installation
            .send("POST", path, Some(token), Some(&json!({})))
    }

    /// The data that a token's lookup of itself shows, such as its end.
    pub fn token(&self, token: &str) -> Value {
        let path = "/v1/auth/token/lookup-self";
        let answer = self.installation.send("GET", path, Some(token), None);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["data"].clone()
    }
}

/// The token that a login gave, which must have succeeded.
pub fn token_of(login: &Answer) -> String {
    assert_eq!(login.status, 200, "{login:?}");
    text(&login.json()["auth"]["client_token"])
}

pub fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value}"))
        .to_owned()
}

/// Asserts a refusal with this status, whose text has this in it.
#[track_caller]
pub fn assert_refused(answer: &Answer, status: u16, part: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert!(answer.error().contains(part), "{part:?}: {answer:?}");
}

#[track_caller]
pub fn assert_granted(answer: &Answer) {
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// Asks again until the answer is a success, and for `bound` at most.
#[track_caller]
pub fn eventually(bound: Duration, mut ask: impl FnMut() -> Answer) -> Answer {
    let deadline = Instant::now() + bound;
    loop {
        let answer = ask();
        if answer.status == 200 {
            return answer;
        }
        assert!(Instant::now() < deadline, "after {bound:?}: {answer:?}");
        thread::sleep(Duration::from_millis(250));
    }
}

/// The answers to `count` threads that `ask` at one time, each with its number.
pub fn at_once<T: Send>(count: usize, ask: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(count);
    let (start, ask) = (&start, &ask);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|number| {
                scope.spawn(move || {
                    start.wait();
                    ask(number)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}
