//! Help as text, for command lines, with the content of the OpenAPI description.

use std::fmt::Write as _;

use crate::vault::field::{Field, Kind};
use crate::vault::route::Route;
use crate::vault::routes::Family;

/// The help about all routes below a root.
pub(super) fn of_family(family: &Family) -> String {
    let mut text = format!(
        "## DESCRIPTION\n\n{}\n\n## PATHS\n\nAsk for help with one of these for its parameters.\n",
        family.about
    );
    for route in family.described() {
        let path = route.path.trim_end_matches('/');
        append(
            &mut text,
            format_args!("\n    {path}\n        {}\n", route.about),
        );
    }
    text
}

/// The help about one route at `path`: its purpose, and every parameter of its operations with its type.
pub(super) fn of_route(route: &Route, path: &str) -> String {
    let mut text = format!(
        "Request:        {path}\nMatching Route: {}\n\n{}\n",
        route.path, route.about
    );
    let operations = route.operations.iter();
    let fields = operations.flat_map(|operation| operation.query.iter().chain(operation.body));
    let mut shown: Vec<&Field> = Vec::new();
    for field in route.captures.iter().chain(fields) {
        if shown.iter().all(|it| it.name != field.name) {
            shown.push(field);
        }
    }
    shown.sort_unstable_by_key(|field| field.name);
    if !shown.is_empty() {
        text.push_str("\n## PARAMETERS\n");
    }
    for field in shown {
        append_field(&mut text, field, 4);
    }
    text.push_str("\n## OPERATIONS\n\n");
    for operation in route.operations {
        append(&mut text, format_args!("    {}\n", operation.summary));
    }
    text
}

fn append_field(text: &mut String, field: &Field, indent: usize) {
    let notes = match (field.required, field.deprecated) {
        (true, _) => ", required",
        (_, true) => ", deprecated",
        _ => "",
    };
    let (name, kind) = (field.name, kind(field.kind));
    append(
        text,
        format_args!("\n{:indent$}{name} ({kind}{notes})\n\n", ""),
    );
    let inner = indent + 4;
    append(text, format_args!("{:inner$}{}\n", "", field.about));
    match field.kind {
        Kind::Choice(words) => {
            let words = words.join(", ");
            append(text, format_args!("{:inner$}One of: {words}.\n", ""));
        }
        Kind::Object(members) => {
            for member in members {
                append_field(text, member, inner);
            }
        }
        _ => {}
    }
}

const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Text | Kind::Choice(_) | Kind::RoleName => "string",
        Kind::Boolean => "boolean",
        Kind::Integer => "integer",
        Kind::Seconds => "duration",
        Kind::List => "list",
        Kind::Map => "map",
        Kind::Object(_) => "object",
    }
}

fn append(text: &mut String, part: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(part);
}
