//! The organizations that share modules and providers with an organization, in the self-hosted edition.

use maud::{Markup, html};

use super::organization::{Organization, address, part};
use crate::api::{ApiError, at};
use crate::layout::table;
use crate::pages::resources::Turned;
use crate::pages::{Answer, Visit};

/// The page.
pub(super) fn page(visit: &Visit<'_>) -> Answer {
    let organization = Organization::open(visit)?;
    organization.page(
        "Sharing",
        html! {
            p { "Site administrators decide with whom an organization shares, under “Site administration”." }
            h2 { "Modules come from" }
            (part(producers(visit, &organization, "module-producers", "Modules come from", "No organization shares modules with this one.")))
            h2 { "Providers come from" }
            (part(producers(visit, &organization, "provider-producers", "Providers come from", "No organization shares providers with this one.")))
        },
    )
}

fn producers(
    visit: &Visit<'_>,
    organization: &Organization,
    kind: &'static str,
    name: &str,
    empty: &str,
) -> Result<Markup, ApiError> {
    let path = format!("{}/relationships/{kind}", organization.path);
    let producers = Turned::read_by(visit, kind, &path)?;
    let rows: Vec<Vec<Markup>> = producers
        .entries()
        .map(|producer| {
            // The link names every producer, even one that the visitor may not open.
            let name = match at(producer, "/attributes/name").as_str() {
                "" => at(producer, "/id"),
                name => name.to_owned(),
            };
            vec![html! { a href=(address("show", &name)) { (name) } }]
        })
        .collect();
    Ok(html! {
        (table(name, &["Organization"], &rows, empty))
        (producers.turning(name, &organization.address("sharing")))
    })
}
