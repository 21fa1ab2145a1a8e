//! The settings of an organization, and its deletion.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::default_pools;
use super::organization::{Organization, address, api_path};
use crate::form::Fields;
use crate::layout::{facts, form, notice};
use crate::pages::confirmation::{require_typed, typing};
use crate::pages::fields::{Attribute, Kind, attribute, attribute_fields, changed_attributes};
use crate::pages::{Answer, Outcome, Visit, once_more, required, then};

/// All attributes that owners may set except two. `enforce-hyok` needs keys of the organization, which none can have.
/// `registry-monorepo-support-enabled` is not shown by the API, so a form would overwrite it unseen.
#[rustfmt::skip]
const SETTINGS: &[Attribute] = &[
    attribute("name", "Name", "Letters, digits, - and _. It is part of addresses: tell those who use the old name.", Kind::Text),
    attribute("email", "Email", "Where notices about the organization go.", Kind::Text),
    attribute("user-tokens-enabled", "Tokens of users can access the organization", "If not, only those of teams and of the organization can. Make a token of the owners' team first: with a token of a user you cannot turn it on again.", Kind::Flag),
    attribute("max-ttl-enabled", "Tokens have a maximum lifetime", "Those of teams and of the organization. The page “Tokens” shows and sets it.", Kind::Flag),
    attribute("collaborator-auth-policy", "Sign-in of members", "The authentication that members need. API tokens are accepted in any case.", Kind::Choice(&["password", "two_factor_mandatory"])),
    attribute("owners-team-saml-role-id", "SAML role of owners", "Members with this role are owners. Empty for none.", Kind::Text),
    attribute("session-timeout", "Minutes without requests after which a session ends", "Empty for the default of 20160.", Kind::Number),
    attribute("session-remember", "Minutes for which a session lasts", "Empty for the default of 20160.", Kind::Number),
    attribute("default-execution-mode", "Where runs of workspaces happen", "remote: at the server. local: where the command is given. agent: on workers of the default agent pool.", Kind::Choice(&["remote", "local", "agent"])),
    attribute("default-agent-pool", "Default agent pool", "The name of a pool, as the page “Agent pools” shows it, or its identifier. With agent there must be one; saving remote or local takes it away.", Kind::Text),
    attribute("stacks-enabled", "Stacks", "The organization can have stacks.", Kind::Flag),
    attribute("stacks-default-execution-mode", "Where runs of stacks happen", "remote: at the server. agent: on workers of the default agent pool of stacks.", Kind::Choice(&["remote", "agent"])),
    attribute("stacks-default-agent-pool", "Default agent pool of stacks", "The name of a pool, as the page “Agent pools” shows it, or its identifier. Empty for none.", Kind::Text),
    attribute("cost-estimation-enabled", "Estimate costs", "Plans say what their changes would cost.", Kind::Flag),
    attribute("aggregated-commit-status-enabled", "One commit status for all workspaces", "If not, a commit has a status for each workspace. It cannot be on together with the next setting.", Kind::Flag),
    attribute("send-passing-statuses-for-untriggered-speculative-plans", "Plans that are not triggered pass", "A commit is shown as passed to workspaces that it does not concern. Turned on alone, it turns the setting before off. The self-hosted edition ignores it.", Kind::Flag),
    attribute("speculative-plan-management-enabled", "Cancel outdated speculative plans", "A newer commit ends the plans of those before it.", Kind::Flag),
    attribute("allow-force-delete-workspaces", "Workspaces with resources can be deleted", "If not, only workspaces that manage nothing can.", Kind::Flag),
    attribute("assessments-enforced", "Assess workspaces", "All workspaces are checked for drift, whatever they are set to themselves.", Kind::Flag),
    attribute("recoverable-items-enabled", "Deleted items can be recovered", "Stored for clients that send it; has no effect.", Kind::Flag),
];

/// The page, below the message `told`.
pub(super) fn page(visit: &Visit<'_>, told: Markup) -> Answer {
    let organization = Organization::open(visit)?;
    let name = &organization.name;
    let fields = fields_of(visit, &organization);
    organization.page(
        "Settings",
        html! {
            (told)
            @if visit.query.text("done") == "saved" { (notice("The settings are saved.")) }
            (facts([
                ("Identifier", organization.attribute("external-id")),
                ("Made", organization.attribute("created-at")),
                ("Plan", organization.attribute("plan-identifier")),
            ]))
            p { "Runs of workspaces and stacks, sessions, and sign-in by password or SAML do not exist at this server: what is set about them is stored for the clients that read it." }
            (form(visit.session, &organization.address("show"), attribute_fields(SETTINGS, &fields, visit.sent_to("/ui/organizations/show")), "Save"))
            h2 { "Delete" }
            (form(visit.session, &organization.address("delete"), html! {
                input type="hidden" name="deleted" value=(name);
                (typing("Name of the organization", "Type it once more. Everything that belongs to the organization is deleted with it; this cannot be undone."))
            }, "Delete the organization"))
        },
    )
}

/// The values that the form shows: the attributes, and the default pools, which are relationships.
fn fields_of(visit: &Visit<'_>, organization: &Organization) -> Value {
    let attributes = organization.shown.pointer("/data/attributes");
    let attributes = attributes.and_then(Value::as_object).cloned();
    let mut fields = attributes.unwrap_or_default();
    fields.extend(default_pools::shown(visit, organization));
    Value::Object(fields)
}

/// Changes settings.
pub(super) fn change(visit: &Visit<'_>, form: &Fields) -> Answer {
    let organization = Organization::open(visit)?;
    let fields = fields_of(visit, &organization);
    let mut changes = changed_attributes(SETTINGS, form, &fields);
    let pools = match default_pools::taken(visit, &organization, &mut changes) {
        Ok(pools) => pools,
        Err(error) => return once_more(error, |told| page(visit, told)),
    };
    let mut body = json!({ "type": "organizations", "attributes": changes });
    if let (false, Value::Object(members)) = (pools.is_empty(), &mut body) {
        members.insert("relationships".to_owned(), pools.into());
    }
    // A new name changes the address of the page.
    let name = match form.text("name") {
        "" => organization.name.as_str(),
        name => name,
    };
    let place = format!("{}&done=saved", address("show", name));
    let done = visit
        .api
        .patch(&organization.path, &json!({ "data": body }));
    then(done, place, |told| page(visit, told))
}

/// Deletes an organization, once its name was typed.
pub(super) fn delete(visit: &Visit<'_>, form: &Fields) -> Answer {
    let name = form.text("deleted");
    let typed = require_typed(form, visit.query.text("name"), "name", "deleted")
        .and_then(|()| require_typed(form, required("name", name)?, "name", "deleted"));
    if let Err(error) = typed {
        return once_more(error, |told| page(visit, told));
    }
    visit.api.delete(&api_path(name))?;
    Ok(Outcome::Redirect("/ui/organizations".to_owned()))
}
