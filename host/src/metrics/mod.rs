//! Metrics of the server (SEC-L6).
//!
//! Every series exists from the start or comes from a list that ends: no client can make the server keep more of them.

mod backend;
mod registered;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::clock::ClockWatch;
use crate::listener::Certificate;
use crate::nodes::NodesWatch;
use crate::runtime::exchange::ServeError;
use crate::runtime::pool::Pool;
use crate::runtime::services::Metrics;

pub use backend::MeteredBackend;
use registered::{Counters, counter, counters, gauge, histogram};

/// Seconds within which a request is answered: from a read in memory to the longest wait for Google.
const REQUEST_BUCKETS: [f64; 10] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0, 5.0, 30.0,
];

/// Seconds that a commit takes, the disk included.
const COMMIT_BUCKETS: [f64; 9] = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0];

/// The gauge that each server sets for itself, of those that components set.
const KEYS_FETCHED: &str = "google-keys-fetched";

/// The names of [`Protocol`].
const PROTOCOLS: &[&str] = &["v1", "api-v2", "other"];

/// The classes of status of an answer; two statuses are classes of their own, since they ask the client to come again.
const STATUSES: &[&str] = &["2xx", "3xx", "4xx", "429", "503", "5xx"];

/// Why components gave no answer.
const FAILURES: &[&str] = &["overloaded", "timed-out", "cut-off", "trapped"];

/// How a commit can end.
const COMMIT_OUTCOMES: &[&str] = &["committed", "conflict", "failed"];

/// How an outgoing call can end.
const CALL_OUTCOMES: &[&str] = &["answered", "server-error", "denied", "failed"];

/// Where the system's clock can be set to.
const DIRECTIONS: &[&str] = &["forward", "backward"];

/// How a duty of background work can end.
const DUTY_OUTCOMES: &[&str] = &["done", "failed"];

/// Values that are the components' to name.
const OF_COMPONENTS: &[&str] = &[];

/// The protocol that a request belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The auth method and what belongs to it.
    V1,
    /// Organizations.
    ApiV2,
    /// Neither.
    Other,
}

impl Protocol {
    /// The protocol whose paths begin as `path` does.
    #[must_use]
    pub fn serving(path: &str) -> Self {
        match path.split('/').nth(1) {
            Some("v1") => Self::V1,
            Some("api") => Self::ApiV2,
            _ => Self::Other,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::ApiV2 => "api-v2",
            Self::Other => "other",
        }
    }
}

