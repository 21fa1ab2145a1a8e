//! The explanation of a refused login.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::sign_in::pasted_jwt;
use super::{Answer, Outcome, Visit, once_more, typed_mount};
use crate::api::{ApiError, at, encoded_path};
use crate::form::Fields;
use crate::layout::{Page, area, form, input, notice, summary, table};

const TITLE: &str = "Why was this login refused?";

/// The form.
pub fn page(visit: &Visit<'_>) -> Answer {
    let mount = match visit.query.text("mount") {
        "" => "gcp",
        mount => mount,
    };
    Ok(Outcome::Page(Page::new(
        TITLE,
        html! {
            p { "Paste the JWT that the workload sent. No token is made, and the JWT is not kept." }
            (asking(visit, mount, visit.query.text("role")))
        },
    )))
}

fn asking(visit: &Visit<'_>, mount: &str, role: &str) -> Markup {
    form(
        visit.session,
        "/ui/explain",
        html! {
            (input("mount", "Mount", "The path where the auth method is enabled.", mount))
            (input("role", "Role", "The role that the login named.", role))
            (area("jwt", "JWT", "Three parts with dots between them.", "", 6))
        },
        "Explain",
    )
}

/// The explanation.
pub fn explain(visit: &Visit<'_>, form: &Fields) -> Answer {
    let answer = match explained(visit, form) {
        Ok(answer) => answer,
        Err(error) => {
            let asking = asking(visit, form.text("mount"), form.text("role"));
            let again = |told| Ok(Outcome::Page(Page::new(TITLE, html! { (told) (asking) })));
            return once_more(error, again);
        }
    };
    let allowed = answer.pointer("/data/allowed") == Some(&Value::Bool(true));
    let checks = answer.pointer("/data/checks").and_then(Value::as_array);
    let rows: Vec<Vec<Markup>> = checks.into_iter().flatten().map(row).collect();
    Ok(Outcome::Page(Page::new(
        TITLE,
        html! {
            @if allowed {
                (notice("This login would be accepted now. If it was refused before, the JWT was not yet valid then, the role has changed since, or the login came from another address."))
            } @else {
                (summary(html! { p { "This login is refused. The client is told only the first check that failed; correct them all. A check that needs the result of a failed one is not made." } }))
            }
            (table("Checks", &["Check", "Outcome", "What it compared", "Answer to the client"], &rows, "No check was made."))
            h2 { "Another login" }
            (asking(visit, form.text("mount"), form.text("role")))
        },
    )))
}

/// The answer of the API.
fn explained(visit: &Visit<'_>, form: &Fields) -> Result<Value, ApiError> {
    let mount = typed_mount("mount", form.text("mount"))?;
    let body = json!({ "role": form.text("role"), "jwt": pasted_jwt(form)? });
    let path = format!("/v1/auth/{}/login/explain", encoded_path(mount));
    visit.api.write(&path, &body)
}

fn row(check: &Value) -> Vec<Markup> {
    let verdict = at(check, "/verdict");
    let outcome = match verdict.as_str() {
        "passed" => html! { "passed" },
        "failed" => html! { span class="failed" { "failed" } },
        _ => html! { "not made" },
    };
    let inputs = check.get("inputs").and_then(Value::as_object);
    vec![
        html! { (at(check, "/check").replace('_', " ")) },
        outcome,
        html! { @for (name, value) in inputs.into_iter().flatten() {
            div { (name.replace('_', " ")) ": " code { (crate::api::shown(value)) } }
        } },
        html! { (at(check, "/reason")) },
    ]
}
