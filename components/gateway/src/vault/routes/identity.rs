//! The routes below `identity/`.

use crate::vault::field::{Field, PAGING, boolean, choice, map, text, texts};
use crate::vault::identity::aliases::{self, Kind};
use crate::vault::identity::entities::{self, Entities};
use crate::vault::identity::groups::{self, Groups};
use crate::vault::identity::{by_id_or_name, merge};
use crate::vault::oidc;
use crate::vault::route::{
    Handler, Route, Success, Verb, ask, delete, list, read, route, unadmitted, write,
};

const ID: Field = text("id", "Identifier of the object.");
const NAME: Field = text("name", "Name of the object.");
/// A name may contain slashes.
const NAME_IN_PATH: Field = NAME.spanning();
/// Clients send back the fields that they have read.
const UNUSED_ID: Field = text("id", "Has no effect: the object is found by its name.").deprecated();

const ENTITY_DISABLED: Field = boolean("disabled", "True if tokens of the entity are refused.");
const ENTITY_METADATA: Field = map("metadata", "Metadata of the entity.");
const ENTITY_NAME: Field = text("name", "Name of the entity; generated if not given.");
const ENTITY_POLICIES: Field = texts(
    "policies",
    "Policies that the entity's tokens have in addition to their own.",
);

const ENTITY: &[Field] = &[
    text("id", "Identifier of an entity to be changed."),
    ENTITY_NAME,
    ENTITY_METADATA,
    ENTITY_POLICIES,
    ENTITY_DISABLED,
];
const ENTITY_BY_ID: &[Field] = &[
    ENTITY_NAME,
    ENTITY_METADATA,
    ENTITY_POLICIES,
    ENTITY_DISABLED,
];
const ENTITY_BY_NAME: &[Field] = &[ENTITY_METADATA, ENTITY_POLICIES, ENTITY_DISABLED, UNUSED_ID];

const GROUP_NAME: Field = text("name", "Name of the group; generated if not given.");
const GROUP_TYPE: Field = choice(
    "type",
    &["internal", "external"],
    "\"internal\" if members are written here, \"external\" if they come with logins. It cannot be changed.",
);
const GROUP_METADATA: Field = map("metadata", "Metadata of the group.");
const GROUP_POLICIES: Field = texts(
    "policies",
    "Policies that the tokens of members have in addition to their own.",
);
const MEMBER_ENTITIES: Field = texts(
    "member_entity_ids",
    "Identifiers of the entities that are members.",
);
const MEMBER_GROUPS: Field = texts(
    "member_group_ids",
    "Identifiers of the groups whose members are members.",
);

const GROUP: &[Field] = &[
    text("id", "Identifier of a group to be changed."),
    GROUP_NAME,
    GROUP_TYPE,
    GROUP_METADATA,
    GROUP_POLICIES,
    MEMBER_ENTITIES,
    MEMBER_GROUPS,
];
const GROUP_BY_ID: &[Field] = &[
    GROUP_NAME,
    GROUP_TYPE,
    GROUP_METADATA,
    GROUP_POLICIES,
    MEMBER_ENTITIES,
    MEMBER_GROUPS,
];
const GROUP_BY_NAME: &[Field] = &[
    GROUP_TYPE,
    GROUP_METADATA,
    GROUP_POLICIES,
    MEMBER_ENTITIES,
    MEMBER_GROUPS,
    UNUSED_ID,
];

const ALIAS_NAME: Field = text("name", "Name of the entity or the group at the mount.");
const MOUNT_ACCESSOR: Field = text(
    "mount_accessor",
    "Accessor of the mount that knows the name.",
);
const CANONICAL_ID: Field = text(
    "canonical_id",
    "Identifier of the entity or the group that the alias stands for.",
);
const CUSTOM_METADATA: Field = map("custom_metadata", "Metadata of the alias.");

