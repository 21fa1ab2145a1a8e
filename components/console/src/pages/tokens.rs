//! Tokens, by their accessors.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::listing::listed;
use super::{Answer, Outcome, Visit, once_more, required};
use crate::api::shown;
use crate::form::Fields;
use crate::layout::{Page, button, facts, form, input, table, unavailable};

/// The name of the list.
const NAME: &str = "Tokens";
/// The address where tokens are listed and looked up.
pub const PATH: &str = "/ui/tokens";

/// The list, below the message `told`, with a form that looks up a token.
pub fn list(visit: &Visit<'_>, told: Markup) -> Answer {
    let after = visit.query.text("after");
    let listed = match listed(visit, "/v1/auth/token/accessors", after) {
        // Listing needs `sudo`; looking up a token may be allowed without it.
        Err(error) if error.status != 403 => return Err(error),
        listed => listed,
    };
    let rows: Vec<Vec<Markup>> = listed
        .iter()
        .flat_map(|listed| &listed.names)
        .map(|accessor| {
            vec![
                html! { code { (accessor) } },
                html! {
                    (look(visit, accessor)) " "
                    (button(visit.session, "/ui/tokens/revoke", &[("accessor", accessor)], &format!("Revoke {accessor}")))
                },
            ]
        })
        .collect();
    Ok(Outcome::Page(Page::new(
        NAME,
        html! {
            (told)
            (form(visit.session, PATH, input("accessor", "Accessor", "It identifies a token without revealing it, as in audit records.", visit.typed(PATH, "accessor")), "Look up"))
            @match &listed {
                Ok(listed) => {
                    (table(NAME, &["Accessor", "Actions"], &rows, "There are no service tokens."))
                    (listed.turning(NAME, &format!("{PATH}?after")))
                }
                Err(error) => (unavailable(error)),
            }
        },
    )))
}

fn look(visit: &Visit<'_>, accessor: &str) -> Markup {
    html! {
        form class="inline" method="post" action="/ui/tokens" {
            (crate::layout::key(visit.session))
            input type="hidden" name="accessor" value=(accessor);
            button { "Look up " (accessor) }
        }
    }
}

/// One token.
pub fn look_up(visit: &Visit<'_>, form: &Fields) -> Answer {
    let accessor = form.text("accessor");
    let looked_up = required("accessor", accessor).and_then(|accessor| {
        visit.api.write(
            "/v1/auth/token/lookup-accessor",
            &json!({ "accessor": accessor }),
        )
    });
    let answer = match looked_up {
        Ok(answer) => answer,
        Err(error) => return once_more(error, |told| list(visit, told)),
    };
    let data = answer.get("data").and_then(Value::as_object);
    // The identifier is empty in such a response. This filter makes sure that it is never shown.
    let members = data.into_iter().flatten().filter(|(name, _)| *name != "id");
    Ok(Outcome::Page(Page::new(
        "A token",
        html! {
            (facts(members.map(|(name, value)| (name.as_str(), shown(value)))))
            (button(visit.session, "/ui/tokens/revoke", &[("accessor", accessor)], "Revoke it and its children"))
            p { a href="/ui/tokens" { "Tokens" } }
        },
    )))
}

/// Revokes a token.
pub fn revoke(visit: &Visit<'_>, form: &Fields) -> Answer {
    visit.api.write(
        "/v1/auth/token/revoke-accessor",
        &json!({ "accessor": form.text("accessor") }),
    )?;
    Ok(Outcome::Redirect("/ui/tokens".to_owned()))
}