/// The numbers of one server.
pub struct ServerMetrics {
    registry: Registry,
    requests: Counters<&'static str, 2>,
    request_seconds: Histogram,
    unanswered: Counters<&'static str, 1>,
    instances_running: Gauge,
    requests_waiting: Gauge,
    logins: Counters<String, 1>,
    commits: Counters<&'static str, 1>,
    commit_seconds: Histogram,
    outbound_calls: Counters<&'static str, 1>,
    clock_steps: Counters<&'static str, 1>,
    duties: Counters<String, 2>,
    clock_doubted: Gauge,
    nodes_live: Gauge,
    clock_skew: Gauge,
    works_for_all: Gauge,
    /// The gauges that components set, by the names that they have for them.
    set_by_components: [(&'static str, Gauge); 5],
    certificate_ends: Gauge,
    access_log_lost: Counter,
    certificate: OnceLock<Arc<Certificate>>,
    access_log: OnceLock<Box<dyn Fn() -> u64 + Send + Sync>>,
    pool: OnceLock<Weak<Pool>>,
}

impl ServerMetrics {
    /// All numbers at zero.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("gatehouse");
        let to = &mut registry;
        let metrics = Self {
            requests: counters(
                to,
                "http_requests",
                "Requests that were answered, by protocol and class of status",
                [("protocol", PROTOCOLS), ("status", STATUSES)],
            ),
            request_seconds: histogram(
                to,
                "http_request_duration_seconds",
                "From the whole request to the whole answer",
                &REQUEST_BUCKETS,
            ),
            unanswered: counters(
                to,
                "component_failures",
                "Requests that the components gave no answer to: refused because no instance was free, out of time, trapped, or cut off before their end",
                [("reason", FAILURES)],
            ),
            instances_running: gauge(
                to,
                "component_instances_running",
                "Component instances that serve a request now",
            ),
            requests_waiting: gauge(
                to,
                "component_requests_waiting",
                "Requests that wait for an instance now",
            ),
            logins: counters(
                to,
                "logins",
                "Logins by outcome",
                [("outcome", OF_COMPONENTS)],
            ),
            commits: counters(
                to,
                "storage_commits",
                "Commits by outcome; a conflict is retried by its caller",
                [("outcome", COMMIT_OUTCOMES)],
            ),
            commit_seconds: histogram(
                to,
                "storage_commit_duration_seconds",
                "From a commit to its durability",
                &COMMIT_BUCKETS,
            ),
            outbound_calls: counters(
                to,
                "outbound_calls",
                "Outgoing calls by outcome",
                [("outcome", CALL_OUTCOMES)],
            ),
            clock_steps: counters(
                to,
                "clock_steps",
                "Times that the system's clock was set, by direction",
                [("direction", DIRECTIONS)],
            ),
            duties: counters(
                to,
                "background_duties",
                "Duties of background work that ended, by duty and by whether they failed: trapped, took too long, or could not do what was due",
                [("duty", OF_COMPONENTS), ("outcome", DUTY_OUTCOMES)],
            ),
            clock_doubted: gauge(
                to,
                "clock_doubted",
                "1 while the system's clock is so far ahead that background work deletes nothing",
            ),
            nodes_live: gauge(
                to,
                "nodes_live",
                "Servers that share the store and were seen within 15 s, this one included",
            ),
            clock_skew: gauge(
                to,
                "clock_skew_milliseconds",
                "By how much the system's clock is ahead of the database's; 0 where the store is no database",
            ),
            works_for_all: gauge(
                to,
                "background_work_here",
                "1 while this server does the background work of all that share its store",
            ),
            set_by_components: [
                (
                    "tokens-live",
                    gauge(
                        to,
                        "tokens_live",
                        "Service tokens that live in the store, when they were last counted through: 20,000 a minute, by the server that does background work; 0 at others",
                    ),
                ),
                (
                    KEYS_FETCHED,
                    gauge(
                        to,
                        "google_keys_fetched_timestamp_seconds",
                        "When the keys of Google that verify logins here were fetched, of the auth method with the oldest ones, in seconds since 1970; 0 where none are kept",
                    ),
                ),
                (
                    "identity-token-key-made",
                    gauge(
                        to,
                        "identity_token_key_made_timestamp_seconds",
                        "When the newest key of identity tokens was made, in seconds since 1970; 0 without an issuer, and at servers that do no background work",
                    ),
                ),
                (
                    "rotation-due",
                    gauge(
                        to,
                        "rotation_due_timestamp_seconds",
                        "When the next stored key of an auth mount is due to be replaced by its schedule or period, in seconds since 1970: in the past while that fails, or after a missed rotation window; 0 where none is, and at servers that do no background work",
                    ),
                ),
                (
                    "plan-ends",
                    gauge(
                        to,
                        "plan_ends_timestamp_seconds",
                        "When the next plan of an organization ends, in seconds since 1970; 0 where none does, in the self-hosted edition, and at servers that do no background work",
                    ),
                ),
            ],
            certificate_ends: gauge(
                to,
                "certificate_ends_timestamp_seconds",
                "When the certificate of the listener ends, in seconds since 1970; 0 without TLS",
            ),
            access_log_lost: counter(
                to,
                "access_log_lost_lines",
                "Lines of the access log that were lost because its reader was too slow or its disk full",
            ),
            registry,
            certificate: OnceLock::new(),
            access_log: OnceLock::new(),
            pool: OnceLock::new(),
        };
        metrics.nodes_live.set(1);
        metrics.works_for_all.set(1);
        metrics
    }

    /// A request of `protocol` was answered with `status` after `time`.
    pub fn answered(&self, protocol: Protocol, status: u16, time: Duration) {
        let status = match status {
            200..300 => "2xx",
            300..400 => "3xx",
            429 => "429",
            400..500 => "4xx",
            503 => "503",
            _ => "5xx",
        };
        self.requests.add([protocol.name(), status], 1);
        self.request_seconds.observe(time.as_secs_f64());
    }

    /// The components gave no answer.
    pub fn unanswered(&self, error: &ServeError) {
        let reason = match error {
            ServeError::Overloaded => "overloaded",
            ServeError::TimedOut(_) => "timed-out",
            ServeError::NotResumed(_) => "cut-off",
            ServeError::Failed(_) => "trapped",
        };
        self.unanswered.add([reason], 1);
    }

    /// Shows how busy the instances of `pool` are from now on. The first pool counts.
    pub fn watch(&self, pool: &Arc<Pool>) {
        let _ = self.pool.set(Arc::downgrade(pool));
    }

    fn look_at_pool(&self) {
        if let Some(pool) = self.pool.get().and_then(Weak::upgrade) {
            self.instances_running.set(whole(pool.running()));
            self.requests_waiting.set(whole(pool.waiting()));
        }
    }

    /// Shows when `certificate` ends from now on. The first one counts.
    pub fn watch_certificate(&self, certificate: Arc<Certificate>) {
        let _ = self.certificate.set(certificate);
    }

    fn look_at_certificate(&self) {
        if let Some(end) = self.certificate.get().and_then(|it| it.ends_at()) {
            self.certificate_ends.set(whole(end));
        }
    }

    /// Shows how many lines of the access log `lost` counts from now on. The first one counts.
    pub fn watch_access_log(&self, lost: impl Fn() -> u64 + Send + Sync + 'static) {
        let _ = self.access_log.set(Box::new(lost));
    }

    fn look_at_access_log(&self) {
        if let Some(lost) = self.access_log.get() {
            self.access_log_lost.inner().store(lost(), Relaxed);
        }
    }

    /// A commit ended so after `time`.
    fn committed(&self, outcome: &'static str, time: Duration) {
        self.commits.add([outcome], 1);
        self.commit_seconds.observe(time.as_secs_f64());
    }

    /// An outgoing call ended.
    pub fn called(&self, outcome: &'static str) {
        self.outbound_calls.add([outcome], 1);
    }

    /// Makes the series of these duties, of which the components have a few.
    pub fn expect_duties<'d>(&self, duties: impl Iterator<Item = &'d str>) {
        for duty in duties {
            for outcome in DUTY_OUTCOMES {
                self.duties.add([duty.to_owned(), (*outcome).to_owned()], 0);
            }
        }
    }

