//! The traces of a visit on the server: the records of all calls made on its behalf have its request id, and no log has a secret.

use std::fs;
use std::path::Path;

use gatehouse_tests::{Installation, Program, Storage};
use serde_json::Value;

use crate::browser::Browser;

/// The header field of an answer with the server's id for the request.
const NAME: &str = "x-request-id";

/// A server with pages, which writes all that it can write into `folder`.
fn server(folder: &Path) -> Installation {
    let file = |name: &str| folder.join(name).display().to_string();
    let settings = format!(
        "[console]\nenabled = true\n\n[log]\naccess = {:?}\n\n[audit.main]\npath = {:?}\n",
        file("access.log"),
        file("audit.log"),
    );
    let program = Program::gatehouse().logging();
    let server = Installation::start_program(program, Storage::Memory, &settings).unwrap();
    server.set_up_login().unwrap();
    server
}

fn address(server: &Installation) -> String {
    format!("http://{}", server.address())
}

fn audited(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("audit.log")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn what_is_asked_on_behalf_of_a_visit_is_recorded_under_the_name_of_the_visit() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    let mut browser = Browser::signed_in(&address(&server), server.root_token());
    let shown = browser.get("/ui/");
    let id = shown.header(NAME);
    assert_eq!((shown.status, id.len()), (200, 36), "{id}");
    let records = audited(folder.path());
    let mut paths: Vec<&str> = records
        .iter()
        .filter(|record| record["request"]["id"] == id)
        .filter_map(|record| record["request"]["path"].as_str())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    for path in ["auth/token/lookup-self", "sys/auth", "auth/gcp/role"] {
        assert!(paths.contains(&path), "{path}: {paths:?}");
    }
    let other = browser.get("/ui/policies");
    assert_ne!(other.header(NAME), id);
    let lines = fs::read_to_string(folder.path().join("access.log")).unwrap();
    assert!(lines.contains(id), "{lines}");
}

#[test]
fn no_secret_that_passes_through_the_console_is_in_a_log() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    let address = address(&server);
    let root = server.root_token().to_owned();
    let jwt = server.login_jwt().unwrap();
    let typed = [
        "hvs.typedbutrefused",
        "abcdefghijklmn.atlasv1.typedbutrefused",
        "eyJ0eXBlZCI6MX0.typed.butrefused",
        "very-secret-private-key",
    ];
    let mut browser = Browser::at(&address);
    let [token, api_token, bad_jwt, key] = typed;
    let credentials = format!("{{\"private_key\":\"{key}\"}}");
    browser.submit("/ui/sign-in", &[("by", "token"), ("token", token)]);
    let fields = [("by", "organizations"), ("api_token", api_token)];
    browser.submit("/ui/sign-in", &fields);
    for jwt in [bad_jwt, &jwt] {
        let fields = [
            ("by", "jwt"),
            ("mount", "gcp"),
            ("role", "dev"),
            ("jwt", jwt),
        ];
        browser.submit("/ui/sign-in", &fields);
    }
    assert!(browser.get("/ui/").text.contains("Your token"));

    let mut browser = Browser::signed_in(&address, &root);
    for jwt in [bad_jwt, &jwt] {
        let fields = [("mount", "gcp"), ("role", "dev"), ("jwt", jwt)];
        assert_eq!(browser.submit("/ui/explain", &fields).status, 200);
    }
    let place = "/ui/mounts/config?mount=gcp";
    let shown = browser.submit(place, &[("credentials", &credentials)]);
    assert_eq!(shown.status, 400, "{}", shown.text);
    let fields = [("name", "traces"), ("email", "ops@example.com")];
    assert_eq!(browser.submit("/ui/organizations", &fields).status, 303);
    let tokens = "/ui/organizations/token?name=traces";
    let shown = browser.submit(tokens, &[("kind", "organization")]);
    let made = shown.text.split_once("<pre>").unwrap().1;
    let made = made.split_once("</pre>").unwrap().0.to_owned();
    let trail = "/ui/organizations/trail?name=traces";
    browser.submit(trail, &[("trail_token", api_token)]);

    let log = format!("{}.log", server.configuration().display());
    let access = folder.path().join("access.log").display().to_string();
    let audit = folder.path().join("audit.log").display().to_string();
    for file in [log, access, audit] {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.is_empty(), "{file}");
        let mut secrets = typed.into_iter().chain([&*root, &*jwt, &*made]);
        assert_eq!(secrets.find(|secret| text.contains(secret)), None, "{file}");
    }
}
