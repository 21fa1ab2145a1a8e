//! `sys/audit` and `sys/audit-hash` (contract 6.5), and what the record of an exchange means for this protocol.

use gatehouse_access_api::{ClientToken, Operation, TokenReference};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::call::{Answer, Call, ignored_fields};
use super::envelope::Reply;
use super::errors::Fault;
use super::text::quoted;
use crate::host::AuditLog;
use crate::http::{Method, Request, Response};
use crate::path::CanonicalPath;
use crate::vault::server::Server;

/// Answers a request for `sys/audit` or the sink of a name. Sinks are a matter of the configuration file (SEC-L4).
pub(super) fn handle(server: &Server<'_>, call: &Call<'_>, name: &str) -> Answer {
    let sinks = &server.host.audit;
    match (name, call.operation) {
        ("", Operation::Read) => Ok(Some(Reply::copied(listed(&**sinks)))),
        ("", _) => Err(Fault::unsupported_operation()),
        (_, Operation::Update) => Err(Fault::plain(
            400,
            "cannot enable audit device via API; name it in the configuration file of the server, as [audit.NAME]",
        )),
        (name, Operation::Delete) => {
            let name = name.trim_end_matches('/');
            if sinks.sinks().iter().any(|sink| sink.name == name) {
                let text = "cannot disable configuration-managed audit device; take it out of the configuration file of the server";
                return Err(Fault::plain(400, text));
            }
            Ok(None)
        }
        _ => Err(Fault::unsupported_operation()),
    }
}

fn listed(log: &dyn AuditLog) -> Map<String, Value> {
    let shown = |sink: crate::host::AuditSink| {
        let options: Map<String, Value> = sink
            .options
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        let path = format!("{}/", sink.name);
        let shown = json!({
            "description": sink.description,
            "local": false,
            "options": options,
            "path": path,
            "type": sink.kind,
        });
        (path, shown)
    };
    log.sinks().into_iter().map(shown).collect()
}

/// Answers a request for what the records of a sink show in place of a text.
pub(super) fn hash(server: &Server<'_>, call: &Call<'_>, sink: &str) -> Answer {
    if call.operation != Operation::Update {
        return Err(Fault::unsupported_operation());
    }
    let fields = call.fields()?;
    let input = fields.string("input")?.unwrap_or_default();
    if input.is_empty() {
        return Err(Fault::plain(400, "the \"input\" parameter is empty"));
    }
    let sink = sink.trim_end_matches('/');
    let Some(hash) = server.host.audit.hash(sink, &input) else {
        let name = quoted(&format!("{sink}/"));
        return Err(Fault::plain(400, format!("unknown audit backend {name}")));
    };
    let data = Map::from_iter([("hash".to_owned(), hash.into())]);
    let reply = Reply::copied(data).warned(ignored_fields(&fields, &["input"]));
    Ok(Some(reply))
}

/// Whether a request changes something without being admitted first: it is recorded before anybody looks at it.
pub(super) fn is_unadmitted_write(request: &Request, path: &CanonicalPath) -> bool {
    let path = path.as_str();
    let is_ceremony = ["v1/sys/generate-root", "v1/sys/rekey"]
        .iter()
        .any(|family| path.starts_with(family));
    match request.method {
        Method::Post | Method::Put => {
            is_ceremony || matches!(path, "v1/sys/init" | "v1/sys/unseal")
        }
        Method::Delete => is_ceremony,
        _ => false,
    }
}

/// Ends the tokens of an answer that must not leave, because it could not be recorded, and the root token that it hides: nobody has
/// them. If that fails too, they end with their time, and the operator is told.
pub(super) fn take_back(
    server: &Server<'_>,
    path: &CanonicalPath,
    response: &Response,
    root_token: Option<&ClientToken>,
) {
    #[derive(Deserialize)]
    struct Held {
        auth: Option<Token>,
        wrap_info: Option<Wrapping>,
    }
    #[derive(Deserialize)]
    struct Token {
        client_token: String,
    }
    #[derive(Deserialize)]
    struct Wrapping {
        token: String,
        wrapped_accessor: Option<String>,
    }
    let Ok(held) = serde_json::from_slice::<Held>(&response.body) else {
        return;
    };
    let path = path.as_str();
    // A renewal shows a token that its owner has already.
    let is_new = path.ends_with("/login") || path.starts_with("v1/auth/token/create");
    let token = held.auth.filter(|_| is_new);
    let hidden = root_token.map(ClientToken::reference);
    let mut references = Vec::from_iter(hidden);
    if let Some(token) = &token {
        references.push(TokenReference::Id(token.client_token.clone()));
    }
    if let Some(wrapping) = &held.wrap_info {
        references.push(TokenReference::Id(wrapping.token.clone()));
        let accessor = wrapping.wrapped_accessor.clone().filter(|_| is_new);
        references.extend(accessor.map(TokenReference::Accessor));
    }
    for reference in references {
        if let Err(failure) = server.access.revoke_token(&reference) {
            server.tell_operator(&format!(
                "a token whose answer could not be recorded stays until it expires: {failure}"
            ));
        }
    }
}
