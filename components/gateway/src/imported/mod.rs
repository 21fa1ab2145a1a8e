//! The capabilities as imports of the component that this crate is linked into. The code only converts types.
//!
//! The imports are those of the WIT world `gatehouse:gateway/front`. Linking this crate exports nothing, so any component may put the front before
//! the capabilities, however it receives its requests.

mod access;
mod auth_method;
mod orgs;

pub use access::ImportedAccess;
pub use auth_method::ImportedAuthMethod;
pub use orgs::ImportedOrganizations;

use crate::{Gateway, Settings};

#[allow(missing_docs, unsafe_code, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        path: [
            "../../wit/deps/io",
            "../../wit/deps/clocks",
            "../../wit/deps/random",
            "../../wit/deps/filesystem",
            "../../wit/deps/sockets",
            "../../wit/deps/cli",
            "../../wit/deps/http",
            "../../wit/network",
            "../../wit/storage",
            "../../wit/auth-method",
            "../../wit/access",
            "../../wit/orgs",
            "../../wit/host",
            "../../wit/gateway",
        ],
        world: "gatehouse:gateway/front",
        with: {
            "gatehouse:network/addresses@0.1.0/ip-address": gatehouse_ports::IpAddress,
            "gatehouse:access/cubbyhole@0.1.0": gatehouse_access_api::bindings::gatehouse::access::cubbyhole,
            "gatehouse:access/identity@0.1.0": gatehouse_access_api::bindings::gatehouse::access::identity,
            "gatehouse:access/leases@0.1.0": gatehouse_access_api::bindings::gatehouse::access::leases,
            "gatehouse:access/migrations@0.1.0": gatehouse_access_api::bindings::gatehouse::access::migrations,
            "gatehouse:access/mounts@0.1.0": gatehouse_access_api::bindings::gatehouse::access::mounts,
            "gatehouse:access/policies@0.1.0": gatehouse_access_api::bindings::gatehouse::access::policies,
            "gatehouse:access/system@0.1.0": gatehouse_access_api::bindings::gatehouse::access::system,
            "gatehouse:access/token-roles@0.1.0": gatehouse_access_api::bindings::gatehouse::access::token_roles,
            "gatehouse:access/requests@0.1.0": gatehouse_access_api::bindings::gatehouse::access::requests,
            "gatehouse:access/rights@0.1.0": gatehouse_access_api::bindings::gatehouse::access::rights,
            "gatehouse:access/tokens@0.1.0": gatehouse_access_api::bindings::gatehouse::access::tokens,
            "gatehouse:access/types@0.1.0": gatehouse_access_api::bindings::gatehouse::access::types,
            "gatehouse:access/wrapping@0.1.0": gatehouse_access_api::bindings::gatehouse::access::wrapping,
            "gatehouse:auth-method/config@0.1.0": gatehouse_auth_method_api::bindings::gatehouse::auth_method::config,
            "gatehouse:auth-method/identity-tokens@0.1.0": gatehouse_auth_method_api::bindings::gatehouse::auth_method::identity_tokens,
            "gatehouse:auth-method/login@0.1.0": gatehouse_auth_method_api::bindings::gatehouse::auth_method::login,
            "gatehouse:auth-method/roles@0.1.0": gatehouse_auth_method_api::bindings::gatehouse::auth_method::roles,
            "gatehouse:auth-method/types@0.1.0": gatehouse_auth_method_api::bindings::gatehouse::auth_method::types,
            "gatehouse:orgs/agent-pools@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::agent_pools,
            "gatehouse:orgs/audit-trail@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::audit_trail,
            "gatehouse:orgs/authority@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::authority,
            "gatehouse:orgs/entitlements@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::entitlements,
            "gatehouse:orgs/memberships@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::memberships,
            "gatehouse:orgs/organizations@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::organizations,
            "gatehouse:orgs/retention@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::retention,
            "gatehouse:orgs/sharing@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::sharing,
            "gatehouse:orgs/site@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::site,
            "gatehouse:orgs/subscriptions@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::subscriptions,
            "gatehouse:orgs/teams@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::teams,
            "gatehouse:orgs/tokens@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::tokens,
            "gatehouse:orgs/types@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::types,
            "gatehouse:orgs/users@0.1.0": gatehouse_orgs_api::bindings::gatehouse::orgs::users,
        },
        generate_all,
    });
}

/// A gateway over imported capabilities.
pub type ImportingGateway = Gateway<ImportedAuthMethod, ImportedAccess, ImportedOrganizations>;

/// The gateway over the capabilities that are bound to this component, on a host without further services.
#[must_use]
pub fn gateway(settings: Settings) -> ImportingGateway {
    Gateway::new(
        ImportedAuthMethod,
        ImportedAccess,
        ImportedOrganizations,
        settings,
    )
}
