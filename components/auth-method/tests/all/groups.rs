//! Instance groups of gce roles: contract 4.6/G11, D9; and how the bounds of a gce role combine: SEC-G13.

use gatehouse_auth_method::{
    ApiRefusal, GroupLocations, GroupNotFound, Identity, LoginError, ProjectRefusal, RoleChanges,
};
use gatehouse_ports::HttpError;

use crate::compute::{ZONE, link, token};
use crate::google::{self, Fault};
use crate::instances::{gce, signed, stage};
use crate::roles::list;
use crate::stage::Stage;

const HERE: &str = "zones/europe-west1-b";
const REGION: &str = "regions/europe-west1";

fn this() -> String {
    link(ZONE, "web-1")
}

fn other() -> String {
    link(ZONE, "web-2")
}

fn by_region() -> RoleChanges {
    RoleChanges {
        bound_regions: list(&["europe-west1"]),
        bound_instance_groups: list(&["web"]),
        ..gce()
    }
}

fn by_zone() -> RoleChanges {
    RoleChanges {
        bound_zones: list(&[ZONE]),
        bound_instance_groups: list(&["web"]),
        ..gce()
    }
}

/// A stage with these groups: place, name, members.
fn with_groups(changes: RoleChanges, groups: &[(&str, &str, &[String])]) -> Stage {
    let stage = stage(changes);
    for (place, name, members) in groups {
        stage.google.state().compute.group(place, name, members);
    }
    stage
}

fn log_in(stage: &Stage) -> Result<Identity, LoginError> {
    stage.log_in(&signed(&token()))
}

fn missing(group: &str, locations: GroupLocations) -> LoginError {
    LoginError::GroupNotFound(GroupNotFound {
        group: group.to_owned(),
        project: "p1".to_owned(),
        locations,
    })
}

