//! The ancestors of a project, by Google's word: contract 7.3, 8.3; SEC-G6.

use std::time::Duration;

use gatehouse_auth_method::{LoginError, Precondition, ProjectRefusal, RoleChanges, Roles};
use gatehouse_ports::HttpError;
use gatehouse_ports::doubles::ManualClock;
use serde_json::json;

use crate::fleet::Fleet;
use crate::google::{self, Fault};
use crate::keys::{self, Token};
use crate::stage::{NOW, dev_role};

const ANCESTRY: &str = ":getAncestry";

fn fleet() -> Fleet<ManualClock> {
    let fleet = Fleet::new(2, ManualClock::at_seconds(NOW));
    let role = RoleChanges {
        add_group_aliases: Some(true),
        ..dev_role()
    };
    fleet.instances[0]
        .write_role(&fleet.mount, "dev", role, Precondition::Any)
        .unwrap();
    fleet
}

fn above(project: &str) -> Fault {
    let row = |kind: &str, id: &str| json!({"resourceId": {"type": kind, "id": id}});
    let rows = [
        row("project", project),
        row("folder", "12"),
        row("organization", "34"),
    ];
    Fault::Answer(google::answer(200, &json!({"ancestor": rows}), &[]))
}

fn log_in(fleet: &Fleet<ManualClock>, instance: usize) -> Result<Vec<String>, LoginError> {
    let jwt = Token::of_account().signed_by(keys::of_account());
    let identity = fleet.log_in(instance, &jwt)?;
    Ok(identity.group_aliases)
}

#[test]
fn contract_8_3_the_ancestors_of_the_accounts_project_are_asked_for_once_a_minute() {
    let fleet = fleet();
    fleet.google.fail(ANCESTRY, above("p1"), usize::MAX);
    for (seconds, calls) in [(0, 1), (47, 1), (13, 2)] {
        fleet.clock.advance(Duration::from_secs(seconds));
        for instance in [0, 1] {
            let aliases = log_in(&fleet, instance).unwrap();
            let expected = ["project-p1", "folder-12", "organization-34", "folder-p1"];
            assert_eq!(aliases, expected);
        }
        assert_eq!(fleet.google.calls(ANCESTRY), calls);
    }
    let state = fleet.google.state();
    let mut asked = state.requests.iter();
    let asked = asked
        .find(|request| request.url.contains(ANCESTRY))
        .unwrap();
    assert_eq!(
        (asked.url.as_str(), asked.body.as_str()),
        (
            "https://cloudresourcemanager.googleapis.com/v1/projects/p1:getAncestry",
            "{}"
        )
    );
    assert_eq!(
        asked.authorization,
        Some(format!("Bearer {}", state.accepted_token))
    );
}

#[test]
fn g6_an_answer_about_another_project_is_not_used() {
    let unusable = LoginError::GoogleUnusable("crm".into());
    for fault in [
        above("p2"),
        Fault::Answer(google::text(200, "{}")),
        Fault::Answer(google::text(200, "<html>")),
        Fault::Answer(google::text(302, "")),
        Fault::Error(HttpError::TooLarge),
    ] {
        let fleet = fleet();
        fleet.google.fail(ANCESTRY, fault, usize::MAX);
        assert_eq!(log_in(&fleet, 0).unwrap_err(), unusable);
    }
}

#[test]
fn g6_a_project_of_no_shape_that_projects_have_is_not_asked_for() {
    let fleet = fleet();
    fleet.google.change(google::EMAIL, |account| {
        account.project_id = "../p1?x=".to_owned();
    });
    let unusable = LoginError::GoogleUnusable("crm".into());
    assert_eq!(log_in(&fleet, 0).unwrap_err(), unusable);
    assert_eq!(fleet.google.calls(ANCESTRY), 0);
}

#[test]
fn contract_4_7_a_refusal_is_told_and_an_outage_is_worth_trying_again() {
    for (status, asked) in [(404, 1), (403, 2)] {
        let fleet = fleet();
        let refusal = google::refusal(status, "hidden", "forbidden");
        fleet
            .google
            .fail(ANCESTRY, Fault::Answer(refusal), usize::MAX);
        for instance in [0, 1] {
            let refused = log_in(&fleet, instance).unwrap_err();
            let LoginError::AncestryUnreadable(ProjectRefusal { project, refusal }) = refused
            else {
                panic!("{refused}");
            };
            let told = (project.as_str(), refusal.status, refusal.message.as_str());
            assert_eq!(told, ("p1", status, "hidden"));
        }
        assert_eq!(
            fleet.google.calls(ANCESTRY),
            asked,
            "only 404 is remembered"
        );
    }
    let fleet = fleet();
    let outage = Fault::Error(HttpError::TimedOut);
    fleet.google.fail(ANCESTRY, outage, usize::MAX);
    let unavailable = LoginError::GoogleUnavailable("crm".into());
    assert_eq!(log_in(&fleet, 0).unwrap_err(), unavailable);
}
