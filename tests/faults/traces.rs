//! Traces: the spans that a server sends to a collector, and the secrets that must not be in them.

use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use gatehouse_tests::{Installation, Program, ROLE, Storage};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message as _;
use serde_json::json;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A collector: it takes everything, and keeps it.
struct Collector {
    url: String,
    exported: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
        let exported = Arc::new(Mutex::new(Vec::new()));
        let keeps = Arc::clone(&exported);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                while let Some((head, body)) = request(&mut stream) {
                    assert!(head.starts_with("POST /v1/traces HTTP/1.1"), "{head}");
                    let exported = ExportTraceServiceRequest::decode(&body[..]).unwrap();
                    keeps.lock().unwrap().push(exported);
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
                    stream.get_mut().write_all(answer).unwrap();
                }
            }
        });
        Self { url, exported }
    }

    fn settings(&self) -> String {
        format!("[telemetry]\ntraces_url = {:?}\n", self.url)
    }

    fn spans(&self) -> Vec<Span> {
        let exported = self.exported.lock().unwrap();
        let resources = exported.iter().flat_map(|it| &it.resource_spans);
        let scopes = resources.flat_map(|it| &it.scope_spans);
        scopes.flat_map(|it| it.spans.clone()).collect()
    }
}

/// The next request of a connection: its head and its body.
fn request(stream: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let mut head = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((head, body))
}

fn hexadecimal(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn attribute<'a>(span: &'a Span, key: &str) -> Option<&'a Value> {
    let found = span.attributes.iter().find(|it| it.key == key)?;
    found.value.as_ref()?.value.as_ref()
}

fn text<'a>(span: &'a Span, key: &str) -> Option<&'a str> {
    match attribute(span, key)? {
        Value::StringValue(text) => Some(text),
        other => panic!("{key} is {other:?}"),
    }
}

/// Logs in as a client whose request belongs to a trace; returns the id of the request.
fn log_in(installation: &Installation, trace_parent: &str) -> String {
    let body = json!({"role": ROLE, "jwt": installation.login_jwt().unwrap()});
    let answer = reqwest::blocking::Client::new()
        .post(format!(
            "http://{}/v1/auth/gcp/login",
            installation.address()
        ))
        .header("traceparent", trace_parent)
        .header("content-type", "application/json")
        .body(body.to_string())
        .send()
        .unwrap();
    assert_eq!(answer.status(), 200);
    let id = answer.headers().get("x-request-id").unwrap();
    id.to_str().unwrap().to_owned()
}

