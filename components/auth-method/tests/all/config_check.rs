//! The permissions of the root credentials: the extension `config/check`, contract 8.3.

use gatehouse_auth_method::{
    ApiRefusal, Config, ConfigChanges, CredentialsError, CredentialsSource, GoogleCallError,
    PermissionsFound, Precondition, RoleChanges, Roles,
};
use gatehouse_ports::HttpError;

use crate::google::Fault;
use crate::google_credentials::{settings, stage};
use crate::stage::{Stage, dev_role, key_file};

fn configured(stage: &Stage) {
    stage.configure(ConfigChanges {
        credentials: Some(key_file()),
        ..ConfigChanges::default()
    });
}

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn bound_to(stage: &Stage, role: &str, projects: &[&str]) {
    let changes = RoleChanges {
        bound_projects: Some(list(projects)),
        ..dev_role()
    };
    let any = Precondition::Any;
    stage
        .service
        .write_role(&stage.mount, role, changes, any)
        .unwrap();
}

#[test]
fn contract_8_3_permissions_held_and_lacking_are_told_by_project() {
    let (stage, google) = stage(settings());
    configured(&stage);
    bound_to(&stage, "a", &["p1", "p2"]);
    bound_to(&stage, "b", &["p2", "ops"]);
    let all = [
        "compute.instanceGroups.get",
        "compute.instanceGroups.list",
        "compute.instances.get",
        "iam.serviceAccountKeys.create",
        "iam.serviceAccountKeys.delete",
        "iam.serviceAccounts.get",
        "resourcemanager.projects.get",
    ];
    {
        let mut state = google.state();
        state.permissions.insert("ops".to_owned(), all.to_vec());
        state.permissions.insert("p1".to_owned(), Vec::new());
    }
    let report = stage.service.check_config(&stage.mount, &[]).unwrap();
    assert_eq!(report.source, CredentialsSource::Static);
    assert_eq!(report.failure, None);
    let outcomes: Vec<_> = report
        .projects
        .into_iter()
        .map(|report| (report.project, report.outcome))
        .collect();
    let everything = PermissionsFound {
        held: list(&all),
        lacking: Vec::new(),
    };
    let nothing = PermissionsFound {
        held: Vec::new(),
        lacking: list(&all),
    };
    let forbidden = GoogleCallError::Refused(ApiRefusal {
        status: 403,
        message: "The caller does not have permission".to_owned(),
        reason: "forbidden".to_owned(),
    });
    let expected = [
        ("ops".to_owned(), Ok(everything)),
        ("p1".to_owned(), Ok(nothing)),
        ("p2".to_owned(), Err(forbidden)),
    ];
    assert_eq!(outcomes, expected);
    assert_eq!(stage.http.urls().len(), 4, "one token, three projects");
}

#[test]
fn only_what_can_be_a_project_is_asked_about() {
    let (stage, google) = stage(settings());
    configured(&stage);
    google
        .state()
        .permissions
        .insert("ops".to_owned(), Vec::new());
    let given = list(&["../x", "ops", "p/q", "ops", ""]);
    let report = stage.service.check_config(&stage.mount, &given).unwrap();
    let told: Vec<_> = report
        .projects
        .iter()
        .map(|report| (report.project.as_str(), report.outcome.is_ok()))
        .collect();
    assert_eq!(
        told,
        [("../x", false), ("ops", true), ("p/q", false), ("", false)]
    );
    assert_eq!(stage.http.urls().len(), 2);
}

#[test]
fn contract_8_3_no_more_than_twenty_projects_are_asked_about() {
    let (stage, _) = stage(settings());
    configured(&stage);
    let projects: Vec<String> = (0..30).map(|number| format!("p{number}")).collect();
    let projects: Vec<&str> = projects.iter().map(String::as_str).collect();
    bound_to(&stage, "a", &projects);
    let report = stage.service.check_config(&stage.mount, &[]).unwrap();
    assert_eq!(report.projects.len(), 20);
}

#[test]
fn contract_8_3_without_an_access_token_no_project_is_asked_about() {
    let (stage, _) = stage(settings());
    bound_to(&stage, "a", &["p1"]);
    let report = stage.service.check_config(&stage.mount, &[]).unwrap();
    let expected = GoogleCallError::Credentials(CredentialsError::NotFound);
    assert_eq!(report.failure, Some(expected));
    assert!(report.projects.is_empty() && stage.http.urls().is_empty());
    configured(&stage);
    stage
        .google
        .fail("oauth2", Fault::Error(HttpError::TimedOut), 3);
    let report = stage.service.check_config(&stage.mount, &[]).unwrap();
    let expected = GoogleCallError::GoogleUnavailable("oauth2".into());
    assert_eq!(report.failure, Some(expected));
}
