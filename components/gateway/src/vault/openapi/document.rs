//! The description of routes as OpenAPI 3.0 has it. It is written straight from the tables of routes.

use std::fmt::{self, Display, Formatter};

use serde::{Serialize, Serializer};

use super::schema::{self, Components, FieldSchema, Reference, RequestName};
use crate::vault::field::Field;
use crate::vault::place::{MOUNT_PATH, Place, Root};
use crate::vault::route::{Needs, Operation, Route, Success, Verb};

/// Where the method is for those who did not say otherwise, without a slash.
const DEFAULT_MOUNT: &str = "gcp";

/// The whole document.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    openapi: &'static str,
    info: Info,
    servers: [Server; 1],
    security: [Security; 1],
    paths: Paths<'a>,
    components: Components<'a>,
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

/// The header that holds the token.
#[derive(Serialize)]
struct Security {
    token: [(); 0],
}

impl<'a> Document<'a> {
    /// The description of what is in `places`.
    pub(super) fn of(places: &'a [Place<'a>]) -> Self {
        Self {
            openapi: "3.0.2",
            info: Info {
                title: "Gatehouse API",
                description: "Logins of Google Cloud workloads, and the tokens, policies and identities that come of them.",
                version: env!("CARGO_PKG_VERSION"),
                license: License {
                    name: "Apache 2.0",
                    url: "https://www.apache.org/licenses/LICENSE-2.0",
                },
            },
            servers: [Server { url: "/v1" }],
            security: [Security { token: [] }],
            paths: Paths(places),
            components: Components::of(places),
        }
    }
}

/// Writes what it shows as a text.
struct Shown<T>(T);

impl<T: Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

struct Paths<'a>(&'a [Place<'a>]);

impl Serialize for Paths<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().flat_map(|place| {
            place.described().map(|route| {
                let path = format!("/{}{}", place.root, route.path);
                (path, PathItem::of(place, route))
            })
        }))
    }
}

#[derive(Serialize)]
struct PathItem<'a> {
    description: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<Parameter>,
    #[serde(rename = "x-vault-sudo", skip_serializing_if = "std::ops::Not::not")]
    sudo: bool,
    #[serde(
        rename = "x-vault-unauthenticated",
        skip_serializing_if = "std::ops::Not::not"
    )]
    unauthenticated: bool,
    #[serde(
        rename = "x-vault-createSupported",
        skip_serializing_if = "std::ops::Not::not"
    )]
    create_supported: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    get: Option<OperationItem<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<OperationItem<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    post: Option<OperationItem<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delete: Option<OperationItem<'a>>,
}

impl<'a> PathItem<'a> {
    fn of(place: &'a Place<'a>, route: &'a Route) -> Self {
        let mount = matches!(place.root, Root::AnyMount).then(Parameter::mount_path);
        let captures = route.captures.iter().map(Parameter::in_path);
        let find = |wanted: &[Verb]| {
            let mut operations = route.operations.iter();
            let operation = operations.find(|operation| wanted.contains(&operation.verb))?;
            Some(OperationItem::of(place, route, operation))
        };
        Self {
            description: route.about,
            parameters: mount.into_iter().chain(captures).collect(),
            sudo: route.needs == Needs::Sudo,
            unauthenticated: route.needs == Needs::Nothing,
            create_supported: route.creates,
            get: find(&[Verb::Get, Verb::List, Verb::GetOrList]),
            head: find(&[Verb::Head]),
            post: find(&[Verb::Post]),
            delete: find(&[Verb::Delete]),
        }
    }
}

#[derive(Serialize)]
struct OperationItem<'a> {
    #[serde(rename = "operationId")]
    id: Shown<OperationId<'a>>,
    summary: &'static str,
    tags: [&'static str; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<Parameter>,
    #[serde(rename = "requestBody", skip_serializing_if = "Option::is_none")]
    request_body: Option<RequestBody>,
    responses: Responses,
    /// Empty where no token is needed; elsewhere the document's holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    security: Option<[(); 0]>,
}

impl<'a> OperationItem<'a> {
    fn of(place: &'a Place<'a>, route: &Route, operation: &'static Operation) -> Self {
        let list = (operation.verb == Verb::List).then(Parameter::list);
        let query = operation.query.iter().map(Parameter::in_query);
        Self {
            id: Shown(OperationId {
                root: place.root,
                id: operation.id,
            }),
            summary: operation.summary,
            tags: [place.tag],
            parameters: list.into_iter().chain(query).collect(),
            request_body: RequestBody::of(operation),
            responses: Responses(operation.success),
            security: (route.needs == Needs::Nothing).then_some([]),
        }
    }
}

/// The identifier of an operation. Those of mounts at unusual paths say where, so that each is there once.
struct OperationId<'a> {
    root: Root<'a>,
    id: &'static str,
}

