//! The gateway over the imported capabilities, as both handlers use it.

use std::sync::OnceLock;

use gatehouse_gateway::imported::{self, ImportingGateway};
use gatehouse_gateway::{Part, Received, Request, Response, ResumeError, vault};
use gatehouse_ports::OsRandom;

use crate::origin::Origin;
use crate::patience::standing_still;
use crate::settings::{FrontSettings, SettingsError};
use crate::{background_sampling, client_address, once};
use bindings::wasi::config::store as variables;

#[allow(missing_docs, unsafe_code, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        path: [
            "../../wit/deps/config",
            "../../wit/deps/io",
            "../../wit/deps/clocks",
            "../../wit/deps/random",
            "../../wit/deps/filesystem",
            "../../wit/deps/sockets",
            "../../wit/deps/cli",
            "../../wit/deps/http",
            "../../wit/spin-trigger",
        ],
        world: "gatehouse:spin-trigger/settings",
        generate_all,
    });
}

struct Front {
    gateway: ImportingGateway,
    advertised: Option<Origin>,
}

/// Made at the first request of an instance that finds its variables. Spin may change them while it runs; an instance that is used again
/// does not live long.
static FRONT: OnceLock<Front> = OnceLock::new();

fn front() -> Result<&'static Front, SettingsError> {
    once::get_or_make(&FRONT, || {
        let settings = FrontSettings::from_variables(|name| {
            variables::get(name).map_err(|error| match error {
                variables::Error::Upstream(why) | variables::Error::Io(why) => why,
            })
        })?;
        Ok(Front {
            gateway: imported::gateway(settings.gateway),
            advertised: settings.advertised,
        })
    })
}

/// Answers a request, of which nothing is left to say where it is refused as a whole.
pub fn answer(received: Received) -> (Response, Option<Resumption>) {
    match accept(received) {
        Ok((front, request)) => {
            let response = standing_still(|| front.gateway.handle(&request));
            let resumption = Resumption { front, request };
            (response, Some(resumption))
        }
        Err(refusal) => (refusal, None),
    }
}

fn accept(mut received: Received) -> Result<(&'static Front, Request), Response> {
    let front = front().map_err(|error| {
        eprintln!("gatehouse: {error}");
        vault::error_response(500, "the server is misconfigured; its log says how")
    })?;
    let connection = client_address::take(&mut received);
    if let Some(is_https) = connection.is_https {
        received.is_https = is_https;
    }
    if let Some(advertised) = &front.advertised {
        advertised.impose(&mut received);
    }
    Ok((front, received.into_request(connection.peer)?))
}

/// A request that is being answered in parts.
pub struct Resumption {
    front: &'static Front,
    request: Request,
}

impl Resumption {
    /// The next part of the answer.
    ///
    /// # Errors
    ///
    /// When there is none to be had.
    pub fn part(&self, continuation: &[u8]) -> Result<Part, ResumeError> {
        standing_still(|| self.front.gateway.resume(&self.request, continuation))
    }
}

/// Sees to one duty, after one answer of many. To be called once the answer has been handed over: a duty that fails ends this instance,
/// and takes no other duty with it.
pub fn run_background_now_and_then() {
    if let Some(front) = FRONT.get()
        && let Some((_, duty)) =
            background_sampling::sampled_duty(&OsRandom, &ImportingGateway::DUTIES)
    {
        // The operator has been told of what failed, and failures are not counted here.
        let _ = standing_still(|| duty(&front.gateway));
    }
}
