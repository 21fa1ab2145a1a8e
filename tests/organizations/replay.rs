//! Requests of other programs, sent again in the order in which they were recorded.
//!
//! A recording is a list of steps. Each has a `request` and perhaps a `body`, the sender in `by` unless that is the session that replays,
//! and the expected answer: its `status`, the values that it `shows` at JSON pointers, the pointers that it `fills` with any value that
//! is not empty, its `headers`, and more of these under `hosted` and `self-hosted`. `keeps` gives a name to the text at a pointer.
//! `<name>` stands for the text with this name.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::fixtures::{hours_from_now, unique};
use crate::server::Edition;
use crate::session::{Client, Reply, Session};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    request: String,
    body: Option<Value>,
    by: Option<String>,
    status: u16,
    #[serde(default)]
    shows: BTreeMap<String, Value>,
    #[serde(default)]
    fills: Vec<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    hosted: Option<Expectation>,
    #[serde(rename = "self-hosted")]
    self_hosted: Option<Expectation>,
    #[serde(default)]
    keeps: BTreeMap<String, String>,
}

/// The expectations that depend on the edition.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    #[serde(default)]
    shows: BTreeMap<String, Value>,
    #[serde(default)]
    fills: Vec<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// The values that the names in a recording stand for.
struct Names(BTreeMap<String, String>);

impl Names {
    /// Those that every recording may use.
    fn new() -> Self {
        let number = unique().replace('-', "");
        let (tomorrow, shown_tomorrow) = hours_from_now(24);
        let names = [
            ("organization", format!("tst-terraform-{number}")),
            ("Organization", format!("Tst-Terraform-{number}")),
            ("other", format!("tst-other-{number}")),
            ("third", format!("tst-third-{number}")),
            ("absent", format!("tst-absent-{number}")),
            ("tomorrow", tomorrow),
            ("tomorrow as shown", shown_tomorrow),
        ];
        Self(names.map(|(name, text)| (name.to_owned(), text)).into())
    }

    fn fill(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("<{name}>"), value)
        })
    }

    fn fill_value(&self, value: &Value) -> Value {
        serde_json::from_str(&self.fill(&value.to_string())).unwrap()
    }
}

/// Removes what a recording leaves behind when it is not played to its end.
struct Remains<'a, 'b> {
    session: &'b Session<'a>,
    names: Vec<String>,
}

impl Drop for Remains<'_, '_> {
    fn drop(&mut self) {
        let administrator = self.session.server().administrator();
        for name in &self.names {
            administrator.delete(&format!("organizations/{name}"));
        }
    }
}

/// Plays a recording of this client.
pub fn replay(session: &Session<'_>, client: Client, recording: &str) {
    let steps: Vec<Step> = serde_json::from_str(recording).unwrap();
    let mut names = Names::new();
    let _remains = Remains {
        session,
        names: ["organization", "other", "third"]
            .map(|name| names.0[name].clone())
            .to_vec(),
    };
    for step in steps {
        let reply = ask(session, client, &step, &names);
        let edition = match session.edition() {
            Edition::Hosted => step.hosted,
            Edition::SelfHosted => step.self_hosted,
        };
        let always = Expectation {
            shows: step.shows,
            fills: step.fills,
            headers: step.headers,
        };
        for expected in [Some(always), edition].into_iter().flatten() {
            check(&reply, &expected, &names);
        }
        for (name, pointer) in step.keeps {
            names.0.insert(name, reply.text(&pointer));
        }
    }
}

fn ask(session: &Session<'_>, client: Client, step: &Step, names: &Names) -> Reply {
    let asking = match step.by.as_deref() {
        None => session.clone(),
        Some("nobody") => session.server().nobody(),
        Some(token) => session.server().bearer(&names.fill(token)),
    };
    let (method, path) = step.request.split_once(' ').unwrap();
    let body = step
        .body
        .as_ref()
        .map(|body| names.fill_value(body).to_string());
    asking
        .at(client)
        .send(method, &names.fill(path), body.as_deref())
        .expect(step.status)
}

fn check(reply: &Reply, expected: &Expectation, names: &Names) {
    let (label, body) = (&reply.label, &reply.body);
    for (pointer, value) in &expected.shows {
        let value = names.fill_value(value);
        assert_eq!(reply.at(pointer), value, "{pointer} of {label}: {body}");
    }
    for pointer in &expected.fills {
        let found = reply.at(pointer);
        let empty = found.is_null() || found == "" || found.as_array().is_some_and(Vec::is_empty);
        assert!(!empty, "{pointer} of {label}: {body}");
    }
    for (name, value) in &expected.headers {
        assert_eq!(
            reply.header(name),
            Some(value.as_str()),
            "{name} of {label}"
        );
    }
}
