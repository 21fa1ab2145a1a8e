//! A client with its token: it sends what the clients of others send, and reads what they would read.

use reqwest::Method;
use reqwest::blocking::RequestBuilder;
use serde_json::{Value, json};

use crate::conventions;
use crate::described::Description;
use crate::server::{Edition, Server};

const JSON_API: &str = "application/vnd.api+json";

/// The client whose habits a session has (contract 1.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// `go-tfe`, and the provider, which is built on it.
    GoTfe,
    /// The command lines `terraform` and `tofu`.
    CommandLine,
    Terrasnek,
    Pytfe,
}

impl Client {
    /// The request with the headers of this client.
    fn dress(self, request: RequestBuilder, method: &Method) -> RequestBuilder {
        let reads = *method == Method::GET;
        let request = match self {
            Self::GoTfe => request.header("User-Agent", "go-tfe"),
            Self::CommandLine => request
                .header("User-Agent", "go-tfe")
                .header("X-Terraform-Version", "1.15.0"),
            Self::Terrasnek => request,
            Self::Pytfe => request.header("User-Agent", "pytfe/1.0"),
        };
        let request = match self {
            Self::Terrasnek => request,
            _ => request.header("Accept", JSON_API),
        };
        match self {
            Self::GoTfe | Self::CommandLine if reads => request,
            _ => request.header("Content-Type", JSON_API),
        }
    }
}

/// A client that acts for one caller.
#[derive(Clone)]
pub struct Session<'a> {
    server: &'a Server,
    client: Client,
    token: Option<String>,
}

impl<'a> Session<'a> {
    pub fn new(server: &'a Server, client: Client, token: Option<&str>) -> Self {
        let token = token.map(str::to_owned);
        Self {
            server,
            client,
            token,
        }
    }

    /// The same caller at another client.
    pub fn at(&self, client: Client) -> Self {
        Self {
            client,
            ..self.clone()
        }
    }

    pub fn server(&self) -> &'a Server {
        self.server
    }

    pub fn edition(&self) -> Edition {
        self.server.edition()
    }

    pub fn is_hosted(&self) -> bool {
        self.server.is_hosted()
    }

    /// Reads what is below `/api/v2/`; a path that begins with a slash is the whole one.
    pub fn get(&self, path: &str) -> Reply {
        self.send("GET", path, None)
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, Some(&body.to_string()))
    }

    pub fn patch(&self, path: &str, body: &Value) -> Reply {
        self.send("PATCH", path, Some(&body.to_string()))
    }

    pub fn delete(&self, path: &str) -> Reply {
        self.send("DELETE", path, None)
    }

    /// Sends a body as it is written.
    pub fn send(&self, method: &str, path: &str, body: Option<&str>) -> Reply {
        self.send_with(method, path, &[], body)
    }

    /// The same with further headers, or with others than the client's.
    pub fn send_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> Reply {
        let target = match path.strip_prefix('/') {
            Some(_) => path.to_owned(),
            None => format!("/api/v2/{path}"),
        };
        let address = format!("{}{target}", self.server.address());
        let label = format!("{method} {target} {}", body.unwrap_or_default());
        let verb = method;
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let connections = self.server.connections();
        let mut request = self.client.dress(
            connections.request(method.clone(), address.as_str()),
            &method,
        );
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        if let Some(body) = body {
            request = request.body(body.to_owned());
        }
        let mut request = request.build().unwrap();
        for (name, value) in headers {
            let name = reqwest::header::HeaderName::from_bytes(name.as_bytes()).unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        let response = connections.execute(request).expect("the server answers");
        let reply = Reply::read(label, response);
        conventions::check(&target, &reply);
        Description::of_all().check(verb, &target, &reply);
        reply
    }
}

/// An answer that every client can read.
pub struct Reply {
    /// The request, for reports.
    pub label: String,
    pub status: u16,
    /// With lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Reply {
    fn read(label: String, response: reqwest::blocking::Response) -> Self {
        let headers = response.headers().iter();
        Self {
            label,
            status: response.status().as_u16(),
            headers: headers
                .map(|(name, value)| {
                    let value = String::from_utf8_lossy(value.as_bytes());
                    (name.as_str().to_owned(), value.into_owned())
                })
                .collect(),
            body: response.text().expect("the answer is text"),
        }
    }

    /// Demands a status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.label, self.body);
        self
    }

    /// Demands the refusal of an object that does not exist or is hidden from the caller (contract 1.8).
    #[track_caller]
    pub fn expect_not_found(self) -> Self {
        let reply = self.expect(404);
        let expected = json!({"errors": [{"status": "404", "title": "not found"}]});
        assert_eq!(reply.json(), expected, "{}", reply.label);
        reply
    }

    /// Demands the refusal of a caller who is not known (contract 1.8).
    #[track_caller]
    pub fn expect_unauthorized(self) -> Self {
        let reply = self.expect(401);
        let expected = json!({"errors": [{"status": "401", "title": "unauthorized"}]});
        assert_eq!(reply.json(), expected, "{}", reply.label);
        reply
    }

    /// Demands one refused attribute, with this detail.
    #[track_caller]
    pub fn expect_invalid(self, pointer: &str, detail: &str) -> Self {
        let reply = self.expect(422);
        let expected = json!({"errors": [{
            "status": "422",
            "title": "invalid attribute",
            "detail": detail,
            "source": {"pointer": pointer},
        }]});
        assert_eq!(reply.json(), expected, "{}", reply.label);
        reply
    }

    /// Demands a value at a JSON pointer.
    #[track_caller]
    pub fn shows(self, pointer: &str, expected: impl Into<Value>) -> Self {
        let (label, body) = (&self.label, &self.body);
        assert_eq!(
            self.at(pointer),
            expected.into(),
            "{pointer} of {label}: {body}"
        );
        self
    }

    /// Demands values of attributes of the resource.
    #[track_caller]
    pub fn shows_attributes(mut self, expected: Value) -> Self {
        for (name, value) in expected.as_object().unwrap() {
            self = self.shows(&format!("/data/attributes/{name}"), value.clone());
        }
        self
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// The value that a JSON pointer leads to; null when that is nothing.
    pub fn at(&self, pointer: &str) -> Value {
        self.json().pointer(pointer).cloned().unwrap_or_default()
    }

    /// The text that a JSON pointer leads to.
    #[track_caller]
    pub fn text(&self, pointer: &str) -> String {
        match self.at(pointer) {
            Value::String(text) => text,
            other => panic!("{pointer} is {other} after {}: {}", self.label, self.body),
        }
    }

    pub fn data(&self) -> Value {
        self.at("/data")
    }

    #[track_caller]
    pub fn id(&self) -> String {
        self.text("/data/id")
    }

    /// The resources of a list.
    #[track_caller]
    pub fn items(&self) -> Vec<Value> {
        match self.data() {
            Value::Array(items) => items,
            other => panic!("no list but {other} after {}", self.label),
        }
    }

    /// The ids in a list, in its order.
    #[track_caller]
    pub fn ids(&self) -> Vec<String> {
        let items = self.items();
        items
            .iter()
            .map(|item| item["id"].as_str().expect("an id is text").to_owned())
            .collect()
    }

    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(candidate, _)| candidate == name);
        found.map(|(_, value)| value.as_str())
    }
}
