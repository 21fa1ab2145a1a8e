//! The page of `docs/reference` that lists the routes below `/api/v2`, compared with the table.

use std::fmt::Write as _;

use gatehouse_orgs_api::Edition;

use crate::openapi::pages;
use crate::organizations::route::{Audience, Route};
use crate::organizations::routes::tests::routes;

const PAGE: &str = "docs/reference/organizations-routes.md";
const COMMAND: &str = "GATEHOUSE_WRITE=1 cargo test -p gatehouse-gateway --lib openapi::page";

const fn audience(audience: Audience) -> &'static str {
    match audience {
        Audience::Anyone => "anyone",
        Audience::Bearers => "any token",
        Audience::Organization => "organization",
        Audience::User => "user",
        Audience::Auditors => "auditors",
        Audience::Administrators => "site administrators",
    }
}

fn query(route: &Route) -> String {
    let mut names: Vec<String> = route
        .query
        .iter()
        .map(|it| format!("`{}`", it.name))
        .collect();
    for name in route.includes.unwrap_or_default() {
        names.push(format!("`include={name}`"));
    }
    if route.is_paged {
        names.push("pages".to_owned());
    }
    names.join(", ")
}

fn page() -> String {
    let mut page = format!(
        "# Routes below `/api/v2`\n\n\
         Generated from the tables in `components/gateway/src/organizations` by `{COMMAND}`. Do not edit.\n\n\
         `GET /api/v2/openapi.json` answers the same for programs, with the attributes of each document. Who is admitted to an \
         organization stands in [contract 1.7](../contract/organizations.md#1.7).\n\n\
         | | path | for | edition | query | summary |\n|---|---|---|---|---|---|\n"
    );
    for route in routes() {
        writeln!(
            page,
            "| {} | `{}` | {} | {} | {} | {} |",
            route.verb(),
            route.path,
            audience(route.audience),
            route.edition.map_or("both", Edition::as_str),
            query(route),
            route.summary
        )
        .unwrap();
    }
    page.replace("|  |", "| |")
}

#[test]
fn every_route_stands_in_the_reference() {
    pages::check(PAGE, &page(), COMMAND);
}
