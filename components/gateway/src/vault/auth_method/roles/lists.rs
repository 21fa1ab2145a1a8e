//! `role/<name>/service-accounts` and `role/<name>/labels`: changes of one list (contract 3.6).

use gatehouse_access_api::Operation;
use gatehouse_auth_method_api::{AuthMethod, ListEdit, Mount};

use super::text;
use crate::vault::call::{Answer, Call, replaced_field};
use crate::vault::envelope::Reply;
use crate::vault::errors::Fault;

pub(in crate::vault) const FIELDS: [&str; 3] = ["name", "add", "remove"];

/// A list of a role that has an endpoint of its own.
#[derive(Debug, Clone, Copy)]
pub(in crate::vault::auth_method) enum List {
    ServiceAccounts,
    Labels,
}

impl List {
    /// The list at the endpoint of this name.
    pub(in crate::vault::auth_method) fn at(endpoint: &str) -> Option<Self> {
        match endpoint {
            "service-accounts" => Some(Self::ServiceAccounts),
            "labels" => Some(Self::Labels),
            _ => None,
        }
    }
}

/// Answers a request for a list of role `name`.
pub(in crate::vault::auth_method) fn edit(
    auth_method: &dyn AuthMethod,
    call: &Call<'_>,
    operation: Operation,
    mount: &Mount,
    name: &str,
    which: List,
) -> Answer {
    if operation != Operation::Update {
        return Err(Fault::unsupported_operation());
    }
    let fields = call.fields_among(&FIELDS)?;
    let remove = fields.list("remove")?.unwrap_or_default();
    let edited = match which {
        List::ServiceAccounts => {
            let add = fields.list("add")?.unwrap_or_default();
            auth_method.edit_service_accounts(mount, name, &ListEdit { add, remove })
        }
        List::Labels => {
            let add = fields.labels("add")?.unwrap_or_default();
            auth_method.edit_labels(mount, name, &ListEdit { add, remove })
        }
    };
    let warnings = edited.map_err(|error| text::not_edited(error, which))?;
    Ok(Some(
        Reply::empty()
            .warned(warnings.iter().map(text::warning))
            .warned(replaced_field(&fields, "name")),
    ))
}
