//! The frame of every page, and the parts that pages are made of.

mod parts;
mod refusals;

use maud::{DOCTYPE, Markup, html};

use crate::session::{Credential, Session};

pub use parts::{
    area, button, facts, form, input, key, notice, search, secret, select, table, tick,
};
pub use refusals::{refusal, refused, refused_as, status_of, summary, unavailable};

/// The address of the stylesheet.
pub const STYLESHEET: &str = "/ui/style.css";

/// A page without its frame.
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

    /// True if the page tells that a request was refused or failed. Its title then begins with that, for visitors whose screen reader reads out
    /// titles.
    const fn is_refusal(&self) -> bool {
        self.status >= 400
    }
}

/// The visitors to whom a section is offered.
#[derive(Clone, Copy)]
enum OfferedTo {
    All,
    /// The visitors who signed in with a token of the server.
    Server,
    /// The visitors who signed in with an API token for organizations.
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

/// The sections, in the order in which the navigation lists them: address, name, and the visitors to whom they are offered.
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
                title { @if page.is_refusal() { "Error: " } (page.title) " · Gatehouse" }
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
