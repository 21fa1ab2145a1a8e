//! The requests that are for the console rather than for the API, by one rule for every host, and the page with which a host answers one
//! that the console does not see.

/// The content security policy of a page of a host, which is shown with the console's stylesheet.
pub const PAGE_POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/// True if the console answers the request for `target`, whose `accept` fields are these: its pages, and the root where a browser asks for it.
pub fn is_for_console<'a>(target: &str, accept: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    let names_pages =
        |value: &[u8]| str::from_utf8(value).is_ok_and(|value| value.contains("text/html"));
    path == "/ui"
        || path.starts_with("/ui/")
        || (path == "/" && accept.into_iter().any(names_pages))
}

/// A page of its own, in the place of one that the console would have answered. `why` is not escaped: it is a text of the host's.
pub fn refusal_page(why: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>No answer \u{b7} Gatehouse</title>\
         <link rel=\"stylesheet\" href=\"/ui/style.css\"></head>\
         <body><main><h1>The server could not answer this</h1><p>What happened: {why}.</p>\
         <p>Go to the <a href=\"/ui/\">overview</a>, see how things are, and try again. If it was a form, see whether you pasted something \
         else than was asked for.</p></main></body></html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::is_for_console;

    #[test]
    fn pages_are_the_consoles_and_so_is_the_root_for_browsers() {
        let nothing: [&[u8]; 0] = [];
        for target in ["/ui", "/ui/", "/ui/mounts?x=1", "/ui?x"] {
            assert!(is_for_console(target, nothing), "{target}");
        }
        let browser: [&[u8]; 2] = [b"image/png", b"text/html,*/*"];
        assert!(is_for_console("/", browser));
        assert!(is_for_console("/?x=1", browser));
        for target in ["/", "/v1/sys/health", "/uix", "/api/v2/ping"] {
            assert!(!is_for_console(target, nothing), "{target}");
        }
        assert!(!is_for_console("/v1/sys/health", browser));
    }
}
