//! Comparison of two answers, once everything that differs from run to run has a name.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::http::Answer;
use crate::step::Kept;

/// How far apart spans of time may be that are counted from a moment before, in seconds.
const SPAN_TOLERANCE: i64 = 5;

/// How far apart points in time may be, in seconds: the two servers are started and asked one after the other, on machines that may be busy.
const POINT_TOLERANCE: i64 = 600;

/// Members that count seconds of a span.
const SPANS: [&str; 3] = ["ttl", "creation_ttl", "lease_duration"];

/// Members that count seconds since 1970.
const POINTS: [&str; 3] = ["creation_time", "last_renewal_time", "server_time_utc"];

/// One thing in which two answers differ.
#[derive(Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// `status`, `content-type`, `location`, `body`, or a JSON pointer into the body.
    pub part: String,
    /// The reference's value; `None` for nothing.
    pub reference: Option<Value>,
    /// Gatehouse's value.
    pub ours: Option<Value>,
}

/// Everything in which two answers to one request differ.
pub fn differences(reference: (&Answer, &Kept), ours: (&Answer, &Kept)) -> Vec<Mismatch> {
    let mut found = Vec::new();
    let mut compare = |part: &str, reference: Value, ours: Value| {
        if reference != ours {
            found.push(Mismatch {
                part: part.to_owned(),
                reference: Some(reference),
                ours: Some(ours),
            });
        }
    };
    let (theirs, their_names) = reference;
    let (mine, my_names) = ours;
    compare("status", theirs.status.into(), mine.status.into());
    let types = (theirs.content_type.as_str(), mine.content_type.as_str());
    compare("content-type", types.0.into(), types.1.into());
    let places = (theirs.location.as_str(), mine.location.as_str());
    compare("location", places.0.into(), places.1.into());
    // A refusal and a success have no members in common.
    if (theirs.status >= 300) != (mine.status >= 300) {
        return found;
    }
    match (parsed(theirs), parsed(mine)) {
        (Some(reference), Some(ours)) => {
            let reference = named(&reference, their_names);
            let ours = named(&ours, my_names);
            walk("", "", Some(&reference), Some(&ours), &mut found);
        }
        _ => compare(
            "body",
            theirs.body.as_str().into(),
            mine.body.as_str().into(),
        ),
    }
    found
}

fn parsed(answer: &Answer) -> Option<Value> {
    serde_json::from_str(&answer.body).ok()
}

fn walk(
    pointer: &str,
    member: &str,
    reference: Option<&Value>,
    ours: Option<&Value>,
    found: &mut Vec<Mismatch>,
) {
    match (reference, ours) {
        (Some(Value::Object(theirs)), Some(Value::Object(mine))) => {
            let names: BTreeSet<&String> = theirs.keys().chain(mine.keys()).collect();
            for name in names {
                let below = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                walk(&below, name, theirs.get(name), mine.get(name), found);
            }
        }
        (Some(Value::Array(theirs)), Some(Value::Array(mine)))
            if theirs.len() == mine.len() && !theirs.iter().all(Value::is_string) =>
        {
            for (place, (theirs, mine)) in theirs.iter().zip(mine).enumerate() {
                let below = format!("{pointer}/{place}");
                walk(&below, member, Some(theirs), Some(mine), found);
            }
        }
        (Some(theirs), Some(mine)) if same(member, theirs, mine) => {}
        (reference, ours) => found.push(Mismatch {
            part: pointer.to_owned(),
            reference: reference.cloned(),
            ours: ours.cloned(),
        }),
    }
}

