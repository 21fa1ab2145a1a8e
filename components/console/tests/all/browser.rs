//! A browser without scripts, and an API with scripted responses.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use gatehouse_console::{Console, Exchange, KEY_BYTES, Request, Response, SealingKey, Settings};
use gatehouse_ports::IpAddress;
use gatehouse_ports::doubles::{ManualClock, SeededRandom};
use serde_json::{Value, json};

/// The address of the browser.
pub const PEER: IpAddress = IpAddress::Ipv4((192, 0, 2, 7));
/// The host's name for each request.
pub const REQUEST_ID: &str = "5a0f8f0e-0000-4000-8000-000000000001";
/// The token that tests sign in with.
pub const TOKEN: &str = "hvs.CAESIOvernight";

/// The account of a user with this identifier.
pub fn person(id: &str) -> Value {
    json!({ "data": { "id": id, "attributes": { "username": "ada", "permissions": { "can-manage-user-tokens": true } },
        "relationships": { "authenticated-resource": { "data": { "type": "users", "id": id } } } } })
}

type Rule = (&'static str, String, u16, Value);
/// A method and the beginning of a target, and the rule that is in force after such a request.
type Later = (&'static str, String, Rule);

/// The responses of the API, of which the last matching rule counts, and the requests that it received.
#[derive(Clone, Default)]
pub struct Api {
    rules: Rc<RefCell<Vec<Rule>>>,
    later: Rc<RefCell<Vec<Later>>>,
    sent: Rc<RefCell<Vec<Request>>>,
}

impl Api {
    /// Sets the response to `method` requests for targets that begin with `target`.
    pub fn answers(&self, method: &'static str, target: &str, status: u16, body: Value) {
        let rule = (method, target.to_owned(), status, body);
        self.rules.borrow_mut().push(rule);
    }

    /// Puts `rule` in force after a `method` request for a target that begins with `target`.
    pub fn answers_after(
        &self,
        method: &'static str,
        target: &str,
        rule: (&'static str, &str, u16, Value),
    ) {
        let rule = (rule.0, rule.1.to_owned(), rule.2, rule.3);
        let later = (method, target.to_owned(), rule);
        self.later.borrow_mut().push(later);
    }

    /// The requests since the last call of this method.
    pub fn sent(&self) -> Vec<Request> {
        self.sent.take()
    }
}

impl Exchange for Api {
    fn handle(&self, request: Request) -> Response {
        let rules = self.rules.borrow();
        let rule = rules.iter().rev().find(|(method, target, ..)| {
            *method == request.method && request.target.starts_with(target.as_str())
        });
        let (status, body) = rule.map_or((404, json!({ "errors": [] })), |rule| {
            (rule.2, rule.3.clone())
        });
        drop(rules);
        let later = self.later.borrow();
        let begins = later.iter().filter(|(method, target, _)| {
            *method == request.method && request.target.starts_with(target.as_str())
        });
        let begins = begins.map(|(.., rule)| rule.clone());
        self.rules.borrow_mut().extend(begins);
        self.sent.borrow_mut().push(request);
        Response {
            status,
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
        }
    }
}

/// A page as received.
pub struct Shown {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub text: String,
}

impl Shown {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(field, _)| *field == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The key in the first form.
    pub fn form_key(&self) -> String {
        let (_, rest) = self
            .text
            .split_once("name=\"form_key\" value=\"")
            .unwrap_or_else(|| panic!("no form in {}", self.text));
        rest.split_once('"').unwrap().0.to_owned()
    }
}

/// A browser with one server.
pub struct Browser {
    pub api: Api,
    pub clock: Arc<ManualClock>,
    pub is_https: bool,
    pub cookie: Option<String>,
    /// The header fields that each request has in addition to the usual ones.
    pub headers: Vec<(String, Vec<u8>)>,
    console: Console<Api, Arc<ManualClock>, SeededRandom>,
}

/// The settings of a server whose sessions are sealed by `key`.
pub fn settings(key: u8) -> Settings {
    Settings {
        key: Ok(SealingKey::new(&[key; KEY_BYTES])),
        ..Settings::default()
    }
}

impl Browser {
    /// A browser at a server whose sessions are sealed by `key`.
    pub fn at_server(key: u8) -> Self {
        Self::with(settings(key))
    }

    /// A browser at a server with these `settings`.
    pub fn with(settings: Settings) -> Self {
        let (api, clock) = (
            Api::default(),
            Arc::new(ManualClock::at_seconds(1_800_000_000)),
        );
        api.answers(
            "GET",
            "/v1/auth/token/lookup-self",
            200,
            json!({ "data": { "display_name": "root", "policies": ["root"], "ttl": 0 } }),
        );
        api.answers("GET", "/v1/sys/health", 200, json!({ "version": "1.21.0" }));
        let random = SeededRandom::new(1);
        Self {
            console: Console::new(api.clone(), Arc::clone(&clock), random, settings),
            api,
            clock,
            is_https: false,
            cookie: None,
            headers: Vec::new(),
        }
    }

    /// A browser that has signed in.
    pub fn signed_in() -> Self {
        let mut browser = Self::at_server(1);
        let answer = browser.submit("/ui/sign-in", &[("by", "token"), ("token", TOKEN)]);
        assert_eq!(answer.status, 303, "{}", answer.text);
        browser.api.sent();
        browser
    }

    pub fn get(&mut self, target: &str) -> Shown {
        self.send("GET", target, Vec::new())
    }

    /// Sends a form with the key of a page of this session.
    pub fn submit(&mut self, target: &str, fields: &[(&str, &str)]) -> Shown {
        let key = match self.cookie.is_some() {
            true => self.get("/ui/mounts/confirm").text,
            false => self.get("/ui/sign-in").text,
        };
        let page = Shown {
            status: 200,
            headers: Vec::new(),
            text: key,
        };
        let key = page.form_key();
        self.post(target, &[&[("form_key", key.as_str())], fields].concat())
    }

    /// Sends a form without adding a key.
    pub fn post(&mut self, target: &str, fields: &[(&str, &str)]) -> Shown {
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        self.send("POST", target, body.into_bytes())
    }

    pub fn send(&mut self, method: &str, target: &str, body: Vec<u8>) -> Shown {
        let mut headers = vec![("host".to_owned(), b"gate.example".to_vec())];
        if method == "POST" {
            let kind = b"application/x-www-form-urlencoded".to_vec();
            headers.push(("content-type".to_owned(), kind));
        }
        headers.extend(self.headers.clone());
        if let Some(cookie) = &self.cookie {
            headers.push(("cookie".to_owned(), cookie.clone().into_bytes()));
        }
        let answer = self.console.handle(&Request {
            id: Some(REQUEST_ID.to_owned()),
            method: method.to_owned(),
            target: target.to_owned(),
            peer: Some(PEER),
            is_https: self.is_https,
            authority: None,
            headers,
            body,
        });
        let shown = Shown {
            status: answer.status,
            headers: answer.headers,
            text: String::from_utf8(answer.body).unwrap(),
        };
        if let Some(set) = shown.header("set-cookie") {
            self.cookie = match set.contains("Max-Age=0") {
                true => None,
                false => set.split(';').next().map(str::to_owned),
            };
        }
        shown
    }
}
