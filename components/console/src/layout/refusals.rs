//! Refusals, and the advice on them.

use maud::{Markup, html};

use super::Page;
use crate::api::ApiError;

/// The refusal of the visitor's request, with the advice on it.
pub fn refused(error: &ApiError) -> Markup {
    refused_as(error, headline(error.status), advice(error.status))
}

/// The refusal below `headline`, with this `advice`.
pub fn refused_as(error: &ApiError, headline: &str, advice: &str) -> Markup {
    summary(html! {
        h2 { (headline) }
        (told(error, advice))
    })
}

/// The refusal of one part of a page whose other parts are shown. The visitor did not ask for this part alone, so nothing calls for attention.
pub fn unavailable(error: &ApiError) -> Markup {
    html! {
        div class="refused" {
            p { strong { (headline(error.status)) } }
            (told(error, advice(error.status)))
        }
    }
}

/// The error summary at the top of a page. The keyboard focus is there when the page loads: pages have no scripts, and screen readers do not
/// otherwise read out an alert that is part of the loaded page.
pub fn summary(content: Markup) -> Markup {
    html! { div class="refused" role="alert" tabindex="-1" autofocus { (content) } }
}

fn told(error: &ApiError, advice: &str) -> Markup {
    html! {
        @for message in &error.messages { pre { (message) } }
        p { (advice) }
    }
}

/// The status of a page that reports `error`. A status other than an HTTP error would make the browser follow a redirect or show nothing.
pub const fn status_of(error: &ApiError) -> u16 {
    match error.status {
        status @ 400..=599 => status,
        _ => 502,
    }
}

/// The page for a response that is not a success.
pub fn refusal(error: &ApiError) -> Page {
    Page {
        status: status_of(error),
        title: headline(error.status).to_owned(),
        // The title of the page is the headline.
        content: summary(told(error, advice(error.status))),
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
        400 | 422 => {
            "Correct what the message names, and send the form again; where it is not on this page, go back to it."
        }
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
