//! Entities, groups and their aliases.

use maud::{Markup, html};
use serde_json::Value;

use super::{Answer, Outcome, Visit};
use crate::api::{at, encoded, shown};
use crate::form::Fields;
use crate::layout::{Page, button, table};

/// Names on one page.
const PAGE_SIZE: usize = 100;

/// Both lists; each pages by itself.
pub fn list(visit: &Visit<'_>) -> Answer {
    let entities = part(visit, "entity", "entities_after")?;
    let groups = part(visit, "group", "groups_after")?;
    Ok(Outcome::Page(Page::new(
        "Identity",
        html! {
            h2 { "Entities" }
            p { "An entity is who logs in, by whatever mount or role." }
            (entities)
            h2 { "Groups" }
            p { "A group gives policies to its members, or to logins that carry its alias." }
            (groups)
        },
    )))
}

fn part(visit: &Visit<'_>, kind: &str, after: &str) -> Result<Markup, crate::api::ApiError> {
    let names = visit.api.list(&format!(
        "/v1/identity/{kind}/name?limit={PAGE_SIZE}&after={}",
        encoded(visit.query.text(after))
    ))?;
    let rows: Vec<Vec<Markup>> = names
        .iter()
        .map(|name| {
            vec![html! { a href={ "/ui/identity/" (kind) "?name=" (encoded(name)) } { (name) } }]
        })
        .collect();
    let next = names.last().filter(|_| names.len() == PAGE_SIZE);
    Ok(html! {
        (table(&["Name"], &rows))
        @if let Some(last) = next {
            p { a href={ "/ui/identity?" (after) "=" (encoded(last)) } { "Next page" } }
        }
    })
}

/// An entity.
pub fn entity(visit: &Visit<'_>) -> Answer {
    one(visit, "entity", "Entity")
}

/// A group.
pub fn group(visit: &Visit<'_>) -> Answer {
    one(visit, "group", "Group")
}

fn one(visit: &Visit<'_>, kind: &str, title: &str) -> Answer {
    let name = visit.query.text("name");
    let answer = visit
        .api
        .read(&format!("/v1/identity/{kind}/name/{}", encoded(name)))?;
    let data = answer.get("data").and_then(Value::as_object);
    let members = data.into_iter().flatten().filter(|(name, value)| {
        !matches!(name.as_str(), "aliases" | "alias") && !shown(value).is_empty()
    });
    let listed = answer.pointer("/data/aliases").and_then(Value::as_array);
    let single = answer
        .pointer("/data/alias")
        .filter(|alias| alias.as_object().is_some_and(|alias| !alias.is_empty()));
    let aliases: Vec<Vec<Markup>> = listed
        .into_iter()
        .flatten()
        .chain(single)
        .map(|alias| {
            ["/name", "/mount_path", "/mount_type", "/id"]
                .map(|member| html! { (at(alias, member)) })
                .to_vec()
        })
        .collect();
    Ok(Outcome::Page(Page::new(
        format!("{title} {name}"),
        html! {
            dl { @for (name, value) in members { dt { (name.replace('_', " ")) } dd { (shown(value)) } } }
            h2 { "Aliases" }
            (table(&["Name", "Mount", "Type", "Identifier"], &aliases))
            p { (button(visit.session, "/ui/identity/delete", &[("kind", kind), ("name", name)], &format!("Delete {name}"))) }
            p { a href="/ui/identity" { "Identity" } }
        },
    )))
}

/// Deletes an entity or a group.
pub fn delete(visit: &Visit<'_>, form: &Fields) -> Answer {
    let kind = match form.text("kind") {
        "group" => "group",
        _ => "entity",
    };
    let name = encoded(form.text("name"));
    visit
        .api
        .delete(&format!("/v1/identity/{kind}/name/{name}"))?;
    Ok(Outcome::Redirect("/ui/identity".to_owned()))
}
