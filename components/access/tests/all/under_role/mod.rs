//! The token-store role `ci`, and tokens that are made under it.

use gatehouse_access::{
    CreateError, CreateRequest, Issued, TokenCreation as _, TokenLookup as _, TokenReference,
    TokenRoleChanges, TokenRoles as _, TokenView, WritePermission,
};

use super::server::{ROOT, Server, plain};

pub fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

pub fn listed(names: &[&str]) -> Option<Vec<String>> {
    Some(texts(names))
}

pub fn with_role(changes: &TokenRoleChanges) -> Server {
    let server = Server::ready();
    write(&server, changes);
    server
}

pub fn write(server: &Server, changes: &TokenRoleChanges) {
    let permission = WritePermission {
        create: true,
        update: true,
    };
    let written = server.access.write_token_role("ci", changes, permission);
    assert!(written.is_ok(), "{written:?}");
}

pub fn under(role: &str, request: CreateRequest) -> CreateRequest {
    CreateRequest {
        role: Some(role.to_owned()),
        ..request
    }
}

/// A token under role `ci`, made by `parent` without `sudo`.
pub fn create(
    server: &Server,
    parent: &str,
    request: CreateRequest,
) -> Result<Issued, CreateError> {
    let request = under("ci", request);
    server.access.create_token(&plain(parent), &request)
}

pub fn asking(names: &[&str]) -> CreateRequest {
    CreateRequest {
        policies: (!names.is_empty()).then(|| texts(names)),
        ..CreateRequest::default()
    }
}

/// A token with these policies, made by root.
pub fn holder(server: &Server, names: &[&str], no_default_policy: bool) -> String {
    let request = CreateRequest {
        no_default_policy,
        ..asking(names)
    };
    text(&server.child(ROOT, &request))
}

pub fn text(issued: &Issued) -> String {
    issued.client_token.clone()
}

pub fn view(server: &Server, token: &str) -> TokenView {
    let reference = &TokenReference::Id(token.into());
    server.access.lookup_token(reference).unwrap()
}
