//! Instance groups, zonal and regional, with everything in pages of one (contract 4.6, G11).

use gatehouse_fake_google::{Endpoint, InstanceGroup, Population};
use gatehouse_tests::INSTANCE;
use serde_json::{Value, json};

use crate::stage::{MOUNT, PROJECT, Stage, assert_granted, assert_refused};

const ZONE: &str = "europe-west1-b";
const REGION: &str = "europe-west1";

/// A server whose Google gives one group and one member a page.
fn ready() -> Stage {
    let stage = Stage::new("");
    let google = stage.google();
    google.set_group_page_size(1);
    google.set_member_page_size(1);
    stage.enable_with_key(MOUNT);
    stage
}

/// Adds instances to a group, which come before the one that logs in.
fn crowd(stage: &Stage, group: &str) {
    let google = stage.google();
    let me = google.instance(INSTANCE).unwrap();
    google.remove_group_member(group, INSTANCE).unwrap();
    for number in 0..3 {
        let mut other = me.clone();
        other.instance_name = format!("other-{number}");
        other.instance_id = format!("900000000000000000{number}");
        // The first group that is crowded makes them.
        let _ = google.add_instance(other.clone());
        google.add_group_member(group, &other.path()).unwrap();
    }
    google.add_group_member(group, INSTANCE).unwrap();
}

fn path_of(zonal: bool) -> String {
    if zonal {
        InstanceGroup::zonal(PROJECT, ZONE, Population::ZONAL_GROUP).path()
    } else {
        InstanceGroup::regional(PROJECT, REGION, Population::REGIONAL_GROUP).path()
    }
}

fn log_in_with(stage: &Stage, role: &Value) -> gatehouse_tests::Answer {
    stage.role(MOUNT, "grouped", role);
    let answer = stage.log_instance_in(MOUNT, "grouped");
    let path = format!("/v1/auth/{MOUNT}/role/grouped");
    let deleted = stage.installation.as_root("DELETE", &path, None);
    assert_eq!(deleted.status, 204, "{deleted:?}");
    answer
}

#[test]
fn a_member_on_the_last_page_of_a_group_on_the_last_page_logs_in() {
    let stage = ready();
    let google = stage.google();
    for number in 0..5 {
        let before = InstanceGroup::zonal(PROJECT, ZONE, &format!("a-{number}"));
        google.add_instance_group(before).unwrap();
    }
    for (group, endpoint, bounds) in [
        (
            Population::ZONAL_GROUP,
            Endpoint::ZonalGroupMembers,
            json!({"type": "gce", "bound_zones": ZONE}),
        ),
        (
            Population::ZONAL_GROUP,
            Endpoint::ZonalGroupMembers,
            json!({"type": "gce", "bound_regions": REGION}),
        ),
        (
            Population::REGIONAL_GROUP,
            Endpoint::RegionalGroupMembers,
            json!({"type": "gce", "bound_regions": REGION}),
        ),
    ] {
        crowd(&stage, &path_of(group == Population::ZONAL_GROUP));
        google.forget_requests();
        let mut role = bounds;
        role["bound_instance_groups"] = group.into();
        assert_granted(&log_in_with(&stage, &role));
        assert!(google.calls(Endpoint::InstanceGroups) >= 7, "{role}");
        let asked = [Endpoint::ZonalGroupMembers, Endpoint::RegionalGroupMembers]
            .map(|endpoint| (endpoint, google.calls(endpoint) > 0));
        for (other, was_asked) in asked {
            assert_eq!(was_asked, other == endpoint, "{other:?} {role}");
        }
    }
}

#[test]
fn who_leaves_the_group_does_not_log_in_any_more() {
    let stage = ready();
    let google = stage.google();
    for (zonal, group) in [
        (true, Population::ZONAL_GROUP),
        (false, Population::REGIONAL_GROUP),
    ] {
        let path = path_of(zonal);
        let role = json!({"type": "gce", "bound_regions": REGION, "bound_instance_groups": group});
        assert_granted(&log_in_with(&stage, &role));
        google.remove_group_member(&path, INSTANCE).unwrap();
        let text = format!("instance is not part of instance groups [\"{group}\"]");
        assert_refused(&log_in_with(&stage, &role), 400, &text);
        google.delete_instance_group(&path).unwrap();
        let text = format!(
            "instance group \"{group}\" does not exist in regions [\"{REGION}\"] for project \"{PROJECT}\""
        );
        assert_refused(&log_in_with(&stage, &role), 400, &text);
    }
}

#[test]
fn one_of_several_groups_is_enough() {
    let stage = ready();
    let groups = json!(["missing", Population::REGIONAL_GROUP]);
    let role = json!({"type": "gce", "bound_regions": REGION, "bound_instance_groups": groups});
    assert_granted(&log_in_with(&stage, &role));
}

#[test]
fn a_regional_group_is_not_of_a_zone_and_a_region_is_not_a_prefix() {
    let stage = ready();
    let google = stage.google();
    let group = Population::REGIONAL_GROUP;
    let role = json!({"type": "gce", "bound_zones": ZONE, "bound_instance_groups": group});
    let text = format!(
        "instance group \"{group}\" does not exist in zones [\"{ZONE}\"] for project \"{PROJECT}\""
    );
    assert_refused(&log_in_with(&stage, &role), 400, &text);

    // A region whose name another's begins with.
    let mut far = google.instance(INSTANCE).unwrap();
    far.zone = "europe-west10-a".to_owned();
    far.instance_id = "7000000000000000000".to_owned();
    let far_path = far.path();
    google.add_instance(far).unwrap();
    let group = InstanceGroup::zonal(PROJECT, "europe-west10-a", "far");
    let group = group.with_member("europe-west10-a", INSTANCE);
    google.add_instance_group(group).unwrap();
    let jwt = google
        .identity_token(
            &far_path,
            "http://vault/near",
            gatehouse_fake_google::IdentityFormat::Full,
        )
        .unwrap();
    for groups in [json!([]), json!(["far"])] {
        let role = json!({"type": "gce", "bound_regions": REGION, "bound_instance_groups": groups});
        stage.role(MOUNT, "near", &role);
        let text = format!("instance not in bound regions [\"{REGION}\"]");
        assert_refused(&stage.show(MOUNT, "near", &jwt), 400, &text);
    }
}

#[test]
fn links_to_an_instance_may_be_spelled_in_other_ways() {
    let stage = ready();
    let group = Population::ZONAL_GROUP;
    let role = json!({"type": "gce", "bound_zones": ZONE, "bound_instance_groups": group});
    for base in [
        "https://www.googleapis.com/compute/v1/",
        "https://compute.googleapis.com/compute/v1/",
        "https://www.googleapis.com/compute/beta/",
    ] {
        stage.google().set_member_link_base(base);
        assert_granted(&log_in_with(&stage, &role));
    }
}