    /// A duty of background work ended.
    pub fn did_duty(&self, duty: &str, well: bool) {
        let outcome = if well { "done" } else { "failed" };
        self.duties.add([duty.to_owned(), outcome.to_owned()], 1);
    }
}

impl Default for ServerMetrics {
    fn default() -> Self {
        Self::new()
    }
}

impl ClockWatch for ServerMetrics {
    fn stepped(&self, forward: bool) {
        let direction = if forward { "forward" } else { "backward" };
        self.clock_steps.add([direction], 1);
    }

    fn doubted(&self, doubted: bool) {
        self.clock_doubted.set(i64::from(doubted));
    }
}

impl NodesWatch for ServerMetrics {
    fn counted(&self, live: usize, clock_ahead: i64) {
        self.nodes_live.set(whole(live));
        self.clock_skew.set(clock_ahead);
    }

    fn works(&self, works: bool) {
        self.works_for_all.set(i64::from(works));
        if !works {
            // From here on the server that background work has come to tells them.
            let of_background_work = |(name, _): &&(&str, Gauge)| *name != KEYS_FETCHED;
            for (_, gauge) in self.set_by_components.iter().filter(of_background_work) {
                gauge.set(0);
            }
        }
    }
}

impl Metrics for ServerMetrics {
    fn count(&self, counter: &str, labels: &[(String, String)], by: u64) {
        if let ("logins", [(label, outcome)]) = (counter, labels)
            && label == "outcome"
        {
            self.logins.add([outcome.clone()], by);
        }
    }

