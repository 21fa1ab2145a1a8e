//! A route of the table: a method and a path, its callers, the requests that it reads and the answers that it gives.

use gatehouse_orgs_api::Edition;

use super::base_path::BASE_PATH;
use super::document_type::DocumentType;
use super::parameter::Parameter;
use crate::http::Method;

/// A known request (contract section 8). All other paths, and all other methods on these paths, do not exist. HEAD is treated as GET.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    pub(super) method: Method,
    /// The path below `/api/v2/`, or from the root if it begins with a slash. At most one segment is a parameter, such as `:name`.
    pub(super) path: &'static str,
    /// The path below `/api/v2/` or the root, up to the parameter.
    before_parameter: &'static str,
    /// The path after the parameter; `None` where the path has no parameter.
    after_parameter: Option<&'static str>,
    pub(super) audience: Audience,
    /// The name of the operation in the OpenAPI document, which never changes.
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    /// The only edition in which the route exists; `None` for both.
    pub(super) edition: Option<Edition>,
    /// The names that `include` may contain; `None` where the parameter is ignored.
    pub(super) includes: Option<&'static [&'static str]>,
    /// The other parameters of the query. Unknown parameters are always ignored.
    pub(super) query: &'static [Parameter],
    /// True for a list with pages.
    pub(super) is_paged: bool,
    pub(super) body: Option<Body>,
    pub(super) answer: Answer,
    /// True where callers who may see the resource can be refused with status 403.
    pub(super) is_forbidden_to_some: bool,
    /// True where the answer does not depend on the store.
    pub(super) is_storeless: bool,
}

/// The callers that may take a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// Any caller. No token is needed, and a token is ignored.
    Anyone,
    /// Any caller with a valid token. The answer depends on the caller.
    Bearers,
    /// The callers whom contract 1.7 admits to the organization. For all others it does not exist.
    Organization,
    /// The user concerned, and site administrators where the contract says so. For all others it does not exist.
    User,
    /// The organization's own token and its audit trail token. For all others it does not exist.
    Auditors,
    /// Site administrators. For all others it does not exist.
    Administrators,
}

impl Audience {
    /// A sentence about the callers that may take the route.
    pub(super) const fn sentence(self) -> &'static str {
        match self {
            Self::Anyone => "For any caller, with or without a token.",
            Self::Bearers => "For any caller with a valid token.",
            Self::Organization => {
                "For callers who have access to the organization by membership, token or policy."
            }
            Self::User => "For the user concerned.",
            Self::Auditors => "For the organization's own token and its audit trail token.",
            Self::Administrators => "For site administrators.",
        }
    }
}

/// The resources in `data` of a document.
#[derive(Debug, Clone, Copy)]
pub(super) enum Data {
    One(&'static DocumentType),
    Many(&'static DocumentType),
    /// One resource, of one of these types.
    OneOf(&'static [&'static DocumentType]),
    /// One resource, with its token in `meta.token`.
    WithToken(&'static DocumentType),
    /// Resource identifiers of this type.
    Identifiers(&'static str),
}

/// The document in the body of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body {
    pub(super) data: Data,
    pub(super) is_required: bool,
}

/// The answer to a successful request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    /// Status 204 without a body.
    Nothing,
    /// A JSON:API document with this status.
    Document(u16, Data),
    /// Status 200 with JSON that is not JSON:API.
    Json,
    /// No request succeeds: a request that is otherwise valid is refused with status 422.
    Refusal,
}

impl Route {
    /// A route in both editions, without a body in the request or the answer.
    pub(super) const fn new(
        method: Method,
        path: &'static str,
        audience: Audience,
        id: &'static str,
        summary: &'static str,
    ) -> Self {
        let below = match is_from_root(path) {
            true => path.split_at(1).1,
            false => path,
        };
        // The path is split once, at compile time, since every request is compared with all routes of its method.
        let (before_parameter, after_parameter) = match position(below, b':') {
            Some(start) => {
                let (before, parameter) = below.split_at(start);
                let after = match position(parameter, b'/') {
                    Some(end) => parameter.split_at(end).1,
                    None => "",
                };
                assert!(position(after, b':').is_none(), "one parameter at most");
                assert!(matches!(before.as_bytes(), [.., b'/']), "a whole segment");
                (before, Some(after))
            }
            None => (below, None),
        };
        Self {
            method,
            path,
            before_parameter,
            after_parameter,
            audience,
            id,
            summary,
            edition: None,
            includes: None,
            query: &[],
            is_paged: false,
            body: None,
            answer: Answer::Nothing,
            is_forbidden_to_some: false,
            is_storeless: false,
        }
    }

