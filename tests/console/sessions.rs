//! The sessions of visitors at several servers, and through a restart.

use gatehouse_tests::{Installation, Storage};

use crate::browser::Browser;

/// The settings of a server with pages.
pub const CONSOLE: &str = "[console]\nenabled = true";
/// Stands on every page of a visitor who is signed in.
const SIGNED_IN: &str = "Sign out";

#[test]
fn h17_a_session_holds_at_every_server_with_the_same_key_file_and_through_a_restart() {
    let mut installation = Installation::start(Storage::Postgres, CONSOLE).unwrap();
    let other = installation.another_server().unwrap();
    let first = format!("http://{}", installation.address());
    let mut browser = Browser::signed_in(&first, installation.root_token());

    browser.address = other.address().to_owned();
    let shown = browser.get("/ui/");
    assert!(shown.text.contains(SIGNED_IN), "{}", shown.text);

    installation.server().kill();
    installation.run().unwrap();
    browser.address = first;
    let shown = browser.get("/ui/");
    assert!(shown.text.contains(SIGNED_IN), "{}", shown.text);
}

#[test]
fn h17_a_session_of_another_installation_is_refused() {
    let [one, other] = [(); 2].map(|()| Installation::start(Storage::Memory, CONSOLE).unwrap());
    let address = |installation: &Installation| format!("http://{}", installation.address());
    let mut browser = Browser::signed_in(&address(&one), one.root_token());
    assert!(browser.get("/ui/").text.contains(SIGNED_IN));

    browser.address = address(&other);
    let shown = browser.get("/ui/");
    assert!(!shown.text.contains(SIGNED_IN), "{}", shown.text);
}

#[test]
fn a_server_that_was_told_to_have_no_console_has_no_page() {
    for settings in ["", "[console]\nenabled = false"] {
        let installation = Installation::start(Storage::Memory, settings).unwrap();
        let mut browser = Browser::at(&format!("http://{}", installation.address()));
        for page in ["/", "/ui", "/ui/", "/ui/sign-in", "/ui/style.css"] {
            assert_eq!(browser.get(page).status, 404, "{page}");
        }
        let health = installation.as_root("GET", "/v1/sys/health", None);
        assert_eq!(health.status, 200);
    }
}
