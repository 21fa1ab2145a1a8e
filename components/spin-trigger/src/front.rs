//! The gateway over the imported capabilities, as both handlers use it.

use std::sync::OnceLock;

use gatehouse_console::{Console, Exchange};
use gatehouse_gateway::host::{Host, NodeList, SharedStore};
use gatehouse_gateway::imported::{self, ImportingGateway};
use gatehouse_gateway::{
    Edition, Part, Received, Request, Response, ResumeError, refusal_page, vault,
};
use gatehouse_ports::{OsRandom, SystemClock};

use zeroize::Zeroizing;

use crate::background_sampling::LastRequest;
use crate::origin::Origin;
use crate::patience::standing_still;
use crate::settings::{FrontSettings, SettingsError};
use crate::{background_sampling, client_address, console, once_lock};
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

/// Bytes of an answer of the API at most; a page shows no more.
const MAXIMUM_ANSWER_BYTES: usize = 8 * 1024 * 1024;

struct Front {
    gateway: ImportingGateway,
    advertised: Option<Origin>,
    console: Option<Console<Within, SystemClock, OsRandom>>,
}

/// Made at the first request of an instance that finds its variables. Spin may change them while it runs; an instance that is used again
/// does not live long.
static FRONT: OnceLock<Front> = OnceLock::new();

/// The request of this instance before the present one.
static LAST_REQUEST: LastRequest = LastRequest::none();

fn front() -> Result<&'static Front, SettingsError> {
    once_lock::get_or_try_init(&FRONT, || {
        let settings = FrontSettings::new(variable, std::env::var(Edition::VARIABLE).ok())?;
        let console = match settings.has_console {
            true => Some(console(settings.advertised.as_ref())?),
            false => None,
        };
        Ok(Front {
            gateway: imported::gateway(settings.gateway).with_host(Host {
                shared_store: Box::new(StoreOfSpin),
                ..Host::default()
            }),
            advertised: settings.advertised,
            console,
        })
    })
}

/// Spin's store: its operator mends its failures, and a retry of the request is worthwhile then (contract 1.6).
struct StoreOfSpin;

impl SharedStore for StoreOfSpin {
    fn nodes(&self) -> Option<NodeList> {
        None
    }

    fn is_away(&self) -> bool {
        true
    }
}

fn variable(name: &str) -> Result<Option<String>, String> {
    variables::get(name).map_err(|error| match error {
        variables::Error::Upstream(why) | variables::Error::Io(why) => why,
    })
}

fn console(
    advertised: Option<&Origin>,
) -> Result<Console<Within, SystemClock, OsRandom>, SettingsError> {
    const SEAL_KEY: &str = "seal_key";
    let text = variable(SEAL_KEY).map_err(|why| SettingsError::Unreadable {
        variable: SEAL_KEY,
        why,
    })?;
    let text = Zeroizing::new(text.unwrap_or_default());
    let settings = gatehouse_console::Settings {
        key: console::sealing_key(&text),
        is_behind_tls: advertised.is_some_and(Origin::is_https),
        ..gatehouse_console::Settings::default()
    };
    Ok(Console::new(Within, SystemClock, OsRandom, settings))
}

/// The gateway of this instance, for the console in it.
struct Within;

impl Exchange for Within {
    fn handle(&self, request: gatehouse_console::Request) -> gatehouse_console::Response {
        let answer = |status, body| gatehouse_console::Response {
            status,
            headers: Vec::new(),
            body,
        };
        // Only a front that exists makes a page.
        let Some(front) = FRONT.get() else {
            return answer(500, Vec::new());
        };
        let request = match console::call(request).into_request() {
            Ok(request) => request,
            Err(refusal) => return answer(refusal.status, refusal.body),
        };
        let first = front.gateway.handle(&request);
        let (mut body, mut rest) = (first.body, first.rest);
        while let Some(more) = rest {
            // A body that waits continues for as long as it is read.
            if more.wait > 0 || body.len() > MAXIMUM_ANSWER_BYTES {
                break;
            }
            // A body that does not continue is incomplete, and no JSON.
            let Ok(part) = front.gateway.resume(&request, &more.continuation) else {
                break;
            };
            body.extend_from_slice(&part.body);
            rest = part.rest;
        }
        answer(first.status, body)
    }
}

/// Answers a request. No resumption follows where the request is refused as a whole, or is for a page.
pub fn answer(received: Received) -> (Response, Option<Resumption>) {
    let accepted = accept(received).and_then(|(front, received)| {
        if let Some(console) = &front.console
            && console::is_visit(&received)
        {
            let is_head = received.method == "HEAD";
            let visit = console::visit(received);
            // The answer is whole, as a refusal is.
            return Err(standing_still(|| {
                console::page(console.handle(&visit), is_head)
            }));
        }
        Ok((front, received.into_request()?))
    });
    match accepted {
        Ok((front, request)) => {
            let response = standing_still(|| front.gateway.handle(&request));
            let resumption = Resumption { front, request };
            (response, Some(resumption))
        }
        Err(whole) => (whole, None),
    }
}

fn accept(mut received: Received) -> Result<(&'static Front, Received), Response> {
    let front = front().map_err(|error| {
        const WHY: &str = "the server is misconfigured; its log says how";
        eprintln!("gatehouse: {error}");
        match console::is_visit(&received) {
            true => refusal_page(500, WHY),
            false => vault::error_response(500, WHY),
        }
    })?;
    client_address::settle(&mut received);
    if let Some(advertised) = &front.advertised {
        advertised.impose(&mut received);
    }
    Ok((front, received))
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
        && let Some(one_in) = LAST_REQUEST.note(&SystemClock)
        && let Some(duty) =
            background_sampling::sampled_duty(&OsRandom, &ImportingGateway::DUTIES, one_in)
    {
        // The operator has been told of what failed, and failures are not counted here.
        let _ = standing_still(|| duty(&front.gateway));
    }
}
