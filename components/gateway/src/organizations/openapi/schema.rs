//! Document types as OpenAPI schemas.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::openapi::{Reference, Schema};
use crate::organizations::document_type::{
    DocumentType, Kind, Property, Relationship, Target, UseIn,
};
use crate::organizations::route::{Answer, Data, Route};

/// The schemas that operations refer to, by name.
pub(super) fn schemas<'r>(routes: impl Iterator<Item = &'r Route>) -> Map<String, Value> {
    let types = routes.flat_map(|route| {
        let answered = match route.answer {
            Answer::Document(_, data) => Some(data),
            Answer::Nothing | Answer::Json | Answer::Refusal => None,
        };
        let taken = route.body.map(|body| body.data);
        answered.into_iter().chain(taken).flat_map(Data::types)
    });
    let types: BTreeMap<&str, &DocumentType> = types.map(|found| (found.name, found)).collect();
    let mut schemas: Map<String, Value> = types
        .into_iter()
        .map(|(name, found)| (name.to_owned(), resource(found)))
        .collect();
    let shared = [
        ("Identifier", identifier()),
        ("Resource", any_resource()),
        ("Errors", errors()),
    ];
    schemas.extend(shared.map(|(name, schema)| (name.to_owned(), schema)));
    schemas
}

impl Data {
    fn types(self) -> Vec<&'static DocumentType> {
        match self {
            Self::One(found) | Self::Many(found) | Self::WithToken(found) => vec![found],
            Self::OneOf(all) => all.to_vec(),
            Self::Identifiers(_) => Vec::new(),
        }
    }
}

/// The schema of a document with this data.
pub(super) fn document(data: Data, is_paged: bool) -> Value {
    let has_token = matches!(data, Data::WithToken(_));
    let data = match data {
        Data::One(found) | Data::WithToken(found) => reference(found.name),
        Data::Many(found) => json!({"type": "array", "items": reference(found.name)}),
        Data::OneOf(all) => {
            let all: Vec<Value> = all.iter().map(|found| reference(found.name)).collect();
            json!({"oneOf": all})
        }
        Data::Identifiers(kind) => json!({
            "type": "array",
            "description": format!("Identifiers of {kind}."),
            "items": reference("Identifier"),
        }),
    };
    let mut properties = json!({
        "data": data,
        "included": {"type": "array", "readOnly": true, "items": reference("Resource")},
    });
    if let (true, Value::Object(properties)) = (has_token, &mut properties) {
        let meta = json!({"type": "object", "properties": {
            "token": {"type": "string", "description": "Shown this once."},
        }});
        properties.insert("meta".to_owned(), meta);
    }
    if let (true, Value::Object(properties)) = (is_paged, &mut properties) {
        let links =
            json!({"type": "object", "description": "The pages self, first, prev, next and last."});
        properties.insert("links".to_owned(), links);
        let meta = json!({"type": "object", "description": "In pagination, the number of pages and items."});
        properties.insert("meta".to_owned(), meta);
    }
    json!({"type": "object", "required": ["data"], "properties": properties})
}

fn reference(name: &str) -> Value {
    json!(Reference::schema(name))
}

fn resource(found: &DocumentType) -> Value {
    let DocumentType {
        resource_type,
        is_type_checked,
        about,
        relationships,
        ..
    } = *found;
    let kind = match (is_type_checked, resource_type) {
        (_, "") => json!({"type": "string"}),
        (true, name) => json!({"type": "string", "enum": [name]}),
        (false, name) => json!({"type": "string", "example": name}),
    };
    let mut schema = json!({
        "type": "object",
        "description": about,
        "properties": {
            "id": {"type": "string"},
            "type": kind,
            "attributes": attributes(found),
            "relationships": {"type": "object", "properties": by_name(relationships)},
            "links": {"type": "object", "readOnly": true},
        },
    });
    if let (true, Value::Object(schema)) = (is_type_checked, &mut schema) {
        schema.insert("required".to_owned(), json!(["type"]));
    }
    schema
}

