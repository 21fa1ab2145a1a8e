//! Fields as schemas, and the parts of the description that operations refer to by name.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use serde_json::{Value, json};

use crate::openapi::{Members, Reference, Response, Schema, content};
use crate::vault::errors::MEDIA_TYPE;
use crate::vault::field::{self, Field, Kind, boolean, integer, map, text, texts};
use crate::vault::route::Operation;
use crate::vault::route_group::RouteGroup;

/// Schemas and answers that several operations share.
pub(super) const ENVELOPE: &str = "Envelope";
pub(super) const KEYS: &str = "Keys";
pub(super) const ERRORS: &str = "Errors";
pub(super) const DOCUMENT: &str = "Document";
pub(super) const REFUSAL: &str = "Refusal";
pub(super) const FAILURE: &str = "Failure";

/// The name of the schema of an operation's body, derived from the name of the operation.
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

/// The schema of a field without its description, which is given elsewhere.
pub(super) fn undescribed(field: &Field) -> Schema {
    Schema {
        deprecated: field.deprecated,
        nullable: field.nullable,
        ..of_kind(field.kind)
    }
}

fn of_kind(kind: Kind) -> Schema {
    match kind {
        Kind::Text | Kind::RoleName => Schema::from_kind("string"),
        Kind::Choice(words) => Schema::choice(words),
        Kind::Boolean => Schema::from_kind("boolean"),
        Kind::Integer => Schema::formatted("integer", "int64"),
        Kind::Seconds => Schema::formatted("integer", "seconds"),
        Kind::List => Schema::array(Schema::from_kind("string")),
        Kind::Map => Schema {
            format: Some("kvpairs"),
            ..Schema::map(Schema::from_kind("string"))
        },
        Kind::Object(fields) => object(fields),
    }
}

fn object(fields: &[Field]) -> Schema {
    let property = |field: &Field| {
        let schema = Schema {
            description: Some(field.about.into()),
            ..undescribed(field)
        };
        (field.name, schema)
    };
    let required = fields.iter().filter(|field| field.required);
    Schema {
        required: required.map(|field| field.name).collect(),
        ..Schema::object(fields.iter().map(property).collect())
    }
}

/// The envelope of every answer, except for a few documents (contract 1.5).
const ENVELOPE_FIELDS: &[Field] = &[
    text("request_id", "A UUID."),
    text("lease_id", "Empty: no answer has a lease of its own."),
    boolean("renewable", "True if the lease can be renewed."),
    integer("lease_duration", "Seconds for which the lease is valid."),
    field::object("data", &[], "The content of the answer.").nullable(),
    field::object(
        "wrap_info",
        &[
            text("token", "The wrapping token."),
            text("accessor", "Its accessor."),
            integer("ttl", "Seconds for which it is valid."),
            text("creation_time", "When it was made, RFC 3339."),
            text("creation_path", "Path of the request."),
            text("wrapped_accessor", "Accessor of the wrapped token."),
        ],
        "The wrapping token, which replaces the answer.",
    )
    .nullable(),
    texts("warnings", "Warnings.").nullable(),
    field::object(
        "auth",
        &[
            text("client_token", "The token."),
            text("accessor", "Its accessor."),
            texts("policies", "All its policies."),
            texts("token_policies", "Its own policies."),
            texts("identity_policies", "The policies of its entity."),
            map("metadata", "Its metadata.").nullable(),
            integer("lease_duration", "Seconds for which it lives."),
            boolean("renewable", "True if it can be renewed."),
            text("entity_id", "Its entity."),
            text("token_type", "Its type."),
            boolean("orphan", "True if it has no parent."),
            integer("num_uses", "How often it may be used, 0 for any number."),
        ],
        "A token that was made or renewed.",
    )
    .nullable(),
    text("mount_type", "The type of the mount that answers."),
];

const KEYS_FIELDS: &[Field] = &[field::object(
    "data",
    &[texts("keys", "The keys.")],
    "The list.",
)];

const ERRORS_FIELDS: &[Field] = &[texts("errors", "What went wrong.").required()];

/// The schemas that operations refer to.
pub(super) fn schemas(groups: &[RouteGroup<'_>]) -> Members<Schema> {
    let shared = [
        (ENVELOPE, ENVELOPE_FIELDS),
        (KEYS, KEYS_FIELDS),
        (ERRORS, ERRORS_FIELDS),
        (DOCUMENT, &[]),
    ]
    .map(|(name, fields)| (name.to_owned(), object(fields)));
    // Mounts of one type have the same operations.
    let mut seen = BTreeSet::new();
    let sent = groups
        .iter()
        .flat_map(RouteGroup::described)
        .flat_map(|route| route.operations)
        .filter(|operation| !operation.body.is_empty() && seen.insert(operation.id))
        .map(|Operation { id, body, .. }| (RequestName(id).to_string(), object(body)));
    shared.into_iter().chain(sent).collect()
}

/// The answers that operations refer to.
pub(super) fn responses() -> Members<Value> {
    let errors = |description| json!(Response::with(description, in_json(ERRORS)));
    let failure = errors("The server, or what it relies on, has failed.");
    let shared = [
        (REFUSAL, errors("The request is refused.")),
        (FAILURE, failure),
    ];
    shared.into_iter().collect()
}

/// A body with the schema of this name.
pub(super) fn in_json(name: impl Display) -> Value {
    content([(MEDIA_TYPE, json!(Reference::schema(name)))])
}
