//! The routes of a mount of the auth method.

use crate::vault::auth_method::config::check::{self, CHECK};
use crate::vault::auth_method::config::{self, fields as config_fields, rotation};
use crate::vault::auth_method::explain;
use crate::vault::auth_method::login::{self, LOGIN};
use crate::vault::auth_method::roles;
use crate::vault::auth_method::roles::fields::{self as role_fields, List, NAME};
use crate::vault::auth_method::roles::lists;
use crate::vault::route::{Route, Success, ask, delete, list, read, route, write};

/// Below `auth/<mount>/`.
#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    route("login", "Gives a token for a JWT that a service account or an instance of Google Cloud signed, under the terms of a role.", &[
        ask("google-cloud-login", "Log in.", LOGIN, login::login),
    ]).open(),
    route("login/explain", "Checks a login step by step, and shows each check, without logging in.", &[
        ask("google-cloud-explain-login", "Explain a login.", LOGIN, explain::explain),
    ]),
    route("config", "The credentials and settings with which the method calls Google.", &[
        read("google-cloud-read-auth-configuration", "Read the configuration, without its secrets.", config::read),
        write("google-cloud-configure-auth", "Change the configuration; what is not sent stays.", config_fields::FIELDS, config::write)
            .answering(Success::EnvelopeOrNothing),
        delete("google-cloud-delete-auth-configuration", "Delete the configuration and its credentials.", config::delete),
    ]),
    route("config/rotate-root", "Replaces the key with which the method calls Google.", &[
        ask("google-cloud-rotate-root-credentials", "Rotate the stored key.", &[], rotation::rotate),
    ]),
    route("config/check", "Checks that the credentials have the permissions that the method needs.", &[
        read("google-cloud-check-configuration", "Check the credentials.", check::check).querying(CHECK),
        ask("google-cloud-check-configuration-with-parameters", "Check the credentials.", CHECK, check::check),
    ]),
    route("role", "Lists the names of the roles, by an older path.", &[
        list("google-cloud-list-roles", "List the roles.", roles::list),
    ]),
    route("roles", "Lists the names of the roles.", &[
        list("google-cloud-list-roles2", "List the roles.", roles::list),
    ]),
    route("role/{name}", "A role: who may log in under it, and what tokens they get.", &[
        read("google-cloud-read-role", "Read a role.", roles::read),
        ask("google-cloud-write-role", "Make a role, or change it; what is not sent stays.", role_fields::FIELDS, roles::write),
        delete("google-cloud-delete-role", "Delete a role.", roles::delete),
    ]).capturing(&[NAME]).creating(),
    route("role/{name}/service-accounts", "The service accounts that may log in under an iam role.", &[
        ask("google-cloud-edit-service-accounts-for-role", "Add and remove service accounts.", lists::FIELDS, |call| lists::edit(call, List::ServiceAccounts)),
    ]).capturing(&[NAME]),
    route("role/{name}/labels", "The labels that instances must have under a gce role.", &[
        ask("google-cloud-edit-labels-for-role", "Add and remove labels.", lists::FIELDS, |call| lists::edit(call, List::Labels)),
    ]).capturing(&[NAME]),
];
