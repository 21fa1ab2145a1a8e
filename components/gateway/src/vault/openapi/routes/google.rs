//! The routes of a mount of the auth method.

use crate::vault::openapi::route::{
    Answer, Field, Route, ask, boolean, choice, delete, integer, list, map, read, route, seconds,
    text, texts, write,
};

const NAME: Field = text("name", "Name of the role.");

const LOGIN: &[Field] = &[
    text(
        "role",
        "Name of the role to log in under; the method may have a default for it.",
    ),
    text(
        "jwt",
        "The JWT that a service account or an instance of Google Cloud signed.",
    )
    .required(),
];

const CONFIG: &[Field] = &[
    text(
        "credentials",
        "The key of a service account, as Google gives it out in JSON; an empty text removes it.",
    ),
    choice(
        "iam_alias",
        &["role_id", "unique_id"],
        "What logins under iam roles are known by in identity.",
    ),
    choice(
        "gce_alias",
        &["role_id", "instance_id"],
        "What logins under gce roles are known by in identity.",
    ),
    texts(
        "iam_metadata",
        "Which metadata tokens of iam roles carry; \"default\" stands for the usual ones.",
    ),
    texts(
        "gce_metadata",
        "Which metadata tokens of gce roles carry; \"default\" stands for the usual ones.",
    ),
    map(
        "custom_endpoint",
        "Other endpoints of Google's, by api, iam, crm and compute.",
    ),
    text(
        "service_account_email",
        "The service account to be impersonated with identity tokens.",
    ),
    text(
        "identity_token_audience",
        "The audience of identity tokens, with which the method asks Google without a stored key.",
    ),
    seconds(
        "identity_token_ttl",
        "How long such an identity token is good for.",
    ),
    text(
        "rotation_schedule",
        "When the stored key is rotated, as cron writes it.",
    ),
    seconds(
        "rotation_period",
        "After how long the stored key is rotated.",
    ),
    seconds("rotation_window", "How late a scheduled rotation may be."),
    text("rotation_policy", "Kept for clients that send it."),
    boolean(
        "disable_automated_rotation",
        "Stops rotations by schedule and by period.",
    ),
    text("google_certs_endpoint", "Has no effect.").deprecated(),
];

const CHECK: &[Field] = &[texts(
    "projects",
    "The projects in which permissions are looked for; the credentials' own where there are none.",
)];

const LIST_EDIT: &[Field] = &[
    texts("add", "What to add to the list."),
    texts(
        "remove",
        "What to take out of the list; of labels their keys.",
    ),
];

