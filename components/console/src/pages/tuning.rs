//! The tuning of an auth mount.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::fields::{Attribute, Kind, Shown, attribute, attribute_fields, changed};
use super::{Answer, Outcome, Visit, then};
use crate::api::{ApiError, encoded, encoded_path};
use crate::form::Fields;
use crate::layout::{Page, form, notice};

/// The address of the form.
pub const PATH: &str = "/ui/mounts/tune";

/// The mount that creates tokens without a login. Each request sets the type of its token, so the type cannot be tuned.
const TOKEN_MOUNT: &str = "token";
const TOKEN_TYPE: &str = "token_type";

#[rustfmt::skip]
const FIELDS: &[Attribute] = &[
    attribute("description", "Description", "For people; it has no effect.", Kind::Text),
    attribute("default_lease_ttl", "Lifetime of a token", "Seconds until a token has to be renewed, where its role sets no lifetime. What is shown is in force; empty or 0 for the server's own.", Kind::Seconds),
    attribute("max_lease_ttl", "Maximum lifetime of a token", "Most seconds that a token lives, renewals included. Tokens with a period go on for as long as they are renewed: only their period is cut to it. What is shown is in force; empty or 0 for the server's own.", Kind::Seconds),
    attribute(TOKEN_TYPE, "Type of tokens", "Service tokens are stored and can be revoked; batch tokens are not. With default- before it, a role can choose the other one.", Kind::Choice(&["default-service", "default-batch", "service", "batch"])),
    attribute("listing_visibility", "In the list of mounts", "unauth: sys/internal/ui/mounts names the mount to every caller, even without a token. hidden or no choice: only to callers with rights to it.", Kind::Choice(&["", "hidden", "unauth"])),
    attribute("audit_non_hmac_request_keys", "Readable fields of requests", "Audit records show these fields as they are, not hashed; name none that holds a secret.", Kind::Lines),
    attribute("audit_non_hmac_response_keys", "Readable fields of answers", "Audit records show these fields as they are, not hashed; name none that holds a secret.", Kind::Lines),
    attribute("passthrough_request_headers", "Headers of requests for the method", "Stored for clients that send it; has no effect.", Kind::Lines),
    attribute("allowed_response_headers", "Headers that the method may set", "Stored for clients that send it; has no effect.", Kind::Lines),
    attribute("identity_token_key", "Key of identity tokens", "Stored for clients that send it; has no effect, for there is one key.", Kind::Choice(&["", "default"])),
    attribute("trim_request_trailing_slashes", "Ignore a slash at the end of a path", "Stored for clients that send it; has no effect, for such a slash makes no difference.", Kind::Flag),
];

/// The path that needs no `sudo`, as common clients use it.
fn api_path(mount: &str) -> String {
    format!("/v1/sys/mounts/auth/{}/tune", encoded_path(mount))
}

fn address(mount: &str) -> String {
    format!("{PATH}?mount={}", encoded(mount))
}

/// The tuning as the form shows it, with every field that the mount has: the API leaves out fields that are not set.
fn tuning(visit: &Visit<'_>, mount: &str) -> Result<Value, ApiError> {
    let answer = visit.api.read(&api_path(mount))?;
    let value = |row: &Attribute| {
        let set = answer.pointer(&format!("/data/{}", row.name)).cloned();
        (row.name.to_owned(), set.unwrap_or_else(|| "".into()))
    };
    let is_of_mount = |row: &&Attribute| row.name != TOKEN_TYPE || mount != TOKEN_MOUNT;
    let rows = FIELDS.iter().filter(is_of_mount);
    Ok(Value::Object(rows.map(value).collect()))
}

/// The page.
pub fn page(visit: &Visit<'_>, told: Markup) -> Answer {
    let mount = visit.asked("mount")?.trim_matches('/');
    let tuning = tuning(visit, mount)?;
    Ok(Outcome::Page(Page::new(
        format!("Tuning of {mount}"),
        html! {
            (told)
            @if visit.query.text("done") == "saved" { (notice("The tuning is saved.")) }
            (form(visit.session, &address(mount), attribute_fields(FIELDS, &tuning, visit.sent_to(PATH)), "Save"))
            p { a href=(super::places::MOUNTS) { "Auth mounts" } }
        },
    )))
}

/// Changes the tuning.
pub fn change(visit: &Visit<'_>, form: &Fields) -> Answer {
    let mount = visit.asked("mount")?.trim_matches('/');
    let shown = match Shown::carried(form) {
        Some(shown) => shown,
        None => Shown::of_attributes(FIELDS, &tuning(visit, mount)?),
    };
    let mut changes: Map<String, Value> = changed(FIELDS, form, &shown);
    // An emptied lifetime is sent as 0, which means the server's default.
    for value in changes.values_mut().filter(|value| value.is_null()) {
        *value = 0.into();
    }
    let done = visit.api.write(&api_path(mount), &changes.into());
    let place = format!("{}&done=saved", address(mount));
    then(done, place, |told| page(visit, told))
}
