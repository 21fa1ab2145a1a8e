//! The page of `docs/reference` that lists the routes below `/v1`, compared with the tables.

use std::fmt::Write as _;

use crate::openapi::pages;
use crate::vault::route::{Needs, Verb};
use crate::vault::routes::{CUBBYHOLE, Family, IDENTITY, METHOD, SYSTEM, TOKENS};

const PAGE: &str = "docs/reference/routes.md";
const COMMAND: &str = "GATEHOUSE_WRITE=1 cargo test -p gatehouse-gateway openapi::page";

/// The families and their paths.
const FAMILIES: [(&str, &Family); 5] = [
    ("auth/<mount>/", &METHOD),
    ("auth/token/", &TOKENS),
    ("sys/", &SYSTEM),
    ("identity/", &IDENTITY),
    ("cubbyhole/", &CUBBYHOLE),
];

const fn method(verb: Verb) -> &'static str {
    match verb {
        Verb::Get | Verb::GetOrList => "GET",
        Verb::Head => "HEAD",
        Verb::List => "LIST",
        Verb::Post => "POST",
        Verb::Delete => "DELETE",
    }
}

const fn requirement(needs: Needs) -> &'static str {
    match needs {
        Needs::Nothing => "no token",
        Needs::Token => "a policy",
        Needs::Sudo => "a policy with `sudo`",
    }
}

fn page() -> String {
    let mut page = format!(
        "# Routes below `/v1`\n\n\
         Generated from the tables in `components/gateway/src/vault/routes` by `{COMMAND}`. Do not edit.\n\n\
         `GET /v1/sys/internal/specs/openapi` answers the same for programs, with the fields of each request, as far as the caller has any \
         rights to them. `LIST` is a method, or `GET` with `list=true`.\n"
    );
    for (root, family) in FAMILIES {
        write!(
            page,
            "\n## `{root}`\n\n{}\n\n| | path | needs | what it does |\n|---|---|---|---|\n",
            family.about
        )
        .unwrap();
        for route in family.described() {
            let path = format!("{root}{}", route.path);
            let path = path.trim_end_matches('/');
            for operation in route.operations {
                writeln!(
                    page,
                    "| {} | `{path}` | {} | {} |",
                    method(operation.verb),
                    requirement(route.needs),
                    operation.summary
                )
                .unwrap();
            }
        }
    }
    page
}

#[test]
fn every_route_stands_in_the_reference() {
    pages::check(PAGE, &page(), COMMAND);
}
