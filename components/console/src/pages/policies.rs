//! Policies.

use maud::{Markup, html};
use serde_json::json;

use super::listing::listed;
use super::{Answer, Outcome, Visit, once_more, require_free};
use crate::api::{ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{Page, area, button, form, input, notice, table};

/// The name of the list.
const NAME: &str = "Policies";

/// The policy that the editor begins with.
const EXAMPLE: &str = "# What is not allowed here is refused.\npath \"auth/token/lookup-self\" {\n  capabilities = [\"read\"]\n}\n";

/// The list.
pub fn list(visit: &Visit<'_>) -> Answer {
    let after = visit.query.text("after");
    let listed = listed(visit, "/v1/sys/policies/acl", after)?;
    let rows: Vec<Vec<Markup>> = listed
        .names
        .iter()
        .map(|name| {
            let can_go = !matches!(name.as_str(), "root" | "default");
            vec![
                html! { a href=(address(name)) { (name) } },
                html! { @if can_go {
                    (button(visit.session, "/ui/policies/delete", &[("name", name)], &format!("Delete {name}")))
                } },
            ]
        })
        .collect();
    Ok(Outcome::Page(Page::new(
        NAME,
        html! {
            (table(NAME, &["Policy", "Actions"], &rows, "There are no policies that your token may see."))
            (listed.turning(NAME, "/ui/policies?after"))
            p { a href="/ui/policies/edit" { "Write a policy" } }
        },
    )))
}

fn address(name: &str) -> String {
    format!("/ui/policies/edit?name={}", encoded(name))
}

fn api_path(name: &str) -> String {
    format!("/v1/sys/policies/acl/{}", encoded(name))
}

/// The editor.
pub fn edit(visit: &Visit<'_>) -> Answer {
    let name = visit.query.text("name");
    let text = match name {
        "" => EXAMPLE.to_owned(),
        name => at(&visit.api.read(&api_path(name))?, "/data/policy"),
    };
    let told =
        (visit.query.text("done") == "saved").then(|| notice("The policy is saved and in force."));
    Ok(Outcome::Page(editor(visit, name, name, &text, told)))
}

fn editor(visit: &Visit<'_>, known: &str, name: &str, text: &str, told: Option<Markup>) -> Page {
    let title = match known {
        "" => "Write a policy".to_owned(),
        known => format!("Policy {known}"),
    };
    Page::new(
        title,
        html! {
            (told.unwrap_or_default())
            (form(visit.session, &address(known), html! {
                @if known.is_empty() {
                    (input("name", "Name", "In lower case; roles and groups refer to policies by it.", name))
                }
                (area("policy", "Rules", "One block for each path: path \"…\" { capabilities = [\"read\"] }. A + stands for one segment, a * at the end for the rest.", text, 20))
            }, "Save the policy"))
        },
    )
}

/// Writes a policy.
pub fn save(visit: &Visit<'_>, form: &Fields) -> Answer {
    let known = visit.query.text("name");
    let name = match known {
        // The API folds names to lower case as well. With another case, the address after the save would lead to no policy.
        "" => form.text("name").to_lowercase(),
        known => known.to_owned(),
    };
    let write = |text: &str| {
        let path = api_path(&name);
        if known.is_empty() {
            require_free(visit, &path)?;
        }
        visit.api.write(&path, &json!({ "policy": text }))
    };
    let text = form.raw("policy").replace("\r\n", "\n");
    let saved = match name.as_str() {
        "" => Err(ApiError::new(400, "the policy has no name yet")),
        _ => write(&text),
    };
    match saved {
        Ok(_) => Ok(Outcome::Redirect(format!("{}&done=saved", address(&name)))),
        Err(error) => {
            let line = line_at_fault(&error, &text);
            once_more(error, |told| {
                let told = html! { (told) (line) };
                let page = editor(visit, known, form.text("name"), &text, Some(told));
                Ok(Outcome::Page(page))
            })
        }
    }
}

/// The line that the error message of the API names, where it names one.
fn line_at_fault(error: &ApiError, text: &str) -> Markup {
    let number = error
        .messages
        .iter()
        .find_map(|message| number_of_line(message));
    let line = number.and_then(|number| Some((number, text.lines().nth(number.checked_sub(1)?)?)));
    html! { @if let Some((number, line)) = line { p { "Line " (number) ":" } pre { (line) } } }
}

/// The number after the word `line`, or the first number in a position like `At 3:7`.
fn number_of_line(message: &str) -> Option<usize> {
    let lower = message.to_lowercase();
    let rest = lower
        .split_once("line ")
        .or_else(|| lower.split_once("at "))
        .map(|(_, rest)| rest)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Deletes a policy.
pub fn delete(visit: &Visit<'_>, form: &Fields) -> Answer {
    visit.api.delete(&api_path(form.text("name")))?;
    Ok(Outcome::Redirect("/ui/policies".to_owned()))
}
