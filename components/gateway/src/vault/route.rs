//! A route below `/v1/`: its operations, their fields, and the functions that answer them.

use gatehouse_access_api as access;
use gatehouse_auth_method_api::RoleName;

use super::call::{Answer, Call, Captured, Unadmitted};
use super::errors::ApiError;
use super::field::{Field, Kind};
use crate::http::{Method, Response};

/// A path and its operations.
#[derive(Debug, Clone, Copy)]
pub(in crate::vault) struct Route {
    /// The path below the root of its family; `{name}` stands for a segment that callers choose.
    pub(in crate::vault) path: &'static str,
    /// The purpose of the path, as a sentence.
    pub(in crate::vault) about: &'static str,
    pub(in crate::vault) needs: Needs,
    /// True if a write of a new object needs `create` instead of `update`.
    pub(in crate::vault) creates: bool,
    /// False for a path that is served but not shown, such as a second name that clients of OpenBao use.
    pub(in crate::vault) is_described: bool,
    /// True if reads leave no record: they tell every caller about the state of the server or the places of its services, and ignore tokens.
    pub(in crate::vault) is_unrecorded: bool,
    /// True if a read or a removal may end in a slash, which means a list elsewhere (SEC-A3): mounts are listed with their slash, and clients send
    /// back the listed names.
    pub(in crate::vault) may_end_in_slash: bool,
    /// The fields for the path's `{name}`s, in their order.
    pub(in crate::vault) captures: &'static [Field],
    pub(in crate::vault) operations: &'static [Operation],
    /// The handler for all other operations; `None` for "unsupported operation".
    pub(in crate::vault) otherwise: Option<Handler>,
}

/// The requirement for callers, in addition to the right to the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vault) enum Needs {
    /// Nothing, not even a token.
    Nothing,
    Token,
    /// A token whose policies grant `sudo`.
    Sudo,
}

/// An operation on a path.
#[derive(Debug, Clone, Copy)]
pub(in crate::vault) struct Operation {
    pub(in crate::vault) verb: Verb,
    /// The name of the operation in generated clients, which never changes.
    pub(in crate::vault) id: &'static str,
    pub(in crate::vault) summary: &'static str,
    pub(in crate::vault) query: &'static [Field],
    pub(in crate::vault) body: &'static [Field],
    pub(in crate::vault) success: Success,
    pub(in crate::vault) handler: Handler,
}

/// The way in which a request selects the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vault) enum Verb {
    Get,
    Head,
    /// GET with `list=true`, which every HTTP library can send.
    List,
    /// GET, with `list=true` or without it.
    GetOrList,
    Post,
    Delete,
}

/// The form of a successful answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vault) enum Success {
    /// An envelope.
    Envelope,
    /// An envelope with keys; 404 where there are none.
    Keys,
    /// No content.
    Nothing,
    /// An envelope, or no content where there is nothing to report.
    EnvelopeOrNothing,
    /// No request succeeds: clients know the path, and every request is refused.
    Refusal,
    /// An envelope, immediately or before the work is complete.
    Accepted,
    /// A JSON object without the envelope.
    Document,
    /// The same, with the state of the server in the status.
    Status,
    /// A JSON object without the envelope, or text, as the caller asks.
    DocumentOrText,
    /// Text.
    Text,
    /// Bytes for a file.
    File,
}

