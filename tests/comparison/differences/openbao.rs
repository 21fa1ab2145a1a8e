//! Differences from OpenBao alone.

use super::Difference;
use super::Seen::{Is, Nothing, Something};
use super::reasons::{
    BAD_TOKEN, CONVERTED, OLD_SPELLINGS, ORDER, OWN_FACTS, POLICY_MEMBERS, POLICY_TEXTS,
    REDIRECTION, STRICT_CLIENTS,
};

/// Every row.
pub const DIFFERENCES: &[Difference] = rows![
    ["*"], "/mount_type", Nothing, Something, "contract 1.5 and D66: a member of newer servers, which older clients ignore";
    ["GET //v1/sys/auth"], "status", Is("404"), Is("307"), REDIRECTION;
    ["GET //v1/sys/auth"], "location", Is("\"\""), Is("\"/v1/sys/auth\""), REDIRECTION;
    ["GET /v1/sys/%2e%2e/auth"], "/errors", Is("[\"relative paths not supported\"]"), Something, "contract 1.1, rule 4, and D67: encoded dots are refused, in words that say what is wrong";
    ["OPTIONS sys/auth"], "status", Is("400"), Is("405"), "contract 1.1 and D54: OPTIONS is not served";
    ["POST auth/token/create {\"ttl\":\"1h\",\"ttl\":\"2h\"}"], "status", Is("200"), Is("400"), "contract 1.3, rule 4, and D68: a key that stands twice is refused";
    ["POST sys/auth/x { by least", "POST auth/token/create { by nobody"], "status", Is("400"), Is("403"), ORDER;
    ["POST sys/auth/x { by least", "POST auth/token/create { by nobody"], "/errors", Is("[\"failed to decode JSON input: unexpected EOF\"]"), Something, ORDER;
    ["*"], "/errors", Is("[\"permission denied\"]"), Is(r#"["2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n"]"#), BAD_TOKEN;
    ["POST auth/token/create {\"policies\":[\"control-group\"]}"], "status", Is("200"), Is("400"), "contract 5.2 and D69: `control-group` cannot be assigned";
    ["LIST sys/policies/acl* by decided"], "/data/keys", Something, Something, "contract 5.6 and D70: the names are sorted, `root` among them";
    ["POST sys/policies/acl/t *max_wrapping_ttl*"], "/errors", Is(r#"["failed to parse policy: path \"x\": max_wrapping_ttl cannot be less than min_wrapping_ttl"]"#), Something, POLICY_TEXTS;
    ["PUT sys/policies/acl/P2 *"], "status", Is("204"), Is("200"), CONVERTED;
    ["PUT sys/policies/acl/P2 *"], "body", Is("\"\""), Something, CONVERTED;
    ["GET sys/policies/acl/*", "GET sys/policy/*"], "*version", Something, Nothing, POLICY_MEMBERS;
    ["GET sys/policies/acl/*", "GET sys/policy/*"], "*modified", Something, Nothing, POLICY_MEMBERS;
    ["GET sys/policies/acl/*", "GET sys/policy/*"], "*cas_required", Is("false"), Nothing, POLICY_MEMBERS;
    ["GET sys/policies/acl/*", "GET sys/policy/*"], "*/allow_slashes_in_identity_templates", Is("false"), Nothing, POLICY_MEMBERS;
    ["GET sys/policies/acl/*", "GET sys/policy/*"], "*/allow_wildcards_in_identity_templates", Is("false"), Nothing, POLICY_MEMBERS;
    ["POST sys/policies/acl/control-group *"], "status", Is("204"), Is("400"), "contract 5.6 and D69: `control-group` is immutable";
    ["POST sys/policies/acl/t * \\\"x+*\\\"*", "POST sys/policies/acl/t * \\\"x/+*\\\"*"], "/errors", Something, Something, POLICY_TEXTS;
    ["* sys/health*"], "/performance_standby", Nothing, Is("false"), STRICT_CLIENTS;
    ["* sys/health*"], "/enterprise", Nothing, Is("false"), STRICT_CLIENTS;
    ["* sys/health*"], "/clock_skew_ms", Nothing, Is("0"), STRICT_CLIENTS;
    ["* sys/health*"], "/echo_duration_ms", Nothing, Is("0"), STRICT_CLIENTS;
    ["* sys/health*"], "/replication_primary_canary_age_ms", Nothing, Is("0"), STRICT_CLIENTS;
    ["GET sys/leader*"], "*", Nothing, Something, STRICT_CLIENTS;
    ["GET sys/seal-status*"], "/build_date", Nothing, Something, OWN_FACTS;
    ["GET sys/seal-status*"], "/commit_date", Something, Nothing, OWN_FACTS;
    ["GET sys/auth*", "PUT sys/wrapping/unwrap by wrapped mounts"], "*/running_plugin_version", Is("\"v2.7.2+builtin.bao\""), Is("\"v0.1.0+builtin\""), OWN_FACTS;
    ["PUT sys/revoke {*", "PUT sys/revoke-prefix/*"], "status", Is("404"), Is("204"), OLD_SPELLINGS;
    ["PUT sys/renew {*"], "status", Is("404"), Is("400"), OLD_SPELLINGS;
    ["PUT sys/renew {*"], "/errors", Something, Is("[\"lease not found\"]"), OLD_SPELLINGS;
    ["GET sys/internal/ui/resultant-acl by least"], "/data/exact_paths/sys~1renew", Nothing, Something, OLD_SPELLINGS;
    ["POST sys/remount *"], "/warnings", Something, Something, "contract 6.3 and D58: it is warned about, and each server has a name of its own";
];
