//! The description of the API that a server gives (contract 4.16), and a check of answers against it: every answer that a test gets has a
//! status, a media type and a body that the description names, and no member that it does not name.

use std::sync::OnceLock;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::session::Reply;

/// The words that a schema may use. The check would ignore any other word.
const WORDS: [&str; 17] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "default",
    "deprecated",
    "description",
    "enum",
    "example",
    "format",
    "items",
    "nullable",
    "oneOf",
    "properties",
    "readOnly",
    "required",
    "type",
    "writeOnly",
];

/// The paths that the description is of.
const API: &str = "/api/v2/";

static DESCRIPTION: OnceLock<Description> = OnceLock::new();

/// The description of the API.
pub struct Description(Value);

impl Description {
    /// Keeps what `read` fetches from the first server of this program: it is the same in both editions.
    pub fn read_once(read: impl FnOnce() -> String) {
        DESCRIPTION.get_or_init(|| Self(serde_json::from_str(&read()).unwrap()));
    }

    /// The description that the servers of this program give.
    pub fn of_all() -> &'static Self {
        DESCRIPTION.get().expect("a server has been started")
    }

    /// Refuses an answer that does not fit its description. A request of the API that is not described has to be answered like a path that does
    /// not exist.
    #[track_caller]
    pub fn check(&self, method: &str, target: &str, reply: &Reply) {
        let path = target.split('?').next().unwrap_or_default();
        let fits = match self.operation(method, path) {
            Some(operation) => self.fits(operation, reply),
            None if path.starts_with(API) && reply.status < 400 => {
                Err("the request is not described".to_owned())
            }
            None => Ok(()),
        };
        if let Err(flaw) = fits {
            panic!("{}: {flaw}: {} {}", reply.label, reply.status, reply.body);
        }
    }

    /// The operation of a request; of paths that fit, the one with the fewest names in braces.
    fn operation(&self, method: &str, path: &str) -> Option<&Value> {
        let paths = self.0["paths"].as_object().unwrap();
        let fitting = paths.iter().filter(|(template, _)| fits(template, path));
        let (_, item) = fitting.min_by_key(|(template, _)| template.matches('{').count())?;
        item.get(method.to_ascii_lowercase())
    }

    fn fits(&self, operation: &Value, reply: &Reply) -> Result<(), String> {
        let answers = operation["responses"].as_object().unwrap();
        let range = format!("{}XX", reply.status / 100);
        let answer = answers.get(&reply.status.to_string());
        let answer = answer.or_else(|| answers.get(&range));
        let answer = self.resolved(answer.ok_or("the status is not described")?);
        let Some(content) = answer.get("content") else {
            let is_empty = reply.body.is_empty();
            return is_empty.then_some(()).ok_or_else(|| "no body".to_owned());
        };
        let media_type = reply.header("content-type").unwrap_or_default();
        let described = content.get(media_type).ok_or("the media type")?;
        let body = serde_json::from_str(&reply.body).map_err(|error| error.to_string())?;
        self.is_as(&described["schema"], &body, "")
    }

    fn resolved<'v>(&'v self, value: &'v Value) -> &'v Value {
        match value["$ref"].as_str() {
            Some(reference) => self
                .0
                .pointer(reference.trim_start_matches('#'))
                .expect("references lead somewhere"),
            None => value,
        }
    }

    /// Checks a value of an answer against a schema; an error names the `place` that does not fit.
    fn is_as(&self, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
        let schema = self.resolved(schema);
        let words = schema.as_object().unwrap();
        for word in words.keys() {
            assert!(WORDS.contains(&word.as_str()), "{word} of {schema}");
        }
        if schema["writeOnly"] == true {
            return Err(format!("{place} is for requests alone"));
        }
        if value.is_null() && schema["nullable"] == true {
            return Ok(());
        }
        for all in schema["allOf"].as_array().into_iter().flatten() {
            self.is_as(all, value, place)?;
        }
        if let Some(choices) = schema["oneOf"].as_array() {
            let fitting = choices
                .iter()
                .map(|choice| self.is_as(choice, value, place));
            let (fitting, flaws): (Vec<_>, Vec<_>) = fitting.partition(Result::is_ok);
            if fitting.len() != 1 {
                return Err(format!("{place} fits {} choices: {flaws:?}", fitting.len()));
            }
        }
        let choices = schema["enum"].as_array();
        if choices.is_some_and(|choices| !choices.contains(value)) {
            return Err(format!("{place} is {value}, which is no choice"));
        }
        let Some(kind) = schema["type"].as_str() else {
            return Ok(());
        };
        match (kind, value) {
            ("string", Value::String(text)) => is_formatted(schema, text, place),
            ("boolean", Value::Bool(_)) => Ok(()),
            ("integer", Value::Number(number)) if number.is_i64() || number.is_u64() => Ok(()),
            ("array", Value::Array(items)) => {
                items.iter().enumerate().try_for_each(|(at, item)| {
                    self.is_as(&schema["items"], item, &format!("{place}/{at}"))
                })
            }
            ("object", Value::Object(members)) => self.has_members(schema, members, place),
            (kind, value) => Err(format!("{place} is {value}, and no {kind}")),
        }
    }

    fn has_members(
        &self,
        schema: &Value,
        members: &Map<String, Value>,
        place: &str,
    ) -> Result<(), String> {
        let required = schema["required"].as_array().into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if !members.contains_key(name) {
                return Err(format!("{place}/{name} is missing"));
            }
        }
        let (described, others) = (&schema["properties"], &schema["additionalProperties"]);
        if described.is_null() && others.is_null() {
            return Ok(());
        }
        members.iter().try_for_each(|(name, value)| {
            let place = format!("{place}/{name}");
            match (described.get(name), others) {
                (Some(schema), _) => self.is_as(schema, value, &place),
                (None, Value::Null) => Err(format!("{place} is not described")),
                (None, schema) => self.is_as(schema, value, &place),
            }
        })
    }
}

fn is_formatted(schema: &Value, text: &str, place: &str) -> Result<(), String> {
    match schema["format"].as_str() {
        None => Ok(()),
        Some("date-time") => {
            let time = text.parse::<Timestamp>();
            time.map(drop).map_err(|error| format!("{place}: {error}"))
        }
        Some(other) => panic!("the format {other}"),
    }
}

/// True if a path is one of those that `template` stands for.
fn fits(template: &str, path: &str) -> bool {
    let mut segments = path.split('/');
    template.split('/').all(|part| {
        let segment = segments.next();
        segment
            .is_some_and(|segment| part == segment || part.starts_with('{') && !segment.is_empty())
    }) && segments.next().is_none()
}
