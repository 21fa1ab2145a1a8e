//! The gateway as a component: it only turns types into one another.

/// Both directions between two enumerations with the same cases, which hold nothing.
macro_rules! same_cases {
    ($wit:ty, $plain:ty, $($case:ident),+ $(,)?) => {
        impl From<$wit> for $plain {
            fn from(from: $wit) -> Self {
                match from {
                    $(<$wit>::$case => Self::$case),+
                }
            }
        }

        impl From<$plain> for $wit {
            fn from(from: $plain) -> Self {
                match from {
                    $(<$plain>::$case => Self::$case),+
                }
            }
        }
    };
}

/// One direction between two records with the same fields.
macro_rules! same_fields {
    ($from:ty => $to:ty { $($field:ident),+ $(,)? }) => {
        impl From<$from> for $to {
            fn from(from: $from) -> Self {
                Self { $($field: from.$field.into()),+ }
            }
        }
    };
}

mod access;
mod auth_method;
mod exchange;
mod host;
mod orgs;
mod received;
mod transport;

use std::net::IpAddr;
use std::sync::OnceLock;

use wasip2::http::types::{IncomingRequest, ResponseOutparam};

use crate::settings::Rate;
use crate::{Edition, Gateway, Response, Settings};
use access::ImportedAccess;
use auth_method::ImportedAuthMethod;
use orgs::ImportedOrganizations;
use received::Received;

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
            "../../wit/storage",
            "../../wit/auth-method",
            "../../wit/access",
            "../../wit/orgs",
            "../../wit/host",
            "../../wit/gateway",
        ],
        world: "gatehouse:gateway/gateway",
        with: {
            "wasi:io/error@0.2.12": wasip2::io::error,
            "wasi:io/poll@0.2.12": wasip2::io::poll,
            "wasi:io/streams@0.2.12": wasip2::io::streams,
            "wasi:clocks/monotonic-clock@0.2.12": wasip2::clocks::monotonic_clock,
            "wasi:http/types@0.2.12": wasip2::http::types,
        },
        generate_all,
    });

    use super::Component;
    export!(Component);
}

struct Component;

type ImportingGateway = Gateway<ImportedAuthMethod, ImportedAccess, ImportedOrganizations>;

/// Made at the first request of an instance: the environment does not change while it lives.
static GATEWAY: OnceLock<ImportingGateway> = OnceLock::new();

fn gateway() -> &'static ImportingGateway {
    GATEWAY.get_or_init(|| {
        Gateway::new(
            ImportedAuthMethod,
            ImportedAccess,
            ImportedOrganizations,
            settings(),
        )
        .with_host(host::imported())
    })
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    if std::env::var("GATEHOUSE_EDITION").is_ok_and(|edition| edition == "hosted") {
        settings.edition = Edition::Hosted;
    }
    if let Ok(version) = std::env::var("GATEHOUSE_VERSION_COMPATIBILITY") {
        settings.compatibility_version = version;
    }
    settings.login_rate_per_source = rate("GATEHOUSE_LOGIN_RATE_PER_SOURCE");
    settings.login_rate_per_mount = rate("GATEHOUSE_LOGIN_RATE_PER_MOUNT");
    settings.api_rate_limiting = is_on("GATEHOUSE_API_RATE_LIMITING");
    settings.strict_media_type = is_on("GATEHOUSE_STRICT_MEDIA_TYPE");
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
        let response = match transport::read(request) {
            Ok(received) => answer_to(received),
            Err(refusal) => refusal,
        };
        transport::write(response, answer);
    }
}

fn answer_to(received: Received) -> Response {
    match received.into_request() {
        Ok(request) => gateway().handle(&request),
        Err(refusal) => refusal,
    }
}

impl bindings::exports::gatehouse::gateway::background::Guest for Component {
    fn run() {
        gateway().run_background();
    }
}

/// An address as the interfaces of this workspace write it.
fn address_text(address: Option<IpAddr>) -> Option<String> {
    address.map(|address| address.to_string())
}
