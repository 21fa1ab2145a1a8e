//! Queries in PromQL, read by a parser of that language and held against the series that the server has.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use gatehouse_deploy_tests::{found, read};
use promql_parser::label::{MatchOp, Matcher};
use promql_parser::parser::{
    self, AggregateExpr, BinaryExpr, Call, Expr, LabelModifier, VectorSelector,
};

/// The labels of a series, each with the values that it can have. `None` stands for any value.
type Labels = BTreeMap<String, Option<BTreeSet<String>>>;

/// The series of the server, with the labels of each, from the reference.
pub(crate) fn series() -> &'static BTreeMap<String, Labels> {
    static SERIES: LazyLock<BTreeMap<String, Labels>> = LazyLock::new(of_reference);
    &SERIES
}

fn of_reference() -> BTreeMap<String, Labels> {
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
        let of_all = ["instance", "job"].map(|label| (label.to_owned(), None));
        let mut labels: Labels = labels
            .split("; ")
            .filter_map(|label| label.split_once(": "))
            .map(|(label, values)| {
                let values = found(values, "`([^`]+)`").into_iter().map(str::to_owned);
                (label.trim_matches('`').to_owned(), Some(values.collect()))
            })
            .collect();
        assert!(
            labels.values().flatten().all(|values| values.len() > 1),
            "{line}"
        );
        labels.extend(of_all);
        let parts: &[&str] = match *kind {
            "histogram" => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        for part in parts {
            let mut labels = labels.clone();
            if *part == "_bucket" {
                labels.insert("le".to_owned(), None);
            }
            series.insert(format!("{name}{part}"), labels);
        }
    }
    assert!(series.len() > 12, "{series:?}");
    series
}

/// A query that was found right.
#[derive(Debug)]
pub(crate) struct Query {
    /// The series that it reads.
    pub(crate) reads: BTreeSet<String>,
    /// The labels that its result has.
    pub(crate) labels: BTreeSet<String>,
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    ///
    /// When it is no PromQL, or speaks of a series, a label or a value that there is not.
    pub(crate) fn read(expression: &str) -> Result<Self, String> {
        let parsed = parser::parse(expression)?;
        let mut known = series().clone();
        let of_scrape = ["instance", "job"].map(|label| (label.to_owned(), None));
        // Prometheus makes it of every target itself.
        known.insert("up".to_owned(), of_scrape.into());
        let mut reader = Reader {
            known,
            reads: BTreeSet::new(),
        };
        let labels = reader.result(&parsed)?.unwrap_or_default();
        Ok(Self {
            reads: reader.reads,
            labels,
        })
    }
}

struct Reader {
    known: BTreeMap<String, Labels>,
    reads: BTreeSet<String>,
}

impl Reader {
    /// The labels of the result of an expression; `None` for a number, which has no series.
    fn result(&mut self, expression: &Expr) -> Result<Option<BTreeSet<String>>, String> {
        match expression {
            Expr::NumberLiteral(_) | Expr::StringLiteral(_) => Ok(None),
            Expr::Paren(inner) => self.result(&inner.expr),
            Expr::Unary(inner) => self.result(&inner.expr),
            Expr::VectorSelector(selected) => {
                let name = self.selected(selected)?;
                if is_counter(&name) {
                    return Err(format!(
                        "{name} is a counter: only its growth says something"
                    ));
                }
                Ok(self.labels(&name))
            }
            // Only functions read it, and `called` has seen which.
            Expr::MatrixSelector(selected) => {
                let name = self.selected(&selected.vs)?;
                Ok(self.labels(&name))
            }
            Expr::Call(call) => self.called(call),
            Expr::Aggregate(aggregate) => self.aggregated(aggregate),
            Expr::Binary(binary) => self.combined(binary),
            Expr::Subquery(_) | Expr::Extension(_) => Err("a subquery is not needed".to_owned()),
        }
    }

    fn labels(&self, name: &str) -> Option<BTreeSet<String>> {
        self.known
            .get(name)
            .map(|labels| labels.keys().cloned().collect())
    }

    /// The name of the series that a selector names.
    fn selected(&mut self, selector: &VectorSelector) -> Result<String, String> {
        let name = selector.name.clone().ok_or("a selector without a name")?;
        let labels = self.known.get(&name);
        let labels = labels.ok_or_else(|| format!("there is no {name}"))?;
        if !selector.matchers.or_matchers.is_empty() {
            return Err("Prometheus knows no `or` between matchers".to_owned());
        }
        for matcher in &selector.matchers.matchers {
            let values = labels.get(&matcher.name);
            let values = values.ok_or_else(|| format!("{name} has no label {}", matcher.name))?;
            if let Some(values) = values
                && !fits(matcher, values)
            {
                return Err(format!("{matcher} is never true of {name}"));
            }
        }
        self.reads.insert(name.clone());
        Ok(name)
    }