fn outsider() -> LoginError {
    LoginError::NotInGroups(vec!["web".to_owned()])
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn a_member_of_a_zonal_or_regional_group_logs_in() {
    for place in [HERE, REGION] {
        let stage = with_groups(by_region(), &[(place, "web", &[other(), this()])]);
        assert!(log_in(&stage).is_ok(), "{place}");
        let stage = with_groups(by_region(), &[(place, "web", &[other()])]);
        assert_eq!(log_in(&stage).unwrap_err(), outsider(), "{place}");
    }
    let stage = with_groups(by_zone(), &[(HERE, "web", &[this()])]);
    assert!(log_in(&stage).is_ok());
    let posts: Vec<String> = stage
        .google
        .state()
        .requests
        .iter()
        .map(|request| request.body.clone())
        .collect();
    assert_eq!(
        posts.last().map(String::as_str),
        Some(""),
        "the account is read after the groups"
    );
    assert_eq!(posts[posts.len() - 2], "{}");
}

#[test]
fn links_are_compared_exactly_but_for_host_and_version() {
    let member = |link: &str| {
        let stage = with_groups(by_zone(), &[(HERE, "web", &[link.to_owned()])]);
        log_in(&stage).is_ok()
    };
    let path = "projects/p1/zones/europe-west1-b/instances/web-1";
    assert!(member(&format!(
        "https://compute.googleapis.com/compute/beta/{path}"
    )));
    assert!(member(&format!("http://compute.example/v1/{path}")));
    for other in [
        "projects/p2/zones/europe-west1-b/instances/web-1",
        "projects/p1/zones/europe-west1-c/instances/web-1",
        "projects/p1/zones/europe-west1-b/instances/web-10",
        "projects/p1/zones/europe-west1-b/instances/WEB-1",
        "projects/p1/zones/europe-west1-b/instances/web-1/",
        "",
    ] {
        assert!(
            !member(&format!("https://www.googleapis.com/compute/v1/{other}")),
            "{other}"
        );
    }
}

#[test]
fn d9_every_page_of_groups_and_of_members_is_read() {
    for page_size in [1, 2, 3] {
        let members = [other(), link(ZONE, "web-3"), link(ZONE, "web-4"), this()];
        let elsewhere = "zones/us-central1-a";
        let stage = with_groups(
            by_region(),
            &[
                (elsewhere, "a", &[]),
                (elsewhere, "b", &[]),
                (elsewhere, "web", &[]),
                (REGION, "c", &[]),
                (HERE, "web", &members),
            ],
        );
        stage.google.state().compute.page_size = page_size;
        assert!(log_in(&stage).is_ok());
        let pages = 5_usize.div_ceil(page_size);
        assert_eq!(stage.google.calls("aggregated/instanceGroups"), pages);
        assert_eq!(
            stage.google.calls("listInstances"),
            4_usize.div_ceil(page_size)
        );
        assert_eq!(stage.google.calls("us-central1-a/instanceGroups"), 0);
    }
}

#[test]
fn d9_a_list_without_end_is_given_up() {
    let stage = with_groups(by_zone(), &[(HERE, "web", &[this()])]);
    stage.google.state().compute.page_size = 0;
    let expected = LoginError::GoogleUnusable("compute".into());
    assert_eq!(log_in(&stage).unwrap_err(), expected);
    assert_eq!(stage.google.calls("aggregated"), 50);
}

#[test]
fn d9_zones_of_a_region_with_a_longer_name_are_not_in_the_region() {
    let stage = with_groups(by_region(), &[("zones/europe-west10-a", "web", &[this()])]);
    let regions = GroupLocations::Regions(names(&["europe-west1"]));
    assert_eq!(log_in(&stage).unwrap_err(), missing("web", regions));
    assert_eq!(stage.google.calls("listInstances"), 0);
}

#[test]
fn d9_regional_groups_of_other_regions_do_not_count() {
    for place in ["regions/europe-west10", "regions/us-central1"] {
        let stage = with_groups(by_region(), &[(place, "web", &[this()])]);
        let regions = GroupLocations::Regions(names(&["europe-west1"]));
        assert_eq!(
            log_in(&stage).unwrap_err(),
            missing("web", regions),
            "{place}"
        );
    }
}

#[test]
fn beside_zones_only_zonal_groups_of_them_count() {
    let changes = || RoleChanges {
        bound_regions: list(&["europe-west1"]),
        ..by_zone()
    };
    for place in [REGION, "zones/europe-west1-c"] {
        let stage = with_groups(changes(), &[(place, "web", &[this()])]);
        let zones = GroupLocations::Zones(names(&[ZONE]));
        assert_eq!(
            log_in(&stage).unwrap_err(),
            missing("web", zones),
            "{place}"
        );
    }
}

#[test]
fn d9_one_missing_group_does_not_matter_when_another_has_the_instance() {
    let changes = || RoleChanges {
        bound_instance_groups: list(&["absent", "web"]),
        ..by_zone()
    };
    let stage = with_groups(changes(), &[(HERE, "web", &[this()])]);
    assert!(log_in(&stage).is_ok());
    let stage = with_groups(changes(), &[(HERE, "web", &[])]);
    let expected = LoginError::NotInGroups(names(&["absent", "web"]));
    assert_eq!(log_in(&stage).unwrap_err(), expected);
    let stage = with_groups(changes(), &[(HERE, "unbound", &[this()])]);
    let zones = GroupLocations::Zones(names(&[ZONE]));
    assert_eq!(log_in(&stage).unwrap_err(), missing("absent", zones));
}

#[test]
fn d9_a_name_in_several_places_stands_for_all_of_them_and_the_first_hit_ends_the_search() {
    let empty: &[String] = &[];
    let stage = with_groups(
        by_region(),
        &[
            ("zones/europe-west1-a", "web", empty),
            (HERE, "web", empty),
            ("zones/europe-west1-c", "web", empty),
            (REGION, "web", &[this()]),
        ],
    );
    assert!(log_in(&stage).is_ok());
    let before = stage.google.calls("listInstances");
    assert_eq!(before, 2, "where the instance is comes first");
    stage.google.state().compute.groups[3].members.clear();
    assert_eq!(log_in(&stage).unwrap_err(), outsider());
    assert_eq!(stage.google.calls("listInstances") - before, 4);
}

#[test]
fn a_group_that_vanished_after_it_was_listed_has_no_members() {
    let stage = with_groups(
        by_region(),
        &[(HERE, "web", &[this()]), (REGION, "web", &[this()])],
    );
    let gone = google::refusal(404, "gone", "notFound");
    stage
        .google
        .fail("listInstances", Fault::Answer(gone.clone()), 1);
    assert!(log_in(&stage).is_ok(), "the other one has it");
    stage.google.fail("listInstances", Fault::Answer(gone), 2);
    assert_eq!(log_in(&stage).unwrap_err(), outsider());
}

#[test]
fn g13_groups_that_google_does_not_show_are_a_refusal_and_an_outage_is_one() {
    let stage = with_groups(by_zone(), &[(HERE, "web", &[this()])]);
    for part in ["aggregated", "listInstances"] {
        let hidden = google::refusal(403, "Required 'compute.instanceGroups.list'", "forbidden");
        stage.google.fail(part, Fault::Answer(hidden), 1);
        let expected = LoginError::GroupsUnreadable(ProjectRefusal {
            project: "p1".to_owned(),
            refusal: ApiRefusal {
                status: 403,
                message: "Required 'compute.instanceGroups.list'".to_owned(),
                reason: "forbidden".to_owned(),
            },
        });
        assert_eq!(log_in(&stage).unwrap_err(), expected);
        stage
            .google
            .fail(part, Fault::Error(HttpError::Failed("reset".to_owned())), 3);
        let expected = LoginError::GoogleUnavailable("compute".into());
        assert_eq!(log_in(&stage).unwrap_err(), expected);
        for body in ["[]", "<html>", r#"{"items":7}"#, r#"{"items":[{}]}"#] {
            stage
                .google
                .fail(part, Fault::Answer(google::text(200, body)), 1);
            let expected = LoginError::GoogleUnusable("compute".into());
            assert_eq!(log_in(&stage).unwrap_err(), expected, "{part} {body}");
        }
    }
    assert!(log_in(&stage).is_ok());
}

#[test]
fn n5_a_page_of_a_list_may_be_8_mebibytes() {
    let stage = with_groups(by_zone(), &[(HERE, "web", &[this()])]);
    log_in(&stage).unwrap();
    let state = stage.google.state();
    for request in &state.requests {
        let is_list = request.url.contains("instanceGroups");
        let expected = if is_list { 8 << 20 } else { 1 << 20 };
        assert_eq!(request.maximum_response_bytes, expected, "{}", request.url);
    }
}

/// One kind of bound in the truth table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    None,
    Met,
    Missed,
}

