//! The console as a component.

use std::sync::OnceLock;

use gatehouse_ports::{OsRandom, SystemClock};

use crate::{Console, Exchange, Request, Response, SealingKey, Settings};

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
            "../../wit/console",
        ],
        world: "gatehouse:console/console",
        with: {
            "gatehouse:network/addresses@0.1.0/ip-address": gatehouse_ports::IpAddress,
            "gatehouse:gateway/exchange@0.1.0/request": crate::Request,
        },
        generate_all,
    });

    use super::Component;
    export!(Component);
}

use bindings::exports::gatehouse::console::pages::Guest;
use bindings::gatehouse::gateway::exchange as wit;

/// The maximum length of a response of the API, in bytes; a page shows no more.
const MAXIMUM_ANSWER_BYTES: usize = 8 * 1024 * 1024;

struct Component;

impl Guest for Component {
    fn handle(request: Request) -> wit::Response {
        let response = console().handle(&request);
        wit::Response {
            status: response.status,
            headers: response
                .headers
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            body: response.body,
            rest: None,
            route: None,
        }
    }
}

/// The API, imported.
struct Imported;

impl Exchange for Imported {
    fn handle(&self, mut request: Request) -> Response {
        let first = wit::handle(&request);
        request.body = Vec::new();
        let (mut body, mut rest) = (first.body, first.rest);
        while let Some(more) = rest {
            if more.wait > 0 || body.len() > MAXIMUM_ANSWER_BYTES {
                break;
            }
            // A body without its remaining part is incomplete, and so not valid JSON.
            let Ok(part) = wit::resume(&request, &more.continuation) else {
                break;
            };
            body.extend_from_slice(&part.body);
            rest = part.rest;
        }
        Response {
            status: first.status,
            headers: Vec::new(),
            body,
        }
    }
}

/// The console, created at the first request of an instance: the environment does not change during its lifetime.
static CONSOLE: OnceLock<Console<Imported, SystemClock, OsRandom>> = OnceLock::new();

fn console() -> &'static Console<Imported, SystemClock, OsRandom> {
    CONSOLE.get_or_init(|| Console::new(Imported, SystemClock, OsRandom, settings()))
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    if let Ok(key) = std::env::var("GATEHOUSE_CONSOLE_KEY")
        && let Some(key) = SealingKey::from_text(&key)
    {
        settings.key = Ok(key);
    }
    if let Ok(idle) = std::env::var("GATEHOUSE_CONSOLE_IDLE_SECONDS") {
        settings.idle_seconds = idle.parse().unwrap_or(settings.idle_seconds);
    }
    settings.is_behind_tls = std::env::var("GATEHOUSE_ADVERTISED_ADDRESS")
        .is_ok_and(|address| address.starts_with("https://"));
    settings
}
