//! Differences from both references. A row that explains nothing any more fails the test, as does a difference without a row.

use super::Difference;
use super::Seen::{Is, Nothing, Something};
use super::reasons::{
    ALIAS_OBJECT, CONTENT_TYPE, CONVERSION, LIST_OPERATION, LISTED, LISTS, MOUNT_OBJECT,
    NO_DEFAULT, OWN_FACTS, PARSING, POLICY_TEXTS, REDIRECTION, REMAINING_USES, ROOT_TOKEN,
    SAME_ALIAS, SECRETS, STORAGE_ONLY, UNSENT,
};

/// Every row.
pub const DIFFERENCES: &[Difference] = rows![
    // Contract 1: paths, methods, headers, bodies.
    ["GET /v1*//*", "GET /v1/*./*"], "content-type", Is("\"text/html; charset=utf-8\""), Is("\"application/json\""), REDIRECTION;
    ["GET /v1*//*", "GET /v1/*./*"], "body", Something, Is("\"\""), REDIRECTION;
    ["LIST /v1/*//*", "POST /v1/*//*", "DELETE /v1/*//*"], "content-type", Is("\"\""), Is("\"application/json\""), REDIRECTION;
    ["GET //v1/sys/auth"], "body", Something, Is("\"\""), REDIRECTION;
    ["GET /v1/sys/policies/acl/a%0*"], "content-type", Is("\"\""), Is("\"application/json\""), CONTENT_TYPE;
    ["GET /v1/sys/policies/acl/a%0*"], "body", Is("\"\""), Something, CONTENT_TYPE;
    ["OPTIONS sys/auth"], "/errors", Something, Is("[]"), "contract 1.1 and D54: OPTIONS is not served";
    ["PATCH sys/auth {}"], "status", Is("400"), Is("415"), "contract 1.1 and D55: PATCH needs its content type, and no type is another one";
    ["PATCH sys/auth {}"], "/errors", Is("[\"mime: no media type\"]"), Something, "contract 1.1 and D55: PATCH needs its content type, and no type is another one";
    ["GET sys/auth?list=true", "LIST sys/auth", "LIST auth/token/create", "LIST sys/policies/acl/p3"], "status", Is("404"), Is("405"), LIST_OPERATION;
    ["GET sys/auth?list=true", "LIST sys/auth", "LIST auth/token/create", "LIST sys/policies/acl/p3"], "/errors", Something, Is(r#"["1 error occurred:\n\t* unsupported operation\n\n"]"#), LIST_OPERATION;
    ["POST auth/token/create []", "POST auth/token/create 1", "POST auth/token/create \"x\"", "POST auth/token/create {", "POST auth/token/create nonsense", "PUT sys/init { by nobody"], "/errors", Something, Is("[\"error parsing JSON\"]"), PARSING;
    ["POST auth/token/create {\"ttl\":300.9}", "POST auth/token/create {\"num_uses\":3.9,*"], "status", Is("400"), Is("200"), "contract 1.4 and D56: parts of a second or of a number are cut off";
    ["POST auth/token/create {\"ttl\":true}"], "status", Is("200"), Is("400"), "contract 1.4 and D57: a duration is a number or a text";
    ["POST auth/token/create *", "POST sys/auth/m*"], "/errors", Something, Is(r#"["Field validation failed: error converting input for field \"ttl\": time: invalid duration \"abc\""]"#), CONVERSION;
    ["POST auth/token/create *"], "/errors", Something, Is(r#"["Field validation failed: error converting input for field \"period\": time: invalid duration \"abc\""]"#), CONVERSION;
    ["POST sys/auth/m*"], "/errors", Something, Is(r#"["Field validation failed: error converting input for field \"default_lease_ttl\": time: invalid duration \"abc\""]"#), CONVERSION;
    ["POST auth/token/create *"], "/errors", Something, Is(r#"["Field validation failed: error converting input for field \"ttl\": could not parse duration from input"]"#), CONVERSION;
    ["POST auth/token/create *"], "/errors", Something, Is(r#"["Field validation failed: error converting input for field \"num_uses\": cannot parse as int: strconv.ParseInt: parsing \"x\": invalid syntax"]"#), CONVERSION;
    ["POST auth/token/create *"], "/errors", Something, Is(r#"["Field validation failed: error converting input for field \"renewable\": cannot parse as bool: strconv.ParseBool: parsing \"maybe\": invalid syntax"]"#), CONVERSION;
    ["POST sys/auth/m3 *"], "/errors", Something, Is(r#"["Field validation failed: error converting input for field \"config\": expected an object, got a string"]"#), CONVERSION;

    // Contract 5: tokens.
    ["*"], "/data/display_name", Is("\"token\""), Is("\"root\""), ROOT_TOKEN;
    ["*"], "/data/path", Is("\"auth/token/create\""), Is("\"auth/token/root\""), ROOT_TOKEN;
    ["POST auth/token/create *\"id\":\"chosen-by-hand\"}"], "/warnings", Something, Something, "contract 5.4 and D58: a chosen ID is warned about; here it is not hashed any weaker";
    ["POST auth/token/create *\"id\":\"s.chosen\"}"], "/errors", Is("[\"custom token ID cannot have the 's.' prefix\"]"), Is("[\"custom token ID cannot have the 'hvs.' prefix\"]"), "contract 5.4 and D42: one text for both prefixes";
    ["POST auth/token/create *\"id\":\"with.dot\"}"], "/errors", Is("[\"custom token ID cannot have a '.' in the value\"]"), Something, "contract 5.4 and D42: a chosen ID has no dot; the text says all that it may not have";
    ["POST auth/token/create {\"policies\":[\"default\"],\"no_default_policy\":true*"], "/auth/policies", Is("[]"), Is("[\"default\"]"), NO_DEFAULT;
    ["POST auth/token/create {\"policies\":[\"default\"],\"no_default_policy\":true*"], "/auth/token_policies", Nothing, Is("[\"default\"]"), NO_DEFAULT;
    ["POST auth/token/tidy *"], "/warnings", Something, Something, "contract 5.4 and D58: a warning says what goes on, and there is no log to look at";
    ["GET auth/token/lookup-self by of role"], "/data/explicit_max_ttl", Is("0"), Is("7200"), "contract 5.5 and D59: the explicit maximum that is in force, also where a role gave it";
    ["POST auth/token/roles/r4 *"], "/errors", Something, Something, "contract 1.4 and D42: an address that does not parse is named, in words of this server";
    ["P* auth/token/renew-self * by periodic"], "/auth/num_uses", Is("9"), Something, REMAINING_USES;
    ["GET auth/token/lookup-self by two uses"], "/data/num_uses", Is("-1"), Is("0"), "D26: vaultrs cannot parse a negative number";

    // Contract 5.6: policies and capabilities.
    ["POST identity/entity-alias *"], "status", Is("200"), Is("204"), SAME_ALIAS;
    ["POST identity/entity-alias *"], "body", Something, Is("\"\""), SAME_ALIAS;
    ["GET sys/policies/acl/default?*", "GET sys/policies/acl/response-wrapping"], "/data/policy", Something, Something, "contract 5.6 and D60: what the policy grants is the same, its text is our own";
    ["POST sys/policies/acl/t *"], "/errors", Something, Is(r#"["failed to parse policy: invalid capability \"nonsense\""]"#), POLICY_TEXTS;
    ["POST sys/policies/acl/t *"], "/errors", Something, Is(r#"["failed to parse policy: invalid key \"nonsense\" on line 1"]"#), POLICY_TEXTS;
    ["POST sys/policies/acl/t *"], "/errors", Something, Is(r#"["failed to parse policy: invalid policy \"nonsense\""]"#), POLICY_TEXTS;
    ["POST sys/policies/acl/t {\"policy\":\"path \\\"x\\\" {\"}"], "/errors", Something, Something, POLICY_TEXTS;
    ["POST sys/capabilities {\"token\":\"\",*", "POST sys/capabilities {\"path\":*"], "status", Is("500"), Is("400"), "contract 5.6 and D61: a bad token is refused with 400";
    ["POST sys/capabilities {\"token\":\"\",*", "POST sys/capabilities {\"path\":*"], "/errors", Is(r#"["1 error occurred:\n\t* no token found\n\n"]"#), Is(r#"["1 error occurred:\n\t* invalid token\n\n"]"#), "contract 5.6 and D61: a bad token is refused with 400";

    // Contract 6.2: status.
    ["* sys/health*", "GET sys/seal-status*"], "/version", Something, Is("\"1.21.0\""), "contract 6.2 and D33: the release that clients are to take this server for";
    ["GET sys/seal-status*"], "/type", Is("\"shamir\""), Is("\"static\""), "contract 6.2 and D33: the key of this server is in a file, and that of a dev server of the reference is one share";
    ["GET sys/health?activecode=x by nobody"], "/errors", Is("[]"), Something, "contract 1.7 and D42: the one error says which parameter is wrong";

    // Contract 6.3: mounts.
    ["GET sys/mounts", "GET sys/internal/ui/mounts*"], "*running_plugin_version", Something, Something, OWN_FACTS;
    ["GET sys/auth*", "GET sys/internal/ui/mounts*", "PUT sys/wrapping/unwrap by wrapped mounts"], "*/deprecation_status", Nothing, Is("\"supported\""), MOUNT_OBJECT;
    ["GET sys/auth*", "GET sys/internal/ui/mounts*", "PUT sys/wrapping/unwrap by wrapped mounts"], "*/options", Is("null"), Is("{}"), "contract 6.3 and D45: options may be null";
    ["POST sys/auth/m2 {\"type\":\"token\"}"], "/errors", Something, Is("[\"plugin not found in the catalog: token\"]"), "contract 6.3 and D62: a type that cannot be mounted is not found";
    ["GET sys/mounts"], "*/secret~1", Something, Nothing, SECRETS;
    ["GET sys/mounts", "GET sys/internal/ui/mounts by least"], "*/config/passthrough_request_headers", Something, Nothing, "contract 6.3 and D45: header lists are shown where an operator has set them";

    // Contract 6.5: leases.
    ["GET sys/internal/ui/mounts by least"], "/data/secret/identity~1", Something, Nothing, "contract 5.6, 6.4 and D60: the policy `default` of the reference grants more below `identity/`";

    // Contract 6.6: wrapping.
    ["POST sys/wrapping/unwrap {} by nobody"], "/errors", Is("[\"error validating wrapping token: token is empty\"]"), Is("[\"permission denied\"]"), "contract 1.7 and D63: without any token it is `permission denied`";
    ["GET sys/wrapping/unwrap"], "status", Is("400"), Is("405"), "contract 6.6 and D64: unwrapping is a write";
    ["GET sys/wrapping/unwrap"], "/errors", Something, Is(r#"["1 error occurred:\n\t* unsupported operation\n\n"]"#), "contract 6.6 and D64: unwrapping is a write";
    ["PUT sys/wrapping/unwrap by wrapped mounts"], "/token~1", Nothing, Something, "contract 1.5 and D65: an answer that is copied to the top level is unwrapped as it was";

    // Contract 7: identity.
    ["LIST identity/entity/id", "GET identity/entity/id?list=true"], "/data/key_info/*/aliases", Nothing, Is("[]"), LISTED;
    ["LIST identity/entity-alias/id"], "/data/key_info/*/custom_metadata", Is("{}"), Is("null"), "contract 7.2 and D48: no metadata is null";
    ["LIST identity/group/id"], "/data/key_info/*/num_member_entities", Something, Nothing, LISTED;
    ["LIST identity/entity-alias/id"], "/data/key_info/*/custom_metadata/c", Nothing, Is("\"d\""), UNSENT;
    ["GET identity/entity-alias/id/<alias one>"], "/data/custom_metadata*", Something, Something, UNSENT;
    ["GET identity/entity-alias/id/<alias one>"], "/data/custom_metadata/c", Nothing, Is("\"d\""), UNSENT;
    ["GET identity/entity/id/<entity one>", "POST identity/lookup/entity *"], "/data/aliases/0/custom_metadata*", Something, Something, UNSENT;
    ["GET identity/entity/id/<entity one>"], "/data/aliases/0/custom_metadata/c", Nothing, Is("\"d\""), UNSENT;
    ["GET identity/group/*", "POST identity/lookup/group *"], "/data/member_*_ids", Is("null"), Is("[]"), LISTS;
    ["GET identity/group/*", "POST identity/lookup/group *"], "/data/parent_group_ids", Is("null"), Is("[]"), LISTS;
    ["GET identity/group/*"], "/data/policies", Is("null"), Is("[]"), LISTS;
    ["GET identity/group/*", "POST identity/lookup/group *"], "/data/alias/custom_metadata", Nothing, Is("null"), ALIAS_OBJECT;
    ["GET identity/group/*", "POST identity/lookup/group *"], "/data/alias/local", Nothing, Is("false"), ALIAS_OBJECT;
    ["POST identity/group {*"], "status", Is("500"), Is("400"), STORAGE_ONLY;
    ["POST identity/group {*\"member_*_ids\":[\"nonsense\"]}"], "/errors", Something, Something, STORAGE_ONLY;
    ["POST identity/group/id/<group one> {\"member_group_ids\":*"], "/errors", Is("[\"cyclic relationship detected for member group ID \\\"<group two>\\\"\"]"), Is("[\"cyclic relationship detected for member group ID\"]"), "contract 7.2 and D42: that there is a cycle is what matters, for its members are in the request";
];
