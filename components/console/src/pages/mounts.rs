//! The mounts of auth methods.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::{Answer, Outcome, Visit, given};
use crate::api::{at, encoded, encoded_path};
use crate::form::Fields;
use crate::layout::{Page, area, button, facts, form, input, notice, refused, select, table, tick};

/// The list, with a form that enables one more.
pub fn list(visit: &Visit<'_>) -> Answer {
    let answer = visit.api.read("/v1/sys/auth")?;
    let mounts = answer.get("data").and_then(Value::as_object);
    let rows: Vec<Vec<Markup>> = mounts
        .into_iter()
        .flatten()
        .map(|(path, mount)| row(visit, path.trim_end_matches('/'), mount))
        .collect();
    Ok(Outcome::Page(Page::new(
        "Auth mounts",
        html! {
            (table(&["Path", "Type", "Description", "Pages", "Actions"], &rows))
            h2 { "Enable the Google Cloud method" }
            (form(visit.session, "/ui/mounts", html! {
                (input("path", "Path", "Clients log in at auth/<path>/login.", "gcp"))
                (input("description", "Description", "For people; it has no effect.", ""))
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
            a href={ "/ui/mounts/check?mount=" (query) } { "check" }
        } },
        html! { @if is_method {
            (button(visit.session, "/ui/mounts/disable", &[("path", path)], &format!("Disable {path}")))
        } },
    ]
}

/// Enables the method.
pub fn enable(visit: &Visit<'_>, form: &Fields) -> Answer {
    let path = form.text("path").trim_matches('/');
    visit.api.write(
        &format!("/v1/sys/auth/{}", encoded_path(path)),
        &json!({ "type": "gcp", "description": form.text("description") }),
    )?;
    Ok(Outcome::Redirect(format!(
        "/ui/mounts/config?mount={}",
        encoded(path)
    )))
}

/// Disables a method, once its path was typed.
pub fn disable(visit: &Visit<'_>, form: &Fields) -> Answer {
    let path = form.text("path");
    if form.text("typed") != path {
        return Ok(Outcome::Page(confirm(visit, path)));
    }
    visit
        .api
        .delete(&format!("/v1/sys/auth/{}", encoded_path(path)))?;
    Ok(Outcome::Redirect("/ui/mounts".to_owned()))
}

fn confirm(visit: &Visit<'_>, path: &str) -> Page {
    Page::new(
        format!("Disable {path}"),
        html! {
            p { "This deletes its configuration and its roles, and ends every token that was made by it. It cannot be undone." }
            (form(visit.session, "/ui/mounts/disable", html! {
                input type="hidden" name="path" value=(path);
                (input("typed", "Path", "Type the path of the mount once more.", ""))
            }, "Disable it"))
            p { a href="/ui/mounts" { "Leave it as it is" } }
        },
    )
}

/// The configuration of a mount. Reads of the API leave secrets out, so none is here.
pub fn config(visit: &Visit<'_>) -> Answer {
    let mount = visit.query.text("mount");
    let read = visit
        .api
        .read(&format!("/v1/auth/{}/config", encoded_path(mount)));
    let config = match read {
        Err(error) if error.status == 404 && error.messages.is_empty() => Value::Null,
        config => config?,
    };
    Ok(Outcome::Page(config_page(visit, mount, &config, None)))
}

fn config_page(visit: &Visit<'_>, mount: &str, config: &Value, told: Option<Markup>) -> Page {
    let value = |name: &str| at(config, &format!("/data/{name}"));
    let action = format!("/ui/mounts/config?mount={}", encoded(mount));
    Page::new(
        format!("Configuration of {mount}"),
        html! {
            (told.unwrap_or_default())
            (facts(&[
                ("Service account of the key", value("client_email")),
                ("Project of the key", value("project_id")),
                ("Identifier of the key", value("private_key_id")),
            ]))
            (form(visit.session, &action, html! {
                (area("credentials", "Credentials", "The key of a service account, as Google gives it out in JSON. It is never shown again. Empty leaves what is stored.", "", 6))
                (tick("remove_credentials", "Remove the stored credentials", "The method then asks Google as the server itself, or with identity tokens.", false))
                (input("identity_token_audience", "Audience of identity tokens", "For credentials without a stored key: the workload identity provider at Google.", &value("identity_token_audience")))
                (input("service_account_email", "Service account", "The account that identity tokens are exchanged for.", &value("service_account_email")))
                (select("iam_alias", "Alias of iam logins", "What identity knows them by: the role, or the account that logs in.", &["", "role_id", "unique_id"], &value("iam_alias")))
                (select("gce_alias", "Alias of gce logins", "What identity knows them by: the role, or the instance that logs in.", &["", "role_id", "instance_id"], &value("gce_alias")))
                (input("rotation_period", "Rotation period", "After how many seconds the stored key is replaced; 0 for never.", &value("rotation_period")))
            }, "Save"))
            p { a href={ "/ui/mounts/check?mount=" (encoded(mount)) } { "Check what Google grants" } }
        },
    )
}

/// Changes the configuration.
pub fn configure(visit: &Visit<'_>, form: &Fields) -> Answer {
    let mount = visit.query.text("mount");
    let path = format!("/v1/auth/{}/config", encoded_path(mount));
    let mut body = Map::new();
    if form.is_ticked("remove_credentials") {
        body.insert("credentials".to_owned(), "".into());
    } else if let Some(credentials) = given(form.text("credentials")) {
        body.insert("credentials".to_owned(), credentials);
    }
    let before = visit.api.read(&path).unwrap_or_default();
    for name in [
        "identity_token_audience",
        "service_account_email",
        "iam_alias",
        "gce_alias",
        "rotation_period",
    ] {
        let (was, is) = (at(&before, &format!("/data/{name}")), form.text(name));
        // A choice that is left as it is, and a number that is emptied, are not sent.
        let is_choice = matches!(name, "iam_alias" | "gce_alias" | "rotation_period");
        if was != is && !(is_choice && is.is_empty()) {
            body.insert(name.to_owned(), is.into());
        }
    }
    let told = match visit.api.write(&path, &Value::Object(body)) {
        Ok(_) => notice("The configuration is saved. Check next what Google grants."),
        Err(error) => refused(&error),
    };
    let config = visit.api.read(&path).unwrap_or_default();
    Ok(Outcome::Page(config_page(
        visit,
        mount,
        &config,
        Some(told),
    )))
}

/// The permissions that Google grants the credentials.
pub fn check(visit: &Visit<'_>) -> Answer {
    let mount = visit.query.text("mount");
    let answer = visit
        .api
        .read(&format!("/v1/auth/{}/config/check", encoded_path(mount)))?;
    let data = answer.get("data").cloned().unwrap_or_default();
    Ok(Outcome::Page(Page::new(
        format!("What Google grants {mount}"),
        html! {
            (tree(&data))
            p { "Where something is refused, give the service account the role that the text names, at Google, and look again." }
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