const BOUNDS: [Bound; 3] = [Bound::None, Bound::Met, Bound::Missed];

fn bound(bound: Bound, met: &str, missed: &str) -> Option<Vec<String>> {
    match bound {
        Bound::None => None,
        Bound::Met => list(&[met]),
        Bound::Missed => list(&[missed]),
    }
}

/// The answer of a role that is bound in these ways to the instance.
fn model(labels: Bound, zones: Bound, regions: Bound, groups: Bound) -> bool {
    let location = if zones == Bound::None { regions } else { zones };
    [labels, location, groups]
        .iter()
        .all(|bound| *bound != Bound::Missed)
}

#[test]
fn g13_kinds_of_bounds_add_up_and_an_empty_one_binds_nothing() {
    let stage = with_groups(gce(), &[(HERE, "in", &[this()]), (HERE, "out", &[other()])]);
    let mut rows = 0;
    for labels in BOUNDS {
        for zones in BOUNDS {
            for regions in BOUNDS {
                for groups in BOUNDS {
                    let without_location = [zones, regions] == [Bound::None; 2];
                    if groups != Bound::None && without_location {
                        continue;
                    }
                    let empty = || list(&[]);
                    stage.role(RoleChanges {
                        bound_labels: bound(labels, "env:prod", "env:dev").or_else(empty),
                        bound_zones: bound(zones, ZONE, "us-central1-a").or_else(empty),
                        bound_regions: bound(regions, "europe-west1", "us-central1").or_else(empty),
                        bound_instance_groups: bound(groups, "in", "out").or_else(empty),
                        ..RoleChanges::default()
                    });
                    let expected = model(labels, zones, regions, groups);
                    let row = [labels, zones, regions, groups];
                    assert_eq!(log_in(&stage).is_ok(), expected, "{row:?}");
                    rows += 1;
                }
            }
        }
    }
    assert_eq!(rows, 75);
}
