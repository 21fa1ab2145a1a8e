//! `sys/metrics`: the metrics of the host, in the format of Prometheus or as JSON in the form of the reference (contract 6.1).

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::auth_method::mount_of_view;
use super::call::Call;
use super::envelope;
use super::errors::ApiError;
use super::server::Server;
use super::timestamp::timestamp;
use crate::http::{Request, Response};

/// The text format of Prometheus.
const EXPOSITION_MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The media types that scrapers ask for.
const SCRAPED_MEDIA_TYPES: [&str; 3] = [
    "application/openmetrics-text",
    "prometheus/telemetry",
    "text/plain",
];

/// The maximum number of auth methods whose keys are examined for one answer.
const MAXIMUM_METHODS: usize = 100;

/// Answers an admitted read.
pub(super) fn read(call: &Call<'_>) -> Result<Response, ApiError> {
    let format = call.query_fields()?.string("format")?.unwrap_or_default();
    let exposition = || {
        tell_age_of_keys(call.server);
        call.server.host.metrics.exposition()
    };
    match format.as_str() {
        "" if !is_scraper(call.request) => {
            let now = timestamp(call.server.clock.now_seconds());
            envelope::bare(200, &Summary::from_exposition(&exposition(), now))
        }
        "" | "prometheus" => {
            let body = exposition().into_bytes();
            Ok(Response::new(200, EXPOSITION_MEDIA_TYPE, body))
        }
        _ => Err(ApiError::plain(
            400,
            "metrics are written in two formats: leave format out for JSON, or ask for prometheus",
        )),
    }
}

/// Tells the host when the keys that verify logins at this server were fetched. Each server has its own keys, so this is not background work, which
/// only one of the servers does.
fn tell_age_of_keys(server: &Server<'_>) {
    // The other metrics are shown even if the store does not answer.
    let Ok(mounts) = server.access.list_mounts() else {
        return;
    };
    let methods = mounts.iter().filter(|mount| mount.mount_type == "gcp");
    let fetched = methods.take(MAXIMUM_METHODS).filter_map(|mount| {
        let fetched = server
            .auth_method
            .google_keys_fetched_at(&mount_of_view(mount));
        fetched.ok().flatten()
    });
    let oldest = fetched.min().map_or(0, |milliseconds| milliseconds / 1000);
    server.host.metrics.set("google-keys-fetched", oldest);
}

fn is_scraper(request: &Request) -> bool {
    request.headers.all("accept").any(|accepted| {
        let accepted = accepted.to_ascii_lowercase();
        SCRAPED_MEDIA_TYPES
            .iter()
            .any(|media_type| accepted.contains(media_type))
    })
}

type Labels = BTreeMap<String, String>;

#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Summary {
    timestamp: String,
    gauges: Vec<Sample>,
    /// Always empty: single values are not kept.
    points: [(); 0],
    counters: Vec<Sampled>,
    samples: Vec<Sampled>,
}

/// A counter or histogram since the start of the server. Single values are not kept, so the extremes, the standard deviation and the rate are 0.
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Sampled {
    name: String,
    count: u64,
    rate: f64,
    sum: f64,
    min: f64,
    max: f64,
    mean: f64,
    stddev: f64,
    labels: Labels,
}

impl Summary {
    /// Reads `exposition`, in the order of its names.
    fn from_exposition(exposition: &str, now: Timestamp) -> Self {
        let mut summary = Self {
            timestamp: now.strftime("%Y-%m-%d %H:%M:%S +0000 UTC").to_string(),
            gauges: Vec::new(),
            points: [],
            counters: Vec::new(),
            samples: Vec::new(),
        };
        let mut kinds: BTreeMap<&str, &str> = BTreeMap::new();
        for line in exposition.lines() {
            if let Some(kind) = line.strip_prefix("# TYPE ") {
                kinds.extend(kind.split_once(' '));
            } else if let Some(sample) = Sample::parse(line) {
                summary.add(&kinds, sample);
            }
        }
        summary
    }

    fn add(&mut self, kinds: &BTreeMap<&str, &str>, sample: Sample) {
        let kind = kinds.get(sample.name.as_str()).copied();
        if kind == Some("gauge") {
            self.gauges.push(sample);
            return;
        }
        let Sample {
            name,
            value,
            labels,
        } = sample;
        match kind {
            Some("counter") => self.counters.push(Sampled {
                name,
                count: whole(value),
                sum: value,
                mean: if value > 0.0 { 1.0 } else { 0.0 },
                labels,
                ..Sampled::default()
            }),
            _ => {
                let parts = [("_sum", true), ("_count", false)];
                let part = parts.into_iter().find_map(|(end, is_sum)| {
                    let name = name.strip_suffix(end)?;
                    (kinds.get(name) == Some(&"histogram")).then(|| (name.to_owned(), is_sum))
                });
                if let Some((name, is_sum)) = part {
                    self.measure(name, labels, value, is_sum);
                }
            }
        }
    }

