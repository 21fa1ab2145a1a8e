//! The console, inside the front: its pages ask the gateway of the same instance.
//!
//! As a part of the front it adds no memory and no table to an instance, of which Spin has room for a limited number, and it calls the API
//! with the address of its visitor, which a call from another component of the application would not carry.

use gatehouse_barrier::RootKey;
use gatehouse_console as console;
use gatehouse_gateway::{Received, Response};
use gatehouse_ports::console_paths::is_for_console;

/// Tells the console's key from all else that is made of the root key.
const LABEL: &[u8] = b"gatehouse spin console session key 1";

/// The key that seals sessions, from the text of the variable `seal_key`: all instances of an application have the same one, and nothing
/// that is sealed by it tells of the root key.
///
/// # Errors
///
/// When the variable is empty or holds no root key, without which no store opens either. The text says what the operator has to do, and
/// tells nothing of the variable, since every caller sees it.
pub fn sealing_key(seal_key: &str) -> Result<console::SealingKey, String> {
    match RootKey::from_text(seal_key) {
        Ok(root_key) => Ok(console::SealingKey::new(&root_key.derived(LABEL))),
        Err(_) if seal_key.trim_ascii().is_empty() => Err(format!(
            "The variable seal_key is empty. Without it the stores stay sealed, and the API answers every request with 503. {TO_DO}"
        )),
        Err(_) => Err(format!(
            "The variable seal_key holds no root key. With it no store opens, and the API answers every request with 503; the log of Spin says \
             what is wrong with it. {TO_DO}"
        )),
    }
}

/// How an operator comes by the variable `seal_key`.
const TO_DO: &str = "Start Spin again with the key that the stores were made with, from the file that `gatehouse operator seal-key` wrote: \
    --variable seal_key=@seal.key. Only for stores that were never used, make a new one with that command.";

/// True if the console answers this request.
#[must_use]
pub fn is_visit(received: &Received) -> bool {
    let accept = received.headers.iter().filter_map(|(name, value)| {
        name.eq_ignore_ascii_case("accept")
            .then_some(value.as_slice())
    });
    is_for_console(&received.target, accept)
}

/// The request of a browser, as the console takes it.
#[must_use]
pub fn visit(received: Received) -> console::Request {
    console::Request {
        id: received.id,
        method: received.method,
        target: received.target,
        peer: received.peer,
        is_https: received.is_https,
        authority: received.authority,
        headers: received.headers,
        body: received.body,
    }
}

/// A call of the API.
#[must_use]
pub fn call(request: console::Request) -> Received {
    Received {
        id: request.id,
        method: request.method,
        target: request.target,
        peer: request.peer,
        is_https: request.is_https,
        authority: request.authority,
        headers: request.headers,
        body: request.body,
    }
}

/// A page, as the front sends it; without its body where `is_head`.
#[must_use]
pub fn page(answer: console::Response, is_head: bool) -> Response {
    let headers = answer.headers.into_iter();
    Response {
        status: answer.status,
        headers: headers
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        body: match is_head {
            true => Vec::new(),
            false => answer.body,
        },
        rest: None,
        route: None,
    }
}

#[cfg(test)]
mod tests {
    use gatehouse_ports::doubles::{ManualClock, SeededRandom};

    use super::*;

    fn received(target: &str, headers: &[(&str, &str)]) -> Received {
        let field = |(name, value): &(&str, &str)| ((*name).to_owned(), value.as_bytes().to_vec());
        Received {
            id: None,
            method: "GET".to_owned(),
            target: target.to_owned(),
            peer: None,
            is_https: false,
            authority: None,
            headers: headers.iter().map(field).collect(),
            body: Vec::new(),
        }
    }

    #[test]
    fn a_browser_at_the_root_is_told_by_a_field_in_any_case() {
        assert!(is_visit(&received("/", &[("Accept", "text/html,*/*")])));
        assert!(!is_visit(&received("/", &[("x-accept", "text/html")])));
    }

    #[test]
    fn h9_a_call_comes_from_the_address_that_the_front_knows() {
        let mut known = received("/ui/", &[]);
        known.peer = Some("198.51.100.7".parse().unwrap());
        let peer = known.peer;
        assert_eq!(call(visit(known)).peer, peer);
    }

    /// The API of a server that is not asked.
    struct Nothing;

    impl console::Exchange for Nothing {
        fn handle(&self, _: console::Request) -> console::Response {
            console::Response::default()
        }
    }

    fn session_at(seal_key: &str, cookie: Option<&str>) -> console::Response {
        session_with(sealing_key(seal_key), cookie)
    }

    fn session_with(
        key: Result<console::SealingKey, String>,
        cookie: Option<&str>,
    ) -> console::Response {
        let settings = console::Settings {
            key,
            ..console::Settings::default()
        };
        let clock = ManualClock::at_seconds(1_800_000_000);
        let server = console::Console::new(Nothing, clock, SeededRandom::new(1), settings);
        let headers: Vec<_> = cookie
            .map(|cookie| ("cookie", cookie))
            .into_iter()
            .collect();
        server.handle(&visit(received("/ui/", &headers)))
    }

    fn cookie_of(answer: &console::Response) -> &str {
        let mut headers = answer.headers.iter();
        let set = headers.find(|(name, _)| *name == "set-cookie");
        set.unwrap().1.split(';').next().unwrap()
    }

    const ONE: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const TWO: &str = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";

    #[test]
    fn h17_instances_with_one_seal_key_share_sessions_and_others_do_not() {
        let first = session_at(&format!("{ONE}\n"), None);
        let cookie = cookie_of(&first);
        assert_eq!(session_at(ONE, Some(cookie)).status, 200);
        assert_eq!(session_at(TWO, Some(cookie)).status, 401);
    }

    #[test]
    fn h17_sessions_of_earlier_releases_open_with_the_same_seal_key() {
        let derived = "GgA4EKX_3gIxl3IOz-oSW1jml4IGo5PxYFpoyXUAzWM";
        let key = console::SealingKey::from_text(derived);
        let first = session_with(Ok(key.unwrap()), None);
        let cookie = cookie_of(&first);
        assert_eq!(session_at(ONE, Some(cookie)).status, 200);
    }

    #[test]
    fn h17_without_a_root_key_there_is_no_session_and_the_page_says_what_to_do() {
        for (text, why) in [
            ("", "is empty"),
            (" \n", "is empty"),
            ("no key", "holds no root key"),
            ("AAECAwQFBgc=", "holds no root key"),
        ] {
            let answer = session_at(text, None);
            assert_eq!(answer.status, 503, "{text}");
            let page = String::from_utf8(answer.body).unwrap();
            for said in [why, "gatehouse operator seal-key", "seal_key=@seal.key"] {
                assert!(page.contains(said), "{said}: {page}");
            }
            assert!(
                text.trim().is_empty() || !page.contains(text),
                "the variable is not told"
            );
        }
    }
}
