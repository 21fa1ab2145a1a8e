//! The pages that only the self-hosted edition has: retention, and sharing.

use std::sync::LazyLock;

use gatehouse_tests::DevServer;
use serde_json::{Value, json};

use crate::browser::{Browser, Shown};
use crate::started;

static SERVER: LazyLock<DevServer> = LazyLock::new(|| started(&["--edition", "self-hosted"]));

const INSTALLATION: &str = "/api/v2/admin/data-retention-policy-settings";

fn signed_in() -> Browser {
    Browser::signed_in(SERVER.process.address(), &SERVER.root_token)
}

/// The answer of the API to the operator, its data.
fn data(path: &str) -> Value {
    SERVER.as_root("GET", path, None).json()["data"].clone()
}

fn make_organization(name: &str) -> String {
    let attributes = json!({ "name": name, "email": "ops@example.com" });
    let body = json!({ "data": { "type": "organizations", "attributes": attributes } });
    let made = SERVER.as_root("POST", "/api/v2/organizations", Some(&body));
    assert_eq!(made.status, 201, "{made:?}");
    format!("/api/v2/organizations/{name}")
}

/// Sends a form that stands on `page` to `target`, and gives the page that it leads to.
fn sent(browser: &mut Browser, page: &str, target: &str, fields: &[(&str, &str)]) -> Shown {
    let key = browser.form_key(page);
    let fields = [&[("form_key", key.as_str())], fields].concat();
    let shown = browser.post(target, &fields);
    assert_eq!(shown.status, 303, "{target}: {}", shown.text);
    let shown = browser.get(shown.header("location"));
    assert_eq!(shown.status, 200, "{target}: {}", shown.text);
    shown
}

fn assert_says(shown: &Shown, said: &[&str]) {
    for said in said {
        assert!(shown.text.contains(said), "{said}: {}", shown.text);
    }
}

#[test]
fn retention_is_set_for_the_installation_and_for_an_organization_and_taken_back() {
    let mut browser = signed_in();
    let path = make_organization("console-retention");
    let policy = format!("{path}/relationships/data-retention-policy");
    let place = "/ui/organizations/retention?name=console-retention";

    let shown = browser.get(place);
    assert_says(
        &shown,
        &[
            "Nothing is deleted.",
            "This is the policy of the installation.",
        ],
    );
    assert!(!shown.text.contains("Go back to the installation"));

    let shown = sent(
        &mut browser,
        "/ui/site",
        "/ui/site/retention",
        &[("days", "400")],
    );
    assert_says(&shown, &["Data older than 400 days is deleted."]);
    assert_eq!(
        data(INSTALLATION)["attributes"]["delete-older-than-n-days"],
        400
    );
    let shown = browser.get(place);
    assert_says(
        &shown,
        &[
            "Data older than 400 days is deleted.",
            "This is the policy of the installation.",
        ],
    );

    let shown = sent(&mut browser, place, place, &[("days", "30")]);
    assert_says(
        &shown,
        &[
            "Data older than 30 days is deleted.",
            "The organization has a policy of its own.",
            "Go back to the installation",
        ],
    );
    assert_eq!(data(&policy)["attributes"]["delete-older-than-n-days"], 30);

    // Without days the organization keeps everything, whatever the policy of the installation is.
    let shown = sent(&mut browser, place, place, &[("days", "")]);
    assert_says(
        &shown,
        &[
            "Nothing is deleted.",
            "The organization has a policy of its own.",
        ],
    );
    assert_eq!(data(&policy)["type"], "data-retention-policy-dont-deletes");

    let shown = sent(&mut browser, place, place, &[("unset", "yes")]);
    assert_says(
        &shown,
        &[
            "Data older than 400 days is deleted.",
            "This is the policy of the installation.",
        ],
    );

    // A value that is no number of days is refused on the page, and changes nothing.
    for days in ["many", "0", "-1"] {
        let shown = browser.submit(place, &[("days", days)]);
        assert!((400..500).contains(&shown.status), "{days}: {}", shown.text);
        assert_says(&shown, &["class=\"refused\"", "Set this policy"]);
    }
    let shown = browser.get(place);
    assert_says(&shown, &["This is the policy of the installation."]);
}

#[test]
fn an_organization_shares_with_those_that_the_site_names_and_they_see_it() {
    let mut browser = signed_in();
    for name in ["console-maker", "console-user", "console-other"] {
        make_organization(name);
    }
    let place = "/ui/site/organization?name=console-maker";
    let target = "/ui/site/organization/sharing?name=console-maker";
    let named = [
        ("modules", "console-user\r\nconsole-other"),
        ("providers", "console-user"),
    ];
    let shown = sent(&mut browser, place, target, &named);
    assert_says(&shown, &["It is saved.", "console-other", "console-user"]);
    let consumers = |kind: &str| {
        let path = format!("/api/v2/admin/organizations/console-maker/relationships/{kind}");
        let found = data(&path);
        let names = found.as_array().unwrap().iter();
        names
            .map(|one| one["attributes"]["name"].as_str().unwrap().to_owned())
            .collect::<std::collections::BTreeSet<_>>()
    };
    let both = ["console-other", "console-user"].map(str::to_owned);
    assert_eq!(consumers("module-consumers"), both.into());
    assert_eq!(
        consumers("provider-consumers"),
        ["console-user".to_owned()].into()
    );

    let from = r#"show?name=console-maker">console-maker</a>"#;
    let shown = browser.get("/ui/organizations/sharing?name=console-user");
    assert_eq!(shown.text.matches(from).count(), 2, "{}", shown.text);
    let shown = browser.get("/ui/organizations/sharing?name=console-other");
    assert_eq!(shown.text.matches(from).count(), 1, "{}", shown.text);
    let shown = browser.get("/ui/organizations/sharing?name=console-maker");
    assert_says(
        &shown,
        &[
            "No organization shares modules with this one.",
            "No organization shares providers with this one.",
        ],
    );

    // An unknown name is refused on the page, and the others stay.
    let key = browser.form_key(place);
    let wrong = [
        ("form_key", key.as_str()),
        ("modules", "no-such-organization"),
        ("providers", ""),
    ];
    let shown = browser.post(target, &wrong);
    assert!((400..500).contains(&shown.status), "{}", shown.text);
    assert_says(&shown, &["class=\"refused\""]);
    assert_eq!(consumers("module-consumers").len(), 2);

    let shown = sent(
        &mut browser,
        place,
        target,
        &[("modules", ""), ("providers", "")],
    );
    assert_says(&shown, &["It is saved."]);
    let shown = browser.get("/ui/organizations/sharing?name=console-user");
    assert!(!shown.text.contains(from), "{}", shown.text);

    // Shares with all organizations at once.
    sent(
        &mut browser,
        place,
        place,
        &[("global-module-sharing", "yes")],
    );
    let shown = data("/api/v2/admin/organizations/console-maker");
    assert_eq!(shown["attributes"]["global-module-sharing"], true);
}

#[test]
fn pages_of_an_organization_lead_to_retention_and_sharing_and_to_no_trail() {
    let mut browser = signed_in();
    make_organization("console-pages");
    let shown = browser.get("/ui/organizations/show?name=console-pages");
    let leads = |page: &str| {
        let link = format!("href=\"/ui/organizations/{page}?name=console-pages\"");
        shown.text.contains(&link)
    };
    assert!(leads("retention") && leads("sharing") && leads("plan"));
    assert!(!leads("trail"));
}
