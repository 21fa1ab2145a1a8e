//! The settings of an organization, and its end.

use maud::{Markup, html};
use serde_json::Value;

use super::{Organization, address, api_path};
use crate::api::ApiError;
use crate::form::Fields;
use crate::layout::{facts, form, input, notice};
use crate::pages::fields::{Attribute, Kind, attribute, attribute_fields, changed_attributes};
use crate::pages::resources::document;
use crate::pages::{Answer, Outcome, Visit, once_more, then};

#[rustfmt::skip]
const SETTINGS: &[Attribute] = &[
    attribute("name", "Name", "Letters, digits, - and _. It is part of addresses: tell those who use the old name.", Kind::Text),
    attribute("email", "Email", "Where notices about the organization go.", Kind::Text),
    attribute("collaborator-auth-policy", "Sign-in of members", "The authentication that members need.", Kind::Choice(&["password", "two_factor_mandatory"])),
    attribute("user-tokens-enabled", "Tokens of users can access the organization", "If not, only those of teams and of the organization can.", Kind::Flag),
    attribute("max-ttl-enabled", "Tokens have a maximum lifetime", "The page “Tokens” shows and sets it.", Kind::Flag),
    attribute("session-timeout", "Minutes without requests after which a session ends", "Empty for the default.", Kind::Number),
    attribute("session-remember", "Minutes for which a session lasts", "Empty for the default.", Kind::Number),
    attribute("default-execution-mode", "Where runs of workspaces happen", "agent needs a default agent pool, which the API sets.", Kind::Choice(&["remote", "local", "agent"])),
    attribute("cost-estimation-enabled", "Estimate costs", "", Kind::Flag),
    attribute("aggregated-commit-status-enabled", "One commit status for all workspaces", "", Kind::Flag),
    attribute("send-passing-statuses-for-untriggered-speculative-plans", "Plans that are not triggered pass", "The self-hosted edition ignores it.", Kind::Flag),
    attribute("speculative-plan-management-enabled", "Cancel outdated speculative plans", "", Kind::Flag),
    attribute("allow-force-delete-workspaces", "Workspaces with resources can be deleted", "", Kind::Flag),
    attribute("assessments-enforced", "Assess workspaces", "", Kind::Flag),
];

/// The page, below what was just said.
pub(super) fn page(visit: &Visit<'_>, told: Markup) -> Answer {
    let organization = Organization::open(visit)?;
    let name = &organization.name;
    let attributes = attributes_of(&organization);
    organization.page(
        "Settings",
        html! {
            (told)
            @if visit.query.text("done") == "saved" { (notice("The settings are saved.")) }
            (facts(&[
                ("Identifier", organization.attribute("external-id")),
                ("Made", organization.attribute("created-at")),
                ("Plan", organization.attribute("plan-identifier")),
            ]))
            (form(visit.session, &organization.address("show"), attribute_fields(SETTINGS, &attributes, visit.sent_to("/ui/organizations/show")), "Save"))
            h2 { "Delete" }
            (form(visit.session, &organization.address("delete"), html! {
                input type="hidden" name="deleted" value=(name);
                (input("typed", "Name of the organization", "Type it once more. Everything that belongs to the organization is deleted with it; this cannot be undone.", ""))
            }, "Delete the organization"))
        },
    )
}

fn attributes_of(organization: &Organization) -> Value {
    organization
        .shown
        .pointer("/data/attributes")
        .cloned()
        .unwrap_or_default()
}

/// Changes settings.
pub(super) fn change(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let changes = changed_attributes(SETTINGS, form, &attributes_of(&organization));
    // After a new name the page is elsewhere.
    let name = match form.text("name") {
        "" => organization.name.as_str(),
        name => name,
    };
    let place = format!("{}&done=saved", address("show", name));
    let done = visit
        .api
        .patch(&organization.path, &document("organizations", changes));
    then(done, place, |told| page(visit, told))
}

/// Deletes an organization, once its name was typed.
pub(super) fn delete(visit: &Visit<'_>, form: &Fields) -> Answer {
    let name = form.text("deleted");
    if name.is_empty() || form.text("typed") != name || visit.query.text("name") != name {
        let error = ApiError {
            status: 400,
            messages: vec!["the typed name is a different one; nothing was deleted".to_owned()],
        };
        return once_more(error, |told| page(visit, told));
    }
    visit.api.delete(&api_path(name))?;
    Ok(Outcome::Redirect("/ui/organizations".to_owned()))
}
