//! HAProxy and its two configurations.

use std::fs;
use std::net::IpAddr;
use std::process::Command;

use gatehouse_deploy_tests::{configuration, default_seconds, found, is_open_route, read};

use crate::run;

const TERMINATING: &str = "deploy/haproxy/haproxy.cfg";
const PASSING: &str = "deploy/haproxy/tls-pass.cfg";

fn seconds(configuration: &str, timeout: &str) -> u64 {
    let found = found(
        configuration,
        &format!(r"(?m)^    timeout {timeout} (\d+)s$"),
    );
    assert_eq!(found.len(), 1, "{timeout}");
    found[0].parse().unwrap()
}

#[test]
#[cfg_attr(not(with_haproxy), ignore = "haproxy is missing (apt install haproxy)")]
fn haproxy_takes_the_configurations() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let pair = rcgen::generate_simple_self_signed(vec!["gatehouse.example.com".to_owned()]);
    let pair = pair.unwrap();
    let both = pair.cert.pem() + &pair.signing_key.serialize_pem();
    fs::write(at("gatehouse.pem"), both).unwrap();
    fs::write(at("gatehouse-ca.pem"), pair.cert.pem()).unwrap();
    let here = format!("{}/", folder.path().display());
    for file in [TERMINATING, PASSING] {
        let text = read(file).replace("/etc/haproxy/", &here);
        fs::write(at("haproxy.cfg"), text).unwrap();
        let said = run(Command::new("haproxy")
            .arg("-c")
            .arg("-f")
            .arg(at("haproxy.cfg")));
        assert!(!said.contains("[WARNING]"), "{file}: {said}");
    }
}

#[test]
fn a_server_is_up_when_it_can_serve_and_only_then() {
    for file in [TERMINATING, PASSING] {
        let text = read(file);
        let asked = found(&text, r"http-check send meth GET uri (\S+) ");
        assert_eq!(asked, ["/v1/sys/health"], "{file}");
        assert!(is_open_route(asked[0]), "{file}");
        assert_eq!(
            found(&text, r"(?m)^    http-check expect (.*)$"),
            ["status 200"],
            "{file}"
        );
        let servers = found(&text, r"(?m)^    server \w+ \S+:(\d+)$");
        assert_eq!(servers.len(), 2, "{file}");
        let listener = configuration("deploy/systemd/gatehouse.toml")["listener"].clone();
        let address = listener["address"].as_str().unwrap();
        for port in servers {
            assert!(address.ends_with(&format!(":{port}")), "{file}: {port}");
        }
        assert!(
            found(&text, r"(default-server check .*verify required)").len() == 1,
            "{file}"
        );
    }
}

#[test]
fn haproxy_waits_longer_than_the_server() {
    let request = default_seconds("request_timeout").as_secs();
    for file in [TERMINATING, PASSING] {
        let text = read(file);
        assert!(seconds(&text, "server") > request, "{file}");
        assert!(seconds(&text, "client") > request, "{file}");
        assert!(
            seconds(&text, "client") > default_seconds("idle_timeout").as_secs(),
            "{file}"
        );
    }
    let text = read(TERMINATING);
    let head = default_seconds("header_timeout").as_secs();
    assert_eq!(seconds(&text, "http-request"), head);
    let idle = default_seconds("idle_timeout").as_secs();
    assert_eq!(seconds(&text, "http-keep-alive"), idle);
}

#[test]
fn only_what_haproxy_says_of_a_client_reaches_the_server() {
    let text = read(TERMINATING);
    for rule in [
        "http-request del-header X-Forwarded-For\n",
        "http-request del-header X-Forwarded-Host\n",
        "http-request set-header X-Forwarded-Proto https\n",
        "option forwardfor\n",
    ] {
        assert!(text.contains(rule), "{rule}");
    }
    // The check comes from a trusted proxy too, and one that names no client is refused.
    let named = found(&text, r"http-check send .* hdr X-Forwarded-For (\S+)");
    assert_eq!(named.len(), 1);
    named[0].parse::<IpAddr>().unwrap();
    assert!(
        found(
            &text,
            r#"(listener\.trusted_proxies = \["[\d.]+", "[\d.]+"\])"#
        )
        .len()
            == 1
    );

    let passing = read(PASSING);
    for absent in ["option forwardfor", "send-proxy", "ssl crt"] {
        assert!(!passing.contains(absent), "{absent}");
    }
}
