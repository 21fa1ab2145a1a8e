//! The forms that create and change entities and groups.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::kind::Kind;
use crate::api::{ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{Page, area, form, input, select, tick};
use crate::pages::fields::{
    Kind as Form, Shown, change, filled, keys_left_out, lines, pair_lines, pairs,
};
use crate::pages::{Answer, Outcome, Visit, once_more, require_free, required};

/// The form; that of a new object where the query names none.
pub(super) fn page(visit: &Visit<'_>) -> Answer {
    let (kind, name) = (
        Kind::named(visit.query.text("kind")),
        visit.query.text("name"),
    );
    let object = match name {
        "" => Value::Null,
        name => kind.read(visit, name)?,
    };
    let left_out = keys_left_out(object.get("metadata"));
    let told = html! {
        @if !left_out.is_empty() {
            p class="notice" role="status" { "This form cannot show metadata that is not one line each, and leaves it as it is: "
                @for key in &left_out { code { (key) } " " } }
        }
    };
    Ok(Outcome::Page(form_page(
        visit, kind, name, &object, None, told,
    )))
}

/// The fields that a form of that kind has.
const fn fields(kind: Kind) -> &'static [(&'static str, Form)] {
    match kind {
        Kind::Entity => &[
            ("name", Form::Text),
            ("policies", Form::Lines),
            ("metadata", Form::Lines),
            ("disabled", Form::Flag),
        ],
        Kind::Group => &[
            ("name", Form::Text),
            ("policies", Form::Lines),
            ("metadata", Form::Lines),
            ("member_entity_ids", Form::Lines),
            ("member_group_ids", Form::Lines),
        ],
    }
}

/// A field of an object as the form shows it.
fn shown(object: &Value, name: &str) -> String {
    match name {
        "metadata" => pair_lines(object.get("metadata")),
        name => lines(object.get(name)),
    }
}

/// The values that the form shows for `object`.
fn all_shown(kind: Kind, object: &Value) -> Shown {
    let names = fields(kind).iter().map(|(name, _)| *name);
    Shown::from_names(names, &|name| shown(object, name))
}

fn form_page(
    visit: &Visit<'_>,
    kind: Kind,
    known: &str,
    object: &Value,
    sent: Option<&Fields>,
    told: Markup,
) -> Page {
    let before = sent
        .and_then(Shown::carried)
        .unwrap_or_else(|| all_shown(kind, object));
    let value = |name: &str| match (sent, name) {
        (Some(form), "disabled") => filled(form, name, Form::Flag),
        (Some(form), name) => form.text(name).to_owned(),
        (None, name) => shown(object, name),
    };
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
            (told)
            (form(visit.session, &action, html! {
                @if !known.is_empty() { (before.field()) }
                (input("name", "Name", "For people; policies can name it in templates.", &value("name")))
                (area("policies", "Policies", "One on each line. They are added to those of each token.", &value("policies"), 3))
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

/// Creates an object, or changes it.
pub(super) fn save(visit: &Visit<'_>, form: &Fields) -> Answer {
    let (kind, known) = (
        Kind::named(visit.query.text("kind")),
        visit.query.text("name"),
    );
    let saved = match known {
        "" => make(visit, form, kind),
        known => change_known(visit, form, kind, known),
    };
    match saved {
        Ok(_) => Ok(Outcome::Redirect(kind.address(form.text("name")))),
        Err(error) => once_more(error, |told| {
            let page = form_page(visit, kind, known, &Value::Null, Some(form), told);
            Ok(Outcome::Page(page))
        }),
    }
}

/// Creates an object from the form.
fn make(visit: &Visit<'_>, form: &Fields, kind: Kind) -> Result<Value, ApiError> {
    let name = required("name", form.text("name"))?;
    let mut body = Map::new();
    if kind == Kind::Group {
        body.insert("type".to_owned(), form.text("type").into());
    }
    for (name, form_of) in fields(kind) {
        let value: Value = match form_of {
            Form::Flag => form.is_ticked(name).into(),
            _ if *name == "metadata" => pairs(form.text(name))?.into(),
            Form::Lines => form.lines(name).into(),
            _ => form.text(name).into(),
        };
        // Logins set the members of an external group; the API refuses a list of members for such a group.
        if *name != "member_entity_ids" || !form.text(name).is_empty() {
            body.insert((*name).to_owned(), value);
        }
    }
    // A write to a name that is in use would change the existing object instead of creating one.
    require_free(visit, &kind.path_of_name(name))?;
    let path = format!("/v1/identity/{}", kind.name());
    visit.api.write(&path, &body.into())
}

/// Changes the fields that differ from the values that the form showed, so that a change that another user made meanwhile stays.
fn change_known(
    visit: &Visit<'_>,
    form: &Fields,
    kind: Kind,
    known: &str,
) -> Result<Value, ApiError> {
    required("name", form.text("name"))?;
    let object = kind.read(visit, known)?;
    let before = Shown::carried(form).unwrap_or_else(|| all_shown(kind, &object));
    let mut body = Map::new();
    for (name, form_of) in fields(kind) {
        let was = before.text(name).unwrap_or_default();
        let is = match *name {
            "metadata" => metadata(form, was, object.get("metadata"))?,
            name => change(form, name, *form_of, was),
        };
        body.extend(is.map(|is| ((*name).to_owned(), is)));
    }
    let id = encoded(&at(&object, "/id"));
    let path = format!("/v1/identity/{}/id/{id}", kind.name());
    visit.api.write(&path, &body.into())
}

/// The metadata to write. A write replaces all stored metadata, so this is `stored` with only the members changed that the visitor changed from
/// `was`, the text that the form showed. `None` where the visitor changed nothing.
fn metadata(form: &Fields, was: &str, stored: Option<&Value>) -> Result<Option<Value>, ApiError> {
    let (was, is) = (pairs(was)?, pairs(form.text("metadata"))?);
    if was == is {
        return Ok(None);
    }
    let mut all = stored
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    all.retain(|key, _| is.contains_key(key) || !was.contains_key(key));
    let changes = is
        .into_iter()
        .filter(|(key, value)| was.get(key) != Some(value));
    all.extend(changes);
    Ok(Some(all.into()))
}