const ALIAS: &[Field] = &[
    text("id", "Identifier of an alias to be changed."),
    ALIAS_NAME,
    MOUNT_ACCESSOR,
    CANONICAL_ID,
    CUSTOM_METADATA,
];
const ALIAS_BY_ID: &[Field] = &[ALIAS_NAME, MOUNT_ACCESSOR, CANONICAL_ID, CUSTOM_METADATA];

const LOOKUP: &[Field] = &[
    ID,
    NAME,
    text("alias_id", "Identifier of an alias of the object."),
    text(
        "alias_name",
        "Name of an alias of the object, together with alias_mount_accessor.",
    ),
    text(
        "alias_mount_accessor",
        "Accessor of the mount that knows alias_name.",
    ),
];

const MERGE: &[Field] = &[
    texts(
        "from_entity_ids",
        "Identifiers of the entities to merge, which are deleted.",
    )
    .required(),
    text("to_entity_id", "Identifier of the entity to merge into.").required(),
    texts(
        "conflicting_alias_ids_to_keep",
        "Identifiers of the aliases to keep where several are of one mount.",
    ),
    boolean(
        "force",
        "Has no effect: it concerns multi-factor authentication.",
    ),
];
const ISSUER: &[Field] = &[text(
    "issuer",
    "Scheme, host and port at which others reach this server.",
)];

