//! Aliases: the names under which a mount knows an entity or a group.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::kind::{Kind, id_of};
use crate::api::{ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{button, form, input, table};
use crate::pages::{Answer, Outcome, Visit, then, typed_mount};

/// The address of the form that adds an alias.
const ADDING: &str = "/ui/identity/alias";

/// The aliases of an object, with a form that adds one.
pub(super) fn part(visit: &Visit<'_>, kind: Kind, name: &str, object: &Value) -> Markup {
    let listed = object.get("aliases").and_then(Value::as_array);
    let single = object
        .get("alias")
        .filter(|alias| alias.as_object().is_some_and(|alias| !alias.is_empty()));
    let rows: Vec<Vec<Markup>> = listed
        .into_iter()
        .flatten()
        .chain(single)
        .map(|alias| {
            let id = at(alias, "/id");
            let text = format!("Delete alias {}", at(alias, "/name"));
            let fields = [("kind", kind.name()), ("owner", name), ("id", id.as_str())];
            let mut row: Vec<Markup> = ["/name", "/mount_path", "/mount_type", "/id"]
                .map(|member| html! { (at(alias, member)) })
                .to_vec();
            row.push(button(
                visit.session,
                "/ui/identity/alias/delete",
                &fields,
                &text,
            ));
            row
        })
        .collect();
    let mount = match visit.typed(ADDING, "mount") {
        "" => "gcp",
        mount => mount,
    };
    // An internal group has none, and an external one at most one.
    let takes_one = kind == Kind::Entity || (at(object, "/type") == "external" && single.is_none());
    let empty = match (kind, takes_one) {
        (Kind::Entity, _) => "There are none yet: no login is one of this entity. Add one below.",
        (Kind::Group, true) => {
            "There is none yet: no login makes its entity a member. Add one below."
        }
        (Kind::Group, false) => "An internal group has none: its members are named.",
    };
    html! {
        (table("Aliases", &["Name", "Mount", "Type", "Identifier", "Actions"], &rows, empty))
        @if takes_one {
            (form(visit.session, ADDING, html! {
                input type="hidden" name="kind" value=(kind.name());
                input type="hidden" name="owner" value=(name);
                (input("alias", "Name of a new alias", "As the mount knows it: the account's unique identifier, the instance's, or the role's.", visit.typed(ADDING, "alias")))
                (input("mount", "Mount", "The path where the auth method is enabled.", mount))
            }, "Add the alias"))
        }
    }
}

/// Adds an alias. Where the API refuses it, `show` shows the object again.
pub(super) fn add(
    visit: &Visit<'_>,
    form: &Fields,
    show: impl FnOnce(Kind, &str, Markup) -> Answer,
) -> Answer {
    let (kind, owner) = (Kind::named(form.text("kind")), form.text("owner"));
    let added = accessor(visit, form.text("mount")).and_then(|accessor| {
        visit.api.write(
            &format!("/v1/identity/{}-alias", kind.name()),
            &json!({
                "name": form.text("alias"),
                "mount_accessor": accessor,
                "canonical_id": id_of(visit, kind, owner)?,
            }),
        )
    });
    then(added, kind.address(owner), |told| show(kind, owner, told))
}

/// The accessor of the mount at `path`.
fn accessor(visit: &Visit<'_>, path: &str) -> Result<String, ApiError> {
    let mounts = visit.api.read("/v1/sys/auth")?;
    let path = format!("{}/", typed_mount("mount", path)?);
    let mount = mounts.get("data").and_then(|mounts| mounts.get(&path));
    mount.map(|mount| at(mount, "/accessor")).ok_or_else(|| {
        ApiError::new(
            400,
            "there is no auth mount at that path; “Auth mounts” lists them",
        )
    })
}

/// Deletes an alias.
pub(super) fn delete(visit: &Visit<'_>, form: &Fields) -> Answer {
    let kind = Kind::named(form.text("kind"));
    visit.api.delete(&format!(
        "/v1/identity/{}-alias/id/{}",
        kind.name(),
        encoded(form.text("id"))
    ))?;
    Ok(Outcome::Redirect(kind.address(form.text("owner"))))
}
