//! Prometheus' rules and Grafana's dashboard: they speak of metrics that the server has, by labels that these have.

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_deploy_tests::{documents, found, is_open_route, read};
use serde_json::Value;

use crate::promql::{Query, series};

const ALERTS: &str = "deploy/prometheus/alerts.yaml";
const SCRAPE: &str = "deploy/prometheus/scrape.yaml";
const DASHBOARD: &str = "deploy/grafana/dashboard.json";

/// Reads a query that must be right.
fn query(expression: &str, place: &str) -> Query {
    Query::read(expression).unwrap_or_else(|error| panic!("{place}: {error}\n{expression}"))
}

/// The expression of a rule.
fn expression(rule: &Value) -> &str {
    rule["expr"].as_str().unwrap()
}

/// The rules of the file, by the names of their alerts.
fn alerts() -> BTreeMap<String, Value> {
    let files = documents(&read(ALERTS));
    let rules = files[0]["groups"][0]["rules"].as_array().unwrap();
    let named = rules
        .iter()
        .map(|rule| (rule["alert"].as_str().unwrap().to_owned(), rule.clone()));
    let named: BTreeMap<String, Value> = named.collect();
    assert_eq!(named.len(), rules.len(), "two alerts have one name");
    named
}

#[test]
fn alerts_speak_of_metrics_that_exist_and_say_what_to_do() {
    for (name, rule) in alerts() {
        let kept = query(expression(&rule), &name).labels;
        for annotation in ["summary", "description"] {
            let text = rule["annotations"][annotation].as_str().unwrap();
            for label in found(text, r"\$labels\.(\w+)") {
                assert!(kept.contains(label), "{name}: {label} of {kept:?}");
            }
        }
        let severity = rule["labels"]["severity"].as_str();
        assert!(matches!(severity, Some("critical" | "warning")), "{name}");
    }
}

#[test]
fn every_way_to_fail_that_is_counted_has_an_alert() {
    let alerts = alerts();
    let watched: BTreeSet<String> = alerts
        .iter()
        .flat_map(|(name, rule)| query(expression(rule), name).reads)
        .collect();
    for metric in [
        "gatehouse_http_requests_total",
        "gatehouse_component_failures_total",
        "gatehouse_storage_commits_total",
        "gatehouse_outbound_calls_total",
        "gatehouse_background_duties_total",
        "gatehouse_clock_doubted",
    ] {
        assert!(watched.contains(metric), "{metric}");
    }
}

#[test]
fn everything_that_grows_old_or_ends_has_an_alert_before_it_is_too_late() {
    let alerts = alerts();
    let times = series()
        .keys()
        .filter(|name| name.ends_with("_timestamp_seconds"));
    for name in times {
        // 0 stands for nothing that could grow old.
        let known = format!("({name} > 0)");
        let many = format!("(max({name}) > 0)");
        let is_watched = |rule: &Value| {
            let expression = expression(rule);
            expression.contains(&known) || expression.contains(&many)
        };
        assert!(alerts.values().any(is_watched), "{name}");
    }
    let expression = |name: &str| expression(&alerts[name]);
    // Google's keys are used for at most six hours, as long as it can be asked for new ones.
    let keys = read("components/auth-method/src/google/freshness.rs");
    assert_eq!(
        found(&keys, r"LONGEST_GOOGLE: u64 = ([^;]+);"),
        ["6 * 3600"]
    );
    assert!(expression("GatehouseGoogleKeysOld").contains("> 6 * 3600"));
    // A key of identity tokens gets its successor after a day, with two hours for background work to come to it.
    let keys = read("components/auth-method/src/identity_tokens/mod.rs");
    assert_eq!(
        found(&keys, r"ROTATED_AFTER: u64 = ([^;]+);"),
        ["24 * 3600"]
    );
    assert!(expression("GatehouseIdentityTokenKeyOld").ends_with("> 26 * 3600"));
    // A rotation that fails is tried again after an hour at the latest, so that several attempts have failed.
    let record = read("components/auth-method/src/rotation/record.rs");
    assert_eq!(found(&record, r"LONGEST_WAIT: u64 = ([^;]+);"), ["3600"]);
    assert!(expression("GatehouseRotationOverdue").ends_with("> 3 * 3600"));
}

#[test]
fn the_dashboard_shows_every_metric_and_none_that_does_not_exist() {
    let dashboard: Value = serde_json::from_str(&read(DASHBOARD)).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut shown = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for panel in panels {
        let title = panel["title"].as_str().unwrap();
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{title}");
        for target in panel["targets"].as_array().unwrap() {
            let plain = expression(target)
                .replace("$__rate_interval", "5m")
                .replace("$instance", ".*");
            let query = query(&plain, title);
            let legend = target["legendFormat"].as_str().unwrap();
            for label in found(legend, r"\{\{(\w+)\}\}") {
                assert!(query.labels.contains(label), "{title}: {label}");
            }
            shown.extend(query.reads);
        }
    }
    let choice = dashboard["templating"]["list"][1]["query"]["query"].as_str();
    let (metric, label) = choice
        .and_then(|choice| choice.strip_prefix("label_values("))
        .and_then(|choice| choice.strip_suffix(')')?.split_once(", "))
        .unwrap();
    assert!(series()[metric].contains_key(label), "{metric}: {label}");
    let names = series().keys();
    let of_histograms = |name: &&String| name.ends_with("_sum") || name.ends_with("_count");
    for name in names.filter(|name| !of_histograms(name)) {
        assert!(shown.contains(name), "{name} is not shown");
    }
}

#[test]
fn the_scrape_asks_where_the_metrics_are_and_with_a_token() {
    let files = documents(&read(SCRAPE));
    let scrape = &files[0]["scrape_configs"][0];
    let path = scrape["metrics_path"].as_str().unwrap();
    let route = path.strip_prefix("/v1/").unwrap();
    let page = read("docs/reference/routes.md");
    assert!(page.contains(&format!("| GET | `{route}` |")), "{route}");
    assert!(!is_open_route(path), "it needs a token");
    assert!(scrape["authorization"]["credentials_file"].is_string());
    assert_eq!(scrape["job_name"], "gatehouse");
    let alerts = alerts();
    let not_scraped = expression(&alerts["GatehouseNotScraped"]);
    assert!(not_scraped.contains("job=\"gatehouse\""));
}
