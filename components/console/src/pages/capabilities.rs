//! The capabilities of a token at a path.

use maud::{Markup, html};
use serde_json::json;

use super::{Answer, Outcome, Visit, once_more};
use crate::api::{shown, texts};
use crate::form::Fields;
use crate::layout::{Page, area, form, input, table};

/// The form.
pub fn page(visit: &Visit<'_>) -> Answer {
    Ok(Outcome::Page(Page::new(
        "What may a token do?",
        asking(visit, "", ""),
    )))
}

fn asking(visit: &Visit<'_>, accessor: &str, paths: &str) -> Markup {
    form(
        visit.session,
        "/ui/capabilities",
        html! {
            (input("accessor", "Accessor", "Of the token to ask about. Empty for your own.", accessor))
            (area("paths", "Paths", "One on each line, without /v1/: auth/gcp/role/web. Those of organizations begin with organizations/.", paths, 3))
        },
        "Ask",
    )
}

/// The capabilities at each path.
pub fn ask(visit: &Visit<'_>, form: &Fields) -> Answer {
    let accessor = form.text("accessor");
    let paths = form.lines("paths");
    let asked = match accessor {
        "" => visit
            .api
            .write("/v1/sys/capabilities-self", &json!({ "paths": paths })),
        accessor => visit.api.write(
            "/v1/sys/capabilities-accessor",
            &json!({ "accessor": accessor, "paths": paths }),
        ),
    };
    let page = |content: Markup| {
        Ok(Outcome::Page(Page::new(
            "What may a token do?",
            html! { (content) (asking(visit, accessor, form.text("paths"))) },
        )))
    };
    let answer = match asked {
        Ok(answer) => answer,
        Err(error) => return once_more(error, page),
    };
    let rows: Vec<Vec<Markup>> = paths
        .iter()
        .map(|path| {
            let found = answer.get("data").and_then(|data| data.get(path));
            let capabilities = texts(found);
            let verdict = match capabilities.iter().any(|capability| capability == "deny") {
                true => html! { span class="failed" { "nothing" } },
                false => html! { (found.map_or_else(String::new, shown)) },
            };
            vec![html! { code { (path) } }, verdict]
        })
        .collect();
    page(table(
        "Capabilities",
        &["Path", "May"],
        &rows,
        "Name a path to ask about.",
    ))
}