fn attributes(found: &DocumentType) -> Value {
    let mut attributes = json!(object(found.properties()));
    if let (true, Value::Object(schema)) = (found.has_entitlements, &mut attributes) {
        let limit = json!({"type": "integer", "format": "int64", "nullable": true});
        let entitlement = json!({"oneOf": [{"type": "boolean"}, limit]});
        schema.insert("additionalProperties".to_owned(), entitlement);
    }
    attributes
}

fn object<'p>(properties: impl IntoIterator<Item = &'p Property>) -> Schema {
    let properties = properties.into_iter();
    let properties = properties.map(|property| (property.name, property_schema(property)));
    Schema::object(properties.collect())
}

fn property_schema(property: &Property) -> Schema {
    let default = property.default;
    Schema {
        description: Some(described(property).into()),
        read_only: property.use_in == UseIn::Answers,
        write_only: property.use_in == UseIn::Requests,
        nullable: property.is_nullable,
        default: default.and_then(|json| serde_json::from_str(json).ok()),
        ..kind_schema(property.kind)
    }
}

fn described(property: &Property) -> String {
    let about = property.about;
    match property.edition {
        Some(edition) => {
            format!("{about} Shown only by the {} edition.", edition.as_str())
        }
        None => about.to_owned(),
    }
}

/// The schema of values of one kind.
pub(super) fn kind_schema(kind: Kind) -> Schema {
    match kind {
        Kind::Text => Schema::from_kind("string"),
        Kind::Choice(words) => Schema::choice(words),
        Kind::Boolean => Schema::from_kind("boolean"),
        Kind::Integer => Schema::formatted("integer", "int64"),
        Kind::Timestamp => Schema::formatted("string", "date-time"),
        Kind::Texts => Schema::array(Schema::from_kind("string")),
        Kind::Flags => Schema::map(Schema::from_kind("boolean")),
        Kind::Objects(properties) => Schema::array(object(properties)),
    }
}

fn by_name(relationships: &[Relationship]) -> Map<String, Value> {
    let relationships = relationships.iter();
    relationships
        .map(|found| (found.name.to_owned(), relationship(found)))
        .collect()
}

fn relationship(found: &Relationship) -> Value {
    let link = json!({"type": "object", "properties": {"related": {"type": "string"}}});
    let (about, properties) = match found.target {
        Target::One(kind) => (
            format!("One of {kind}, or null."),
            json!({
                "data": {"nullable": true, "allOf": [reference("Identifier")]},
                "links": link,
            }),
        ),
        Target::Many(kind) => (
            format!("Any number of {kind}."),
            json!({"data": {"type": "array", "items": reference("Identifier")}}),
        ),
        Target::Link => (
            "A link to where it is shown.".to_owned(),
            json!({"links": link}),
        ),
    };
    json!({
        "type": "object",
        "description": about,
        "readOnly": !found.is_writable,
        "properties": properties,
    })
}

fn identifier() -> Value {
    json!({
        "type": "object",
        "description": "Names a resource.",
        "required": ["id"],
        "properties": {"id": {"type": "string"}, "type": {"type": "string"}},
    })
}

fn any_resource() -> Value {
    json!({
        "type": "object",
        "description": "A resource of any type.",
        "required": ["id", "type"],
        "properties": {
            "id": {"type": "string"},
            "type": {"type": "string"},
            "attributes": {"type": "object"},
            "relationships": {"type": "object"},
            "links": {"type": "object"},
        },
    })
}

/// Error objects (contract 1.8).
fn errors() -> Value {
    json!({
        "type": "object",
        "description": "Why a request was refused.",
        "required": ["errors"],
        "properties": {"errors": {"type": "array", "items": {
            "type": "object",
            "required": ["status", "title"],
            "properties": {
                "status": {"type": "string", "description": "The status of the answer, as text."},
                "title": {"type": "string"},
                "detail": {"type": "string", "description": "A whole sentence."},
                "source": {"type": "object", "properties": {
                    "pointer": {"type": "string", "description": "Where in the document the error is."},
                }},
            },
        }}},
    })
}