    fn called(&mut self, call: &Call) -> Result<Option<BTreeSet<String>>, String> {
        let mut labels = None;
        for argument in &call.args.args {
            if let Expr::MatrixSelector(selected) = &**argument {
                let name = selected.vs.name.clone().unwrap_or_default();
                let of_counters = ["rate", "increase", "irate"].contains(&call.func.name);
                if of_counters != is_counter(&name) {
                    return Err(format!("{} is not for {name}", call.func.name));
                }
            }
            let of_argument = self.result(argument)?;
            labels = labels.or(of_argument);
        }
        if call.func.name == "histogram_quantile" {
            let had_buckets = labels.as_mut().is_some_and(|labels| labels.remove("le"));
            if !had_buckets {
                return Err("a quantile needs the label le".to_owned());
            }
        }
        Ok(labels)
    }

    fn aggregated(
        &mut self,
        aggregate: &AggregateExpr,
    ) -> Result<Option<BTreeSet<String>>, String> {
        let inner = self.result(&aggregate.expr)?.unwrap_or_default();
        let named = aggregate.modifier.as_ref().map(LabelModifier::labels);
        let named: BTreeSet<String> = named.into_iter().flat_map(|it| it.labels.clone()).collect();
        if let Some(absent) = named.difference(&inner).next() {
            return Err(format!("nothing below {} has {absent}", aggregate.op));
        }
        Ok(Some(match &aggregate.modifier {
            Some(LabelModifier::Exclude(_)) => inner.difference(&named).cloned().collect(),
            _ => named,
        }))
    }

    fn combined(&mut self, binary: &BinaryExpr) -> Result<Option<BTreeSet<String>>, String> {
        let (left, right) = (self.result(&binary.lhs)?, self.result(&binary.rhs)?);
        let (Some(left), Some(right)) = (&left, &right) else {
            return Ok(left.or(right));
        };
        let modifier = binary.modifier.as_ref();
        match modifier.and_then(|modifier| modifier.matching.as_ref()) {
            Some(matching) => {
                for label in &matching.labels().labels {
                    if !(left.contains(label) && right.contains(label)) {
                        return Err(format!("{label} is not on both sides of {}", binary.op));
                    }
                }
            }
            None if left != right => {
                return Err(format!("{left:?} and {right:?} never match"));
            }
            None => {}
        }
        Ok(Some(left.clone()))
    }
}

/// True of the series that only grow.
fn is_counter(name: &str) -> bool {
    let endings = ["_total", "_bucket", "_sum", "_count"];
    endings.iter().any(|ending| name.ends_with(ending))
}

/// True if each value that the matcher names is one of `values`.
fn fits(matcher: &Matcher, values: &BTreeSet<String>) -> bool {
    let pattern = match &matcher.op {
        MatchOp::Equal | MatchOp::NotEqual => return values.contains(&matcher.value),
        MatchOp::Re(pattern) | MatchOp::NotRe(pattern) => pattern,
    };
    let is_list = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '|');
    match matcher.value.chars().all(is_list) {
        true => matcher.value.split('|').all(|word| values.contains(word)),
        false => values.iter().any(|value| pattern.is_match(value)),
    }
}

#[test]
fn a_query_that_asks_for_what_there_is_not_is_refused() {
    for (query, reason) in [
        ("sum(rate(gatehouse_logins_total[5m])", "unclosed"),
        ("gatehouse_nodes_alive", "there is no gatehouse_nodes_alive"),
        ("{job=\"gatehouse\"}", "without a name"),
        (
            "rate(gatehouse_logins_total{role=\"ci\"}[5m])",
            "has no label role",
        ),
        (
            "rate(gatehouse_logins_total{outcome=\"won\"}[5m])",
            "is never true",
        ),
        (
            "rate(gatehouse_logins_total{outcome=~\"success|won\"}[5m])",
            "is never true",
        ),
        (
            "rate(gatehouse_logins_total{outcome=~\"w.*\"}[5m])",
            "is never true",
        ),
        (
            "sum by (status) (rate(gatehouse_logins_total[5m]))",
            "has status",
        ),
        ("gatehouse_logins_total > 3", "is a counter"),
        ("rate(gatehouse_nodes_live[5m])", "is not for"),
        ("rate(gatehouse_logins_total)", "type"),
        (
            "histogram_quantile(0.9, sum(rate(gatehouse_storage_commit_duration_seconds_bucket[5m])))",
            "needs the label le",
        ),
        (
            "sum(gatehouse_nodes_live) / gatehouse_nodes_live",
            "never match",
        ),
        (
            "gatehouse_nodes_live and on (role) gatehouse_nodes_live",
            "not on both sides",
        ),
    ] {
        let refused = Query::read(query).expect_err(query);
        assert!(refused.contains(reason), "{query}: {refused}");
    }
    let query = "sum by (outcome) (rate(gatehouse_logins_total{outcome!~\"success|rate-limited\",job=\"any\"}[5m])) > 2";
    let read = Query::read(query).unwrap();
    assert_eq!(read.reads, ["gatehouse_logins_total".to_owned()].into());
    assert_eq!(read.labels, ["outcome".to_owned()].into());
}
