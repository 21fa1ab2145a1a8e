//! `sys/audit` and `sys/audit-hash` (contract 6.5), and the revocation of tokens whose answers could not be recorded.

use gatehouse_access_api::{ClientToken, TokenReference};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::ApiError;
use super::text::quoted;
use crate::host::AuditLog;
use crate::http::Response;
use crate::path::CanonicalPath;
use crate::vault::server::Server;

/// `sys/audit`
pub(super) fn list(call: &Call<'_>) -> Answer {
    Ok(Some(Reply::copied(listed(&*call.server.host.audit))))
}

/// POST `sys/audit/<path>`: sinks can be set only in the configuration file (SEC-L4).
pub(super) fn refuse_enabling(_: &Call<'_>) -> Answer {
    Err(ApiError::plain(
        400,
        "cannot enable audit device via API; name it in the configuration file of the server, as [audit.NAME]",
    ))
}

/// DELETE `sys/audit/<path>`
pub(super) fn refuse_disabling(call: &Call<'_>) -> Answer {
    let path = call.captured("path")?;
    let mut sinks = call.server.host.audit.sinks().into_iter();
    if sinks.any(|sink| sink.name == path) {
        let text = "cannot disable configuration-managed audit device; take it out of the configuration file of the server";
        return Err(ApiError::plain(400, text));
    }
    Ok(None)
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

/// `sys/audit-hash/<path>`: the hash that replaces a text in the records of a sink.
pub(super) fn hash(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let input = fields.string("input")?.unwrap_or_default();
    if input.is_empty() {
        return Err(ApiError::plain(400, "the \"input\" parameter is empty"));
    }
    let sink = call.captured("path")?;
    let Some(hash) = call.server.host.audit.hash(sink, &input) else {
        let name = quoted(&format!("{sink}/"));
        return Err(ApiError::plain(
            400,
            format!("unknown audit backend {name}"),
        ));
    };
    let data = Map::from_iter([("hash".to_owned(), hash.into())]);
    let reply = Reply::copied(data).warned(fields.ignored_warning());
    Ok(Some(reply))
}

/// Revokes the tokens of an answer that must not be sent because it could not be recorded, and the root token that the answer hides: no client has
/// received them. If that fails too, they stay valid until they expire, and the operator is told.
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
    // A renewal shows a token that its owner already has.
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
