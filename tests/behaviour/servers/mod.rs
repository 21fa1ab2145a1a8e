//! Servers, where each operation is a request.

mod answers;
mod refusals;
mod requests;

use std::collections::HashMap;

use gatehouse_tests::Host::{Spin3, Spin4};
use gatehouse_tests::{Answer, Installation, Program, Storage};
use serde_json::{Map, Value, json};

use crate::Report;
use crate::expectation::{difference, filled};
use crate::google;
use crate::suite::{Check, Suite};
use requests::Request;

/// The checks on the server with a new instance for each request.
pub fn with_fresh_instances() -> Report {
    run(Program::gatehouse(), "[limits]\ninstance_reuse = 1\n")
}

/// The checks on the server as it comes: an instance serves one request after the other.
pub fn with_instances_used_again() -> Report {
    run(Program::gatehouse(), "")
}

/// The checks on the front for Spin 4.1 and later, on the host that stands in for it.
pub fn in_the_front_for_spin_4() -> Report {
    run(Spin4.program(), "")
}

/// The checks on the front for Spin 3 and SpinKube, on the host that stands in for it.
pub fn in_the_front_for_spin_3() -> Report {
    run(Spin3.program(), "")
}

fn run(program: Program, settings: &str) -> Report {
    // The first lines belong to the section that the installation ends with, `google`: no machine is to lend its credentials.
    let settings = format!(
        "metadata_host = \"none\"\n\n{settings}[organizations]\nedition = \"self-hosted\"\n"
    );
    let mut server = Server::start(program, &settings);
    let checks = Suite::load().checks.into_iter();
    checks
        .map(|check| {
            let verdict = server.verdict(&check);
            (check.id, verdict)
        })
        .collect()
}

/// A running server, and what a check needs to know from one step to the next.
struct Server {
    installation: Installation,
    values: Value,
    /// Where the method is enabled: each check has a place of its own, so it begins with nothing stored.
    mount: String,
    mounts: usize,
    /// Names of organizations by their external ids: requests name them, and operations give the ids.
    names: HashMap<String, String>,
}

impl Server {
    fn start(program: Program, settings: &str) -> Self {
        let installation =
            Installation::start_program(program, Storage::Durable, settings).unwrap();
        let values = google::values(installation.google());
        Self {
            installation,
            values,
            mount: String::new(),
            mounts: 0,
            names: HashMap::new(),
        }
    }

    fn verdict(&mut self, check: &Check) -> Result<(), String> {
        self.begin()?;
        for (number, step) in (1..).zip(&check.steps) {
            let done = self.take(step);
            done.map_err(|why| format!("step {number}: {why}"))?;
        }
        Ok(())
    }

    /// A place for the method where it has never been, and no organizations.
    fn begin(&mut self) -> Result<(), String> {
        self.mounts += 1;
        self.mount = format!("gcp-{}", self.mounts);
        let path = format!("/v1/sys/auth/{}", self.mount);
        let body = json!({"type": "gcp"});
        let enabled = self.installation.as_root("POST", &path, Some(&body));
        if enabled.status >= 300 {
            return Err(format!("the method cannot be enabled: {enabled:?}"));
        }
        let organizations = "/api/v2/organizations";
        let listed = self.installation.as_root("GET", organizations, None).json();
        for organization in listed["data"].as_array().into_iter().flatten() {
            let name = organization["id"].as_str().unwrap_or_default();
            let path = format!("{organizations}/{name}");
            self.installation.as_root("DELETE", &path, None);
        }
        self.names.clear();
        self.values["kept"] = json!({});
        Ok(())
    }

    fn take(&mut self, step: &Value) -> Result<(), String> {
        let operation = step["do"].as_str().unwrap_or_default();
        if operation == "new-instance" {
            // Nothing that an instance or the server has kept in memory outlives a restart.
            let ended = self.installation.server().terminate();
            ended.map_err(|error| error.to_string())?;
            return self.installation.run().map_err(|error| error.to_string());
        }
        let given = filled(&step["with"], &self.values);
        let request = Request::for_operation(operation, &given, &self.mount, &self.names);
        let answer = self.send(&request);
        let never = filled(&step["never"], &self.values);
        let mut never = never
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        if never.any(|text| answer.body.contains(text)) {
            return Err(format!("{operation}: the answer holds what it must not"));
        }
        if let Some(expected) = step.get("err") {
            let expected = filled(expected, &self.values);
            return refusals::fits(operation, &given, &expected, &answer);
        }
        let result = answers::result(operation, &answer)
            .ok_or_else(|| format!("{operation}: {answer:?}"))?;
        let expected = filled(&step["ok"], &self.values);
        if let Some(difference) = difference(&result, &expected, operation) {
            return Err(difference);
        }
        self.remember(step, &result);
        Ok(())
    }

    fn send(&self, request: &Request) -> Answer {
        let body = request.body.as_ref();
        if request.is_login {
            return self
                .installation
                .send(request.method, &request.path, None, body);
        }
        self.installation
            .as_root(request.method, &request.path, body)
    }

    fn remember(&mut self, step: &Value, result: &Value) {
        if let (Some(id), Some(name)) = (result["external-id"].as_str(), result["name"].as_str()) {
            self.names.insert(id.to_owned(), name.to_owned());
        }
        let nothing = Map::new();
        for (key, field) in step["keep"].as_object().unwrap_or(&nothing) {
            let field = field.as_str().unwrap_or_default();
            self.values["kept"][key] = result[field].clone();
        }
    }
}
