//! The frame of every page, and the parts that pages are made of.

use maud::{DOCTYPE, Markup, html};

use crate::api::ApiError;
use crate::session::{Credential, Session};

/// Where the stylesheet is.
pub const STYLESHEET: &str = "/ui/style.css";

/// A page before it has its frame.
pub struct Page {
    /// The status code.
    pub status: u16,
    /// The title, which is also the heading.
    pub title: String,
    /// The content below the heading.
    pub content: Markup,
}

impl Page {
    /// A page that answers what was asked for.
    pub fn new(title: impl Into<String>, content: Markup) -> Self {
        Self {
            status: 200,
            title: title.into(),
            content,
        }
    }
}

/// The visitors to whom a section is offered.
#[derive(Clone, Copy)]
enum OfferedTo {
    All,
    /// Those who signed in with a token of the server.
    Server,
    /// Those who signed in with an API token for organizations.
    Organizations,
}

impl OfferedTo {
    const fn includes(self, credential: &Credential) -> bool {
        match self {
            Self::All => true,
            Self::Server => matches!(credential, Credential::Server(_)),
            Self::Organizations => matches!(credential, Credential::Organizations(_)),
        }
    }
}

/// The sections, in the order in which they are named: address, name, and the visitors to whom they are offered.
const SECTIONS: [(&str, &str, OfferedTo); 11] = [
    ("/ui/", "Overview", OfferedTo::All),
    ("/ui/mounts", "Auth mounts", OfferedTo::Server),
    (
        "/ui/explain",
        "Why was this login refused?",
        OfferedTo::Server,
    ),
    ("/ui/policies", "Policies", OfferedTo::Server),
    (
        "/ui/capabilities",
        "What may a token do?",
        OfferedTo::Server,
    ),
    ("/ui/tokens", "Tokens", OfferedTo::Server),
    ("/ui/leases", "Leases", OfferedTo::Server),
    ("/ui/identity", "Identity", OfferedTo::Server),
    ("/ui/organizations", "Organizations", OfferedTo::All),
    (
        "/ui/organizations/own-tokens",
        "Your API tokens",
        OfferedTo::Organizations,
    ),
    ("/ui/site", "Site administration", OfferedTo::All),
];

/// `page` in its frame, for a visitor at `path`.
pub fn framed(page: &Page, path: &str, session: &Session) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (page.title) " · Gatehouse" }
                link rel="stylesheet" href=(STYLESHEET);
            }
            body {
                a class="skip" href="#content" { "Skip to the content" }
                header {
                    p class="name" { a href="/ui/" { "Gatehouse" } }
                    @if let Some(credential) = &session.credential {
                        nav aria-label="Sections" { ul {
                            @for (address, name, offered_to) in SECTIONS {
                                @if offered_to.includes(credential) {
                                    li { a href=(address) aria-current=[(address == path).then_some("page")] { (name) } }
                                }
                            }
                        } }
                        form class="sign-out" method="post" action="/ui/sign-out" {
                            (key(session))
                            label { input type="checkbox" name="revoke" value="yes"; " and revoke the token" }
                            " "
                            button { "Sign out" }
                        }
                    }
                }
                main id="content" tabindex="-1" {
                    h1 { (page.title) }
                    (page.content)
                }
                footer { p {
                    a href="/v1/sys/health" { "Health" } " as the API answers it. The API for programs: "
                    a href="/ui/openapi.json" { "/v1 as OpenAPI" } ", as far as your token goes; "
                    a href="/api/v2/openapi.json" { "/api/v2 as OpenAPI" } "."
                } }
            }
        }
    }
}

/// The hidden field that every form carries.
pub fn key(session: &Session) -> Markup {
    html! { input type="hidden" name="form_key" value=(session.form_key()); }
}

/// A form that posts to `action`.
pub fn form(session: &Session, action: &str, fields: Markup, button: &str) -> Markup {
    html! {
        form method="post" action=(action) autocomplete="off" {
            (key(session))
            (fields)
            p { button { (button) } }
        }
    }
}

/// A form of one button, with hidden fields.
pub fn button(session: &Session, action: &str, fields: &[(&str, &str)], text: &str) -> Markup {
    html! {
        form class="inline" method="post" action=(action) {
            (key(session))
            @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
            button class="dangerous" { (text) }
        }
    }
}

/// A field of one line.
pub fn input(name: &str, label: &str, help: &str, value: &str) -> Markup {
    one_line("text", name, label, help, value)
}

/// A field of one line that the browser does not show.
pub fn secret(name: &str, label: &str, help: &str) -> Markup {
    one_line("password", name, label, help, "")
}

