//! A Google made of a function: the four things that logins ask for, with faults to be switched on.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use gatehouse_ports::{HttpError, HttpRequest, HttpResponse};
use serde_json::{Value, json};

use crate::compute::Compute;
use crate::keys;

#[derive(Clone)]
pub struct Account {
    pub email: String,
    pub unique_id: String,
    pub project_id: String,
    pub disabled: bool,
}

/// An answer in the place of the usual one.
#[derive(Clone)]
pub enum Fault {
    Error(HttpError),
    Answer(HttpResponse),
}

pub struct State {
    pub google_certificates: BTreeMap<String, String>,
    /// By e-mail address and by unique id.
    pub account_certificates: BTreeMap<String, BTreeMap<String, String>>,
    pub accounts: Vec<Account>,
    pub compute: Compute,
    /// By a part of the URL; each is used as often as it says.
    pub faults: Vec<(&'static str, Fault, usize)>,
    pub key_headers: Vec<(String, String)>,
    pub tokens_made: u64,
    pub accepted_token: String,
    pub requests: Vec<Request>,
}

#[derive(Clone)]
pub struct Request {
    pub url: String,
    pub authorization: Option<String>,
    pub body: String,
    pub timeout_seconds: f64,
    pub maximum_response_bytes: usize,
}

pub struct FakeGoogle(Mutex<State>);

pub const EMAIL: &str = "dev@p1.iam.gserviceaccount.com";
pub const UNIQUE_ID: &str = "111111111111111111111";
pub const OTHER_EMAIL: &str = "other@p2.iam.gserviceaccount.com";
pub const OTHER_ID: &str = "222222222222222222222";

impl FakeGoogle {
    pub fn new() -> Self {
        let account = |email: &str, unique_id: &str, project_id: &str| Account {
            email: email.to_owned(),
            unique_id: unique_id.to_owned(),
            project_id: project_id.to_owned(),
            disabled: false,
        };
        let document = |name: &str, certificate: &str| {
            BTreeMap::from([(name.to_owned(), certificate.to_owned())])
        };
        let of_account = document("account-key", &keys::of_account().certificate);
        let of_other = document("other-key", &keys::of_stranger().certificate);
        Self(Mutex::new(State {
            google_certificates: document("google-key", &keys::of_google().certificate),
            account_certificates: BTreeMap::from([
                (EMAIL.to_owned(), of_account.clone()),
                (UNIQUE_ID.to_owned(), of_account),
                (OTHER_EMAIL.to_owned(), of_other.clone()),
                (OTHER_ID.to_owned(), of_other),
            ]),
            accounts: vec![
                account(EMAIL, UNIQUE_ID, "p1"),
                account(OTHER_EMAIL, OTHER_ID, "p2"),
            ],
            compute: Compute::new(),
            faults: Vec::new(),
            key_headers: vec![("cache-control".to_owned(), "max-age=3600".to_owned())],
            tokens_made: 0,
            accepted_token: String::new(),
            requests: Vec::new(),
        }))
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// The next `times` requests whose URL contains `part` get `fault`.
    pub fn fail(&self, part: &'static str, fault: Fault, times: usize) {
        self.state().faults.push((part, fault, times));
    }

    /// No faults any more, however many were left: how often a call is tried again depends on the calls before it.
    pub fn heal(&self) {
        self.state().faults.clear();
    }

    pub fn disable(&self, email: &str) {
        self.change(email, |account| account.disabled = true);
    }

    pub fn change(&self, email: &str, change: impl Fn(&mut Account)) {
        let mut state = self.state();
        let found = state
            .accounts
            .iter_mut()
            .find(|account| account.email == email);
        change(found.unwrap());
    }

    /// How many requests had `part` in their URL.
    pub fn calls(&self, part: &str) -> usize {
        let state = self.state();
        let hits = state
            .requests
            .iter()
            .filter(|request| request.url.contains(part));
        hits.count()
    }

    pub fn answer(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        let mut state = self.state();
        let header = |name: &str| {
            let found = request
                .headers
                .iter()
                .find(|(candidate, _)| candidate == name);
            found.map(|(_, value)| value.clone())
        };
        state.requests.push(Request {
            url: request.url.clone(),
            authorization: header("authorization"),
            body: String::from_utf8(request.body.clone()).unwrap(),
            timeout_seconds: request.timeout.as_secs_f64(),
            maximum_response_bytes: request.maximum_response_bytes,
        });
        assert!(header("user-agent").is_some_and(|agent| agent.starts_with("gatehouse/")));
        for (part, fault, times) in &mut state.faults {
            if *times > 0 && request.url.contains(*part) {
                *times -= 1;
                return match fault.clone() {
                    Fault::Error(error) => Err(error),
                    Fault::Answer(answer) => Ok(answer),
                };
            }
        }
        Ok(usual_answer(&mut state, request, header("authorization")))
    }
}

fn usual_answer(
    state: &mut State,
    request: &HttpRequest,
    authorization: Option<String>,
) -> HttpResponse {
    let url = request.url.as_str();
    if url == "https://oauth2.googleapis.com/token" {
        state.tokens_made += 1;
        state.accepted_token = format!("access-token-{}", state.tokens_made);
        let body = json!({
            "access_token": state.accepted_token, "expires_in": 3599, "token_type": "Bearer",
        });
        return answer(200, &body, &[]);
    }
    let document_headers: Vec<(String, String)> = state.key_headers.clone();
    if url == "https://www.googleapis.com/oauth2/v1/certs" {
        return answer(200, &json!(state.google_certificates), &document_headers);
    }
    if let Some(rest) =
        url.strip_prefix("https://www.googleapis.com/service_accounts/v1/metadata/x509/")
    {
        let name = rest.strip_suffix("?alt=json").unwrap();
        return match state.account_certificates.get(name) {
            Some(document) => answer(200, &json!(document), &document_headers),
            None => refusal(404, "Not found", "notFound"),
        };
    }
    if let Some(name) =
        url.strip_prefix("https://iam.googleapis.com/v1/projects/-/serviceAccounts/")
    {
        if authorization != Some(format!("Bearer {}", state.accepted_token)) {
            return refusal(401, "Invalid Credentials", "authError");
        }
        let found = state
            .accounts
            .iter()
            .find(|account| account.email == name || account.unique_id == name);
        return match found {
            Some(account) => answer(200, &account_body(account), &[]),
            None => refusal(404, "Unknown service account", "notFound"),
        };
    }
    if let Some(path) = url.strip_prefix("https://compute.googleapis.com/compute/v1/") {
        if authorization != Some(format!("Bearer {}", state.accepted_token)) {
            return refusal(401, "Invalid Credentials", "authError");
        }
        return state.compute.answer(path, request);
    }
    panic!("nobody should ask for {url}");
}

pub fn account_body(account: &Account) -> Value {
    let mut body = json!({
        "name": format!("projects/{}/serviceAccounts/{}", account.project_id, account.email),
        "projectId": account.project_id, "uniqueId": account.unique_id, "email": account.email,
    });
    if account.disabled {
        body["disabled"] = true.into();
    }
    body
}

pub fn answer(status: u16, body: &Value, headers: &[(String, String)]) -> HttpResponse {
    HttpResponse {
        status,
        headers: headers.to_vec(),
        body: body.to_string().into_bytes(),
    }
}

pub fn refusal(status: u16, message: &str, reason: &str) -> HttpResponse {
    let body = json!({"error": {
        "code": status, "message": message, "errors": [{"reason": reason}],
    }});
    answer(status, &body, &[])
}

pub fn text(status: u16, body: &str) -> HttpResponse {
    HttpResponse {
        status,
        headers: Vec::new(),
        body: body.as_bytes().to_vec(),
    }
}
