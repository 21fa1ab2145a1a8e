//! The types of the description, and what of it is referred to by name.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use serde::{Serialize, Serializer};

use crate::vault::field::{Field, Kind, boolean, integer, map, object, text, texts};
use crate::vault::place::Place;
use crate::vault::route::Operation;

/// Schemas and answers that several operations share.
pub(super) const ENVELOPE: &str = "Envelope";
pub(super) const KEYS: &str = "Keys";
pub(super) const ERRORS: &str = "Errors";
pub(super) const DOCUMENT: &str = "Document";
pub(super) const REFUSAL: &str = "Refusal";
pub(super) const FAILURE: &str = "Failure";

/// The name of the schema of what an operation is sent, after the operation's.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestName(pub(super) &'static str);

impl Display for RequestName {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for word in self.0.split('-') {
            let mut letters = word.chars();
            if let Some(first) = letters.next() {
                write!(formatter, "{}", first.to_ascii_uppercase())?;
            }
            formatter.write_str(letters.as_str())?;
        }
        formatter.write_str("Request")
    }
}

/// A mention of something shared.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reference {
    Schema(&'static str),
    Request(RequestName),
    Response(&'static str),
}

impl Display for Reference {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema(name) => write!(formatter, "#/components/schemas/{name}"),
            Self::Request(name) => write!(formatter, "#/components/schemas/{name}"),
            Self::Response(name) => write!(formatter, "#/components/responses/{name}"),
        }
    }
}

impl Serialize for Reference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([("$ref", self.to_string())])
    }
}

/// The schema of a field.
pub(super) struct FieldSchema {
    field: Field,
    described: bool,
}

impl FieldSchema {
    /// Where the description stands elsewhere.
    pub(super) const fn undescribed(field: &Field) -> Self {
        Self {
            field: *field,
            described: false,
        }
    }

    const fn described(field: &Field) -> Self {
        Self {
            field: *field,
            described: true,
        }
    }
}

#[derive(Serialize)]
struct Schema {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'static str>,
    #[serde(rename = "enum", skip_serializing_if = "<[_]>::is_empty")]
    words: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Typed>,
    #[serde(
        rename = "additionalProperties",
        skip_serializing_if = "Option::is_none"
    )]
    values: Option<Typed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required: Vec<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deprecated: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    nullable: bool,
}

#[derive(Serialize)]
struct Typed {
    #[serde(rename = "type")]
    kind: &'static str,
}

struct Properties(&'static [Field]);

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let described = |field: &Field| (field.name, FieldSchema::described(field));
        serializer.collect_map(self.0.iter().map(described))
    }
}

impl Schema {
    fn of(kind: Kind) -> Self {
        let (name, format) = match kind {
            Kind::Text | Kind::Choice(_) | Kind::RoleName => ("string", None),
            Kind::Boolean => ("boolean", None),
            Kind::Integer => ("integer", Some("int64")),
            Kind::Seconds => ("integer", Some("seconds")),
            Kind::List => ("array", None),
            Kind::Map => ("object", Some("kvpairs")),
            Kind::Object(_) => ("object", None),
        };
        let text = || Typed { kind: "string" };
        Self {
            kind: name,
            format,
            description: None,
            words: match kind {
                Kind::Choice(words) => words,
                _ => &[],
            },
            items: matches!(kind, Kind::List).then(text),
            values: matches!(kind, Kind::Map).then(text),
            properties: match kind {
                Kind::Object(fields) => Some(Properties(fields)),
                _ => None,
            },
            required: match kind {
                Kind::Object(fields) => {
                    let required = fields.iter().filter(|field| field.required);
                    required.map(|field| field.name).collect()
                }
                _ => Vec::new(),
            },
            deprecated: false,
            nullable: false,
        }
    }
}

impl Serialize for FieldSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let schema = Schema {
            description: self.described.then_some(self.field.about),
            deprecated: self.field.deprecated,
            nullable: self.field.nullable,
            ..Schema::of(self.field.kind)
        };
        schema.serialize(serializer)
    }
}

