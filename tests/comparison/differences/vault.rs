//! Differences from Vault alone, most of them from its method for Google Cloud.

use super::Difference;
use super::Seen::{Anything, Begin, Has, Is, Nothing, Something};
use super::reasons::{
    CONTENT_TYPE, CONVERSION, LIST_OPERATION, ORDER, OWN_FACTS, PARSING, REDIRECTION, STORAGE_ONLY,
};

const UNKNOWN_PATHS: &str = "contract 1.1 and D71: what is not below `/v1/` is 404; there is no user interface to be sent to";
const HOSTILE: &str = "contract 1.1, rule 4, and D67: what is encoded twice or has a backslash is refused before anything is looked up";
const NEGATIVE: &str = "contract 6.3 and D72: -1 is refused, and not stored";
const IGNORED_BODIES: &str = "contract 1.1, rule 2, and D73: what cannot be a field is ignored in the body of a read, a list or a deletion";
const MOUNT_TYPE: &str = "contract 1.5 and D66: every answer of a mount says its type";
const SHOWN_MOUNTS: &str =
    "contract 6.4 and D74: the mount object of 6.3, with 0 where nothing is set";
const UNITED_NAMES: &str = "contract 1.7 and D75: the family of `permission denied`, wrapped as on every authenticated path";
const NEWER_FIELDS: &str = "contract 2.2 and D76: a field of the newest reference";
const IN_FORCE: &str = "contract 2.5 and D13: what is in force is shown";
const ROTATED: &str = "contract 2.6 and D33: each server has made a key of its own";
const REPLACED: &str =
    "contract 2.6 and D12: new credentials of the other kind replace the old ones";
const FREE: &str = "contract 2.2 and D24: federation and rotation are there for everybody";
const OWN_TEXTS: &str = "contract 1.10 and D88: the same parts, in words of our own";
const NULLS: &str = "contract 1.3, rule 6, and D20: null counts as absent";
const LABEL_MAP: &str = "contract 3.2 and D77: labels may be a map";
const CASE: &str = "contract 3.1, 4.5 and D17: names of roles are in small letters everywhere";
const ALL_WARNINGS: &str = "contract 3.2 and D18: every warning is given";
const NEW_WARNINGS: &str = "contract 3.2 and D78: added warnings";
const SORTED: &str = "contract 1.4, 3.6 and D79: lists that bind roles are sorted";
const UNUSABLE: &str = "contract 3.2 and D80: 0 is the default, with which a role can be used";
const LOGIN_TEXTS: &str =
    "contract 4.2 and D89: why, in words of our own behind the text that scripts know";
const CLAIMS: &str = "contract 4.2, 4.5 and D4, D5, D6: `aud`, `iss`, `nbf` are checked";
const INFERENCE: &str =
    "contract 4.4 and D1, D2: tokens of Google itself are accepted while the role allows inference";
const WILDCARD: &str = "contract 3.2 and D8: `*` on a gce role matches everybody";
const REFUSED: &str =
    "contract 4.7 and D19: what Google refuses is the caller's fault, not the server's";
const DISABLED: &str = "contract 4.10 and D10: a disabled account renews nothing";
const PRIVATE_RECORD: &str = "contract 4.10 and D14: a renewal does not read what the token shows";
const BOUND_PROJECTS: &str = "contract 4.10 and D28: the role's projects count in renewals too";

/// The beginning of our refusals of a login.
pub const OUR_LOGIN_TEXTS: &[&str] = &[
    // Of the gateway: bodies, fields, paths and policy.
    "1 error occurred:",
    "2 errors occurred:",
    "Field validation failed: ",
    "cannot write to a path ending in '/'",
    "error parsing ",
    "no handler for route ",
    "permission denied",
    // Of the method (contract 4.2 to 4.7).
    "Could not find service account ",
    "Got GCE token but IAM role ",
    "JWT ",
    "at least one of the JWT claim 'aud' must end in ",
    "authenticating instance ",
    "auth methods cannot create root tokens",
    "cannot assign policy ",
    "could not ",
    "error when attempting to find instance ",
    "expected JWT to have ",
    "failed to create oauth2 http client: ",
    "google API ",
    "instance ",
    "jwt argument is required",
    "outgoing requests to ",
    "project ",
    "role ",
    "service account ",
    "the alias would have no name",
    "unable to get public key for signed JWT: ",
    "unable to parse signed JWT: ",
    "unable to verify JWT signature",
    "unknown fields: ",
];

