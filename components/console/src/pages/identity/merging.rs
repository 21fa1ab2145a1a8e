//! The page that merges several entities into one.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::kind::{Kind, id_of};
use crate::api::ApiError;
use crate::form::Fields;
use crate::layout::{Page, area, form, input};
use crate::pages::{Answer, Outcome, Visit, then};

/// The maximum number of entities merged at once: each is looked up by its name.
const MAXIMUM_MERGED: usize = 50;

/// The form, with the values that were typed.
pub(super) fn page(visit: &Visit<'_>, told: Markup, filled: Option<&Fields>) -> Answer {
    let value = |name: &str| filled.map_or("", |form| form.text(name));
    Ok(Outcome::Page(Page::new(
        "Merge entities",
        html! {
            (told)
            p { "Aliases and memberships of the merged entities go to this one; the merged entities, their policies and their metadata are deleted. This cannot be undone." }
            (form(visit.session, "/ui/identity/merge", html! {
                (input("stays", "Entity that stays", "Its name.", value("stays")))
                (area("merged", "Entities that are merged into it", "Their names, one on each line.", value("merged"), 4))
                (area("kept", "Aliases to keep", "Identifiers. Needed where two of the entities have an alias of the same mount, of which only one can stay.", value("kept"), 2))
            }, "Merge them"))
            p { a href="/ui/identity" { "Identity" } }
        },
    )))
}

/// Merges entities.
pub(super) fn merge(visit: &Visit<'_>, form: &Fields) -> Answer {
    let place = Kind::Entity.address(form.text("stays"));
    then(merged(visit, form), place, |told| {
        page(visit, told, Some(form))
    })
}

fn merged(visit: &Visit<'_>, form: &Fields) -> Result<Value, ApiError> {
    let names = form.lines("merged");
    if names.len() > MAXIMUM_MERGED {
        return Err(ApiError::new(
            400,
            format!("at most {MAXIMUM_MERGED} entities are merged at once"),
        ));
    }
    let id = |name: &str| {
        let unknown = |error: ApiError| match error.status {
            404 => ApiError::new(400, format!("there is no entity {name}")),
            _ => error,
        };
        id_of(visit, Kind::Entity, name).map_err(unknown)
    };
    let ids = names
        .iter()
        .map(|name| id(name))
        .collect::<Result<Vec<_>, _>>()?;
    let body = json!({
        "to_entity_id": id(form.text("stays"))?,
        "from_entity_ids": ids,
        "conflicting_alias_ids_to_keep": form.lines("kept"),
    });
    visit.api.write("/v1/identity/entity/merge", &body)
}
