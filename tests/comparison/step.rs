//! One line of the list: a request whose variable parts have names.
//!
//! `<name>` in a path, a body or a header stands for what an earlier answer of the same server gave under that name.

use std::collections::BTreeMap;

use gatehouse_fake_google::FakeGoogle;
use serde_json::Value;

use crate::http::{Answer, Request};
use crate::worlds::World;

/// A change at Google.
type Change = fn(&FakeGoogle);

/// The caller of a request.
#[derive(Debug, Clone, Copy)]
enum Caller {
    Root,
    Nobody,
    /// The holder of the token that was kept under this name.
    Kept(&'static str),
    /// A token as it is written here.
    Literal(&'static str),
}

/// One request of the list.
#[derive(Debug, Clone)]
pub struct Step {
    method: &'static str,
    /// Below `/v1/`, with the query; what begins with a slash is the whole target.
    target: String,
    body: String,
    caller: Caller,
    headers: Vec<(&'static str, &'static str)>,
    keeps: Vec<(&'static str, &'static str)>,
    /// The change at Google before the request, and its name in reports.
    change: Option<(&'static str, Change)>,
}

fn step(method: &'static str, target: impl Into<String>, body: impl Into<String>) -> Step {
    Step {
        method,
        target: target.into(),
        body: body.into(),
        caller: Caller::Root,
        headers: Vec::new(),
        keeps: Vec::new(),
        change: None,
    }
}

pub fn get(target: impl Into<String>) -> Step {
    step("GET", target, "")
}

pub fn list(target: impl Into<String>) -> Step {
    step("LIST", target, "")
}

pub fn delete(target: impl Into<String>) -> Step {
    step("DELETE", target, "")
}

pub fn post(target: impl Into<String>, body: impl Into<String>) -> Step {
    step("POST", target, body)
}

pub fn put(target: impl Into<String>, body: impl Into<String>) -> Step {
    step("PUT", target, body)
}

/// With any other method.
pub fn send(method: &'static str, target: impl Into<String>, body: impl Into<String>) -> Step {
    step(method, target, body)
}

impl Step {
    /// Sent with the token kept under `name`.
    pub fn by(mut self, name: &'static str) -> Self {
        self.caller = Caller::Kept(name);
        self
    }

    /// Sent with this token, whatever it is.
    pub fn with_token(mut self, token: &'static str) -> Self {
        self.caller = Caller::Literal(token);
        self
    }

    /// Sent without a token.
    pub fn by_nobody(mut self) -> Self {
        self.caller = Caller::Nobody;
        self
    }

    /// Sent with a header field.
    pub fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Keeps the text at a JSON pointer of the answer under a name.
    pub fn keep(mut self, name: &'static str, pointer: &'static str) -> Self {
        self.keeps.push((name, pointer));
        self
    }

    /// Keeps the token that the answer hands out under `name`.
    pub fn keep_token(self, name: &'static str) -> Self {
        self.keep(name, "/auth/client_token")
    }

    /// Asked of both servers after something has changed at Google.
    pub fn after(mut self, what: &'static str, change: Change) -> Self {
        self.change = Some((what, change));
        self
    }

    /// Makes the change at Google that comes before this request.
    pub fn change(&self, google: &FakeGoogle) {
        if let Some((_, change)) = self.change {
            change(google);
        }
    }

    /// How reports and the table of differences call it.
    pub fn label(&self) -> String {
        let mut label = format!("{} {}", self.method, self.target);
        for (name, value) in &self.headers {
            label = format!("{label} [{name}: {value}]");
        }
        if !self.body.is_empty() {
            label = format!("{label} {}", self.body);
        }
        let label = match self.caller {
            Caller::Root => label,
            Caller::Nobody => format!("{label} by nobody"),
            Caller::Kept(name) => format!("{label} by {name}"),
            Caller::Literal(token) => format!("{label} with token {token}"),
        };
        match self.change {
            Some((what, _)) => format!("{label} after {what}"),
            None => label,
        }
    }

    /// Asks one server, and keeps what is to be kept.
    pub fn ask(&self, world: &dyn World, kept: &mut Kept) -> Answer {
        // A value that a server has not given has a name that no path may have; that it was not given is reported where it was asked for.
        let target = kept.fill(&self.target).replace(['<', '>', ' '], "-");
        let target = match target.strip_prefix('/') {
            Some(_) => target,
            None => format!("/v1/{target}"),
        };
        let mut headers: Vec<(String, String)> = self
            .headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), kept.fill(value)))
            .collect();
        let token = match self.caller {
            Caller::Root => Some(world.root_token().to_owned()),
            Caller::Nobody => None,
            Caller::Kept(name) => Some(kept.fill(&format!("<{name}>"))),
            Caller::Literal(token) => Some(token.to_owned()),
        };
        if let Some(token) = token {
            headers.push(("X-Vault-Token".to_owned(), token));
        }
        let answer = world.send(&Request {
            method: self.method.to_owned(),
            target,
            headers,
            body: kept.fill(&self.body),
        });
        let json: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        for (name, pointer) in &self.keeps {
            if let Some(text) = json.pointer(pointer).and_then(Value::as_str) {
                kept.0.insert((*name).to_owned(), text.to_owned());
            }
        }
        answer
    }
}

/// The values that one server gave, by name.
#[derive(Debug, Default)]
pub struct Kept(BTreeMap<String, String>);

impl Kept {
    /// The values that are known of a server before it is asked anything, and of the world around it.
    pub fn known_before(world: &dyn World, facts: &[(String, String)]) -> Self {
        let mut kept: BTreeMap<String, String> = facts.iter().cloned().collect();
        kept.insert("method".to_owned(), world.method().to_owned());
        kept.insert("root".to_owned(), world.root_token().to_owned());
        Self(kept)
    }

    fn fill(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        for (name, value) in &self.0 {
            filled = filled.replace(&format!("<{name}>"), value);
        }
        filled
    }

    /// The reverse: what was kept is called by its name. Words too short to be random stand for themselves, unless they are
    /// the whole text.
    pub fn name(&self, text: &str) -> String {
        let mut named = text.to_owned();
        for (name, value) in &self.0 {
            let placeholder = format!("<{name}>");
            if named == *value {
                return placeholder;
            }
            if value.len() >= 12 {
                named = named.replace(value, &placeholder);
            }
        }
        named
    }
}
