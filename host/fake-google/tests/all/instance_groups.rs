//! The compute API lists instance groups and their members, a page at a time.

use std::collections::BTreeSet;

use form_urlencoded::byte_serialize;
use gatehouse_fake_google::{
    FakeGoogle, FakeGoogleError, InstanceGroup, InstanceStatus, Population,
};
use http::StatusCode;
use serde_json::{Value, json};

use crate::client::{
    Reply, access_token_of, assert_refused, demo_google, get, get_with_bearer, post,
};

const GROUPS: &str = "/compute/v1/projects/demo-project/aggregated/instanceGroups";
const MASK: &str = "fields=items/*/instanceGroups/name,nextPageToken";
const LINK: &str = "https://www.googleapis.com/compute/v1/projects/demo-project/zones/europe-west1-b/instances/workload-1";

fn zonal() -> InstanceGroup {
    InstanceGroup::zonal("demo-project", "europe-west1-b", Population::ZONAL_GROUP)
}

fn regional() -> InstanceGroup {
    InstanceGroup::regional("demo-project", "europe-west1", Population::REGIONAL_GROUP)
}

async fn members(google: &FakeGoogle, token: &str, group: &InstanceGroup, query: &str) -> Reply {
    let path = format!("/compute/v1/{}/listInstances?{query}", group.path());
    post(google, &path, token, &json!({})).await
}

