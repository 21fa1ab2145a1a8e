//! The requests that are for the console rather than for the API, by one rule for every host.

/// True if the console answers the request for `target`, whose `accept` fields are these: its pages, and the root where a browser asks for it.
pub fn is_for_console<'a>(target: &str, accept: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    let names_pages =
        |value: &[u8]| str::from_utf8(value).is_ok_and(|value| value.contains("text/html"));
    path == "/ui"
        || path.starts_with("/ui/")
        || (path == "/" && accept.into_iter().any(names_pages))
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
