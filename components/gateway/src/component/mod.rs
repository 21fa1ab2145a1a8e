//! The gateway as a component: exports for the host that runs it, and imports of the host's services.

mod exchange;
mod host;

use std::sync::OnceLock;

use wasip2::http::types::{IncomingRequest, ResponseOutparam};

use crate::imported::ImportingGateway;
use crate::received::Received;
use crate::settings::{Initializer, Rate};
use crate::{
    Edition, Part, Request, Response, ResumeError, RootTokenHash, Settings, imported, transport,
};

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
        world: "gatehouse:gateway/served",
        with: {
            "gatehouse:gateway/exchange@0.1.0/request": crate::Received,
            "gatehouse:gateway/exchange@0.1.0/response": crate::Response,
            "gatehouse:gateway/exchange@0.1.0/rest": crate::Rest,
            "gatehouse:gateway/exchange@0.1.0/part": crate::Part,
            "gatehouse:network/addresses@0.1.0/ip-address": gatehouse_ports::IpAddress,
            "wasi:io/error@0.2.12": wasip2::io::error,
            "wasi:io/poll@0.2.12": wasip2::io::poll,
            "wasi:io/streams@0.2.12": wasip2::io::streams,
            "wasi:clocks/monotonic-clock@0.2.12": wasip2::clocks::monotonic_clock,
            "wasi:http/types@0.2.12": wasip2::http::types,
            "gatehouse:host/audit@0.1.0": crate::host::bindings::gatehouse::host::audit,
            "gatehouse:host/backups@0.1.0": crate::host::bindings::gatehouse::host::backups,
            "gatehouse:host/log@0.1.0": crate::host::bindings::gatehouse::host::log,
            "gatehouse:host/metrics@0.1.0": crate::host::bindings::gatehouse::host::metrics,
            "gatehouse:host/rate-limits@0.1.0": crate::host::bindings::gatehouse::host::rate_limits,
            "gatehouse:host/seal@0.1.0": crate::host::bindings::gatehouse::host::seal,
            "gatehouse:host/shared-store@0.1.0": crate::host::bindings::gatehouse::host::shared_store,
        },
        generate_all,
    });

    use super::Component;
    export!(Component);
}

struct Component;

/// The header in which a host that calls by `wasi:http/incoming-handler` names the address of the peer.
const PEER_HEADER: &str = "x-gatehouse-peer";

/// The gateway, created at the first request of an instance: the environment does not change during its lifetime.
static GATEWAY: OnceLock<ImportingGateway> = OnceLock::new();

fn gateway() -> &'static ImportingGateway {
    GATEWAY.get_or_init(|| imported::gateway(settings()).with_host(host::imported()))
}

fn settings() -> Settings {
    let mut settings = Settings {
        edition: Edition::from_variables(|name| std::env::var(name).ok()),
        ..Settings::default()
    };
    if let Ok(version) = std::env::var("GATEHOUSE_VERSION_COMPATIBILITY") {
        settings.compatibility_version = version;
    }
    if let Ok(kind) = std::env::var("GATEHOUSE_STORE_TYPE") {
        settings.storage_type = kind;
    }
    settings.login_rate_per_source = rate("GATEHOUSE_LOGIN_RATE_PER_SOURCE");
    settings.login_rate_per_mount = rate("GATEHOUSE_LOGIN_RATE_PER_MOUNT");
    settings.api_rate_limiting = is_on("GATEHOUSE_API_RATE_LIMITING");
    settings.strict_media_type = is_on("GATEHOUSE_STRICT_MEDIA_TYPE");
    // A hash that cannot be read must not let any client initialize the server.
    if let Ok(hash) = std::env::var("GATEHOUSE_BOOTSTRAP_ROOT_TOKEN_HASH") {
        settings.initializer =
            RootTokenHash::from_text(&hash).map_or(Initializer::NoCaller, Initializer::HolderOf);
    }
    settings
}

fn is_on(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|value| value == "true")
}

fn rate(variable: &str) -> Option<Rate> {
    Rate::from_text(&std::env::var(variable).ok()?)
}

impl bindings::exports::wasi::http::incoming_handler::Guest for Component {
    fn handle(request: IncomingRequest, answer: ResponseOutparam) {
        match transport::read(request).and_then(from_named_peer) {
            Ok(request) => {
                let resume = |continuation: &[u8]| gateway().resume(&request, continuation);
                transport::write(gateway().handle(&request), answer, resume);
            }
            Err(refusal) => transport::write_whole(refusal, answer),
        }
    }
}

fn answer_to(received: Received) -> Response {
    match received.into_request() {
        Ok(request) => gateway().handle(&request),
        Err(refusal) => refusal,
    }
}

fn rest_of(received: Received, continuation: &[u8]) -> Result<Part, ResumeError> {
    // A request that cannot be read was refused as a whole, so it has no further parts.
    let request = received.into_request().map_err(|_| ResumeError::Foreign)?;
    gateway().resume(&request, continuation)
}

/// The request, with the peer that the host named in the header.
fn from_named_peer(mut received: Received) -> Result<Request, Response> {
    let named = received.take_header(PEER_HEADER);
    received.peer = named.and_then(|named| str::from_utf8(&named).ok()?.parse().ok());
    received.into_request()
}

impl bindings::exports::gatehouse::gateway::background::Guest for Component {
    fn rotate_credentials() -> Result<(), ()> {
        gateway().rotate_credentials().map_err(drop)
    }

    fn maintain_identity_token_keys() -> Result<(), ()> {
        gateway().maintain_identity_token_keys().map_err(drop)
    }

    fn forget_disabled_mounts() -> Result<(), ()> {
        gateway().forget_disabled_mounts().map_err(drop)
    }

    fn maintain_access() -> Result<(), ()> {
        gateway().maintain_access().map_err(drop)
    }

    fn count_tokens() -> Result<(), ()> {
        gateway().count_tokens().map_err(drop)
    }

    fn look_for_plan_ends() -> Result<(), ()> {
        gateway().look_for_plan_ends().map_err(drop)
    }

    fn clear_removed_organizations() -> Result<(), ()> {
        gateway().clear_removed_organizations().map_err(drop)
    }

    fn clear_removed_teams() -> Result<(), ()> {
        gateway().clear_removed_teams().map_err(drop)
    }

    fn enter_organization_names() -> Result<(), ()> {
        gateway().enter_organization_names().map_err(drop)
    }

    fn report_events() -> Result<(), ()> {
        gateway().report_events().map_err(drop)
    }
}