/// The beginning of our warnings about a role.
pub const OUR_ROLE_WARNINGS: &[&str] = &[
    "Endpoint ignored these unrecognized parameters: ",
    "Endpoint replaced the value of these parameters ",
    "Given both \"bound_regions\" and \"bound_zones\" fields ",
    "Given max_ttl of ",
    "Given token max ttl of ",
    "Given token period of ",
    "Given token ttl of ",
    "Given ttl of ",
    "The \"",
    "\"add_group_aliases\" is on while ",
    "\"bound_labels\" alone binds this role: ",
    "\"bound_service_accounts\" is \"*\" and \"bound_projects\" is empty: ",
];

/// Every row.
pub const DIFFERENCES: &[Difference] = rows![
    // Contract 1: paths, methods, headers, bodies.
    ["GET /foo", "GET /v1", "GET /v2/sys/health"], "status", Is("307"), Is("404"), UNKNOWN_PATHS;
    ["GET /foo", "GET /v1", "GET /v2/sys/health", "GET //v1/sys/auth"], "content-type", Something, Is("\"application/json\""), UNKNOWN_PATHS;
    ["GET /foo", "GET /v1", "GET /v2/sys/health"], "location", Something, Is("\"\""), UNKNOWN_PATHS;
    ["GET /foo", "GET /v1", "GET /v2/sys/health"], "body", Something, Something, UNKNOWN_PATHS;
    ["GET /v1/sys/%2e%2e/auth"], "status", Is("404"), Is("400"), "contract 1.1, rule 4, and D67: encoded dots are refused before anything is looked up";
    ["GET /v1/sys/%2e%2e/auth"], "/errors", Something, Something, "contract 1.1, rule 4, and D67: encoded dots are refused before anything is looked up";
    ["GET auth/n%252Fdeep/config", "GET auth/n/deep%5cconfig"], "status", Is("404"), Is("400"), HOSTILE;
    ["GET auth/n%252Fdeep/config", "GET auth/n/deep%5cconfig"], "/errors", Something, Something, HOSTILE;
    ["POST auth/g/role/. *"], "content-type", Is("\"\""), Is("\"application/json\""), REDIRECTION;
    ["GET auth/token/lookup-self [X-Vault-Namespace: team]"], "status", Is("200"), Is("404"), "contract 1.2 and D81: a namespace that is not there is not ignored";
    ["PUT sys/init {*", "POST auth/token/create {", "POST auth/g/login { by nobody"], "status", Is("500"), Is("400"), PARSING;
    ["POST auth/g/login { by nobody"], "/errors", Something, Is("[\"error parsing JSON\"]"), PARSING;
    ["POST auth/token/create {\"ttl\":\"1h\",\"ttl\":\"2h\"}", "POST auth/token/create {\"meta\":{\"a\":{\"b\":1,\"b\":2}}}"], "status", Is("500"), Is("400"), "contract 1.3, rule 4, and D68: it is the request that is bad";
    ["POST auth/token/create {\"ttl\":\"1h\",\"ttl\":\"2h\"}", "POST auth/token/create {\"meta\":{\"a\":{\"b\":1,\"b\":2}}}"], "/errors", Something, Is("[\"duplicate key\"]"), PARSING;
    ["POST sys/auth/x { by least", "POST auth/token/create { by nobody"], "status", Is("500"), Is("403"), ORDER;
    ["POST sys/auth/x { by least", "POST auth/token/create { by nobody"], "/errors", Is("[\"malformed JSON, unclosed containers\"]"), Something, ORDER;
    ["GET auth/token/lookup-self {\"not\":", "LIST sys/policies/acl ["], "status", Is("500"), Is("200"), IGNORED_BODIES;
    ["DELETE sys/policies/acl/none {"], "status", Is("500"), Is("204"), IGNORED_BODIES;
    ["GET sys/policies/rgp"], "status", Is("405"), Is("404"), "contract 1.6 and D82: the path does not exist here";
    ["GET sys/policies/rgp"], "/errors", Something, Something, "contract 1.6 and D82: the path does not exist here";
    ["LIST auth/c/config"], "status", Is("404"), Is("405"), LIST_OPERATION;
    ["LIST auth/c/config"], "/errors", Something, Is(r#"["1 error occurred:\n\t* unsupported operation\n\n"]"#), LIST_OPERATION;
    ["*"], "/mount_type", Is("\"\""), Something, MOUNT_TYPE;
    ["GET auth/token/lookup-self by wider", "GET auth/token/lookup-self by grouped"], "/errors", Is("[\"permission denied\"]"), Is(r#"["1 error occurred:\n\t* permission denied\n\n"]"#), UNITED_NAMES;
    ["POST auth/*", "PUT auth/*"], "/errors", Something, Has("Field validation failed: "), CONVERSION;

    // Contract 2: the configuration.
    ["GET auth/*/con*ig"], "/data/credentials_source", Nothing, Something, "contract 2.5 and D84: where the credentials come from";
    ["GET auth/*/con*ig"], "/data/*_alias", Nothing, Is("\"role_id\""), IN_FORCE;
    ["GET auth/*/con*ig"], "/data/identity_token_ttl", Is("0"), Is("3600"), IN_FORCE;
    ["GET auth/*/con*ig"], "/data/rotation_policy", Nothing, Is("\"\""), NEWER_FIELDS;
    ["POST auth/c/config {\"credentials\":*"], "/errors", Something, Something, "contract 2.2 and D42: the text of the parser, without what was sent";
    ["POST auth/c/config {\"rotation_schedule\":\"nonsense\"}"], "/errors", Something, Something, "contract 2.2 and D42: the text of the parser, without what was sent";
    ["GET auth/c/config"], "/data/client_*", Nothing, Something, REPLACED;
    ["GET auth/c/config"], "/data/pr*_id", Nothing, Something, REPLACED;
    ["POST auth/c/config {\"identity_token_audience\":\"x\",\"service_account_email\":*", "POST auth/c/config {\"rotation_period\":86400}"], "status", Is("400"), Is("204"), FREE;
    ["POST auth/c/config/rotate-root {}"], "status", Is("500"), Is("400"), "contract 2.6 and D22: without credentials there is nothing to rotate";
    ["POST auth/g/config/rotate-root {}"], "/data/private_key_id", Something, Something, ROTATED;
    ["* auth/*?help=1*", "POST sys/policies/acl/asked?help=1 *"], "/help", Something, Something, OWN_TEXTS;
    ["* auth/*?help=1*", "POST sys/policies/acl/asked?help=1 *"], "/openapi*", Anything, Anything, OWN_TEXTS;

    // Contract 3: roles.
    ["GET auth/g/role/dev"], "status", Is("200"), Is("404"), CASE;
    ["POST auth/g/role/u *"], "/errors", Is("[\"invalid args found for role of type : bound_zones\"]"), Something, "contract 3.3 and D85: the role's own type";
    ["POST auth/g/role/*"], "/warnings", Is("null"), Begin(OUR_ROLE_WARNINGS), NEW_WARNINGS;
    ["POST auth/g/role/*"], "/warnings", Has("[\""), Begin(OUR_ROLE_WARNINGS), ALL_WARNINGS;
    ["POST auth/g/role/v {\"bound_labels\":{\"x\":\"y\"}}"], "status", Is("400"), Is("200"), LABEL_MAP;
    ["GET auth/g/role/v"], "/data/bound_labels", Nothing, Is("{\"x\":\"y\"}"), LABEL_MAP;
    ["POST auth/g/role/t *\"token_num_uses\":3.9}"], "status", Is("400"), Is("200"), "contract 1.4 and D56: parts of a number are cut off";
    ["GET auth/g/role/t"], "status", Is("404"), Is("200"), "contract 1.4 and D56: parts of a number are cut off";
    ["POST auth/g/role/t *\"token_bound_cidrs\":\"nonsense\"}"], "/errors", Something, Something, "contract 3.2 and D42: an address that does not parse is named, in words of this server";
    ["POST auth/g/role/u *null*"], "status", Is("400"), Is("200"), NULLS;
    ["GET auth/g/role/*"], "/data/max_jwt_exp", Nothing, Is("900"), UNUSABLE;
    ["GET auth/g/role/s"], "/data/bound_service_accounts", Something, Something, SORTED;

    // Contract 4: logins and renewals.
    ["POST auth/g/login *"], "/errors", Has("[\""), Begin(OUR_LOGIN_TEXTS), LOGIN_TEXTS;
    ["LIST auth/g/login by nobody"], "status", Is("403"), Is("405"), "contract 4.1 and D86: no token is asked for, whatever is to be done";
    ["LIST auth/g/login by nobody"], "/errors", Something, Is("[\"unsupported operation\"]"), "contract 4.1 and D86: no token is asked for, whatever is to be done";
    ["POST auth/g/login {\"role\":\"DEV\",*"], "status", Is("400"), Is("200"), CASE;
    ["POST auth/g/login *<jwt of tomorrow>*", "POST auth/g/login *<jwt without aud>*", "POST auth/g/login *<jwt with glued aud>*", "POST auth/g/login *<jwt with issuer>*"], "status", Is("200"), Is("400"), CLAIMS;
    ["POST auth/g/login *instance jwt of dev>*"], "status", Is("400"), Is("200"), INFERENCE;
    ["POST auth/token/renew-self {} by inferred"], "status", Is("403"), Something, INFERENCE;
    ["POST auth/token/renew-self {} by inferred"], "/errors", Something, Something, INFERENCE;
    ["POST auth/g/login {\"role\":\"owned\",*"], "status", Is("400"), Is("200"), WILDCARD;
    ["POST auth/g/login {\"role\":\"dev\",\"jwt\":\"<jwt of dev>\"} by nobody"], "status", Is("500"), Is("400"), REFUSED;
    ["POST auth/g/login {\"role\":\"counted\",*"], "/auth/token_policies", Nothing, Is("[]"), "contract 4.8 and D26: always a list";
    ["GET auth/token/lookup-self by *"], "/data/external_namespace_policies", Is("{}"), Nothing, "contract 5.5 and D81: shown when there are any";
    ["GET identity/group/id/<folder group>"], "/data/modify_index", Something, Something, "contract 7.3 and D87: a login that changes no membership writes nothing";
    ["POST auth/token/renew-self {} by dev after the account is disabled"], "status", Is("200"), Is("400"), DISABLED;
    ["POST auth/token/renew-self {} by vm"], "status", Is("200"), Is("400"), BOUND_PROJECTS;
    ["POST auth/token/renew-self {} by bare *"], "status", Is("400"), Is("200"), PRIVATE_RECORD;
    ["POST auth/token/renew-self {} by dev"], "/errors", Is("[\"invalid auth metadata: expected 'zone' field\"]"), Something, PRIVATE_RECORD;

    // Contract 5: tokens and policies.
    ["POST auth/token/create {\"policies\":[\"\"],\"no_default_policy\":true,*"], "/auth/token_policies", Nothing, Is("[]"), "contract 4.8 and D26: always a list";
    ["POST auth/token/create/b *"], "status", Is("200"), Is("400"), "contract 5.1 and D27: a batch token has no period";
    ["LIST sys/policies/acl"], "/data/keys", Has("\"w\",\"team/app\",\"root\""), Has("\"team/app\",\"w\",\"root\""), "contract 5.6 and D70: the names are sorted, `root` is last";

    // Contract 6: status, mounts.
    ["POST sys/mounts/auth/n/deep/tune {\"max_lease_ttl\":\"-1\"}"], "status", Is("204"), Is("400"), NEGATIVE;
    ["GET sys/mounts/auth/n/deep/tune"], "*/max_lease_ttl", Is("-1"), Is("2764800"), NEGATIVE;
    ["POST sys/mounts/auth/n/deep/tune *"], "/errors", Something, Something, "contract 6.3 and D42: refused with what there is instead";
    ["POST identity/oidc/config *"], "/warnings", Something, Something, "contract 7.4 and D58: it is warned about, and there are no clusters";
    ["POST cubbyhole/a {} by plain"], "status", Is("500"), Is("400"), STORAGE_ONLY;
    ["POST cubbyhole/a {} by plain"], "/errors", Something, Is("[\"missing data fields\"]"), STORAGE_ONLY;
    ["GET sys/ha-status", "* sys/version-history*", "GET sys/plugins/catalog/auth/gcp"], "/*", Anything, Anything, OWN_FACTS;
    ["GET sys/plugins/catalog/nonsense"], "status", Is("200"), Is("404"), "contract 1.6 and D82: a type that is not there is missing";
    ["POST sys/plugins/catalog/auth/x {}"], "status", Is("400"), Is("405"), "contract 6.1 and D83: the catalog is to be read";
    ["POST sys/plugins/catalog/auth/x {}"], "/errors", Something, Something, "contract 6.1 and D83: the catalog is to be read";
    ["POST sys/leases/tidy {}"], "/warnings", Something, Something, "contract 5.4 and D58: a warning says what goes on, and there is no log to look at";
    ["GET sys/metrics?format=nonsense"], "content-type", Is("\"text/plain\""), Is("\"application/json\""), CONTENT_TYPE;
    ["GET sys/metrics?format=nonsense"], "body", Something, Something, CONTENT_TYPE;
    ["POST sys/tools/random/0 {}"], "/errors", Something, Is("[\"'bytes' cannot be less than 1\"]"), "contract 6.1 and D42: the parameter is named, in other quotation marks";
    ["GET sys/seal-status*"], "/build_date", Something, Something, OWN_FACTS;
    ["GET sys/auth*", "PUT sys/wrapping/unwrap by wrapped mounts"], "*/running_plugin_version", Something, Is("\"v0.1.0+builtin\""), OWN_FACTS;
    ["GET sys/internal/ui/mounts*"], "*/config/*_lease_ttl", Is("2764800"), Is("0"), SHOWN_MOUNTS;
    ["GET sys/internal/ui/resultant-acl*"], "/data/chroot_namespace", Is("\"\""), Nothing, "contract 6.4 and D81: there are no namespaces";
    ["GET sys/internal/ui/resultant-acl by least"], "/data/*_paths/*", Something, Nothing, "contract 5.6 and D60: the policy `default` of the reference grants what is not served here";
];
