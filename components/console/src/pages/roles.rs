//! The roles of a mount.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::fields::{Kind, Shown, change, field, filled, lines};
use super::listing::listed;
use super::{Answer, Outcome, Visit, once_more, require_free, required};
use crate::api::{ApiError, at, encoded, encoded_path};
use crate::form::Fields;
use crate::layout::{Page, button, form, input, notice, select, table};

/// The roles that have a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Both,
    Iam,
    Gce,
}

/// A field: its name in the API, its label, its help text, its kind, and the roles that have it.
type Row = (&'static str, &'static str, &'static str, Kind, Of);

#[rustfmt::skip]
const FIELDS: &[Row] = &[
    ("bound_service_accounts", "Service accounts", "Addresses or unique identifiers of the accounts that may log in, one on each line; * for all, with a project to bound them.", Kind::Lines, Of::Both),
    ("bound_projects", "Projects", "Accounts and instances must be of one of these.", Kind::Lines, Of::Both),
    ("bound_folders", "Folders", "One of these must hold the project.", Kind::Lines, Of::Both),
    ("bound_organizations", "Organizations at Google", "One of these must hold the project.", Kind::Lines, Of::Both),
    ("max_jwt_exp", "Maximum lifetime of a JWT", "Most seconds from the login to the expiry of its JWT; 0 for the default of 900.", Kind::Seconds, Of::Iam),
    ("allow_gce_inference", "Let instances log in", "Instances may log in by their service account.", Kind::Flag, Of::Iam),
    ("bound_zones", "Zones", "Instances must be in one of these, such as europe-west1-b.", Kind::Lines, Of::Gce),
    ("bound_regions", "Regions", "Instances must be in one of these, such as europe-west1.", Kind::Lines, Of::Gce),
    ("bound_instance_groups", "Instance groups", "Instances must be members of one of these.", Kind::Lines, Of::Gce),
    ("bound_labels", "Labels", "Instances must have all of these, each as key:value.", Kind::Labels, Of::Gce),
    ("max_instance_age", "Maximum age of an instance", "Most seconds from its creation to its login; 0 for no maximum.", Kind::Seconds, Of::Gce),
    ("bound_audiences", "Further audiences", "A JWT may have one of these instead of the role's own audience.", Kind::Lines, Of::Both),
    ("live_checks", "Ask Google at each login", "If not, a JWT that Google signed is enough: a disabled account or a deleted instance can log in until its JWT expires.", Kind::Flag, Of::Both),
    ("refuse_replay", "Refuse a JWT that has logged in", "A JWT then logs in only once.", Kind::Flag, Of::Both),
    ("add_group_aliases", "Carry group aliases", "A login gets group aliases for its project and for the folders and organization above it.", Kind::Flag, Of::Both),
    ("alias_source", "Alias", "What the aliases of entities are named after: the role, the account (unique_id, for iam roles) or the instance (instance_id, for gce roles); if empty, what the mount is configured to.", Kind::Choice(&["", "role_id", "unique_id", "instance_id"]), Of::Both),
    ("token_policies", "Policies", "What tokens of this role may do.", Kind::Lines, Of::Both),
    ("token_ttl", "Lifetime of a token", "Seconds until it has to be renewed; 0 for the mount's default.", Kind::Seconds, Of::Both),
    ("token_max_ttl", "Maximum lifetime of a token", "Seconds, renewals included; 0 for the mount's default.", Kind::Seconds, Of::Both),
    ("token_explicit_max_ttl", "Absolute maximum lifetime", "Seconds that no renewal or later setting extends; 0 for none.", Kind::Seconds, Of::Both),
    ("token_period", "Period", "Seconds from each renewal, without a maximum lifetime; 0 for none.", Kind::Seconds, Of::Both),
    ("token_num_uses", "Number of uses", "Requests that a token can make; 0 for any number.", Kind::Number, Of::Both),
    ("token_bound_cidrs", "Address ranges", "Logins and tokens are accepted only from these.", Kind::Lines, Of::Both),
    ("token_no_default_policy", "Leave out the policy “default”", "Tokens then may not even look themselves up.", Kind::Flag, Of::Both),
    ("token_type", "Type of tokens", "Service tokens are stored and can be revoked; batch tokens are not.", Kind::Choice(&["default", "service", "batch"]), Of::Both),
];

/// The list of a mount's roles.
pub fn list(visit: &Visit<'_>) -> Answer {
    let mount = visit.asked("mount")?;
    let path = format!("/v1/auth/{}/role", encoded_path(mount));
    let listed = listed(visit, &path, visit.query.text("after"))?;
    let mount_query = encoded(mount);
    let rows: Vec<Vec<Markup>> = listed
        .names
        .iter()
        .map(|name| {
            let address = address(mount, name);
            vec![
                html! { a href=(address) { (name) } },
                button(
                    visit.session,
                    "/ui/roles/delete",
                    &[("mount", mount), ("role", name)],
                    &format!("Delete {name}"),
                ),
            ]
        })
        .collect();
    let title = format!("Roles of {mount}");
    let empty = "There are no roles yet, so no workload can log in here: make one.";
    Ok(Outcome::Page(Page::new(
        title.as_str(),
        html! {
            (table(&title, &["Role", "Actions"], &rows, empty))
            (listed.turning(&title, &format!("/ui/roles?mount={mount_query}&after")))
            p { a href={ "/ui/roles/edit?mount=" (mount_query) } { "Make a role" } }
        },
    )))
}

fn address(mount: &str, role: &str) -> String {
    format!(
        "/ui/roles/edit?mount={}&role={}",
        encoded(mount),
        encoded(role)
    )
}

fn api_path(mount: &str, role: &str) -> String {
    format!("/v1/auth/{}/role/{}", encoded_path(mount), encoded(role))
}

/// The form of a role; that of a new role where the query names none.
pub fn edit(visit: &Visit<'_>) -> Answer {
    let (mount, role) = (visit.asked("mount")?, visit.query.text("role"));
    let stored = match role {
        "" => Value::Null,
        role => visit.api.read(&api_path(mount, role))?,
    };
    let told = (visit.query.text("done") == "saved").then(|| notice("The role is saved."));
    let data = stored.get("data").cloned().unwrap_or_default();
    Ok(Outcome::Page(page(visit, mount, role, &data, None, told)))
}

/// A field of a role as the form shows it.
fn shown(role: &Value, name: &str) -> String {
    match (name, role.get(name)) {
        // These are on by default in the API. It leaves `live_checks` out of its responses while it is on.
        ("allow_gce_inference" | "live_checks", None) => "true".to_owned(),
        (_, value) => lines(value),
    }
}

/// The values that the form shows for `role`.
fn all_shown(role: &Value) -> Shown {
    Shown::from_names(FIELDS.iter().map(|row| row.0), &|name| shown(role, name))
}

/// True if roles of the type `kind` have the field.
const fn has(kind: &str, of: Of) -> bool {
    !matches!((of, kind.as_bytes()), (Of::Iam, b"gce") | (Of::Gce, b"iam"))
}

fn page(
    visit: &Visit<'_>,
    mount: &str,
    role: &str,
    stored: &Value,
    sent: Option<&Fields>,
    told: Option<Markup>,
) -> Page {
    let before = sent
        .and_then(Shown::carried)
        .unwrap_or_else(|| all_shown(stored));
    let kind = match sent {
        Some(form) => form.text("type").to_owned(),
        None => at(stored, "/type"),
    };
    let kind = kind.as_str();
    let value = |name: &str, kind: Kind| match sent {
        Some(form) => filled(form, name, kind),
        None => shown(stored, name),
    };
    let title = match role {
        "" => format!("Make a role of {mount}"),
        role => format!("Role {role} of {mount}"),
    };
    Page::new(
        title,
        html! {
            (told.unwrap_or_default())
            (form(visit.session, &address(mount, role), html! {
                @if role.is_empty() {
                    (input("name", "Name", "Clients name the role when they log in.", &value("name", Kind::Text)))
                    (select("type", "Type", "iam: service accounts log in with a JWT that they sign. gce: instances log in with the identity that their metadata server gives. It cannot be changed; leave fields of the other type empty.", &["iam", "gce"], kind))
                } @else {
                    p { "Type: " strong { (kind) } }
                    input type="hidden" name="type" value=(kind);
                    (before.field())
                }
                @for (name, label, help, form, of) in FIELDS.iter().copied().filter(|row| has(kind, row.4)) {
                    (field(name, label, &about(help, of, kind), form, &value(name, form)))
                }
            }, "Save the role"))
            p { a href={ "/ui/roles?mount=" (encoded(mount)) } { "Roles of " (mount) } }
        },
    )
}

/// The help text of a field. It names the type where the visitor has not chosen a type yet.
fn about(help: &str, of: Of, kind: &str) -> String {
    match (of, kind) {
        (Of::Iam, "") => format!("Only for iam roles. {help}"),
        (Of::Gce, "") => format!("Only for gce roles. {help}"),
        _ => help.to_owned(),
    }
}

/// Creates or changes a role.
pub fn save(visit: &Visit<'_>, form: &Fields) -> Answer {
    let mount = visit.asked("mount")?;
    let known = visit.query.text("role");
    let (role, saved) = match known {
        "" => (form.text("name"), make(visit, mount, form)),
        role => (role, change_role(visit, &api_path(mount, role), form)),
    };
    match saved {
        Ok(_) => Ok(Outcome::Redirect(format!(
            "{}&done=saved",
            address(mount, role)
        ))),
        Err(error) => once_more(error, |told| {
            let page = page(visit, mount, known, &Value::Null, Some(form), Some(told));
            Ok(Outcome::Page(page))
        }),
    }
}

fn make(visit: &Visit<'_>, mount: &str, form: &Fields) -> Result<Value, ApiError> {
    let path = api_path(mount, required("name", form.text("name"))?);
    require_free(visit, &path)?;
    visit.api.write(&path, &filled_in(form))
}

/// The body that creates a role: the fields that were filled in, and the state of every checkbox, since some are on by default.
fn filled_in(form: &Fields) -> Value {
    let kind = form.text("type");
    let mut body = Map::new();
    body.insert("type".to_owned(), kind.into());
    for (name, _, _, form_of, _) in FIELDS.iter().copied().filter(|row| has(kind, row.4)) {
        let value: Value = match form_of {
            Kind::Flag => form.is_ticked(name).into(),
            _ if form.text(name).is_empty() => continue,
            Kind::Lines | Kind::Labels => form.lines(name).into(),
            _ => form.text(name).into(),
        };
        body.insert(name.to_owned(), value);
    }
    Value::Object(body)
}

fn change_role(visit: &Visit<'_>, path: &str, form: &Fields) -> Result<Value, ApiError> {
    let shown = match Shown::carried(form) {
        Some(shown) => shown,
        None => all_shown(visit.api.read(path)?.get("data").unwrap_or(&Value::Null)),
    };
    visit.api.write(path, &changes(form, &shown))
}

/// The body that changes a role: the fields that differ from the values that the form showed, so that a change that another user made meanwhile
/// stays.
fn changes(form: &Fields, shown: &Shown) -> Value {
    let kind = form.text("type");
    let mut body = Map::new();
    for (name, _, _, form_of, _) in FIELDS.iter().copied().filter(|row| has(kind, row.4)) {
        let was = shown.text(name).unwrap_or_default();
        match change(form, name, form_of, was) {
            // An emptied number is sent as 0, which means the default or no limit.
            Some(Value::Null) => body.insert(name.to_owned(), 0.into()),
            Some(is) => body.insert(name.to_owned(), is),
            None => None,
        };
    }
    Value::Object(body)
}

/// The fields of a form that were filled in, each below its label.
pub fn typed(form: &Fields) -> String {
    let mut text = String::new();
    for (name, label) in [("name", "Name")]
        .into_iter()
        .chain(FIELDS.iter().map(|row| (row.0, row.1)))
    {
        let value = form.text(name).replace("\r\n", "\n");
        if !value.is_empty() {
            text.extend([label, ":\n", &value, "\n\n"]);
        }
    }
    text
}

/// Deletes a role.
pub fn delete(visit: &Visit<'_>, form: &Fields) -> Answer {
    let (mount, role) = (form.text("mount"), form.text("role"));
    visit.api.delete(&api_path(mount, role))?;
    Ok(Outcome::Redirect(format!(
        "/ui/roles?mount={}",
        encoded(mount)
    )))
}
