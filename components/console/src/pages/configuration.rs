//! The configuration of a mount.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::fields::{
    Attribute, Kind, Shown, attribute, changed, field, filled, lines, pair_lines, pairs,
};
use super::{Answer, Outcome, Visit, then};
use crate::api::{ApiError, at, encoded, encoded_path};
use crate::form::Fields;
use crate::layout::{Page, area, facts, form, notice, tick};

/// The field of the endpoints that replace Google's. A write changes only the endpoints that it names, so the body is made apart from the other
/// fields.
const ENDPOINTS: &str = "custom_endpoint";

#[rustfmt::skip]
const FIELDS: &[Attribute] = &[
    attribute("identity_token_audience", "Audience of identity tokens", "For credentials without a stored key: the workload identity provider at Google.", Kind::Text),
    attribute("service_account_email", "Service account", "The account that identity tokens are exchanged for.", Kind::Text),
    attribute("identity_token_ttl", "Lifetime of an identity token", "Seconds; 0 for an hour.", Kind::Seconds),
    attribute("iam_alias", "Alias of iam logins", "What the aliases of entities are named after: the role, or the account that logs in.", Kind::Choice(&["", "role_id", "unique_id"])),
    attribute("gce_alias", "Alias of gce logins", "What the aliases of entities are named after: the role, or the instance that logs in.", Kind::Choice(&["", "role_id", "instance_id"])),
    attribute("iam_metadata", "Metadata of iam logins", "Fields of a login that its tokens and aliases carry, one on each line; “default” alone stands for the usual fields.", Kind::Lines),
    attribute("gce_metadata", "Metadata of gce logins", "Fields of an instance and its login that tokens and aliases carry, one on each line; “default” alone stands for the usual fields.", Kind::Lines),
    attribute("rotation_period", "Rotation period", "Seconds after which the stored key is replaced; 0 for never.", Kind::Seconds),
    attribute("rotation_schedule", "Rotation schedule", "When the stored key is replaced, as a cron expression (0 3 * * 6 is each Saturday at three); instead of a period.", Kind::Text),
    attribute("rotation_window", "Rotation window", "How many seconds late a scheduled rotation may be; 0 for any number.", Kind::Seconds),
    attribute("rotation_policy", "Rotation policy", "Stored for clients that send it; has no effect.", Kind::Text),
    attribute("disable_automated_rotation", "Stop rotations", "The stored key is then replaced by neither schedule nor period.", Kind::Flag),
];

fn api_path(mount: &str) -> String {
    format!("/v1/auth/{}/config", encoded_path(mount))
}

/// The stored configuration. Reads of the API leave secrets out, so it contains none.
fn stored(visit: &Visit<'_>, mount: &str) -> Result<Value, ApiError> {
    let mut answer = match visit.api.read(&api_path(mount)) {
        Err(error) if error.status == 404 && error.messages.is_empty() => return Ok(Value::Null),
        answer => answer?,
    };
    Ok(answer.get_mut("data").map(Value::take).unwrap_or_default())
}

/// A field as the form shows it.
fn shown(config: &Value, name: &str) -> String {
    match name {
        ENDPOINTS => pair_lines(config.get(ENDPOINTS)),
        name => lines(config.get(name)),
    }
}

/// The values that the form shows for `config`.
fn all_shown(config: &Value) -> Shown {
    let names = FIELDS.iter().map(|row| row.name).chain([ENDPOINTS]);
    Shown::from_names(names, &|name| shown(config, name))
}

/// The form.
pub fn page(visit: &Visit<'_>) -> Answer {
    let mount = visit.asked("mount")?;
    let config = stored(visit, mount)?;
    let told = (visit.query.text("done") == "saved").then(|| {
        notice("The configuration is saved. Check next what Google grants, then make a role.")
    });
    Ok(Outcome::Page(form_page(visit, mount, &config, None, told)))
}