impl Display for OperationId<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.id)?;
        match self.root {
            Root::Mount(path) if path.trim_end_matches('/') != DEFAULT_MOUNT => {
                formatter.write_str("_")?;
                let path = path.trim_end_matches('/');
                path.chars().try_for_each(|character| match character {
                    '-' | '0'..='9' | 'A'..='Z' | 'a'..='z' => write!(formatter, "{character}"),
                    other => write!(formatter, "_{:02x}", u32::from(other)),
                })
            }
            _ => Ok(()),
        }
    }
}

/// A parameter in the path or in the query.
#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    description: &'static str,
    #[serde(rename = "in")]
    place: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    required: bool,
    schema: ParameterSchema,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ParameterSchema {
    Field(FieldSchema),
    /// That a list is asked for.
    List {
        #[serde(rename = "type")]
        kind: &'static str,
        #[serde(rename = "enum")]
        words: [&'static str; 1],
    },
    Mount {
        #[serde(rename = "type")]
        kind: &'static str,
        default: &'static str,
    },
}

impl Parameter {
    fn in_path(field: &Field) -> Self {
        Self {
            name: field.name,
            description: field.about,
            place: "path",
            required: true,
            schema: ParameterSchema::Field(FieldSchema::undescribed(field)),
        }
    }

    fn in_query(field: &Field) -> Self {
        Self {
            place: "query",
            required: field.required,
            ..Self::in_path(field)
        }
    }

    fn list() -> Self {
        Self {
            name: "list",
            description: "Asks for the list.",
            place: "query",
            required: true,
            schema: ParameterSchema::List {
                kind: "string",
                words: ["true"],
            },
        }
    }

    fn mount_path() -> Self {
        Self {
            name: MOUNT_PATH,
            description: "Where the auth method is, below auth/.",
            place: "path",
            required: true,
            schema: ParameterSchema::Mount {
                kind: "string",
                default: DEFAULT_MOUNT,
            },
        }
    }
}

#[derive(Serialize)]
struct RequestBody {
    required: bool,
    content: JsonContent,
}

#[derive(Serialize)]
struct JsonContent {
    #[serde(rename = "application/json")]
    json: MediaType,
}

#[derive(Serialize)]
struct MediaType {
    schema: Reference,
}

impl JsonContent {
    const fn of(schema: Reference) -> Self {
        Self {
            json: MediaType { schema },
        }
    }
}

impl RequestBody {
    fn of(operation: &Operation) -> Option<Self> {
        (!operation.body.is_empty()).then(|| Self {
            required: operation.body.iter().any(|field| field.required),
            content: JsonContent::of(Reference::Request(RequestName(operation.id))),
        })
    }
}

/// The possible answers, by status.
struct Responses(Success);

#[derive(Serialize)]
#[serde(untagged)]
enum Response {
    Shared(Reference),
    Json {
        description: &'static str,
        content: JsonContent,
    },
    Text {
        description: &'static str,
        content: TextContent,
    },
    Empty {
        description: &'static str,
    },
}

#[derive(Serialize)]
struct TextContent {
    #[serde(flatten)]
    json: Option<JsonContent>,
    #[serde(rename = "text/plain")]
    text: TextType,
}

#[derive(Serialize)]
struct TextType {
    schema: TextSchema,
}

#[derive(Serialize)]
struct TextSchema {
    #[serde(rename = "type")]
    kind: &'static str,
}

impl Serialize for Responses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = |description, name| Response::Json {
            description,
            content: JsonContent::of(Reference::Schema(name)),
        };
        let text = |json| Response::Text {
            description: "OK.",
            content: TextContent {
                json,
                text: TextType {
                    schema: TextSchema { kind: "string" },
                },
            },
        };
        let done = || Response::Empty {
            description: "Done.",
        };
        let envelope = || json("OK.", schema::ENVELOPE);
        let refusals = || {
            [
                (
                    "4XX",
                    Response::Shared(Reference::Response(schema::REFUSAL)),
                ),
                (
                    "5XX",
                    Response::Shared(Reference::Response(schema::FAILURE)),
                ),
            ]
        };
        let mut responses = match self.0 {
            Success::Envelope => vec![("200", envelope())],
            Success::Keys => vec![
                ("200", json("The keys.", schema::KEYS)),
                ("404", json("There are none.", schema::ERRORS)),
            ],
            Success::Nothing => vec![("204", done())],
            Success::EnvelopeOrNothing => vec![("200", envelope()), ("204", done())],
            Success::Refusal => Vec::new(),
            Success::Accepted => vec![
                ("200", envelope()),
                ("202", json("Begun.", schema::ENVELOPE)),
            ],
            Success::Document => vec![("200", json("OK.", schema::DOCUMENT))],
            Success::Status => vec![
                ("200", json("It serves.", schema::DOCUMENT)),
                ("501", json("It is not initialized.", schema::DOCUMENT)),
                ("503", json("It is sealed.", schema::DOCUMENT)),
            ],
            Success::DocumentOrText => {
                let document = JsonContent::of(Reference::Schema(schema::DOCUMENT));
                vec![("200", text(Some(document)))]
            }
            Success::Text => vec![("200", text(None))],
        };
        responses.extend(refusals());
        serializer.collect_map(responses)
    }
}
