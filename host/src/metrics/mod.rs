//! Numbers for those who watch the server (SEC-L6).
//!
//! Every series exists from the start or comes from a list that ends: no client can make the server keep more of them.

mod backend;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use prometheus::core::Collector;
use prometheus::{
    Encoder, Histogram, HistogramOpts, IntCounterVec, IntGauge, Opts, Registry, TextEncoder,
};

use crate::clock::ClockWatch;
use crate::nodes::NodesWatch;
use crate::runtime::exchange::ServeError;
use crate::runtime::pool::Pool;
use crate::runtime::services::Metrics;

pub use backend::MeteredBackend;

/// Most values that components may give the label of a counter of theirs.
const MAXIMUM_LABEL_VALUES: usize = 64;

/// Seconds within which a request is answered: from a read in memory to the longest wait for Google.
const REQUEST_BUCKETS: [f64; 10] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0, 5.0, 30.0,
];

/// Seconds that a commit takes, the disk included.
const COMMIT_BUCKETS: [f64; 9] = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0];

/// How a duty of background work can end.
const DUTY_OUTCOMES: [&str; 2] = ["done", "failed"];

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
    pub fn of(path: &str) -> Self {
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

/// The counters of one server.
pub struct ServerMetrics {
    registry: Registry,
    requests: IntCounterVec,
    request_seconds: Histogram,
    unanswered: IntCounterVec,
    instances_running: IntGauge,
    requests_waiting: IntGauge,
    logins: IntCounterVec,
    login_outcomes: Mutex<BTreeSet<String>>,
    commits: IntCounterVec,
    commit_seconds: Histogram,
    outbound_calls: IntCounterVec,
    clock_steps: IntCounterVec,
    duties: IntCounterVec,
    clock_doubted: IntGauge,
    nodes_live: IntGauge,
    clock_skew: IntGauge,
    works_for_all: IntGauge,
    pool: OnceLock<Weak<Pool>>,
}

impl ServerMetrics {
    /// All numbers at zero.
    ///
    /// # Errors
    ///
    /// When two of them have one name, which would be a fault of this program.
    pub fn new() -> Result<Self, prometheus::Error> {
        let metrics = Self {
            registry: Registry::new_custom(Some("gatehouse".to_owned()), None)?,
            requests: counters(
                "http_requests_total",
                "Requests that were answered, by protocol and class of status.",
                &["protocol", "status"],
            )?,
            request_seconds: histogram(
                "http_request_duration_seconds",
                "From the whole request to the whole answer.",
                &REQUEST_BUCKETS,
            )?,
            unanswered: counters(
                "component_failures_total",
                "Requests that the components gave no answer to: refused for want of an instance, out of time, trapped, or cut off before their end.",
                &["reason"],
            )?,
            instances_running: IntGauge::new(
                "component_instances_running",
                "Component instances that serve a request now.",
            )?,
            requests_waiting: IntGauge::new(
                "component_requests_waiting",
                "Requests that wait for an instance now.",
            )?,
            logins: counters("logins_total", "Logins by outcome.", &["outcome"])?,
            login_outcomes: Mutex::default(),
            commits: counters(
                "storage_commits_total",
                "Commits by outcome; a conflict is retried by its caller.",
                &["outcome"],
            )?,
            commit_seconds: histogram(
                "storage_commit_duration_seconds",
                "From a commit to its durability.",
                &COMMIT_BUCKETS,
            )?,
            outbound_calls: counters(
                "outbound_calls_total",
                "Outgoing calls by outcome.",
                &["outcome"],
            )?,
            clock_steps: counters(
                "clock_steps_total",
                "Times that the system's clock was set, by direction.",
                &["direction"],
            )?,
            duties: counters(
                "background_duties_total",
                "Duties of background work that ended, by duty and by whether they failed: trapped, took too long, or could not do what was due.",
                &["duty", "outcome"],
            )?,
            clock_doubted: IntGauge::new(
                "clock_doubted",
                "1 while the system's clock is so far ahead that background work deletes nothing.",
            )?,
            nodes_live: IntGauge::new(
                "nodes_live",
                "Servers that share the store and were seen within 15 s, this one included.",
            )?,
            clock_skew: IntGauge::new(
                "clock_skew_milliseconds",
                "By how much the system's clock is ahead of the database's; 0 where the store is no database.",
            )?,
            works_for_all: IntGauge::new(
                "background_work_here",
                "1 while background work falls to this server, and not to another one that shares its store.",
            )?,
            pool: OnceLock::new(),
        };
        metrics.nodes_live.set(1);
        metrics.works_for_all.set(1);
        metrics.register()?;
        Ok(metrics)
    }

    fn register(&self) -> Result<(), prometheus::Error> {
        let collectors: [Box<dyn Collector>; 15] = [
            Box::new(self.requests.clone()),
            Box::new(self.request_seconds.clone()),
            Box::new(self.unanswered.clone()),
            Box::new(self.instances_running.clone()),
            Box::new(self.requests_waiting.clone()),
            Box::new(self.logins.clone()),
            Box::new(self.commits.clone()),
            Box::new(self.commit_seconds.clone()),
            Box::new(self.outbound_calls.clone()),
            Box::new(self.clock_steps.clone()),
            Box::new(self.duties.clone()),
            Box::new(self.clock_doubted.clone()),
            Box::new(self.nodes_live.clone()),
            Box::new(self.clock_skew.clone()),
            Box::new(self.works_for_all.clone()),
        ];
        for collector in collectors {
            self.registry.register(collector)?;
        }
        Ok(())
    }

    /// A request of `protocol` was answered with `status` after `time`.
    pub fn answered(&self, protocol: Protocol, status: u16, time: Duration) {
        let protocol = protocol.name();
        let status = match status {
            200..300 => "2xx",
            300..400 => "3xx",
            429 => "429",
            400..500 => "4xx",
            503 => "503",
            _ => "5xx",
        };
        self.requests.with_label_values(&[protocol, status]).inc();
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
        self.unanswered.with_label_values(&[reason]).inc();
    }

    /// Shows how busy the instances of `pool` are from now on. The first pool counts.
    pub fn watch(&self, pool: &Arc<Pool>) {
        let _ = self.pool.set(Arc::downgrade(pool));
    }

    fn look_at_pool(&self) {
        if let Some(pool) = self.pool.get().and_then(Weak::upgrade) {
            let gauge = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
            self.instances_running.set(gauge(pool.running()));
            self.requests_waiting.set(gauge(pool.waiting()));
        }
    }

    /// True if `outcome` is one of those that are counted; the first ones are.
    fn is_known_outcome(&self, outcome: &str) -> bool {
        let mut known = self
            .login_outcomes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if known.contains(outcome) {
            return true;
        }
        known.len() < MAXIMUM_LABEL_VALUES && known.insert(outcome.to_owned())
    }

    /// A commit ended so after `time`.
    fn committed(&self, outcome: &str, time: Duration) {
        self.commits.with_label_values(&[outcome]).inc();
        self.commit_seconds.observe(time.as_secs_f64());
    }

    /// An outgoing call ended.
    pub fn called(&self, outcome: &str) {
        self.outbound_calls.with_label_values(&[outcome]).inc();
    }

    /// Makes the series of these duties, of which the components have a few.
    pub fn expect_duties<'d>(&self, duties: impl Iterator<Item = &'d str>) {
        for duty in duties.take(MAXIMUM_LABEL_VALUES) {
            for outcome in DUTY_OUTCOMES {
                let _ = self.duties.with_label_values(&[duty, outcome]);
            }
        }
    }

    /// A duty of background work ended.
    pub fn did_duty(&self, duty: &str, well: bool) {
        let [done, failed] = DUTY_OUTCOMES;
        let outcome = if well { done } else { failed };
        self.duties.with_label_values(&[duty, outcome]).inc();
    }
}