/// The address of the form.
fn address(mount: &str) -> String {
    format!("/ui/mounts/config?mount={}", encoded(mount))
}

fn form_page(
    visit: &Visit<'_>,
    mount: &str,
    config: &Value,
    sent: Option<&Fields>,
    told: Option<Markup>,
) -> Page {
    let before = sent
        .and_then(Shown::carried)
        .unwrap_or_else(|| all_shown(config));
    let value = |name: &str, kind: Kind| match sent {
        Some(form) => filled(form, name, kind),
        None => shown(config, name),
    };
    let of_key = |name: &str| at(config, &format!("/{name}"));
    Page::new(
        format!("Configuration of {mount}"),
        html! {
            (told.unwrap_or_default())
            (facts([
                ("Service account of the key", of_key("client_email")),
                ("Project of the key", of_key("project_id")),
                ("Identifier of the key", of_key("private_key_id")),
            ]))
            (form(visit.session, &address(mount), html! {
                (before.field())
                (area("credentials", "Credentials", "The JSON key of a service account. It is never shown again. Empty leaves the stored one.", "", 6))
                (tick("remove_credentials", "Remove the stored credentials", "The method then calls Google with the server's own credentials, or with identity tokens.", false))
                @for row in FIELDS {
                    (field(row.name, row.label, row.help, row.kind, &value(row.name, row.kind)))
                }
                (area(ENDPOINTS, "Other endpoints of Google's", "One on each line: api=https://…; the others are iam, crm and compute. Who runs the one of api decides who can log in.", &value(ENDPOINTS, Kind::Lines), 4))
            }, "Save"))
            p {
                a href={ "/ui/mounts/check?mount=" (encoded(mount)) } { "Check what Google grants" } ", "
                a href={ "/ui/roles?mount=" (encoded(mount)) } { "roles" }
            }
        },
    )
}

/// Changes the configuration.
pub fn change(visit: &Visit<'_>, form: &Fields) -> Answer {
    let mount = visit.asked("mount")?;
    let before = stored(visit, mount)?;
    let shown = Shown::carried(form).unwrap_or_else(|| all_shown(&before));
    let saved =
        sent(form, &shown).and_then(|body| visit.api.write(&api_path(mount), &Value::Object(body)));
    let place = format!("{}&done=saved", address(mount));
    then(saved, place, |told| {
        let page = form_page(visit, mount, &before, Some(form), Some(told));
        Ok(Outcome::Page(page))
    })
}

/// The body of a write: only the fields that were changed.
fn sent(form: &Fields, shown: &Shown) -> Result<Map<String, Value>, ApiError> {
    let mut body = changed(FIELDS, form, shown);
    // The API accepts a window only together with its schedule.
    if body.contains_key("rotation_window") && !form.text("rotation_schedule").is_empty() {
        let schedule = form.text("rotation_schedule");
        body.insert("rotation_schedule".to_owned(), schedule.into());
    }
    let credentials = form.text("credentials");
    if form.is_ticked("remove_credentials") {
        body.insert("credentials".to_owned(), "".into());
    } else if !credentials.is_empty() {
        body.insert("credentials".to_owned(), credentials.into());
    }
    let endpoints = endpoints(form, shown)?;
    if !endpoints.is_empty() {
        body.insert(ENDPOINTS.to_owned(), endpoints.into());
    }
    Ok(body)
}

/// The endpoints that were changed. A removed endpoint is sent with an empty value.
fn endpoints(form: &Fields, shown: &Shown) -> Result<Map<String, Value>, ApiError> {
    let mut is = pairs(form.text(ENDPOINTS))?;
    for (name, address) in pairs(shown.text(ENDPOINTS).unwrap_or_default())? {
        match is.get(&name) {
            Some(kept) if *kept == address => {
                is.remove(&name);
            }
            Some(_) => {}
            None => {
                is.insert(name, "".into());
            }
        }
    }
    Ok(is)
}