#[test]
fn a_login_and_the_calls_that_are_made_for_it_are_one_trace_without_a_secret() {
    let collector = Collector::start();
    let mut installation = Installation::start(Storage::Memory, &collector.settings()).unwrap();
    installation.set_up_login().unwrap();
    let jwt = installation.login_jwt().unwrap();
    let root = installation.root_token().to_owned();
    let id = log_in(&installation, &format!("00-{TRACE}-{PARENT}-01"));
    let asked_google = installation.google().requests();
    let answer = installation.as_root("GET", "/v1/sys/policies/acl/demo", None);
    assert_eq!(answer.status, 200);
    // The server exports the remaining spans when it ends.
    assert_eq!(installation.server().terminate().unwrap(), Some(0));

    let spans = collector.spans();
    let of_trace: Vec<&Span> = spans
        .iter()
        .filter(|span| hexadecimal(&span.trace_id) == TRACE)
        .collect();
    let of_request: Vec<&&Span> = of_trace
        .iter()
        .filter(|span| span.kind() == SpanKind::Server)
        .collect();
    let [login] = of_request[..] else {
        panic!("{of_request:?}");
    };
    assert_eq!(login.name, "POST /v1/auth/{mount}/login");
    assert_eq!(hexadecimal(&login.parent_span_id), PARENT);
    assert_eq!(text(login, "http.route"), Some("/v1/auth/{mount}/login"));
    assert_eq!(text(login, "gatehouse.request.id"), Some(id.as_str()));
    assert_eq!(
        attribute(login, "http.response.status_code"),
        Some(&Value::IntValue(200))
    );

    let children = |of: &Span| -> Vec<&Span> {
        let of = of.span_id.clone();
        let is_child = move |span: &&&Span| span.parent_span_id == of;
        of_trace.iter().filter(is_child).copied().collect()
    };
    let calls = children(login);
    let [call] = calls[..] else {
        panic!("{calls:?}");
    };
    assert_eq!(call.name, "gatehouse:gateway/exchange@0.1.0 handle");
    let inner = children(call);
    let named = |name: &str| inner.iter().filter(|span| span.name == name).count();
    assert_eq!(named("access-storage commit"), 1, "{inner:?}");
    assert!(named("auth-method-storage get") > 0, "{inner:?}");
    assert_eq!(of_trace.len(), 2 + inner.len(), "no span is lost");

    // Each request to Google names the trace and the span that it belongs to.
    let outgoing: Vec<&&Span> = inner
        .iter()
        .filter(|span| span.kind() == SpanKind::Client)
        .collect();
    assert!(!outgoing.is_empty(), "{inner:?}");
    for span in outgoing {
        assert_eq!(text(span, "server.address"), Some("127.0.0.1"));
        let told = format!("00-{TRACE}-{}-01", hexadecimal(&span.span_id));
        let is_told = |parent: &Option<String>| parent.as_ref() == Some(&told);
        let told = asked_google.iter().filter(|it| is_told(&it.trace_parent));
        assert_eq!(told.count(), 1);
    }

    let all = format!("{spans:?}");
    for secret in [root.as_str(), jwt.as_str(), "acl/demo"] {
        assert!(!all.contains(secret), "{secret}");
    }
    // Each request without a trace begins one.
    let policy = spans
        .iter()
        .find(|span| span.name == "GET /v1/sys/policies/acl/{name}");
    assert_eq!(policy.unwrap().parent_span_id, b"");
}

#[test]
fn the_sender_of_a_trace_decides_whether_it_is_kept_and_a_malformed_one_is_none() {
    let collector = Collector::start();
    let settings = format!("{}traces_one_in = 4000000000\n", collector.settings());
    let mut installation = Installation::start(Storage::Memory, &settings).unwrap();
    installation.set_up_login().unwrap();
    let other = TRACE.replace('4', "5");
    log_in(&installation, &format!("00-{TRACE}-{PARENT}-00"));
    log_in(&installation, &format!("00-{other}-{PARENT}-01"));
    for malformed in [
        "",
        "00-0-0-01",
        &format!("00-{TRACE}-{}-01", "0".repeat(16)),
        &"0".repeat(4_000),
    ] {
        log_in(&installation, malformed);
    }
    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    let spans = collector.spans();
    assert!(!spans.is_empty());
    for span in spans {
        assert_eq!(hexadecimal(&span.trace_id), other, "{span:?}");
    }
}

#[test]
fn a_collector_that_is_away_holds_up_no_request_and_the_log_says_so_once() {
    let nowhere = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/traces", nowhere.local_addr().unwrap());
    drop(nowhere);
    let settings = format!("[telemetry]\ntraces_url = {url:?}\n");
    let program = Program::gatehouse().logging();
    let mut installation =
        Installation::start_program(program, Storage::Memory, &settings).unwrap();
    for _ in 0..600 {
        let answer = installation.as_root("GET", "/v1/sys/health", None);
        assert_eq!(answer.status, 200);
    }
    assert_eq!(installation.server().terminate().unwrap(), Some(0));
    let mut log = installation.configuration().into_os_string();
    log.push(".log");
    let log = std::fs::read_to_string(log).unwrap();
    assert_eq!(log.matches("traces are lost").count(), 1, "{log}");
}
