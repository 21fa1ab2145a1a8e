//! The facts that are recorded about an exchange.

use gatehouse_access_api::{Mount, Operation, TokenView};

use crate::cubbyhole_paths;
use crate::http::Method;

/// The facts that the stages of a request find out.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) operation: Option<&'static str>,
    /// The path as routes and policies see it; `None` while only the path as sent is known.
    pub(super) path: Option<String>,
    pub(super) wrap_ttl: Option<u64>,
    pub(super) token: Option<String>,
    pub(super) caller: Option<TokenView>,
    /// The accessor or identifier of the token, where nothing else about the token is known.
    pub(super) accessor: Option<String>,
    /// True if access lets the request pass; `None` before access has been asked.
    pub(super) allowed: Option<bool>,
    pub(super) mount: Option<Mount>,
}

impl Facts {
    /// Mount type and mount point.
    pub(super) fn mount(&self) -> Option<(&str, String)> {
        if let Some(mount) = &self.mount {
            return Some((&mount.mount_type, format!("auth/{}", mount.path)));
        }
        let path = self.path.as_deref()?;
        if cubbyhole_paths::below(path).is_some() {
            return Some((
                cubbyhole_paths::MOUNT_TYPE,
                cubbyhole_paths::ROOT.to_owned(),
            ));
        }
        let (first, _) = path.split_once('/')?;
        match first {
            "sys" => Some(("system", "sys/".to_owned())),
            "identity" => Some(("identity", "identity/".to_owned())),
            _ => None,
        }
    }
}

pub(super) fn operation_name(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::List => "list",
        Operation::Update | Operation::CreateOrUpdate => "update",
        Operation::Patch => "patch",
        Operation::Delete => "delete",
        Operation::Help => "help",
    }
}

/// The operation of a request, as far as its method tells.
pub(super) fn operation_of(method: Method) -> &'static str {
    match method {
        Method::Get | Method::Head => "read",
        Method::List => "list",
        Method::Post | Method::Put => "update",
        Method::Patch => "patch",
        Method::Delete => "delete",
        Method::Options => "options",
        Method::Other => "unknown",
    }
}