/// The envelope of every answer but a few documents (contract 1.5).
const ENVELOPE_FIELDS: &[Field] = &[
    text("request_id", "A UUID."),
    text("lease_id", "Empty: no answer has a lease of its own."),
    boolean("renewable", "Whether that lease can be renewed."),
    integer("lease_duration", "For how many seconds that lease holds."),
    object("data", &[], "What was asked for.").nullable(),
    object(
        "wrap_info",
        &[
            text("token", "The wrapping token."),
            text("accessor", "Its accessor."),
            integer("ttl", "For how many seconds it is good."),
            text("creation_time", "When it was made, RFC 3339."),
            text("creation_path", "What was asked."),
            text("wrapped_accessor", "Accessor of the token within."),
        ],
        "The wrapping token in the place of the answer.",
    )
    .nullable(),
    texts("warnings", "What to be aware of.").nullable(),
    object(
        "auth",
        &[
            text("client_token", "The token."),
            text("accessor", "Its accessor."),
            texts("policies", "All its policies."),
            texts("token_policies", "Its own policies."),
            texts("identity_policies", "The policies of its entity."),
            map("metadata", "Its metadata.").nullable(),
            integer("lease_duration", "For how many seconds it lives."),
            boolean("renewable", "Whether it can be renewed."),
            text("entity_id", "Its entity."),
            text("token_type", "Its type."),
            boolean("orphan", "Whether it has no parent."),
            integer("num_uses", "How often it may be used, 0 for any number."),
        ],
        "A token that was made or renewed.",
    )
    .nullable(),
    text("mount_type", "The type of the mount that answers."),
];

const KEYS_FIELDS: &[Field] = &[object("data", &[texts("keys", "The keys.")], "The list.")];

const ERRORS_FIELDS: &[Field] = &[texts("errors", "What went wrong.").required()];

/// All that is referred to.
#[derive(Serialize)]
pub(super) struct Components<'a> {
    schemas: Schemas<'a>,
    responses: SharedResponses,
    #[serde(rename = "securitySchemes")]
    security_schemes: SecuritySchemes,
}

impl<'a> Components<'a> {
    pub(super) const fn of(places: &'a [Place<'a>]) -> Self {
        Self {
            schemas: Schemas(places),
            responses: SharedResponses,
            security_schemes: SecuritySchemes,
        }
    }
}

struct Schemas<'a>(&'a [Place<'a>]);

impl Serialize for Schemas<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shared = [
            (ENVELOPE, ENVELOPE_FIELDS),
            (KEYS, KEYS_FIELDS),
            (ERRORS, ERRORS_FIELDS),
            (DOCUMENT, &[]),
        ]
        .map(|(name, fields)| (name.to_owned(), Schema::of(Kind::Object(fields))));
        // Mounts of one type have the same operations.
        let mut seen = BTreeSet::new();
        let sent = self
            .0
            .iter()
            .flat_map(Place::described)
            .flat_map(|route| route.operations)
            .filter(|operation| !operation.body.is_empty() && seen.insert(operation.id))
            .map(|Operation { id, body, .. }| {
                (RequestName(id).to_string(), Schema::of(Kind::Object(body)))
            });
        serializer.collect_map(shared.into_iter().chain(sent))
    }
}

struct SharedResponses;

impl Serialize for SharedResponses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let errors = |description| {
            serde_json::json!({
                "description": description,
                "content": { "application/json": { "schema": Reference::Schema(ERRORS) } },
            })
        };
        serializer.collect_map([
            (REFUSAL, errors("The request is refused.")),
            (
                FAILURE,
                errors("The server, or what it relies on, has failed."),
            ),
        ])
    }
}

struct SecuritySchemes;

impl Serialize for SecuritySchemes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let token =
            serde_json::json!({ "type": "apiKey", "in": "header", "name": "X-Vault-Token" });
        serializer.collect_map([("token", token)])
    }
}
