//! The mounts of auth methods.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::confirmation::{is_asked, require_typed, typing};
use super::places::MOUNTS;
use super::{Answer, Outcome, Visit, once_more, required, then, tuning, typed_mount};
use crate::api::{at, encoded, encoded_path};
use crate::form::Fields;
use crate::layout::{Page, button, form, input, table};

/// The name of the list.
const NAME: &str = "Auth mounts";

/// The list, below the message `told`, with a form that enables another method.
pub fn list(visit: &Visit<'_>, told: Markup) -> Answer {
    let answer = visit.api.read("/v1/sys/auth")?;
    let mounts = answer.get("data").and_then(Value::as_object);
    let rows: Vec<Vec<Markup>> = mounts
        .into_iter()
        .flatten()
        .map(|(path, mount)| row(visit, path.trim_end_matches('/'), mount))
        .collect();
    let path = visit
        .sent_to(MOUNTS)
        .map_or("gcp", |form| form.text("path"));
    Ok(Outcome::Page(Page::new(
        NAME,
        html! {
            (told)
            (table(NAME, &["Path", "Type", "Description", "Pages", "Actions"], &rows, "There are no auth mounts yet: enable one."))
            h2 { "Enable the Google Cloud method" }
            (form(visit.session, MOUNTS, html! {
                (input("path", "Path", "Clients log in at auth/<path>/login.", path))
                (input("description", "Description", "For people; it has no effect.", visit.typed(MOUNTS, "description")))
            }, "Enable"))
        },
    )))
}

fn row(visit: &Visit<'_>, path: &str, mount: &Value) -> Vec<Markup> {
    let kind = at(mount, "/type");
    let query = encoded(path);
    let is_method = kind == "gcp";
    vec![
        html! { (path) },
        html! { (kind) },
        html! { (at(mount, "/description")) },
        html! { @if is_method {
            a href={ "/ui/roles?mount=" (query) } { "Roles" } ", "
            a href={ "/ui/mounts/config?mount=" (query) } { "configuration" } ", "
            a href={ "/ui/mounts/check?mount=" (query) } { "check" } ", "
            a href={ (tuning::PATH) "?mount=" (query) } { "tuning" }
        } @else {
            a href={ (tuning::PATH) "?mount=" (query) } { "Tuning" }
        } },
        html! { @if is_method {
            (button(visit.session, "/ui/mounts/disable", &[("path", path)], &format!("Disable {path}")))
        } },
    ]
}

/// Enables the method.
pub fn enable(visit: &Visit<'_>, form: &Fields) -> Answer {
    let path = typed_mount("path", form.text("path"));
    let enabled = path.clone().and_then(|path| {
        visit.api.write(
            &format!("/v1/sys/auth/{}", encoded_path(path)),
            &json!({ "type": "gcp", "description": form.text("description") }),
        )
    });
    let place = format!(
        "/ui/mounts/config?mount={}",
        encoded(path.unwrap_or_default())
    );
    then(enabled, place, |told| list(visit, told))
}

/// Disables a method, once its path was typed.
pub fn disable(visit: &Visit<'_>, form: &Fields) -> Answer {
    let path = required("path", form.text("path"))?;
    if !is_asked(form) {
        return Ok(Outcome::Page(confirm(visit, path, html! {})));
    }
    if let Err(error) = require_typed(form, path, "path", "disabled") {
        return once_more(error, |told| Ok(Outcome::Page(confirm(visit, path, told))));
    }
    visit
        .api
        .delete(&format!("/v1/sys/auth/{}", encoded_path(path)))?;
    Ok(Outcome::Redirect(MOUNTS.to_owned()))
}

fn confirm(visit: &Visit<'_>, path: &str, told: Markup) -> Page {
    Page::new(
        format!("Disable {path}"),
        html! {
            (told)
            p { "This deletes its configuration and its roles, and revokes every token that it made. It cannot be undone." }
            (form(visit.session, "/ui/mounts/disable", html! {
                input type="hidden" name="path" value=(path);
                (typing("Path", "Type the path of the mount once more."))
            }, "Disable it"))
            p { a href=(MOUNTS) { "Leave it as it is" } }
        },
    )
}

/// The permissions that Google grants to the credentials.
pub fn check(visit: &Visit<'_>) -> Answer {
    let mount = visit.asked("mount")?;
    let answer = visit
        .api
        .read(&format!("/v1/auth/{}/config/check", encoded_path(mount)))?;
    let data = answer.get("data").cloned().unwrap_or_default();
    Ok(Outcome::Page(Page::new(
        format!("What Google grants {mount}"),
        html! {
            (tree(&data))
            p { "Where a permission is missing, grant the service account the role that the text names in Google Cloud, and check again." }
            p { a href={ "/ui/mounts/config?mount=" (encoded(mount)) } { "Configuration" } }
        },
    )))
}

/// `value` as nested lists.
fn tree(value: &Value) -> Markup {
    match value {
        Value::Object(members) => html! {
            dl { @for (name, value) in members { dt { (name) } dd { (tree(value)) } } }
        },
        Value::Array(entries) if entries.iter().any(Value::is_object) => html! {
            ul { @for entry in entries { li { (tree(entry)) } } }
        },
        value => html! { (crate::api::shown(value)) },
    }
}