impl ClockWatch for ServerMetrics {
    fn stepped(&self, forward: bool) {
        let direction = if forward { "forward" } else { "backward" };
        self.clock_steps.with_label_values(&[direction]).inc();
    }

    fn doubted(&self, doubted: bool) {
        self.clock_doubted.set(i64::from(doubted));
    }
}

impl NodesWatch for ServerMetrics {
    fn counted(&self, live: usize, clock_ahead: i64) {
        self.nodes_live.set(i64::try_from(live).unwrap_or(i64::MAX));
        self.clock_skew.set(clock_ahead);
    }

    fn works(&self, works: bool) {
        self.works_for_all.set(i64::from(works));
    }
}

impl Metrics for ServerMetrics {
    fn count(&self, counter: &str, labels: &[(String, String)], by: u64) {
        if let ("logins", [(label, outcome)]) = (counter, labels)
            && label == "outcome"
            && self.is_known_outcome(outcome)
        {
            self.logins
                .with_label_values(&[outcome.as_str()])
                .inc_by(by);
        }
    }

    fn exposition(&self) -> String {
        self.look_at_pool();
        let mut text = Vec::new();
        match TextEncoder::new().encode(&self.registry.gather(), &mut text) {
            Ok(()) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) => {
                tracing::error!(%error, "the metrics could not be written");
                String::new()
            }
        }
    }
}

fn counters(name: &str, help: &str, labels: &[&str]) -> Result<IntCounterVec, prometheus::Error> {
    IntCounterVec::new(Opts::new(name, help), labels)
}

fn histogram(name: &str, help: &str, buckets: &[f64]) -> Result<Histogram, prometheus::Error> {
    Histogram::with_opts(HistogramOpts::new(name, help).buckets(buckets.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(metrics: &ServerMetrics, outcome: &str) {
        let label = ("outcome".to_owned(), outcome.to_owned());
        metrics.count("logins", &[label], 1);
    }

    #[test]
    fn l6_what_is_counted_stands_in_the_exposition() {
        let metrics = ServerMetrics::new().unwrap();
        metrics.answered(
            Protocol::of("/v1/auth/gcp/login"),
            200,
            Duration::from_millis(3),
        );
        metrics.answered(
            Protocol::of("/api/v2/organizations"),
            404,
            Duration::from_millis(3),
        );
        metrics.answered(Protocol::of("/elsewhere"), 503, Duration::from_millis(3));
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
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn l6_ten_thousand_outcomes_do_not_grow_the_number_of_series() {
        let metrics = ServerMetrics::new().unwrap();
        for number in 0..10_000 {
            login(&metrics, &format!("outcome-{number}"));
        }
        login(&metrics, "outcome-0");
        let text = metrics.exposition();
        assert_eq!(
            text.matches("gatehouse_logins_total{").count(),
            MAXIMUM_LABEL_VALUES
        );
        assert!(text.contains(r#"{outcome="outcome-0"} 2"#));
    }

    #[test]
    fn counters_and_labels_that_nobody_defined_are_ignored() {
        let metrics = ServerMetrics::new().unwrap();
        let before = metrics.exposition();
        metrics.count("strange", &[], 1);
        metrics.count("logins", &[], 1);
        metrics.count("logins", &[("role".to_owned(), "dev".to_owned())], 1);
        assert_eq!(metrics.exposition(), before);
    }
}