const ROLE: &[Field] = &[
    choice(
        "type",
        &["iam", "gce"],
        "Who logs in: service accounts or instances. It stays as it was made.",
    )
    .required(),
    texts(
        "bound_service_accounts",
        "Addresses or unique identifiers of the service accounts that may log in; \"*\" for all.",
    ),
    texts("service_accounts", "As bound_service_accounts.").deprecated(),
    texts(
        "bound_projects",
        "The projects of which accounts and instances must be.",
    ),
    text("project_id", "As bound_projects, for one of them.").deprecated(),
    boolean(
        "add_group_aliases",
        "Whether a login carries the projects, folders and organizations above it as group aliases.",
    ),
    seconds(
        "max_jwt_exp",
        "How far ahead the expiry of a JWT may be on an iam role.",
    ),
    boolean(
        "allow_gce_inference",
        "Whether instances may log in on an iam role by their service account.",
    ),
    texts("bound_zones", "The zones in which instances must be."),
    text("bound_zone", "As bound_zones.").deprecated(),
    texts("bound_regions", "The regions in which instances must be."),
    text("bound_region", "As bound_regions.").deprecated(),
    texts(
        "bound_instance_groups",
        "The groups of which instances must be members.",
    ),
    text("bound_instance_group", "As bound_instance_groups.").deprecated(),
    texts(
        "bound_labels",
        "The labels that instances must have, each as key:value.",
    ),
    seconds("token_ttl", "How long tokens live until they are renewed."),
    seconds("ttl", "As token_ttl.").deprecated(),
    seconds("token_max_ttl", "How long tokens live at most."),
    seconds("max_ttl", "As token_max_ttl.").deprecated(),
    seconds(
        "token_explicit_max_ttl",
        "How long tokens live at most, whatever is changed later.",
    ),
    seconds(
        "token_period",
        "How long tokens live from each renewal, without an end.",
    ),
    seconds("period", "As token_period.").deprecated(),
    texts("token_policies", "The policies of tokens."),
    texts("policies", "As token_policies.").deprecated(),
    texts(
        "token_bound_cidrs",
        "The address ranges from which logins and tokens are accepted.",
    ),
    boolean(
        "token_no_default_policy",
        "Whether tokens go without the policy \"default\".",
    ),
    integer(
        "token_num_uses",
        "How often a token may be used, 0 for any number.",
    ),
    choice(
        "token_type",
        &[
            "default",
            "default-service",
            "default-batch",
            "service",
            "batch",
        ],
        "The type of tokens.",
    ),
    texts(
        "bound_folders",
        "The folders, one of which must hold the project.",
    ),
    texts(
        "bound_organizations",
        "The organizations, one of which must hold the project.",
    ),
    texts(
        "bound_audiences",
        "Audiences that a JWT may have beside the one of the role.",
    ),
    text(
        "alias_source",
        "What logins under this role are known by, other than the method's configuration says.",
    ),
    boolean("refuse_replay", "Whether a JWT logs in only once."),
    boolean("live_checks", "Whether Google is asked at each login."),
    seconds(
        "max_instance_age",
        "How old an instance may be when it logs in.",
    ),
];

/// Below `auth/<mount>/`.
pub(super) const ROUTES: &[Route] = &[
    route("login", "Gives a token for a JWT that a service account or an instance of Google Cloud signed, under the terms of a role.", &[
        ask("google-cloud-login", "Log in.", LOGIN),
    ])
    .open(),
    route("login/explain", "Says step by step how a login would go, without logging in.", &[
        ask("google-cloud-explain-login", "Explain how a login goes.", LOGIN),
    ]),
    route("config", "The credentials and settings with which the method asks Google.", &[
        read("google-cloud-read-auth-configuration", "Read the configuration, but for its secrets."),
        write("google-cloud-configure-auth", "Change the configuration; what is not sent stays.", CONFIG)
            .answering(Answer::EnvelopeOrNothing),
        delete("google-cloud-delete-auth-configuration", "Forget the configuration, credentials and all."),
    ]),
    route("config/rotate-root", "Replaces the key with which the method asks Google by a fresh one.", &[
        ask("google-cloud-rotate-root-credentials", "Rotate the stored key.", &[]),
    ]),
    route("config/check", "Tries whether the credentials are good for what the method needs.", &[
        read("google-cloud-check-configuration", "Check the credentials.").querying(CHECK),
        ask("google-cloud-check-configuration-with-parameters", "Check the credentials.", CHECK),
    ]),
    route("role", "Lists the names of the roles, by an older path.", &[
        list("google-cloud-list-roles", "List the roles."),
    ]),
    route("roles", "Lists the names of the roles.", &[
        list("google-cloud-list-roles2", "List the roles."),
    ]),
    route("role/{name}", "A role: who may log in under it, and what tokens they get.", &[
        read("google-cloud-read-role", "Read a role."),
        ask("google-cloud-write-role", "Make a role, or change it; what is not sent stays.", ROLE),
        delete("google-cloud-delete-role", "Delete a role."),
    ])
    .capturing(&[NAME])
    .creating(),
    route("role/{name}/service-accounts", "The service accounts that may log in under an iam role.", &[
        ask("google-cloud-edit-service-accounts-for-role", "Add and remove service accounts.", LIST_EDIT),
    ])
    .capturing(&[NAME]),
    route("role/{name}/labels", "The labels that instances must have under a gce role.", &[
        ask("google-cloud-edit-labels-for-role", "Add and remove labels.", LIST_EDIT),
    ])
    .capturing(&[NAME]),
];