/// Below `identity/`.
#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    route("entity", "Entities: one identity across logins.", &[
        ask("entity-create", "Make an entity, or change one.", ENTITY, by_id_or_name::create::<Entities>).answering(Success::EnvelopeOrNothing),
    ]),
    route("entity/id", "Lists entities by their identifiers.", &[
        list("entity-list-by-id", "List the entities.", entities::list_by_id).querying(PAGING),
    ]),
    route("entity/id/{id}", "An entity, found by its identifier.", &[
        read("entity-read-by-id", "Read an entity.", by_id_or_name::read::<Entities>),
        write("entity-update-by-id", "Change an entity.", ENTITY_BY_ID, by_id_or_name::write::<Entities>).answering(Success::EnvelopeOrNothing),
        delete("entity-delete-by-id", "Delete an entity and its aliases.", by_id_or_name::delete::<Entities>),
    ]).capturing(&[ID]),
    route("entity/name", "Lists entities by their names.", &[
        list("entity-list-by-name", "List the entities.", entities::list_by_name).querying(PAGING),
    ]),
    route("entity/name/{name}", "An entity, found by its name.", &[
        read("entity-read-by-name", "Read an entity.", by_id_or_name::read::<Entities>),
        write("entity-update-by-name", "Make an entity, or change it.", ENTITY_BY_NAME, by_id_or_name::write::<Entities>)
            .answering(Success::EnvelopeOrNothing),
        delete("entity-delete-by-name", "Delete an entity and its aliases.", by_id_or_name::delete::<Entities>),
    ]).capturing(&[NAME_IN_PATH]),
    route("entity/batch-delete", "Deletes several entities.", &[
        write("entity-batch-delete", "Delete entities.", &[texts("entity_ids", "Identifiers of the entities.").required()], entities::delete_several),
    ]),
    route("entity/merge", "Merges entities into one.", &[
        write("entity-merge", "Merge entities.", MERGE, merge::merge),
    ]),
    route("entity-alias", "Aliases of entities: the names by which mounts know them.", &[
        ask("entity-create-alias", "Make an alias, or change one.", ALIAS, |call| aliases::write(call, Kind::Entity)),
    ]),
    route("entity-alias/id", "Lists the aliases of entities.", &[
        list("entity-list-aliases-by-id", "List the aliases.", |call| { aliases::list(call, Kind::Entity) }).querying(PAGING),
    ]),
    route("entity-alias/id/{id}", "An alias of an entity.", &[
        read("entity-read-alias-by-id", "Read an alias.", |call| { aliases::read(call, Kind::Entity) }),
        ask("entity-update-alias-by-id", "Change an alias.", ALIAS_BY_ID, |call| aliases::write(call, Kind::Entity)),
        delete("entity-delete-alias-by-id", "Delete an alias.", |call| { aliases::delete(call, Kind::Entity) }),
    ]).capturing(&[ID]),
    route("group", "Groups of entities.", &[
        ask("group-create", "Make a group, or change one.", GROUP, by_id_or_name::create::<Groups>).answering(Success::EnvelopeOrNothing),
    ]),
    route("group/id", "Lists groups by their identifiers.", &[
        list("group-list-by-id", "List the groups.", groups::list_by_id).querying(PAGING),
    ]),
    route("group/id/{id}", "A group, found by its identifier.", &[
        read("group-read-by-id", "Read a group.", by_id_or_name::read::<Groups>),
        write("group-update-by-id", "Change a group.", GROUP_BY_ID, by_id_or_name::write::<Groups>).answering(Success::EnvelopeOrNothing),
        delete("group-delete-by-id", "Delete a group.", by_id_or_name::delete::<Groups>),
    ]).capturing(&[ID]),
    route("group/name", "Lists groups by their names.", &[
        list("group-list-by-name", "List the groups.", groups::list_by_name).querying(PAGING),
    ]),
    route("group/name/{name}", "A group, found by its name.", &[
        read("group-read-by-name", "Read a group.", by_id_or_name::read::<Groups>),
        write("group-update-by-name", "Make a group, or change it.", GROUP_BY_NAME, by_id_or_name::write::<Groups>)
            .answering(Success::EnvelopeOrNothing),
        delete("group-delete-by-name", "Delete a group.", by_id_or_name::delete::<Groups>),
    ]).capturing(&[NAME_IN_PATH]),
    route("group-alias", "Aliases of groups: the names by which mounts know them.", &[
        ask("group-create-alias", "Make an alias, or change one.", ALIAS, |call| aliases::write(call, Kind::Group)),
    ]),
    route("group-alias/id", "Lists the aliases of groups.", &[
        list("group-list-aliases-by-id", "List the aliases.", |call| { aliases::list(call, Kind::Group) }).querying(PAGING),
    ]),
    route("group-alias/id/{id}", "An alias of a group.", &[
        read("group-read-alias-by-id", "Read an alias.", |call| { aliases::read(call, Kind::Group) }),
        ask("group-update-alias-by-id", "Change an alias.", ALIAS_BY_ID, |call| aliases::write(call, Kind::Group)),
        delete("group-delete-alias-by-id", "Delete an alias.", |call| { aliases::delete(call, Kind::Group) }),
    ]).capturing(&[ID]),
    route("lookup/entity", "Finds an entity by one of its names.", &[
        ask("entity-look-up", "Find an entity.", LOOKUP, by_id_or_name::lookup::<Entities>).answering(Success::EnvelopeOrNothing),
    ]),
    route("lookup/group", "Finds a group by one of its names.", &[
        ask("group-look-up", "Find a group.", LOOKUP, by_id_or_name::lookup::<Groups>).answering(Success::EnvelopeOrNothing),
    ]),
    route("oidc/config", "Settings of the identity tokens that auth methods present to other services.", &[
        read("oidc-read-configuration", "Read the issuer of identity tokens.", oidc::read_config),
        write("oidc-configure", "Change the issuer of identity tokens.", ISSUER, oidc::write_config),
    ]),
    route("oidc/plugins/.well-known/openid-configuration", "The discovery document of the issuer of identity tokens.", &[
        unadmitted(Verb::Get, "oidc-read-plugins-open-id-configuration", "Read the discovery document.", oidc::discovery),
    ])
    .unrecorded()
    .otherwise(Handler::Unadmitted(oidc::otherwise)),
    route("oidc/plugins/.well-known/keys", "The public keys that verify identity tokens.", &[
        unadmitted(Verb::Get, "oidc-read-plugins-public-keys", "Read the public keys.", oidc::key_set),
    ])
    .unrecorded()
    .otherwise(Handler::Unadmitted(oidc::otherwise)),
];