fn same(member: &str, reference: &Value, ours: &Value) -> bool {
    if reference == ours {
        return true;
    }
    let near = |theirs: i64, mine: i64, tolerance| (theirs - mine).abs() <= tolerance;
    match (reference, ours) {
        (Value::Number(theirs), Value::Number(mine)) => {
            let tolerance = match member {
                _ if SPANS.contains(&member) => SPAN_TOLERANCE,
                _ if POINTS.contains(&member) => POINT_TOLERANCE,
                _ => return false,
            };
            match (theirs.as_i64(), mine.as_i64()) {
                // Nothing left and never ending are not a matter of clocks.
                (Some(theirs), Some(mine)) => {
                    theirs != 0 && mine != 0 && near(theirs, mine, tolerance)
                }
                _ => false,
            }
        }
        (Value::String(theirs), Value::String(mine)) => match (time(theirs), time(mine)) {
            (Some(theirs), Some(mine)) => near(theirs, mine, POINT_TOLERANCE),
            _ => {
                let (theirs, mine) = (theirs.split('"'), mine.split('"'));
                theirs.clone().count() == mine.clone().count()
                    && theirs.zip(mine).all(|(theirs, mine)| {
                        theirs == mine
                            || matches!((seconds(theirs), seconds(mine)), (Some(theirs), Some(mine)) if near(theirs, mine, SPAN_TOLERANCE))
                    })
            }
        },
        (Value::Array(theirs), Value::Array(mine)) => {
            theirs.len() == mine.len()
                && theirs
                    .iter()
                    .zip(mine)
                    .all(|(theirs, mine)| same(member, theirs, mine))
        }
        _ => false,
    }
}

/// Seconds since 1970 of a text that is a time in UTC.
fn time(text: &str) -> Option<i64> {
    text.strip_suffix('Z')?;
    let time: jiff::Timestamp = text.parse().ok()?;
    Some(time.as_second())
}

/// How long a text in a warning says, as in `TTL of "767h59m58s" exceeded ...`.
fn seconds(text: &str) -> Option<i64> {
    let duration: jiff::SignedDuration = text.parse().ok()?;
    Some(duration.as_secs())
}

/// The same with every random part called by what it is.
fn named(value: &Value, kept: &Kept) -> Value {
    match value {
        Value::String(text) => Value::String(name(text, kept)),
        Value::Array(elements) => {
            let mut named: Vec<Value> = elements
                .iter()
                .map(|value| self::named(value, kept))
                .collect();
            // Sorted by what was random, they are in any order.
            if named != *elements {
                named.sort_by_key(Value::to_string);
            }
            Value::Array(named)
        }
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| (name(key, kept), self::named(value, kept));
            Value::Object(members.iter().map(member).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn name(text: &str, kept: &Kept) -> String {
    let text = kept.name(text);
    let form = if is_uuid(&text) {
        "<uuid>"
    } else if is_token(&text) {
        "<token>"
    } else if matches!(text.len(), 24 | 26) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        "<accessor>"
    } else if let Some(kind) = mount_accessor(&text) {
        return format!("{}_<hex>", kept.name(kind));
    } else if is_followed_by_hex(&text, "entity_") || is_followed_by_hex(&text, "group_") {
        "<generated name>"
    } else if text.starts_with("vault-cluster-") || text.starts_with("gatehouse-cluster-") {
        "<cluster>"
    } else {
        return text;
    };
    form.to_owned()
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| is_hex(group))
}

fn is_hex(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_token(text: &str) -> bool {
    let random = ["hvs.", "hvb.", "s.", "b."]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix));
    random.is_some_and(|random| {
        random.len() >= 24
            && random
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    })
}

/// The beginning of a mount's accessor: what it is, and its type.
fn mount_accessor(text: &str) -> Option<&str> {
    let (kind, random) = text.rsplit_once('_')?;
    let kind = kind.strip_prefix("auth_").or_else(|| {
        ["identity", "system", "cubbyhole", "kv"]
            .contains(&kind)
            .then_some(kind)
    })?;
    (random.len() == 8 && is_hex(random)).then_some(kind)
}

/// Names of the reference end in that of their namespace.
fn is_followed_by_hex(text: &str, prefix: &str) -> bool {
    let text = text.strip_suffix(".root").unwrap_or(text);
    text.strip_prefix(prefix)
        .is_some_and(|random| random.len() == 8 && is_hex(random))
}
