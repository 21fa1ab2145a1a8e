//! The server that clients talk to, however they reach it.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// How often a request that must succeed may be answered by 503, and the pause after each time.
const MOST_BUSY_ANSWERS: usize = 60;
const PAUSE: Duration = Duration::from_secs(1);

/// A request below `/v1/`.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The method, in capitals.
    pub method: &'static str,
    /// The path, without `/v1/`.
    pub path: &'static str,
    /// The caller's token.
    pub token: &'a str,
    /// How long the answer is to stay wrapped; `None` for an answer that is not.
    pub wrap_ttl: Option<&'static str>,
    /// The body; null for none.
    pub body: Value,
}

impl<'a> Request<'a> {
    /// Reads `path`.
    pub const fn get(path: &'static str, token: &'a str) -> Self {
        Self {
            method: "GET",
            path,
            token,
            wrap_ttl: None,
            body: Value::Null,
        }
    }

    /// Writes `body` to `path`.
    pub const fn post(path: &'static str, token: &'a str, body: Value) -> Self {
        Self {
            method: "POST",
            path,
            token,
            wrap_ttl: None,
            body,
        }
    }

    /// The same, with its answer wrapped.
    #[must_use]
    pub const fn wrapped(mut self) -> Self {
        self.wrap_ttl = Some("1h");
        self
    }
}

/// An answer of the server.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The body; null where there is none.
    pub body: Value,
}

/// The outcome of a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// An answer.
    Answer(Answer),
    /// The connection ended before the answer did: it is not known if the server has done what was asked.
    Lost,
    /// There was no connection: the server was not asked.
    Unsent,
}

/// The server that the clients talk to.
pub trait Server: Sync {
    /// The operator's token.
    fn root_token(&self) -> &str;

    /// Sends a request and waits for what comes of it.
    fn send(&self, request: &Request<'_>) -> Reply;

    /// Sends a request that must succeed, again while the server's store is too busy for it.
    ///
    /// # Panics
    ///
    /// When it does not.
    fn must(&self, request: &Request<'_>) -> Value {
        for _ in 0..MOST_BUSY_ANSWERS {
            match self.send(request) {
                Reply::Answer(answer) if answer.status == 503 => thread::sleep(PAUSE),
                Reply::Answer(answer) if answer.status < 300 => return answer.body,
                reply => panic!("{}: {reply:?}", request.path),
            }
        }
        panic!("{}: the store is too busy", request.path)
    }

    /// Creates a token as the operator does, without a parent.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    fn create_orphan(&self, parameters: Value) -> Issued {
        let path = "auth/token/create-orphan";
        let body = self.must(&Request::post(path, self.root_token(), parameters));
        Issued::read(&body["auth"])
    }
}

/// A new token.
#[derive(Debug, Clone)]
pub struct Issued {
    /// The token.
    pub token: String,
    /// Its accessor.
    pub accessor: String,
}

impl Issued {
    /// The contents of an `auth` block.
    pub fn read(auth: &Value) -> Self {
        let text = |name: &str| auth[name].as_str().expect("an auth block").to_owned();
        Self {
            token: text("client_token"),
            accessor: text("accessor"),
        }
    }

    /// A body that names the token.
    pub fn naming_token(&self) -> Value {
        json!({ "token": self.token })
    }

    /// A body that names the accessor.
    pub fn naming_accessor(&self) -> Value {
        json!({ "accessor": self.accessor })
    }
}
