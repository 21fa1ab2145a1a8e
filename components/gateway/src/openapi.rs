//! OpenAPI 3.0 documents, as both protocols describe themselves. The order of the fields here is the order of the members.

use std::borrow::Cow;
use std::fmt::Display;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// A document whose paths are of the type `P` and whose schemas are of the type `S`.
#[derive(Serialize)]
pub(crate) struct Document<P, S> {
    openapi: &'static str,
    info: Info,
    servers: [Server; 1],
    security: [Security; 1],
    paths: P,
    components: Components<S>,
}

#[derive(Serialize)]
struct Info {
    title: &'static str,
    description: &'static str,
    version: &'static str,
    license: License,
}

#[derive(Serialize)]
struct License {
    name: &'static str,
    url: &'static str,
}

#[derive(Serialize)]
struct Server {
    url: &'static str,
}

/// The scheme by which requests present their token.
#[derive(Serialize)]
struct Security {
    token: [(); 0],
}

/// The parts of a document that other parts refer to.
#[derive(Serialize)]
struct Components<S> {
    schemas: S,
    responses: Members<Value>,
    #[serde(rename = "securitySchemes")]
    security_schemes: Value,
}

/// The parts of a document that differ between the APIs.
pub(crate) struct Api<P, S> {
    /// The version of OpenAPI.
    pub(crate) openapi: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// The URL prefix of all paths.
    pub(crate) server: &'static str,
    pub(crate) paths: P,
    pub(crate) schemas: S,
    pub(crate) responses: Members<Value>,
    /// The scheme by which requests present their token.
    pub(crate) token: Value,
}

impl<P, S> From<Api<P, S>> for Document<P, S> {
    fn from(api: Api<P, S>) -> Self {
        Self {
            openapi: api.openapi,
            info: Info {
                title: api.title,
                description: api.description,
                version: env!("CARGO_PKG_VERSION"),
                license: License {
                    name: "Apache 2.0",
                    url: "https://www.apache.org/licenses/LICENSE-2.0",
                },
            },
            servers: [Server { url: api.server }],
            security: [Security { token: [] }],
            paths: api.paths,
            components: Components {
                schemas: api.schemas,
                responses: api.responses,
                security_schemes: json!({"token": api.token}),
            },
        }
    }
}

/// The members of an object, in their order.
pub(crate) struct Members<V>(Vec<(Cow<'static, str>, V)>);

impl<V> Default for Members<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<N: Into<Cow<'static, str>>, V> FromIterator<(N, V)> for Members<V> {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Self {
        let members = members.into_iter();
        Self(members.map(|(name, value)| (name.into(), value)).collect())
    }
}

impl<V: Serialize> Serialize for Members<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// A reference to an entry of the components.
#[derive(Serialize)]
pub(crate) struct Reference {
    #[serde(rename = "$ref")]
    pointer: String,
}

impl Reference {
    pub(crate) fn schema(name: impl Display) -> Self {
        let pointer = format!("#/components/schemas/{name}");
        Self { pointer }
    }

    pub(crate) fn response(name: impl Display) -> Self {
        let pointer = format!("#/components/responses/{name}");
        Self { pointer }
    }
}

/// One method at a path.
#[derive(Serialize, Default)]
pub(crate) struct Operation {
    #[serde(rename = "operationId")]
    pub(crate) id: String,
    pub(crate) summary: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parameters: Vec<Parameter>,
    #[serde(rename = "requestBody", skip_serializing_if = "Option::is_none")]
    pub(crate) request_body: Option<RequestBody>,
    pub(crate) responses: Members<Response>,
    /// Empty where no token is needed. `None` where the setting of the document applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) security: Option<[(); 0]>,
    #[serde(
        rename = "x-gatehouse-audience",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) audience: Option<&'static str>,
    /// The only edition that has the operation.
    #[serde(
        rename = "x-gatehouse-edition",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) edition: Option<&'static str>,
}

/// A parameter in the path or in the query.
#[derive(Serialize)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    #[serde(rename = "in")]
    pub(crate) place: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) style: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) explode: Option<bool>,
    pub(crate) schema: Schema,
}

impl Parameter {
    pub(crate) const fn in_query(
        name: &'static str,
        description: &'static str,
        schema: Schema,
    ) -> Self {
        Self {
            name,
            description,
            place: "query",
            required: false,
            style: None,
            explode: None,
            schema,
        }
    }

    pub(crate) fn in_path(name: &'static str, description: &'static str, schema: Schema) -> Self {
        Self {
            place: "path",
            required: true,
            ..Self::in_query(name, description, schema)
        }
    }

    /// A list of such items in the query, separated by commas.
    pub(crate) fn joined(name: &'static str, description: &'static str, items: Schema) -> Self {
        Self {
            style: Some("form"),
            explode: Some(false),
            ..Self::in_query(name, description, Schema::array(items))
        }
    }
}

#[derive(Serialize)]
pub(crate) struct RequestBody {
    pub(crate) required: bool,
    pub(crate) content: Value,
}

/// A body of any of these media types, each with its schema.
pub(crate) fn content<const N: usize>(types: [(&'static str, Value); N]) -> Value {
    let types = types.map(|(media_type, schema)| (media_type, json!({"schema": schema})));
    json!(Members::from_iter(types))
}

/// The answer for one status.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Response {
    Shared(Reference),
    Own {
        description: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<Value>,
    },
}

impl Response {
    /// An answer without a body.
    pub(crate) const fn empty(description: &'static str) -> Self {
        Self::Own {
            description,
            content: None,
        }
    }

    pub(crate) const fn with(description: &'static str, content: Value) -> Self {
        Self::Own {
            description,
            content: Some(content),
        }
    }
}

/// The schema of a value.
#[derive(Serialize, Default)]
pub(crate) struct Schema {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<Cow<'static, str>>,
    #[serde(rename = "enum", skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) words: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) items: Option<Box<Self>>,
    #[serde(
        rename = "additionalProperties",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) values: Option<Box<Self>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) properties: Option<Members<Self>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) required: Vec<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) deprecated: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) nullable: bool,
    #[serde(rename = "readOnly", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) read_only: bool,
    #[serde(rename = "writeOnly", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) write_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) default: Option<Value>,
}

impl Schema {
    pub(crate) fn from_kind(kind: &'static str) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }

    pub(crate) fn formatted(kind: &'static str, format: &'static str) -> Self {
        Self {
            format: Some(format),
            ..Self::from_kind(kind)
        }
    }

    /// One of these texts.
    pub(crate) fn choice(words: &'static [&'static str]) -> Self {
        Self {
            words,
            ..Self::from_kind("string")
        }
    }

    pub(crate) fn array(items: Self) -> Self {
        Self {
            items: Some(Box::new(items)),
            ..Self::from_kind("array")
        }
    }

    /// An object with members of any name.
    pub(crate) fn map(values: Self) -> Self {
        Self {
            values: Some(Box::new(values)),
            ..Self::from_kind("object")
        }
    }

    pub(crate) fn object(properties: Members<Self>) -> Self {
        Self {
            properties: Some(properties),
            ..Self::from_kind("object")
        }
    }
}

#[cfg(test)]
pub(crate) mod pages {
    use std::fs;
    use std::path::Path;

    /// Compares a page of the documentation with the tables from which it is generated, or writes it.
    pub(crate) fn check(name: &str, page: &str, command: &str) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = root.join(name);
        if std::env::var_os("GATEHOUSE_WRITE").is_some() {
            fs::write(&file, page).unwrap();
        }
        let written = fs::read_to_string(&file).unwrap_or_default();
        assert!(written == page, "{name} is out of date: run {command}");
    }
}
