//! The page of an organization for site administrators.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use crate::api::{ApiError, at, encoded};
use crate::form::Fields;
use crate::layout::{Page, area, form, input, notice, select};
use crate::pages::fields::{Attribute, Kind, attribute, attribute_fields, changed_attributes};
use crate::pages::resources::{document, entries};
use crate::pages::{Answer, Outcome, Visit, then};

/// The maximum number of organizations in the form of sharing. A form that shows only some of them would remove the others.
const MAXIMUM_CONSUMERS: usize = 100;

#[rustfmt::skip]
const SETTINGS: &[Attribute] = &[
    attribute("is-disabled", "Closed", "To all but site administrators.", Kind::Flag),
    attribute("global-module-sharing", "Share modules with all organizations", "Only in the self-hosted edition.", Kind::Flag),
    attribute("global-provider-sharing", "Share providers with all organizations", "Only in the self-hosted edition.", Kind::Flag),
];

fn api_path(name: &str) -> String {
    format!("/api/v2/admin/organizations/{}", encoded(name))
}

fn address(place: &str, name: &str) -> String {
    format!("/ui/site/organization{place}?name={}", encoded(name))
}

/// The page, below the message `told`.
pub(super) fn page(visit: &Visit<'_>, told: Markup) -> Answer {
    let organization = visit.api.read(&api_path(visit.query.text("name")))?;
    let name = at(&organization, "/data/attributes/name");
    let attributes = organization
        .pointer("/data/attributes")
        .cloned()
        .unwrap_or_default();
    Ok(Outcome::Page(Page::new(
        format!("Administration of {name}"),
        html! {
            (told)
            @if visit.query.text("done") == "saved" { (notice("It is saved.")) }
            (form(visit.session, &address("", &name), attribute_fields(SETTINGS, &attributes, visit.sent_to("/ui/site/organization")), "Save"))
            (plan(visit, &name))
            (sharing(visit, &name))
            p { a href={ "/ui/organizations/show?name=" (encoded(&name)) } { "Organization " (name) } ", "
                a href="/ui/site/organizations" { "all organizations" } }
        },
    )))
}

/// The feature sets that are offered.
fn offered(visit: &Visit<'_>) -> Result<Value, ApiError> {
    visit
        .api
        .read("/api/v2/admin/feature-sets?page%5Bsize%5D=100")
}

