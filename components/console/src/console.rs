//! The handler that turns a request of a browser into a page.

use gatehouse_ports::{Clock, Random, RandomError};
use maud::html;

use crate::api::Api;
use crate::exchange::{Exchange, Request, Response};
use crate::form::Fields;
use crate::layout::{self, Page, framed};
use crate::origin;
use crate::pages::{self, Outcome, Visit};
use crate::session::{FormMark, SealingKey, Session, SessionError};

/// The maximum length of a form, in bytes. The longest policies (1 MiB, and up to three bytes in a form for each byte) cannot be written here.
const MAXIMUM_FORM_BYTES: usize = 512 * 1024;
/// The seconds without a request after which a session has ended.
const IDLE_SECONDS: u64 = 15 * 60;

/// The settings of the console.
pub struct Settings {
    /// The key that seals sessions. Without one, every page shows only this text, which tells the operator what to do. Every caller sees it.
    pub key: Result<SealingKey, String>,
    /// The seconds without a request after which a session has ended.
    pub idle_seconds: u64,
    /// True where browsers connect by TLS, even if a proxy terminates it.
    pub is_behind_tls: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            key: Err(
                "The console was started without a key for sessions. Set GATEHOUSE_CONSOLE_KEY to 32 bytes in base64url without padding, then \
                 start it again."
                    .to_owned(),
            ),
            idle_seconds: IDLE_SECONDS,
            is_behind_tls: false,
        }
    }
}

/// The console, over its ports.
pub struct Console<X, C, R> {
    exchange: X,
    clock: C,
    random: R,
    settings: Settings,
}

/// The cookie that a request came with.
enum Arrival {
    /// The request has none.
    Without,
    /// It is a session.
    With(Session),
    /// It is not a valid session.
    Refused(SessionError),
}

/// The fate of the cookie.
enum Cookie {
    /// It holds this session.
    Keep(Session),
    /// The browser is to forget it.
    Forget,
}

impl<X: Exchange, C: Clock, R: Random> Console<X, C, R> {
    /// A console that calls the API by `exchange`.
    pub const fn new(exchange: X, clock: C, random: R, settings: Settings) -> Self {
        Self {
            exchange,
            clock,
            random,
            settings,
        }
    }

    /// The response to `request`. There is always one.
    pub fn handle(&self, request: &Request) -> Response {
        if request.path() == layout::STYLESHEET && is_read(&request.method) {
            return stylesheet();
        }
        let key = match &self.settings.key {
            Ok(key) => key,
            Err(to_do) => return plain(503, to_do),
        };
        if matches!(request.path(), "/" | "/ui") {
            return redirect("/ui/");
        }
        self.answer(request, key).unwrap_or_else(|_| {
            plain(
                500,
                "The server has no random numbers now, which a session needs. Try again later.",
            )
        })
    }

    fn answer(&self, request: &Request, key: &SealingKey) -> Result<Response, RandomError> {
        let now = self.clock.now_seconds();
        let name = self.cookie_name(request);
        let arrival = match cookie(request, name) {
            None => Arrival::Without,
            Some(cookie) => match key.open(cookie, now, self.settings.idle_seconds) {
                Ok(session) => Arrival::With(session),
                Err(error) => Arrival::Refused(error),
            },
        };
        let (mut session, refused) = match arrival {
            Arrival::With(session) => (session.used(now, &self.random)?, None),
            Arrival::Without => (Session::new(None, now, &self.random)?, None),
            Arrival::Refused(error) => (Session::new(None, now, &self.random)?, Some(error)),
        };
        let outcome = match (&*request.method, refused) {
            (_, Some(error)) => {
                let typed = Self::typed(request);
                Outcome::Page(pages::sign_in::over(&session, error, request, typed))
            }
            ("GET" | "HEAD", None) => self.page(request, &session, None, now),
            ("POST", None) => match Self::form(request, &session) {
                Ok(form) => self.carry_out(request, &mut session, &form, now),
                Err(page) => Outcome::Page(page),
            },
            _ => Outcome::Page(pages::unknown(405)),
        };
        let (mut response, cookie) = match outcome {
            Outcome::Page(page) | Outcome::Made(page) => {
                (self.framed(&page, request, &session), Cookie::Keep(session))
            }
            Outcome::Document(document) => (json(&document), Cookie::Keep(session)),
            Outcome::Redirect(place) => (redirect(&place), Cookie::Keep(session)),
            Outcome::SignedIn(credential) => {
                // The session is a new one, so that forms made before it are not valid in it.
                let session = Session::new(Some(credential), now, &self.random)?;
                (redirect("/ui/"), Cookie::Keep(session))
            }
            Outcome::SignedOut(said) => {
                let blank = Session::new(None, now, &self.random)?;
                let page = pages::sign_in::left(said);
                // The form of this page belongs to a fresh session.
                (self.framed(&page, request, &blank), Cookie::Forget)
            }
        };
        let set = match cookie {
            Cookie::Keep(session) => {
                let sealed = key.seal(&session, &self.random)?;
                self.set_cookie(request, &sealed)
            }
            Cookie::Forget => format!("{}; Max-Age=0", self.set_cookie(request, "")),
        };
        response.headers.push(("set-cookie", set));
        Ok(response)
    }

