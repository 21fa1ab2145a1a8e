//! `role/<name>/service-accounts` and `role/<name>/labels`: changes to one list (contract 3.6).

use gatehouse_auth_method_api::ListEdit;

use super::super::mount;
use super::fields::{self, List};
use super::{name, text};
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::field::{Field, texts};

/// The fields that a change to a list accepts.
pub(in crate::vault) const FIELDS: &[Field] = &[
    texts("add", "What to add to the list."),
    texts(
        "remove",
        "Entries to remove from the list; of labels their keys.",
    ),
];

/// POST `role/<name>/service-accounts`, `role/<name>/labels`
pub(in crate::vault) fn edit(call: &Call<'_>, list: List) -> Answer {
    let sent = call.known_fields()?;
    let remove = sent.list("remove")?.unwrap_or_default();
    let (auth_method, mount, role) = (call.server.auth_method, &mount(call)?, name(call)?);
    let edited = match list {
        List::ServiceAccounts => {
            let add = sent.list("add")?.unwrap_or_default();
            auth_method.edit_service_accounts(mount, role, &ListEdit { add, remove })
        }
        List::Labels => {
            let add = sent.labels("add")?.unwrap_or_default();
            auth_method.edit_labels(mount, role, &ListEdit { add, remove })
        }
    };
    let warnings = edited.map_err(|error| text::not_edited(error, list))?;
    let reply = Reply::empty()
        .warned(warnings.iter().map(text::warning))
        .warned(sent.replaced_warning(fields::NAME.name));
    Ok(Some(reply))
}
