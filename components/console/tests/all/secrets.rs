//! Secrets that pass through the console: a typed secret is on no page, and a created secret only on the page that creates it.

use serde_json::{Value, json};

use crate::browser::{Browser, Shown, TOKEN, person};

const TYPED: [&str; 6] = [
    TOKEN,
    "hvs.typedbutrefused",
    "abc.atlasv1.typedbutrefused",
    "eyJ0eXBlZCJ9.typed.jwt",
    "very-secret-private-key",
    "abc.atlasv1.oftheaudittrail",
];
const OF_LOGIN: &str = "hvs.madebyalogin";
const MADE: &str = "abc.atlasv1.made";

/// Everything that a browser received.
#[derive(Default)]
struct Told(Vec<String>);

impl Told {
    fn keep(&mut self, at: &str, shown: &Shown) {
        let fields: Vec<String> = shown
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        self.0
            .push(format!("{at}\n{}\n{}", fields.join("\n"), shown.text));
    }

    /// The addresses of the answers in which `secret` is.
    fn with(&self, secret: &str) -> Vec<&str> {
        let found = self.0.iter().filter(|told| told.contains(secret));
        found.map(|told| told.lines().next().unwrap()).collect()
    }
}

/// Makes the API answer every write with `status` and `body`.
fn answering(browser: &Browser, status: u16, body: &Value) {
    for method in ["POST", "PATCH", "PUT", "DELETE"] {
        for prefix in ["/v1/", "/api/v2/"] {
            browser.api.answers(method, prefix, status, body.clone());
        }
    }
}

/// Sends every form that takes a secret.
fn type_secrets(browser: &mut Browser, told: &mut Told) {
    let [_, token, api_token, jwt, key, trail] = TYPED;
    let credentials = format!("{{\"private_key\":\"{key}\"}}");
    let forms: [(&str, &[(&str, &str)]); 6] = [
        ("/ui/sign-in", &[("by", "token"), ("token", token)]),
        (
            "/ui/sign-in",
            &[("by", "organizations"), ("api_token", api_token)],
        ),
        (
            "/ui/sign-in",
            &[
                ("by", "jwt"),
                ("mount", "gcp"),
                ("role", "web"),
                ("jwt", jwt),
            ],
        ),
        (
            "/ui/explain",
            &[("mount", "gcp"), ("role", "web"), ("jwt", jwt)],
        ),
        (
            "/ui/mounts/config?mount=gcp",
            &[("credentials", &credentials)],
        ),
        (
            "/ui/organizations/trail?name=acme",
            &[("trail_token", trail)],
        ),
    ];
    for (target, fields) in forms {
        let shown = browser.submit(target, fields);
        told.keep(target, &shown);
    }
}

fn look_at_every_page(browser: &mut Browser, told: &mut Told) {
    for address in gatehouse_console::addresses() {
        let target = format!("{address}?mount=gcp&role=web&name=acme&id=x-1&kind=entity");
        let shown = browser.get(&target);
        told.keep(address, &shown);
    }
}

fn visitor() -> Browser {
    let browser = Browser::signed_in();
    let organization = json!({ "data": { "attributes": { "name": "acme" } } });
    browser
        .api
        .answers("GET", "/api/v2/organizations/acme", 200, organization);
    browser
        .api
        .answers("GET", "/api/v2/account/details", 200, person("user-1"));
    browser
}

#[test]
fn a_secret_that_was_typed_is_in_no_page_and_no_address_whether_it_was_taken_or_refused() {
    let refusal = json!({ "errors": ["permission denied"] });
    let (mut browser, mut told) = (visitor(), Told::default());
    // Reads with a refused token are refused as well.
    browser
        .api
        .answers("GET", "/v1/auth/token/lookup-self", 403, refusal.clone());
    browser
        .api
        .answers("GET", "/api/v2/organizations?", 401, refusal.clone());
    answering(&browser, 403, &refusal);
    type_secrets(&mut browser, &mut told);
    look_at_every_page(&mut browser, &mut told);

    let mut browser = visitor();
    let login = json!({ "auth": { "client_token": OF_LOGIN }, "data": { "allowed": true } });
    answering(&browser, 200, &login);
    type_secrets(&mut browser, &mut told);
    look_at_every_page(&mut browser, &mut told);

    for secret in TYPED.into_iter().chain([OF_LOGIN]) {
        assert_eq!(told.with(secret), Vec::<&str>::new(), "{secret}");
    }
    for request in browser.api.sent() {
        for secret in TYPED.into_iter().chain([OF_LOGIN]) {
            assert!(!request.target.contains(secret), "{}", request.target);
        }
    }
}

#[test]
fn a_token_that_was_made_is_in_the_page_that_made_it_and_in_no_other() {
    for (target, fields) in [
        (
            "/ui/organizations/token?name=acme",
            [("kind", "organization")],
        ),
        (
            "/ui/organizations/team/token?name=acme&id=x-1",
            [("description", "ci")],
        ),
        (
            "/ui/organizations/pool/token?name=acme&id=x-1",
            [("description", "ci")],
        ),
        ("/ui/organizations/own-tokens", [("description", "ci")]),
        ("/ui/site/users", [("username", "ada")]),
    ] {
        let (mut browser, mut told) = (visitor(), Told::default());
        let made =
            json!({ "data": { "attributes": { "token": MADE } }, "meta": { "token": MADE } });
        answering(&browser, 200, &made);
        let shown = browser.submit(target, &fields);
        told.keep(target, &shown);
        look_at_every_page(&mut browser, &mut told);
        assert_eq!(told.with(MADE), [target]);
    }
}
