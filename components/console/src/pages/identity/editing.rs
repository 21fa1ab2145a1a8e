//! The forms that make and change entities and groups.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::{Kind, id_of};
use crate::api::{ApiError, encoded};
use crate::form::Fields;
use crate::layout::{Page, area, form, input, refused, select, tick};
use crate::pages::fields::{lines, pair_lines, pairs};
use crate::pages::{Answer, Outcome, Visit};

/// The form: of a new object where the query names none.
pub(super) fn page(visit: &Visit<'_>) -> Answer {
    let (kind, name) = (
        Kind::named(visit.query.text("kind")),
        visit.query.text("name"),
    );
    let object = match name {
        "" => Value::Null,
        name => kind.read(visit, name)?,
    };
    let value = |field: &str| match field {
        "metadata" => pair_lines(object.get("metadata")),
        field => lines(object.get(field)),
    };
    Ok(Outcome::Page(form_page(visit, kind, name, &value, None)))
}

fn form_page(
    visit: &Visit<'_>,
    kind: Kind,
    known: &str,
    value: &dyn Fn(&str) -> String,
    told: Option<Markup>,
) -> Page {
    let title = match (known, kind) {
        ("", Kind::Entity) => "Make an entity".to_owned(),
        ("", Kind::Group) => "Make a group".to_owned(),
        (name, Kind::Entity) => format!("Change entity {name}"),
        (name, Kind::Group) => format!("Change group {name}"),
    };
    let action = format!(
        "/ui/identity/edit?kind={}&name={}",
        kind.name(),
        encoded(known)
    );
    let group_type = value("type");
    Page::new(
        title,
        html! {
            (told.unwrap_or_default())
            (form(visit.session, &action, html! {
                (input("name", "Name", "For people; policies can name it in templates.", &value("name")))
                (area("policies", "Policies", "They are added to those of each token.", &value("policies"), 3))
                (area("metadata", "Metadata", "One on each line: key=value. Policies can name it in templates.", &value("metadata"), 3))
                @match kind {
                    Kind::Entity => (tick("disabled", "Disabled", "Tokens of the entity are refused as long as this is set.", value("disabled") == "true")),
                    Kind::Group => {
                        @if known.is_empty() {
                            (select("type", "Type", "internal: its members are named here. external: logins that carry its alias are its members.", &["internal", "external"], &group_type))
                        } @else {
                            p { "Type: " strong { (group_type) } }
                            input type="hidden" name="type" value=(group_type);
                        }
                        @if group_type != "external" {
                            (area("member_entity_ids", "Entities in it", "Identifiers, one on each line. For internal groups alone.", &value("member_entity_ids"), 3))
                        }
                        (area("member_group_ids", "Groups in it", "Identifiers, one on each line.", &value("member_group_ids"), 3))
                    }
                }
            }, "Save"))
            p { a href="/ui/identity" { "Identity" } }
        },
    )
}

/// Makes an object, or changes it.
pub(super) fn save(visit: &Visit<'_>, form: &Fields) -> Answer {
    let (kind, known) = (
        Kind::named(visit.query.text("kind")),
        visit.query.text("name"),
    );
    match write(visit, form, kind, known) {
        Ok(()) => Ok(Outcome::Redirect(kind.address(form.text("name")))),
        Err(error) => {
            let value = |field: &str| match form.text(field) {
                "yes" if field == "disabled" => "true".to_owned(),
                text => text.to_owned(),
            };
            let mut page = form_page(visit, kind, known, &value, Some(refused(&error)));
            page.status = error.status;
            Ok(Outcome::Page(page))
        }
    }
}

fn write(visit: &Visit<'_>, form: &Fields, kind: Kind, known: &str) -> Result<(), ApiError> {
    if form.text("name").is_empty() {
        return Err(ApiError {
            status: 400,
            messages: vec!["the name is missing".to_owned()],
        });
    }
    let mut body = json!({
        "name": form.text("name"),
        "policies": form.lines("policies"),
        "metadata": pairs(form.text("metadata"))?,
    });
    let mut add = |name: &str, value: Value| {
        if let Value::Object(body) = &mut body {
            body.insert(name.to_owned(), value);
        }
    };
    match kind {
        Kind::Entity => add("disabled", form.is_ticked("disabled").into()),
        Kind::Group => {
            let group_type = form.text("type");
            add("type", group_type.into());
            let entities = form.lines("member_entity_ids");
            // The members of an external group are those whom logins bring; the API refuses others.
            if group_type != "external" || !entities.is_empty() {
                add("member_entity_ids", entities.into());
            }
            add("member_group_ids", form.lines("member_group_ids").into());
        }
    }
    let path = match known {
        // Writing to a name that is taken would change its owner in place of making another.
        "" if kind.read(visit, form.text("name")).is_ok() => {
            return Err(ApiError {
                status: 409,
                messages: vec!["the name is in use".to_owned()],
            });
        }
        "" => format!("/v1/identity/{}", kind.name()),
        known => {
            let id = id_of(visit, kind, known)?;
            format!("/v1/identity/{}/id/{}", kind.name(), encoded(&id))
        }
    };
    visit.api.write(&path, &body).map(|_| ())
}
