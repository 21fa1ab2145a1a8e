//! The console under Spin: off unless a variable says otherwise, and the same session in every instance.

use gatehouse_tests::{Host, Installation, Storage};

use crate::browser::Browser;

fn installation(host: Host, variables: &[&str]) -> Installation {
    let mut program = host.program();
    let given = variables.iter().flat_map(|given| ["--variable", given]);
    program.arguments.splice(1..1, given.map(str::to_owned));
    Installation::start_program(program, Storage::Memory, "").unwrap()
}

fn assert_a_visitor_signs_in_and_enables_the_method(host: Host) {
    let installation = installation(host, &["console=true"]);
    let address = format!("http://{}", installation.address());
    let mut browser = Browser::at(&address);
    let shown = browser.get("/");
    assert_eq!((shown.status, shown.header("location")), (303, "/ui/"));
    let mut browser = Browser::signed_in(&address, installation.root_token());
    let overview = browser.get("/ui/");
    assert!(overview.text.contains("ready"), "{}", overview.text);
    assert!(
        overview
            .header("content-security-policy")
            .starts_with("default-src 'none'")
    );
    let fields = [("path", "by-console"), ("description", "<b>")];
    let shown = browser.submit("/ui/mounts", &fields);
    assert_eq!(
        shown.header("location"),
        "/ui/mounts/config?mount=by-console"
    );
    assert!(browser.get("/ui/mounts").text.contains("&lt;b&gt;"));
    let mounts = installation.as_root("GET", "/v1/sys/auth", None).json();
    assert_eq!(mounts["data"]["by-console/"]["type"], "gcp");
    let forged = [("form_key", "AAAAAAAAAAAAAAAAAAAAAA"), ("path", "forged")];
    assert_eq!(browser.post("/ui/mounts", &forged).status, 403);
    // The API beside it answers as ever.
    let health = installation.as_root("GET", "/v1/sys/health", None);
    assert_eq!(health.status, 200);
}

#[test]
fn a_visitor_signs_in_and_enables_the_method() {
    assert_a_visitor_signs_in_and_enables_the_method(Host::Spin4);
}

#[test]
fn a_visitor_signs_in_and_enables_the_method_on_spin_3() {
    assert_a_visitor_signs_in_and_enables_the_method(Host::Spin3);
}

#[test]
fn no_page_is_there_unless_the_variable_says_so() {
    let installation = installation(Host::Spin4, &[]);
    let mut browser = Browser::at(&format!("http://{}", installation.address()));
    for page in ["/", "/ui/", "/ui/style.css"] {
        assert_eq!(browser.get(page).status, 404, "{page}");
    }
}