fn one_line(kind: &str, name: &str, label: &str, help: &str, value: &str) -> Markup {
    let about = format!("{name}-help");
    html! {
        p class="field" {
            label for=(name) { (label) }
            input id=(name) name=(name) type=(kind) value=(value) autocomplete="off" spellcheck="false"
                aria-describedby=[(!help.is_empty()).then_some(&about)];
            @if !help.is_empty() { span class="help" id=(about) { (help) } }
        }
    }
}

/// A field of several lines.
pub fn area(name: &str, label: &str, help: &str, value: &str, rows: u8) -> Markup {
    let about = format!("{name}-help");
    html! {
        p class="field" {
            label for=(name) { (label) }
            // A parser drops the first line end of a text area.
            textarea id=(name) name=(name) rows=(rows) spellcheck="false"
                aria-describedby=[(!help.is_empty()).then_some(&about)] { "\n" (value) }
            @if !help.is_empty() { span class="help" id=(about) { (help) } }
        }
    }
}

/// A choice of one of `options`.
pub fn select(name: &str, label: &str, help: &str, options: &[&str], value: &str) -> Markup {
    let about = format!("{name}-help");
    html! {
        p class="field" {
            label for=(name) { (label) }
            select id=(name) name=(name) aria-describedby=[(!help.is_empty()).then_some(&about)] {
                @for option in options {
                    option value=(option) selected[*option == value] { @if option.is_empty() { "(no choice)" } @else { (option) } }
                }
            }
            @if !help.is_empty() { span class="help" id=(about) { (help) } }
        }
    }
}

/// A box to tick.
pub fn tick(name: &str, label: &str, help: &str, is_on: bool) -> Markup {
    let about = format!("{name}-help");
    html! {
        p class="field" {
            label { input type="checkbox" name=(name) value="yes" checked[is_on]
                aria-describedby=[(!help.is_empty()).then_some(&about)]; " " (label) }
            @if !help.is_empty() { span class="help" id=(about) { (help) } }
        }
    }
}

/// A table; it scrolls alone where it is wider than the screen.
pub fn table(heads: &[&str], rows: &[Vec<Markup>]) -> Markup {
    html! {
        @if rows.is_empty() {
            p { "There is nothing here." }
        } @else {
            div class="table" role="region" aria-label=(heads.join(", ")) tabindex="0" { table {
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
            } }
        }
    }
}

/// Names with their values.
pub fn facts(pairs: &[(&str, String)]) -> Markup {
    html! {
        dl { @for (name, value) in pairs { @if !value.is_empty() { dt { (name) } dd { (value) } } } }
    }
}

/// A text that a screen reader reads out when the page comes.
pub fn notice(text: &str) -> Markup {
    html! { p class="notice" role="status" { (text) } }
}

/// A refusal of the API, and the advice on it.
pub fn refused(error: &ApiError) -> Markup {
    refused_as(error, headline(error.status), advice(error.status))
}

/// A refusal of the API below `headline`, with `advice` of its own.
pub fn refused_as(error: &ApiError, headline: &str, advice: &str) -> Markup {
    html! {
        div class="refused" role="alert" {
            p { strong { (headline) } }
            @for message in &error.messages { pre { (message) } }
            p { (advice) }
        }
    }
}

/// The status of a page that tells of `error`: any but that of an error of HTTP would send the browser elsewhere, or nowhere.
pub const fn status_of(error: &ApiError) -> u16 {
    match error.status {
        status @ 400..=599 => status,
        _ => 502,
    }
}

/// The page of an answer that is not a success.
pub fn refusal(error: &ApiError) -> Page {
    Page {
        status: status_of(error),
        title: headline(error.status).to_owned(),
        content: refused(error),
    }
}

const fn headline(status: u16) -> &'static str {
    match status {
        400 | 422 => "The server did not accept this",
        401 => "Your token is not accepted here",
        403 => "Your token does not allow this",
        404 => "It does not exist, or your token may not see it",
        413 => "This is too long",
        409 => "Something else has this name, or has changed meanwhile",
        429 => "Too many requests",
        503 => "The server cannot do this now",
        _ => "The server failed",
    }
}

const fn advice(status: u16) -> &'static str {
    match status {
        400 | 422 => "Go back, correct what the message names, and send the form again.",
        401 => {
            "Your token has ended or was revoked, or the organization accepts no tokens of users: sign out and in again, with another token."
        }
        403 => {
            "The token may have ended: sign out and in again. Otherwise ask for a policy that allows this path; “What may a token do?” shows \
             what yours allows."
        }
        404 => "Look at the list that named it: it may have been deleted or renamed.",
        413 => "Check what you pasted: it is longer than what the field asks for.",
        409 => "Load the page again to see how it is now, then send the form again.",
        429 => "Wait a minute, then send the form again.",
        503 => "See the overview: the server may be sealed, or its store may be out of reach.",
        _ => "The log of the server says why. Try again, or ask its operator.",
    }
}
