//! Servers that share a store. To clients of the reference they look like a cluster in which every server is active.

use gatehouse_gateway::host::{Host, Node, NodeList, SharedStore};
use gatehouse_gateway::{Method, Settings};
use serde_json::json;

use super::server::Server;

struct Two;

fn node(name: &str, clock_ahead: i64) -> Node {
    Node {
        name: name.to_owned(),
        address: Some(format!("https://{name}.example.com:8200")),
        version: "0.1.0".to_owned(),
        started_at: 1_795_255_100_500,
        seen_at: 1_795_255_199_900,
        clock_ahead,
    }
}

impl SharedStore for Two {
    fn nodes(&self) -> Option<NodeList> {
        Some(NodeList {
            this: node("one", -2500),
            answered_in: 3,
            others: vec![Node {
                address: None,
                ..node("two", 7)
            }],
        })
    }

    fn is_away(&self) -> bool {
        false
    }
}

fn server() -> Server {
    let host = Host {
        shared_store: Box::new(Two),
        ..Host::default()
    };
    Server::on(host, Settings::default()).initialize()
}

#[test]
fn contract_6_2_every_server_leads_itself_so_that_no_client_is_sent_to_another() {
    let leader = server().send(Method::Get, "sys/leader", None, "");
    assert_eq!(
        leader.expect(200).json(),
        json!({"ha_enabled": true, "is_self": true, "active_time": "2026-11-21T09:58:20Z",
            "leader_address": "https://one.example.com:8200", "leader_cluster_address": "",
            "performance_standby": false, "performance_standby_last_remote_wal": 0})
    );
}

#[test]
fn contract_6_2_no_server_is_a_standby() {
    let server = server();
    for query in ["", "?standbycode=429&perfstandbyok=false"] {
        let target = format!("sys/health{query}");
        let health = server.send(Method::Get, &target, None, "");
        let health = health.expect(200).json();
        assert_eq!(health["standby"], false);
        assert_eq!(health["performance_standby"], false);
        assert_eq!(health["echo_duration_ms"], 3);
        assert_eq!(health["clock_skew_ms"], -2500);
    }
}

#[test]
fn all_servers_are_listed_as_active_and_the_one_that_answers_comes_first() {
    let server = server();
    let node = |name: &str, address: &str, echo: serde_json::Value, took: u32, skew: i64| {
        json!({"hostname": name, "api_address": address, "cluster_address": "", "active_node": true,
            "last_echo": echo, "version": "0.1.0", "echo_duration_ms": took, "clock_skew_ms": skew,
            "replication_primary_canary_age_ms": 0})
    };
    let listed = server.get("sys/ha-status").expect(200).data();
    let one = node("one", "https://one.example.com:8200", json!(null), 3, -2500);
    let two = node("two", "", json!("2026-11-21T09:59:59Z"), 0, 7);
    assert_eq!(listed, json!({ "nodes": [one, two] }));
}