    fn set(&self, gauge: &str, value: u64) {
        let gauges = &self.set_by_components;
        if let Some((_, known)) = gauges.iter().find(|(name, _)| *name == gauge) {
            known.set(whole(value));
        }
    }

    fn exposition(&self) -> String {
        self.look_at_pool();
        self.look_at_certificate();
        self.look_at_access_log();
        let mut text = String::new();
        if let Err(error) = prometheus_text::encode(&mut text, &self.registry) {
            tracing::error!(%error, "the metrics could not be written");
        }
        text
    }
}

/// A number as a gauge takes it.
fn whole(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::exchange::ResumeError;

    /// The series with labels in the exposition, without their values.
    fn series(metrics: &ServerMetrics) -> Vec<String> {
        let text = metrics.exposition();
        let labelled = text.lines().filter_map(|line| line.split_once("} "));
        labelled.map(|(series, _)| series.to_owned()).collect()
    }

    fn login(metrics: &ServerMetrics, outcome: &str) {
        let label = ("outcome".to_owned(), outcome.to_owned());
        metrics.count("logins", &[label], 1);
    }

    #[test]
    fn l6_what_is_counted_stands_in_the_exposition() {
        let metrics = ServerMetrics::new();
        metrics.answered(
            Protocol::serving("/v1/auth/gcp/login"),
            200,
            Duration::from_millis(3),
        );
        metrics.answered(
            Protocol::serving("/api/v2/organizations"),
            404,
            Duration::from_millis(3),
        );
        metrics.answered(
            Protocol::serving("/elsewhere"),
            503,
            Duration::from_millis(3),
        );
        metrics.unanswered(&ServeError::Overloaded);
        metrics.committed("conflict", Duration::from_micros(1));
        metrics.called("failed");
        metrics.stepped(false);
        metrics.counted(3, -2500);
        metrics.works(false);
        metrics.expect_duties(["maintain-access", "report-events"].into_iter());
        metrics.did_duty("maintain-access", true);
        metrics.did_duty("maintain-access", false);
        metrics.did_duty("maintain-access", false);
        login(&metrics, "success");
        login(&metrics, "success");
        metrics.set("tokens-live", 12);
        metrics.set("plan-ends", 1_800_000_000);
        metrics.set("rotation-due", 1_700_000_000);
        metrics.watch_access_log(|| 3);

        let text = metrics.exposition();
        for line in [
            r#"gatehouse_http_requests_total{protocol="v1",status="2xx"} 1"#,
            r#"gatehouse_http_requests_total{protocol="api-v2",status="4xx"} 1"#,
            r#"gatehouse_http_requests_total{protocol="other",status="503"} 1"#,
            "gatehouse_http_request_duration_seconds_count 3",
            r#"gatehouse_component_failures_total{reason="overloaded"} 1"#,
            r#"gatehouse_storage_commits_total{outcome="conflict"} 1"#,
            r#"gatehouse_outbound_calls_total{outcome="failed"} 1"#,
            r#"gatehouse_clock_steps_total{direction="backward"} 1"#,
            r#"gatehouse_background_duties_total{duty="maintain-access",outcome="done"} 1"#,
            r#"gatehouse_background_duties_total{duty="maintain-access",outcome="failed"} 2"#,
            r#"gatehouse_background_duties_total{duty="report-events",outcome="failed"} 0"#,
            r#"gatehouse_logins_total{outcome="success"} 2"#,
            "gatehouse_component_requests_waiting 0",
            "gatehouse_nodes_live 3",
            "gatehouse_clock_skew_milliseconds -2500",
            "gatehouse_background_work_here 0",
            "gatehouse_tokens_live 12",
            "gatehouse_plan_ends_timestamp_seconds 1800000000",
            "gatehouse_rotation_due_timestamp_seconds 1700000000",
            "gatehouse_google_keys_fetched_timestamp_seconds 0",
            "gatehouse_certificate_ends_timestamp_seconds 0",
            "gatehouse_access_log_lost_lines_total 3",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    /// Prometheus sees no growth in a series that begins with its first failure.
    #[test]
    fn every_series_whose_labels_the_host_chooses_is_there_at_zero_from_the_start() {
        let metrics = ServerMetrics::new();
        let first = series(&metrics);
        for there in [
            r#"gatehouse_http_requests_total{protocol="other",status="503""#,
            r#"gatehouse_component_failures_total{reason="trapped""#,
            r#"gatehouse_storage_commits_total{outcome="failed""#,
            r#"gatehouse_outbound_calls_total{outcome="server-error""#,
            r#"gatehouse_clock_steps_total{direction="backward""#,
        ] {
            assert!(
                first.iter().any(|series| series == there),
                "{there}: {first:?}"
            );
        }
        let text = metrics.exposition();
        let counted = text.lines().filter(|line| line.contains("_total{"));
        for line in counted {
            assert!(line.ends_with("} 0"), "{line}");
        }
        for protocol in [Protocol::V1, Protocol::ApiV2, Protocol::Other] {
            for status in 100..600 {
                metrics.answered(protocol, status, Duration::ZERO);
            }
        }
        for error in [
            ServeError::Overloaded,
            ServeError::TimedOut(Duration::ZERO),
            ServeError::NotResumed(ResumeError::Foreign),
            ServeError::Failed(wasmtime::Error::msg("a trap")),
        ] {
            metrics.unanswered(&error);
        }
        metrics.stepped(true);
        metrics.stepped(false);
        assert_eq!(series(&metrics), first);
    }

    #[test]
    fn a_server_that_background_work_has_left_tells_none_of_its_numbers() {
        let metrics = ServerMetrics::new();
        for gauge in ["tokens-live", "plan-ends", KEYS_FETCHED] {
            metrics.set(gauge, 12);
        }
        metrics.works(true);
        let shows = |line: &str| metrics.exposition().lines().any(|found| found == line);
        assert!(shows("gatehouse_tokens_live 12"));
        metrics.works(false);
        assert!(shows("gatehouse_tokens_live 0"));
        assert!(shows("gatehouse_plan_ends_timestamp_seconds 0"));
        assert!(shows("gatehouse_google_keys_fetched_timestamp_seconds 12"));
    }

    #[test]
    fn l6_ten_thousand_outcomes_do_not_grow_the_number_of_series() {
        let metrics = ServerMetrics::new();
        for number in 0..10_000 {
            login(&metrics, &format!("outcome-{number}"));
        }
        login(&metrics, "outcome-0");
        let text = metrics.exposition();
        assert_eq!(
            text.matches("gatehouse_logins_total{").count(),
            registered::MAXIMUM_SERIES
        );
        assert!(text.contains(r#"{outcome="outcome-0"} 2"#));
    }

    #[test]
    fn counters_and_labels_that_nobody_defined_are_ignored() {
        let metrics = ServerMetrics::new();
        let before = metrics.exposition();
        metrics.count("strange", &[], 1);
        metrics.count("logins", &[], 1);
        metrics.count("logins", &[("role".to_owned(), "dev".to_owned())], 1);
        metrics.set("strange", 1);
        assert_eq!(metrics.exposition(), before);
    }
}