    /// The same, only in one edition.
    pub(super) const fn only_in(self, edition: Edition) -> Self {
        Self {
            edition: Some(edition),
            ..self
        }
    }

    /// The same with these names for `include`. All other names are refused.
    pub(super) const fn including(self, names: &'static [&'static str]) -> Self {
        Self {
            includes: Some(names),
            ..self
        }
    }

    /// The same with these parameters in its query.
    pub(super) const fn querying(self, query: &'static [Parameter]) -> Self {
        Self { query, ..self }
    }

    /// The same for a list with pages.
    pub(super) const fn paged(self) -> Self {
        Self {
            is_paged: true,
            ..self
        }
    }

    /// The same with a document in its body.
    pub(super) const fn taking(self, data: Data) -> Self {
        Self {
            body: Some(Body {
                data,
                is_required: true,
            }),
            ..self
        }
    }

    /// The same with an optional document in its body.
    pub(super) const fn taking_at_will(self, data: Data) -> Self {
        Self {
            body: Some(Body {
                data,
                is_required: false,
            }),
            ..self
        }
    }

    /// The same, answered with status 200 and a document.
    pub(super) const fn answering(self, data: Data) -> Self {
        Self {
            answer: Answer::Document(200, data),
            ..self
        }
    }

    /// The same, answered with status 201 and the document of the new resource.
    pub(super) const fn making(self, data: Data) -> Self {
        Self {
            answer: Answer::Document(201, data),
            ..self
        }
    }

    /// The same, answered with plain JSON.
    pub(super) const fn answering_json(self) -> Self {
        Self {
            answer: Answer::Json,
            ..self
        }
    }

    /// The same, refusing every request.
    pub(super) const fn refusing(self) -> Self {
        Self {
            answer: Answer::Refusal,
            ..self
        }
    }

    /// The same, with status 403 for some callers.
    pub(super) const fn forbidding(self) -> Self {
        Self {
            is_forbidden_to_some: true,
            ..self
        }
    }

    /// The same, answered without the store.
    pub(super) const fn storeless(self) -> Self {
        Self {
            is_storeless: true,
            ..self
        }
    }

    /// The segment of `path` for the route's parameter, empty where the route has none; `None` for a path of another route. `below` is the part of
    /// the path below `/api/v2/`, if it is there.
    pub(super) fn captured<'p>(&self, path: &'p str, below: Option<&'p str>) -> Option<&'p str> {
        let path = match is_from_root(self.path) {
            true => path,
            false => below?,
        };
        let rest = path.strip_prefix(self.before_parameter)?;
        match self.after_parameter {
            Some(after) => {
                let segment = rest.strip_suffix(after)?;
                (!segment.contains('/')).then_some(segment)
            }
            None => rest.is_empty().then_some(""),
        }
    }

    /// True if `path`, as it was sent, is the path of this route, and the route has no parameter.
    pub(super) fn is_at(&self, path: &str) -> bool {
        let from_root = path.strip_prefix('/');
        let path = match is_from_root(self.path) {
            true => from_root,
            false => from_root
                .and_then(|path| path.strip_prefix(BASE_PATH))
                .and_then(|path| path.strip_prefix('/')),
        };
        self.after_parameter.is_none() && path == Some(self.before_parameter)
    }

    /// The path from the root, with a leading slash.
    pub(super) fn whole_path(&self) -> String {
        if is_from_root(self.path) {
            self.path.to_owned()
        } else {
            format!("/{BASE_PATH}/{}", self.path)
        }
    }

    /// The same with `{name}` in place of the parameter.
    pub(super) fn pattern(&self) -> String {
        let path = self.whole_path();
        let segments = path.split('/').map(|segment| {
            let name = segment.strip_prefix(':');
            name.map_or_else(|| segment.to_owned(), |name| format!("{{{name}}}"))
        });
        segments.collect::<Vec<_>>().join("/")
    }

    /// The name of the method in HTTP.
    pub(super) const fn verb(&self) -> &'static str {
        match self.method {
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
            _ => "GET",
        }
    }

    /// The name of the path's parameter.
    pub(super) fn path_parameter(&self) -> Option<&'static str> {
        self.path
            .split('/')
            .find_map(|segment| segment.strip_prefix(':'))
    }
}

/// True for a path from the root, not below `/api/v2/`.
const fn is_from_root(path: &str) -> bool {
    matches!(path.as_bytes(), [b'/', ..])
}

/// The position of the first such byte in `text`.
const fn position(text: &str, byte: u8) -> Option<usize> {
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        if *first == byte {
            return Some(text.len() - rest.len());
        }
        rest = others;
    }
    None
}