/// The form that books a plan; empty in the edition without plans.
fn plan(visit: &Visit<'_>, name: &str) -> Markup {
    let path = format!("/api/v2/organizations/{}/subscription", encoded(name));
    let (Ok(booked), Ok(sets)) = (visit.api.read(&path), offered(visit)) else {
        return html! {};
    };
    let value = |attribute: &str| at(&booked, &format!("/data/attributes/{attribute}"));
    let current = booked
        .pointer("/data/relationships/feature-set/data/id")
        .and_then(|id| entries(&sets).find(|set| set.get("id") == Some(id)))
        .map(|set| at(set, "/attributes/name"))
        .unwrap_or_default();
    let mut names: Vec<String> = entries(&sets)
        .map(|set| at(set, "/attributes/name"))
        .collect();
    // Without an empty choice, the form would preselect a plan that is not booked.
    if current.is_empty() {
        names.insert(0, String::new());
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let sent = visit.sent_to("/ui/site/organization/plan");
    let typed =
        |field: &str, stored: String| sent.map_or(stored, |form| form.text(field).to_owned());
    html! {
        h2 { "Plan" }
        (form(visit.session, &address("/plan", name), html! {
            (select("plan", "Plan", "It is in force from the next request on, and replaces the plan before it.", &names, &typed("plan", current)))
            (input("end-at", "End", "As 2030-01-31T00:00:00Z; after it the plan is the free one. Empty for none.", &typed("end-at", value("end-at"))))
            (input("runs-ceiling", "Runs at a time", "Empty for the plan's own number.", &typed("runs-ceiling", value("runs-ceiling"))))
        }, "Book the plan"))
    }
}

/// The form of sharing; empty in the edition without sharing.
fn sharing(visit: &Visit<'_>, name: &str) -> Markup {
    let consumers = |kind: &str| {
        let path = format!(
            "{}/relationships/{kind}?page%5Bsize%5D={MAXIMUM_CONSUMERS}",
            api_path(name)
        );
        visit.api.read(&path).map(|answer| {
            let names: Vec<String> = entries(&answer)
                .map(|consumer| at(consumer, "/attributes/name"))
                .collect();
            let total = answer
                .pointer("/meta/pagination/total-count")
                .and_then(Value::as_u64)
                .unwrap_or(0);
            (names, total)
        })
    };
    let (Ok(modules), Ok(providers)) = (
        consumers("module-consumers"),
        consumers("provider-consumers"),
    ) else {
        return html! {};
    };
    let too_many = |(names, total): &(Vec<String>, u64)| *total > names.len() as u64;
    let sent = visit.sent_to("/ui/site/organization/sharing");
    let typed = |field: &str, stored: &[String]| match sent {
        Some(form) => form.text(field).to_owned(),
        None => stored.join("\n"),
    };
    html! {
        h2 { "Sharing" }
        @if too_many(&modules) || too_many(&providers) {
            p { "It shares with more than " (MAXIMUM_CONSUMERS) " organizations, which the API lists and changes." }
        } @else {
            (form(visit.session, &address("/sharing", name), html! {
                (area("modules", "Modules go to", "Names of organizations, one on each line.", &typed("modules", &modules.0), 3))
                (area("providers", "Providers go to", "Names of organizations, one on each line.", &typed("providers", &providers.0), 3))
            }, "Share with these"))
        }
    }
}

fn saved(visit: &Visit<'_>, done: Result<Value, ApiError>) -> Answer {
    let place = format!("{}&done=saved", address("", visit.query.text("name")));
    then(done, place, |told| page(visit, told))
}

/// Changes the settings.
pub(super) fn change(visit: &Visit<'_>, form: &Fields) -> Answer {
    let path = api_path(visit.query.text("name"));
    let before = visit.api.read(&path)?;
    let attributes = before.pointer("/data/attributes").unwrap_or(&Value::Null);
    let changes = changed_attributes(SETTINGS, form, attributes);
    let done = visit.api.patch(&path, &document("organizations", changes));
    saved(visit, done)
}

/// Books a plan.
pub(super) fn book(visit: &Visit<'_>, form: &Fields) -> Answer {
    let sets = offered(visit)?;
    let wanted = form.text("plan");
    let set = entries(&sets).find(|set| at(set, "/attributes/name") == wanted);
    let mut terms = Map::new();
    // An empty field means no limit.
    terms.insert(
        "end-at".to_owned(),
        match form.text("end-at") {
            "" => Value::Null,
            end => end.into(),
        },
    );
    let ceiling = form.text("runs-ceiling");
    if !ceiling.is_empty() {
        let number = ceiling
            .parse::<u64>()
            .map_or_else(|_| ceiling.into(), Value::from);
        terms.insert("runs-ceiling".to_owned(), number);
    }
    let body = json!({ "data": {
        "type": "subscription",
        "attributes": terms,
        "relationships": { "feature-set": { "data": {
            "type": "feature-sets",
            "id": set.map(|set| at(set, "/id")),
        } } },
    } });
    let path = format!("{}/subscription", api_path(visit.query.text("name")));
    saved(visit, visit.api.write(&path, &body))
}

/// Sets the organizations with which an organization shares.
pub(super) fn share(visit: &Visit<'_>, form: &Fields) -> Answer {
    let path = format!(
        "{}/registry-partnerships",
        api_path(visit.query.text("name"))
    );
    let body = document(
        "registry-partnerships",
        json!({
            "module-consumers": form.lines("modules"),
            "provider-consumers": form.lines("providers"),
        }),
    );
    saved(visit, visit.api.replace(&path, &body))
}