    /// Does what a form asks for, unless the same form was carried out before: a browser sends it again when the visitor reloads the response.
    fn carry_out(
        &self,
        request: &Request,
        session: &mut Session,
        form: &Fields,
        now: u64,
    ) -> Outcome {
        let mark = FormMark::new(&request.target, &request.body);
        if session.has_carried_out(mark) {
            return Outcome::Page(pages::repeated());
        }
        let outcome = self.page(request, session, Some(form), now);
        // Every other outcome is a question or a refusal, and that form may be sent again.
        if matches!(outcome, Outcome::Redirect(_) | Outcome::Made(_)) {
            session.carry_out(mark);
        }
        outcome
    }

    /// The text that was typed into a long form whose session had ended before the form arrived.
    fn typed(request: &Request) -> Option<String> {
        if request.method != "POST" {
            return None;
        }
        let fields = Self::fields(request).ok()?;
        pages::typed(request.path(), &fields)
    }

    /// The fields of a form that a page of this session sent.
    ///
    /// # Errors
    ///
    /// The page that says why the form is refused.
    fn form(request: &Request, session: &Session) -> Result<Fields, Page> {
        let fields = Self::fields(request)?;
        if !session.made_form(fields.raw("form_key")) {
            return Err(pages::forged());
        }
        Ok(fields)
    }

    /// The fields of a form that some page of this server sent.
    ///
    /// # Errors
    ///
    /// The page that says why the form is refused.
    fn fields(request: &Request) -> Result<Fields, Page> {
        if !origin::is_own(request) {
            return Err(pages::forged());
        }
        if request.body.len() > MAXIMUM_FORM_BYTES {
            return Err(pages::too_long());
        }
        let kind = request.header("content-type").unwrap_or_default();
        if !kind.starts_with("application/x-www-form-urlencoded") {
            return Err(pages::forged());
        }
        Fields::read(&request.body).ok_or_else(pages::too_long)
    }

    fn page(
        &self,
        request: &Request,
        session: &Session,
        form: Option<&Fields>,
        now: u64,
    ) -> Outcome {
        let query = Fields::read(request.query().as_bytes()).unwrap_or_default();
        pages::answer(&Visit {
            path: request.path(),
            query: &query,
            form,
            session,
            now,
            api: &Api::new(&self.exchange, request, session.credential.as_ref()),
        })
    }

    fn framed(&self, page: &Page, request: &Request, session: &Session) -> Response {
        let text = framed(page, request.path(), session).into_string();
        let mut response = headed(page.status, "text/html; charset=utf-8");
        response
            .headers
            .push(("cache-control", "no-store".to_owned()));
        response.body = text.into_bytes();
        response
    }

    fn is_secure(&self, request: &Request) -> bool {
        request.is_https || self.settings.is_behind_tls
    }

    /// The prefix `__Host-` makes browsers refuse the cookie from any other host. Browsers accept it only over TLS.
    fn cookie_name(&self, request: &Request) -> &'static str {
        match self.is_secure(request) {
            true => "__Host-gatehouse-console",
            false => "gatehouse-console",
        }
    }

    fn set_cookie(&self, request: &Request, value: &str) -> String {
        let name = self.cookie_name(request);
        let secure = match self.is_secure(request) {
            true => "; Secure",
            false => "",
        };
        // A cookie without an expiry ends with the browser's session.
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}")
    }
}

/// The first value of the cookie `name` that is not empty, across all header fields and pairs.
fn cookie<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let fields = request
        .headers
        .iter()
        .filter(|(field, _)| field.eq_ignore_ascii_case("cookie"));
    fields
        .filter_map(|(_, value)| str::from_utf8(value).ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(found, value)| *found == name && !value.is_empty())
        .map(|(_, value)| value)
}

fn is_read(method: &str) -> bool {
    matches!(method, "GET" | "HEAD")
}

/// A response with the header fields that all responses of the console have.
fn headed(status: u16, kind: &str) -> Response {
    let fields = [
        ("content-type", kind),
        (
            "content-security-policy",
            "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        // With `no-referrer`, browsers send no origin with forms, and a forged form would look like one of this server. `same-origin` sends other
        // sites nothing either.
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        (
            "permissions-policy",
            "camera=(), microphone=(), geolocation=()",
        ),
    ];
    Response {
        status,
        headers: fields
            .map(|(name, value)| (name, value.to_owned()))
            .to_vec(),
        body: Vec::new(),
    }
}

fn stylesheet() -> Response {
    let mut response = headed(200, "text/css; charset=utf-8");
    response
        .headers
        .push(("cache-control", "max-age=3600".to_owned()));
    response.body = include_bytes!("style.css").to_vec();
    response
}

fn redirect(place: &str) -> Response {
    let mut response = headed(303, "text/plain; charset=utf-8");
    response.headers.extend([
        ("location", place.to_owned()),
        ("cache-control", "no-store".to_owned()),
    ]);
    response
}

fn json(document: &serde_json::Value) -> Response {
    let mut response = headed(200, "application/json");
    response
        .headers
        .push(("cache-control", "no-store".to_owned()));
    response.body = document.to_string().into_bytes();
    response
}

/// The page for visitors who cannot have a session.
fn plain(status: u16, text: &str) -> Response {
    let mut response = headed(status, "text/html; charset=utf-8");
    response
        .headers
        .push(("cache-control", "no-store".to_owned()));
    response.body = html! {
        (maud::DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Error: The console cannot be used · Gatehouse" }
                link rel="stylesheet" href=(layout::STYLESHEET);
            }
            body { main {
                h1 { "The console cannot be used" }
                p { (text) }
                p { a href="/v1/sys/health" { "Health" } " says how the server is, as the API answers it." }
            } }
        }
    }
    .into_string()
    .into_bytes();
    response
}
