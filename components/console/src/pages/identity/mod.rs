//! Entities, groups and their aliases.

mod aliases;
mod editing;
mod kind;
mod merging;

use maud::{Markup, html};

use self::kind::Kind;
use super::listing::listed;
use super::{Answer, Outcome, Route, Visit};
use crate::api::{ApiError, encoded, shown};
use crate::form::Fields;
use crate::layout::{Page, button, facts, table};

/// The pages below `/ui/identity`.
pub const ROUTES: &[Route] = &[
    Route::page("/ui/identity", list),
    Route::page("/ui/identity/entity", |visit| {
        one(visit, Kind::Entity, html! {})
    }),
    Route::page("/ui/identity/group", |visit| {
        one(visit, Kind::Group, html! {})
    }),
    Route::both("/ui/identity/edit", editing::page, editing::save),
    Route::form("/ui/identity/delete", delete),
    Route::form("/ui/identity/alias", |visit, form| {
        aliases::add(visit, form, |kind, owner, told| {
            shown_by_name(visit, kind, owner, told)
        })
    }),
    Route::form("/ui/identity/alias/delete", aliases::delete),
    Route::both(
        "/ui/identity/merge",
        |visit| merging::page(visit, html! {}, None),
        merging::merge,
    ),
];

/// Both lists; each has pages of its own.
fn list(visit: &Visit<'_>) -> Answer {
    let entities = part(
        visit,
        Kind::Entity,
        "Entities",
        "There are no entities yet: make one, or wait for the first login, which makes one.",
    )?;
    let groups = part(
        visit,
        Kind::Group,
        "Groups",
        "There are no groups yet: make one to give several entities the same policies.",
    )?;
    Ok(Outcome::Page(Page::new(
        "Identity",
        html! {
            h2 { "Entities" }
            p { "An entity is one identity, through whatever mounts and roles it logs in." }
            (entities)
            p { a href="/ui/identity/edit?kind=entity" { "Make an entity" } ", " a href="/ui/identity/merge" { "merge entities" } }
            h2 { "Groups" }
            p { "A group gives policies to its members, or to logins that carry its alias." }
            (groups)
            p { a href="/ui/identity/edit?kind=group" { "Make a group" } }
        },
    )))
}

/// The list of the objects of a kind, with the title `list`.
fn part(visit: &Visit<'_>, kind: Kind, list: &str, empty: &str) -> Result<Markup, ApiError> {
    let path = format!("/v1/identity/{}/name", kind.name());
    let after = format!("{}_after", list.to_lowercase());
    let listed = listed(visit, &path, visit.query.text(&after))?;
    let rows: Vec<Vec<Markup>> = listed
        .names
        .iter()
        .map(|name| vec![html! { a href=(kind.address(name)) { (name) } }])
        .collect();
    Ok(html! {
        (table(list, &["Name"], &rows, empty))
        (listed.turning(list, &format!("/ui/identity?{after}")))
    })
}

/// An entity or a group, below the message `told`.
fn one(visit: &Visit<'_>, kind: Kind, told: Markup) -> Answer {
    let name = visit.asked("name")?;
    shown_by_name(visit, kind, name, told)
}

fn shown_by_name(visit: &Visit<'_>, kind: Kind, name: &str, told: Markup) -> Answer {
    let object = kind.read(visit, name)?;
    let members = object.as_object().into_iter().flatten();
    let members = members.filter(|(name, _)| !matches!(name.as_str(), "aliases" | "alias"));
    let title = match kind {
        Kind::Entity => format!("Entity {name}"),
        Kind::Group => format!("Group {name}"),
    };
    let fields = [("kind", kind.name()), ("name", name)];
    Ok(Outcome::Page(Page::new(
        title,
        html! {
            (told)
            (facts(members.map(|(name, value)| (name.as_str(), shown(value)))))
            p { a href={ "/ui/identity/edit?kind=" (kind.name()) "&name=" (encoded(name)) } { "Change " (name) } }
            h2 { "Aliases" }
            (aliases::part(visit, kind, name, &object))
            h2 { "Delete" }
            p { (button(visit.session, "/ui/identity/delete", &fields, &format!("Delete {name}"))) }
            p { a href="/ui/identity" { "Identity" } }
        },
    )))
}

/// Deletes an entity or a group.
fn delete(visit: &Visit<'_>, form: &Fields) -> Answer {
    let kind = Kind::named(form.text("kind")).name();
    let name = encoded(form.text("name"));
    visit
        .api
        .delete(&format!("/v1/identity/{kind}/name/{name}"))?;
    Ok(Outcome::Redirect("/ui/identity".to_owned()))
}