/// The function that answers a request.
#[derive(Debug, Clone, Copy)]
pub(in crate::vault) enum Handler {
    /// Returns the content of the envelope.
    Envelope(fn(&Call<'_>) -> Answer),
    /// Answers without the envelope, so the answer cannot be wrapped.
    Document(fn(&Call<'_>) -> Result<Response, ApiError>),
    /// The same, with the description of all routes, which handlers do not have.
    Description,
    /// Answers before access is asked, so no policy applies.
    Unadmitted(fn(&Unadmitted<'_>) -> Result<Response, ApiError>),
}

/// A path that needs a token.
pub(in crate::vault) const fn route(
    path: &'static str,
    about: &'static str,
    operations: &'static [Operation],
) -> Route {
    Route {
        path,
        about,
        needs: Needs::Token,
        creates: false,
        is_described: true,
        is_unrecorded: false,
        may_end_in_slash: false,
        captures: &[],
        operations,
        otherwise: None,
    }
}

/// A path that is served but not shown.
pub(in crate::vault) const fn undescribed(
    path: &'static str,
    operations: &'static [Operation],
) -> Route {
    Route {
        is_described: false,
        ..route(path, "", operations)
    }
}

impl Route {
    /// The same with these captures.
    pub(in crate::vault) const fn capturing(self, captures: &'static [Field]) -> Self {
        Self { captures, ..self }
    }

    /// The same for callers with `sudo`.
    pub(in crate::vault) const fn sudo(self) -> Self {
        Self {
            needs: Needs::Sudo,
            ..self
        }
    }

    /// The same for every caller.
    pub(in crate::vault) const fn open(self) -> Self {
        Self {
            needs: Needs::Nothing,
            ..self
        }
    }

    /// The same for every caller, and reads leave no record.
    pub(in crate::vault) const fn unrecorded(self) -> Self {
        Self {
            is_unrecorded: true,
            ..self.open()
        }
    }

    /// The same, where creating and updating need different capabilities.
    pub(in crate::vault) const fn creating(self) -> Self {
        Self {
            creates: true,
            ..self
        }
    }

    /// The same, where a slash at the end does not mean a list.
    pub(in crate::vault) const fn slashed(self) -> Self {
        Self {
            may_end_in_slash: true,
            ..self
        }
    }

    /// The same with a handler for all other operations.
    pub(in crate::vault) const fn otherwise(self, handler: Handler) -> Self {
        Self {
            otherwise: Some(handler),
            ..self
        }
    }

    /// The same, where a list belongs to another path, which ends in a slash and does not exist.
    pub(in crate::vault) const fn unlisted(self) -> Self {
        self.otherwise(Handler::Envelope(refuse_list))
    }

    /// True if the route answers without the envelope.
    pub(in crate::vault) fn answers_documents(&self) -> bool {
        let mut handlers = self.operations.iter().map(|operation| operation.handler);
        handlers.any(|handler| matches!(handler, Handler::Document(_) | Handler::Description))
    }

    /// True if access admits the requests for the route.
    pub(in crate::vault) fn is_admitted(&self) -> bool {
        let handlers = self.operations.iter().map(|operation| operation.handler);
        !handlers
            .chain(self.otherwise)
            .any(|handler| matches!(handler, Handler::Unadmitted(_)))
    }

    /// The match of a path: the part for each capture, and the number of segments that are the route's own words. `None` where the segments of `path`
    /// do not fit.
    pub(in crate::vault) fn matching(&self, path: &[&str]) -> Option<Match> {
        self.match_from(Some(self.path.trim_end_matches('/')), path)
    }

    fn match_from(&self, template: Option<&str>, path: &[&str]) -> Option<Match> {
        let Some(template) = template else {
            return path.is_empty().then(Match::default);
        };
        let (word, template) = match template.split_once('/') {
            Some((word, rest)) => (word, Some(rest)),
            None => (template, None),
        };
        let Some(name) = captured_name(word) else {
            let (_, rest) = path
                .split_first()
                .filter(|(segment, _)| **segment == word)?;
            let mut found = self.match_from(template, rest)?;
            found.own_words += 1;
            return Some(found);
        };
        let capture = self.captures.iter().find(|capture| capture.name == name)?;
        let longest = if capture.spans_segments {
            path.len()
        } else {
            1
        };
        (1..=longest).find_map(|length| {
            let (taken, rest) = path.split_at_checked(length)?;
            // The rest is matched first, so that the cost of a long path is only linear.
            let mut found = self.match_from(template, rest)?;
            let value = taken.join("/");
            capture.can_be(&value).then(|| {
                let name = capture.name;
                found.captured.insert(0, Captured { name, value });
                found
            })
        })
    }
}

fn refuse_list(call: &Call<'_>) -> Answer {
    Err(match call.operation {
        access::Operation::List => ApiError::unsupported_path(),
        _ => ApiError::unsupported_operation(),
    })
}

/// The match of a path with a route.
#[derive(Debug, Clone, Default)]
pub(in crate::vault) struct Match {
    /// The number of segments of the path that are words of the route.
    pub(in crate::vault) own_words: usize,
    pub(in crate::vault) captured: Vec<Captured>,
}

impl Field {
    /// True if `value` is a valid part of a path for this field.
    fn can_be(&self, value: &str) -> bool {
        match self.kind {
            Kind::Choice(words) => words.contains(&value),
            Kind::RoleName => RoleName::new(value).is_some(),
            _ => !value.is_empty(),
        }
    }
}

/// The name in braces.
fn captured_name(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

impl Verb {
    /// True if a request that was admitted for `asked` selects this operation.
    pub(in crate::vault) const fn does(self, asked: access::Operation) -> bool {
        matches!(
            (self, asked),
            (Self::Get | Self::GetOrList, access::Operation::Read)
                | (Self::List | Self::GetOrList, access::Operation::List)
                | (
                    Self::Post,
                    access::Operation::Update | access::Operation::CreateOrUpdate
                )
                | (Self::Delete, access::Operation::Delete)
        )
    }

    /// True if a request with `method` selects this operation, where lists are not distinguished from reads.
    pub(in crate::vault) const fn is_sent_by(self, method: Method) -> bool {
        matches!(
            (self, method),
            (Self::Get, Method::Get)
                | (Self::Head, Method::Head)
                | (Self::Post, Method::Post | Method::Put)
                | (Self::Delete, Method::Delete)
        )
    }
}

const fn operation(
    verb: Verb,
    id: &'static str,
    summary: &'static str,
    success: Success,
    handler: Handler,
) -> Operation {
    Operation {
        verb,
        id,
        summary,
        query: &[],
        body: &[],
        success,
        handler,
    }
}

/// A read, answered with data.
pub(in crate::vault) const fn read(
    id: &'static str,
    summary: &'static str,
    run: fn(&Call<'_>) -> Answer,
) -> Operation {
    operation(
        Verb::Get,
        id,
        summary,
        Success::Envelope,
        Handler::Envelope(run),
    )
}

/// A list, answered with keys.
pub(in crate::vault) const fn list(
    id: &'static str,
    summary: &'static str,
    run: fn(&Call<'_>) -> Answer,
) -> Operation {
    operation(
        Verb::List,
        id,
        summary,
        Success::Keys,
        Handler::Envelope(run),
    )
}

/// A removal, answered with no content.
pub(in crate::vault) const fn delete(
    id: &'static str,
    summary: &'static str,
    run: fn(&Call<'_>) -> Answer,
) -> Operation {
    operation(
        Verb::Delete,
        id,
        summary,
        Success::Nothing,
        Handler::Envelope(run),
    )
}

/// A write, answered with no content.
pub(in crate::vault) const fn write(
    id: &'static str,
    summary: &'static str,
    body: &'static [Field],
    run: fn(&Call<'_>) -> Answer,
) -> Operation {
    Operation {
        body,
        ..operation(
            Verb::Post,
            id,
            summary,
            Success::Nothing,
            Handler::Envelope(run),
        )
    }
}

/// A write, answered with data.
pub(in crate::vault) const fn ask(
    id: &'static str,
    summary: &'static str,
    body: &'static [Field],
    run: fn(&Call<'_>) -> Answer,
) -> Operation {
    write(id, summary, body, run).answering(Success::Envelope)
}

/// An operation answered with a document, by any handler.
pub(in crate::vault) const fn document(
    verb: Verb,
    id: &'static str,
    summary: &'static str,
    handler: Handler,
) -> Operation {
    operation(verb, id, summary, Success::Document, handler)
}

/// An operation answered before access is asked, with a document unless it is a removal.
pub(in crate::vault) const fn unadmitted(
    verb: Verb,
    id: &'static str,
    summary: &'static str,
    run: fn(&Unadmitted<'_>) -> Result<Response, ApiError>,
) -> Operation {
    let success = match verb {
        Verb::Delete => Success::Nothing,
        _ => Success::Document,
    };
    operation(verb, id, summary, success, Handler::Unadmitted(run))
}

impl Operation {
    /// The same with another form of answer.
    pub(in crate::vault) const fn answering(self, success: Success) -> Self {
        Self { success, ..self }
    }

    /// The same with these fields in its query.
    pub(in crate::vault) const fn querying(self, query: &'static [Field]) -> Self {
        Self { query, ..self }
    }

    /// The same with these fields in its body.
    pub(in crate::vault) const fn sending(self, body: &'static [Field]) -> Self {
        Self { body, ..self }
    }

    /// The same for reads and lists.
    pub(in crate::vault) const fn listing_too(self) -> Self {
        Self {
            verb: Verb::GetOrList,
            ..self
        }
    }
}
