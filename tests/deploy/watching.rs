//! Prometheus' rules and Grafana's dashboard: they speak of metrics that the server has, by labels that these have.

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_deploy_tests::{documents, found, is_open_route, read};
use serde_json::Value;

const ALERTS: &str = "deploy/prometheus/alerts.yaml";
const SCRAPE: &str = "deploy/prometheus/scrape.yaml";
const DASHBOARD: &str = "deploy/grafana/dashboard.json";

/// Labels that Prometheus gives to every series of a job, and that of the buckets of a histogram.
const LABELS_OF_ALL: [&str; 3] = ["instance", "job", "le"];

/// The series of the server, with the labels of each.
fn series() -> BTreeMap<String, BTreeSet<String>> {
    let mut series = BTreeMap::new();
    for line in read("docs/reference/metrics.md").lines() {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [name, kind, labels, ..] = &cells[..] else {
            continue;
        };
        let Some(name) = name
            .strip_prefix("| `")
            .and_then(|name| name.strip_suffix('`'))
        else {
            continue;
        };
        let labels: BTreeSet<String> = found(labels, "`([a-z_]+)`")
            .into_iter()
            .map(str::to_owned)
            .collect();
        let parts: &[&str] = match *kind {
            "histogram" => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        for part in parts {
            series.insert(format!("{name}{part}"), labels.clone());
        }
    }
    assert!(series.len() > 12, "{series:?}");
    series
}

/// Refuses an expression with a series that there is not, or with a label that none of its series has.
fn check(expression: &str, place: &str) {
    let series = series();
    let mut labels: BTreeSet<&str> = LABELS_OF_ALL.into();
    for name in found(expression, r"\b(gatehouse_\w+)") {
        let of_series = series.get(name);
        let of_series = of_series.unwrap_or_else(|| panic!("{place}: there is no {name}"));
        labels.extend(of_series.iter().map(String::as_str));
    }
    let grouped = found(expression, r"by \(([\w, ]+)\)")
        .into_iter()
        .flat_map(|names| names.split(", "));
    let matched = found(expression, r"[{,](\w+)=");
    for label in grouped.chain(matched) {
        assert!(labels.contains(label), "{place}: {label} in {expression}");
    }
    let opened = expression.matches(['(', '{', '[']).count();
    let closed = expression.matches([')', '}', ']']).count();
    assert_eq!(opened, closed, "{place}: {expression}");
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
        check(rule["expr"].as_str().unwrap(), &name);
        for annotation in ["summary", "description"] {
            let text = rule["annotations"][annotation].as_str().unwrap();
            for label in found(text, r"\$labels\.(\w+)") {
                let expression = rule["expr"].as_str().unwrap();
                let is_kept = expression.contains(label) || LABELS_OF_ALL.contains(&label);
                assert!(is_kept, "{name}: {label}");
            }
        }
        let severity = rule["labels"]["severity"].as_str();
        assert!(matches!(severity, Some("critical" | "warning")), "{name}");
    }
}

#[test]
fn every_way_to_fail_that_is_counted_has_an_alert() {
    let expressions: String = alerts()
        .values()
        .map(|rule| rule["expr"].as_str().unwrap().to_owned())
        .collect();
    for metric in [
        "gatehouse_http_requests_total",
        "gatehouse_component_failures_total",
        "gatehouse_storage_commits_total",
        "gatehouse_outbound_calls_total",
        "gatehouse_background_duties_total",
        "gatehouse_clock_doubted",
    ] {
        assert!(expressions.contains(metric), "{metric}");
    }
}

#[test]
fn everything_that_grows_old_or_ends_has_an_alert_before_it_is_too_late() {
    let alerts = alerts();
    let times = series()
        .into_keys()
        .filter(|name| name.ends_with("_timestamp_seconds"));
    for name in times {
        // 0 stands for nothing that could grow old.
        let known = format!("({name} > 0)");
        let many = format!("(max({name}) > 0)");
        let is_watched = |rule: &Value| {
            let expression = rule["expr"].as_str().unwrap();
            expression.contains(&known) || expression.contains(&many)
        };
        assert!(alerts.values().any(is_watched), "{name}");
    }
    let expression = |name: &str| alerts[name]["expr"].as_str().unwrap().to_owned();
    // Google's keys are used for at most six hours, as long as it can be asked for new ones.
    let keys = read("components/auth-method/src/google/keys.rs");
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
    let mut shown = String::new();
    let mut ids = BTreeSet::new();
    for panel in panels {
        let title = panel["title"].as_str().unwrap();
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{title}");
        for target in panel["targets"].as_array().unwrap() {
            let expression = target["expr"].as_str().unwrap();
            let plain = expression
                .replace("$__rate_interval", "5m")
                .replace("$instance", ".*");
            check(&plain, title);
            shown.push_str(expression);
        }
    }
    let names = series().into_keys();
    let of_histograms = |name: &String| name.ends_with("_sum") || name.ends_with("_count");
    for name in names.filter(|name| !of_histograms(name)) {
        assert!(shown.contains(&name), "{name} is not shown");
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
    let expression = alerts["GatehouseNotScraped"]["expr"].as_str().unwrap();
    assert!(expression.contains("job=\"gatehouse\""));
}