fn escaped(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

/// Scope and name of every group of a page.
fn groups_on(page: &Value) -> Vec<(String, String)> {
    let scopes = page["items"].as_object().unwrap().iter();
    scopes
        .flat_map(|(scope, content)| {
            let groups = content["instanceGroups"].as_array().cloned();
            groups
                .unwrap_or_default()
                .into_iter()
                .map(|group| (scope.clone(), group["name"].as_str().unwrap().to_owned()))
        })
        .collect()
}

#[tokio::test]
async fn scopes_without_groups_carry_a_warning() {
    let google = demo_google().await;
    let token = access_token_of(&google, Population::SERVER_ROOT).await;
    let page = get_with_bearer(&google, GROUPS, &token).await.json();
    let scopes: Vec<_> = page["items"].as_object().unwrap().keys().collect();
    assert_eq!(
        scopes,
        [
            "global",
            "regions/europe-west1",
            "regions/us-central1",
            "zones/europe-west1-b",
            "zones/us-central1-a"
        ]
    );
    for empty in ["global", "regions/us-central1", "zones/us-central1-a"] {
        let scope = &page["items"][empty];
        assert_eq!(scope["warning"]["code"], "NO_RESULTS_ON_PAGE");
        assert!(scope.get("instanceGroups").is_none());
    }
    let group = &page["items"]["regions/europe-west1"]["instanceGroups"][0];
    assert_eq!(group["name"], Population::REGIONAL_GROUP);
    assert_eq!(
        group["region"],
        "https://www.googleapis.com/compute/v1/projects/demo-project/regions/europe-west1"
    );
    assert!(page.get("nextPageToken").is_none());
}

#[tokio::test]
async fn pages_follow_each_other_to_the_last() {
    let google = demo_google().await;
    let token = access_token_of(&google, Population::SERVER_ROOT).await;
    for number in 0..5 {
        let group = InstanceGroup::zonal("demo-project", "us-central1-a", &format!("g{number}"));
        google.add_instance_group(group).unwrap();
    }
    // The same name elsewhere is another group.
    let twin = InstanceGroup::zonal("demo-project", "us-central1-b", "g0");
    google.add_instance_group(twin.clone()).unwrap();
    let foreign = InstanceGroup::zonal("other-project", "us-central1-a", "foreign");
    google.add_instance_group(foreign).unwrap();
    google.set_group_page_size(3);

    let mut seen = BTreeSet::new();
    let mut pages = 0;
    let mut page_token = String::new();
    loop {
        let path = format!("{GROUPS}?{MASK}&pageToken={}", escaped(&page_token));
        let page = get_with_bearer(&google, &path, &token).await.json();
        let groups = groups_on(&page);
        assert!(groups.len() <= 3);
        seen.extend(groups);
        pages += 1;
        match page.get("nextPageToken") {
            Some(next) => next.as_str().unwrap().clone_into(&mut page_token),
            None => break,
        }
    }
    assert_eq!((pages, seen.len()), (3, 8));
    assert!(seen.contains(&("zones/us-central1-b".to_owned(), "g0".to_owned())));
    assert_eq!(
        google
            .requests()
            .iter()
            .filter(|request| request.path_and_query.contains("pageToken="))
            .count(),
        3
    );
}

#[tokio::test]
async fn mask_without_page_token_loses_it() {
    let google = demo_google().await;
    let token = access_token_of(&google, Population::SERVER_ROOT).await;
    google.set_group_page_size(1);
    let path = format!("{GROUPS}?fields=items/*/instanceGroups/name&alt=json&prettyPrint=false");
    let page = get_with_bearer(&google, &path, &token).await.json();
    assert_eq!(
        page.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["items"]
    );
    assert_eq!(groups_on(&page).len(), 1);
    let whole = get_with_bearer(&google, &format!("{GROUPS}?maxResults=1"), &token).await;
    assert!(whole.json().get("nextPageToken").is_some());
}

#[tokio::test]
async fn page_tokens_of_other_lists_are_refused() {
    let google = demo_google().await;
    let token = access_token_of(&google, Population::SERVER_ROOT).await;
    google.set_group_page_size(1);
    let page = get_with_bearer(&google, GROUPS, &token).await.json();
    let foreign = escaped(page["nextPageToken"].as_str().unwrap());
    let query = format!("pageToken={foreign}");
    for reply in [
        members(&google, &token, &zonal(), &query).await,
        get_with_bearer(&google, &format!("{GROUPS}?pageToken=x"), &token).await,
        get_with_bearer(&google, &format!("{GROUPS}?maxResults=501"), &token).await,
    ] {
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{reply:?}");
    }
}

#[tokio::test]
async fn members_are_listed_for_zonal_and_regional_groups() {
    let google = demo_google().await;
    let token = access_token_of(&google, Population::SERVER_ROOT).await;
    let mut second = google.instance("workload-1").unwrap();
    "workload-2".clone_into(&mut second.instance_name);
    "77".clone_into(&mut second.instance_id);
    "europe-west1-c".clone_into(&mut second.zone);
    google.add_instance(second).unwrap();
    google
        .add_group_member(&regional().path(), "workload-2")
        .unwrap();
    assert!(matches!(
        google.add_group_member(&zonal().path(), "workload-2"),
        Err(FakeGoogleError::MemberOutsideGroup { .. })
    ));

    let zone = members(&google, &token, &zonal(), "").await.json();
    assert_eq!(
        zone["items"],
        json!([{ "instance": LINK, "status": "RUNNING" }])
    );
    google.set_member_page_size(1);
    let first = members(&google, &token, &regional(), "").await.json();
    let next = escaped(first["nextPageToken"].as_str().unwrap());
    let second = members(&google, &token, &regional(), &format!("pageToken={next}"))
        .await
        .json();
    assert_eq!(first["items"][0]["instance"], LINK);
    assert!(
        second["items"][0]["instance"]
            .as_str()
            .unwrap()
            .ends_with("/workload-2")
    );
    assert!(second.get("nextPageToken").is_none());

    google.delete_instance("workload-2").unwrap();
    google
        .remove_group_member(&regional().path(), "workload-1")
        .unwrap();
    let empty = members(&google, &token, &regional(), "").await.json();
    assert!(empty.get("items").is_none());
}

#[tokio::test]
async fn filter_and_state_narrow_the_members() {
    let google = demo_google().await;
    let token = access_token_of(&google, Population::SERVER_ROOT).await;
    for (filter, count) in [
        (format!("instance eq {LINK}"), 1),
        (format!("instance eq {LINK}0"), 0),
    ] {
        let query = format!("filter={}", escaped(&filter));
        let reply = members(&google, &token, &zonal(), &query).await.json();
        assert_eq!(
            reply["items"].as_array().map_or(0, Vec::len),
            count,
            "{filter}"
        );
    }
    let odd = members(&google, &token, &zonal(), "filter=size%3E3").await;
    assert_eq!(odd.status, StatusCode::BAD_REQUEST);

    google
        .set_instance_status("workload-1", InstanceStatus::Stopping)
        .unwrap();
    google.set_member_link_base("https://compute.googleapis.com/compute/beta/");
    let path = format!("/compute/v1/{}/listInstances", zonal().path());
    let running = post(
        &google,
        &path,
        &token,
        &json!({ "instanceState": "RUNNING" }),
    )
    .await;
    assert!(running.json().get("items").is_none());
    let all = post(&google, &path, &token, &json!({ "instanceState": "ALL" })).await;
    assert_eq!(all.json()["items"][0]["status"], "STOPPING");
    assert_eq!(
        all.json()["items"][0]["instance"],
        LINK.replace(
            "www.googleapis.com/compute/v1",
            "compute.googleapis.com/compute/beta"
        )
    );
}

#[tokio::test]
async fn missing_groups_projects_tokens_and_permissions_are_refused() {
    let google = demo_google().await;
    let token = access_token_of(&google, Population::SERVER_ROOT).await;
    // A zonal group is not found in the region, nor elsewhere.
    let elsewhere =
        InstanceGroup::regional("demo-project", "europe-west1", Population::ZONAL_GROUP);
    assert_refused(
        &members(&google, &token, &elsewhere, "").await,
        StatusCode::NOT_FOUND,
        "NOT_FOUND",
        &format!("The resource '{}' was not found", elsewhere.path()),
    );
    let stranger = GROUPS.replace("demo-project", "stranger");
    assert_eq!(
        get_with_bearer(&google, &stranger, &token).await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(get(&google, GROUPS).await.status, StatusCode::UNAUTHORIZED);

    let root = Population::SERVER_ROOT;
    google
        .deny_permission(root, "compute.instanceGroups.list")
        .unwrap();
    assert_refused(
        &get_with_bearer(&google, GROUPS, &token).await,
        StatusCode::FORBIDDEN,
        "PERMISSION_DENIED",
        "Required 'compute.instanceGroups.list' permission for 'projects/demo-project'",
    );
    assert_eq!(
        members(&google, &token, &zonal(), "").await.status,
        StatusCode::OK
    );
    google
        .deny_permission(root, "compute.instanceGroups.get")
        .unwrap();
    assert_eq!(
        members(&google, &token, &zonal(), "").await.status,
        StatusCode::FORBIDDEN
    );

    assert!(matches!(
        google.add_instance_group(zonal()),
        Err(FakeGoogleError::DuplicateInstanceGroup { .. })
    ));
    google.delete_instance_group(&zonal().path()).unwrap();
    assert!(google.delete_instance_group(&zonal().path()).is_err());
    let lost = InstanceGroup::zonal("demo-project", "europe-west1-b", "g")
        .with_member("europe-west1-b", "lost");
    assert!(matches!(
        google.add_instance_group(lost),
        Err(FakeGoogleError::UnknownInstance { .. })
    ));
}