    /// Adds the sum or the count of a histogram.
    fn measure(&mut self, name: String, labels: Labels, value: f64, is_sum: bool) {
        let is_same = |it: &&mut Sampled| it.name == name && it.labels == labels;
        let measured = match self.samples.iter_mut().find(is_same) {
            Some(measured) => measured,
            None => {
                self.samples.push(Sampled {
                    name,
                    labels,
                    ..Sampled::default()
                });
                let Some(measured) = self.samples.last_mut() else {
                    return;
                };
                measured
            }
        };
        if is_sum {
            measured.sum = value;
        } else {
            measured.count = whole(value);
        }
        if measured.count > 0 {
            measured.mean = measured.sum / measured.count as f64;
        }
    }
}

/// A number of events, which is whole and not negative.
fn whole(value: f64) -> u64 {
    value as u64
}

/// One line of an exposition. A gauge is shown in this form.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Sample {
    name: String,
    value: f64,
    labels: Labels,
}

impl Sample {
    /// The sample in a line; `None` for comments and for lines of another form.
    fn parse(line: &str) -> Option<Self> {
        if line.starts_with('#') {
            return None;
        }
        let end = line.find(['{', ' '])?;
        let (name, rest) = line.split_at_checked(end)?;
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(labels) => labels_of(labels)?,
            None => (Labels::new(), rest),
        };
        let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
        Some(Self {
            name: name.to_owned(),
            value,
            labels,
        })
    }
}

/// The labels up to the closing brace, and what follows.
fn labels_of(mut text: &str) -> Option<(Labels, &str)> {
    let mut labels = Labels::new();
    loop {
        if let Some(rest) = text.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, rest) = text.split_once("=\"")?;
        let mut value = String::new();
        let mut characters = rest.char_indices();
        let end = loop {
            match characters.next()? {
                (at, '"') => break at + 1,
                (_, '\\') => value.push(match characters.next()?.1 {
                    'n' => '\n',
                    escaped => escaped,
                }),
                (_, character) => value.push(character),
            }
        };
        labels.insert(name.to_owned(), value);
        let rest = rest.get(end..)?;
        text = rest.strip_prefix(',').unwrap_or(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_of_number_has_its_place() {
        let exposition = "# HELP a_total Help.\n# TYPE a_total counter\na_total{x=\"1\",y=\"a\\\"b\\\\c\\nd\"} 3\n\
            # TYPE g gauge\ng -1.5\n\
            # TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n\
            # TYPE e histogram\ne_sum{k=\"v\"} 0\ne_count{k=\"v\"} 0\n";
        let summary = Summary::from_exposition(exposition, timestamp(1_795_255_200));
        let sampled = |name, count, sum, mean, labels| {
            json!({"Name": name, "Count": count, "Rate": 0.0, "Sum": sum, "Min": 0.0, "Max": 0.0,
                "Mean": mean, "Stddev": 0.0, "Labels": labels})
        };
        assert_eq!(
            serde_json::to_value(&summary).unwrap(),
            json!({
                "Timestamp": "2026-11-21 10:00:00 +0000 UTC",
                "Gauges": [{"Name": "g", "Value": -1.5, "Labels": {}}],
                "Points": [],
                "Counters": [sampled("a_total", 3, 3.0, 1.0, json!({"x": "1", "y": "a\"b\\c\nd"}))],
                "Samples": [
                    sampled("h", 2, 3.0, 1.5, json!({})),
                    sampled("e", 0, 0.0, 0.0, json!({"k": "v"})),
                ],
            })
        );
    }

    #[test]
    fn lines_of_another_form_are_left_out() {
        for line in [
            "",
            "a",
            "a{",
            "a{x=\"1}",
            "a{x} 1",
            "a one",
            "# a 1",
            "a{x=\"1\"}",
        ] {
            assert_eq!(Sample::parse(line), None, "{line}");
        }
        let summary = Summary::from_exposition("untyped 1\n", timestamp(0));
        assert!(summary.gauges.is_empty() && summary.counters.is_empty());
        assert!(summary.samples.is_empty());
    }
}
