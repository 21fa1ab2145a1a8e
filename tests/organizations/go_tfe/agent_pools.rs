//! `agent_pool_integration_test.go`, what of it needs neither workspaces nor projects (contract 6.5, 4.9).

use serde_json::json;

use crate::documents::resource;
use crate::fixtures::{Organization, unique};
use crate::session::{Reply, Session};

scenarios! {
    both:
        test_agent_pools_list_without_list_options,
        test_agent_pools_list_with_list_options,
        test_agent_pools_list_with_sorting,
        test_agent_pools_list_with_query_options,
        test_agent_pools_create_with_valid_options,
        test_agent_pools_read_when_the_agent_pool_exists,
        test_agent_pools_read_when_the_agent_pool_does_not_exist,
        test_agent_pools_update_with_valid_options,
        test_agent_pools_update_when_updating_only_the_name,
        test_agent_pools_update_when_updating_organization_scope,
        test_agent_pools_delete_with_valid_options,
        test_agent_pools_delete_when_the_agent_pool_does_not_exist;
    hosted:
        test_agent_pools_read_created_at;
}

fn list(organization: &Organization<'_>, query: &str) -> Reply {
    let path = organization.path(&format!("agent-pools{query}"));
    organization.session().get(&path).expect(200)
}

fn path(pool: &str) -> String {
    format!("agent-pools/{pool}")
}

fn test_agent_pools_list_without_list_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let pool = organization.named_agent_pool(&unique());
    let list = list(&organization, "")
        .shows("/meta/pagination/current-page", 1)
        .shows("/meta/pagination/total-count", 1);
    assert_eq!(list.items(), [pool.data()]);
}

fn test_agent_pools_list_with_list_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    organization.agent_pool();
    list(&organization, "?page%5Bnumber%5D=999&page%5Bsize%5D=100")
        .shows("/data", json!([]))
        .shows("/meta/pagination/current-page", 999)
        .shows("/meta/pagination/total-count", 1);
}

fn test_agent_pools_list_with_sorting(session: &Session<'_>) {
    let organization = Organization::new(session);
    let first = organization.agent_pool();
    // Times have milliseconds, and pools of one of them have no order.
    std::thread::sleep(std::time::Duration::from_millis(5));
    let pools = [first, organization.agent_pool()];
    assert_eq!(list(&organization, "?sort=created-at").ids(), pools);
    let [first, second] = pools;
    assert_eq!(
        list(&organization, "?sort=-created-at").ids(),
        [second, first]
    );
}

fn test_agent_pools_list_with_query_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let name = unique();
    let pool = organization.named_agent_pool(&name).id();
    organization.agent_pool();
    assert_eq!(list(&organization, &format!("?q={name}")).ids(), [pool]);
    let query = format!("?q={name}not_going_to_match");
    list(&organization, &query).shows("/data", json!([]));
}

fn test_agent_pools_create_with_valid_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let pool = organization.named_agent_pool("cool-pool");
    assert!(pool.id().starts_with("apool-"));
    session
        .get(&path(&pool.id()))
        .expect(200)
        .shows("/data", pool.data())
        .shows_attributes(
            json!({"name": "cool-pool", "organization-scoped": true, "agent-count": 0}),
        )
        .shows(
            "/data/relationships/organization/data/id",
            organization.name.as_str(),
        );
}

fn test_agent_pools_read_when_the_agent_pool_exists(session: &Session<'_>) {
    let organization = Organization::new(session);
    let pool = organization.named_agent_pool(&unique());
    session
        .get(&path(&pool.id()))
        .expect(200)
        .shows("/data", pool.data());
}

fn test_agent_pools_read_when_the_agent_pool_does_not_exist(session: &Session<'_>) {
    session.get("agent-pools/nonexisting").expect_not_found();
}

fn test_agent_pools_read_created_at(session: &Session<'_>) {
    let organization = Organization::new(session);
    organization.subscribe_business();
    let pool = session.get(&path(&organization.agent_pool())).expect(200);
    assert!(!pool.text("/data/attributes/created-at").is_empty());
}

fn test_agent_pools_update_with_valid_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let pool = organization.agent_pool();
    let name = unique();
    session
        .patch(
            &path(&pool),
            &resource("agent-pools", json!({"name": name})),
        )
        .expect(200)
        .shows("/data/id", pool.as_str())
        .shows("/data/attributes/name", name.as_str());
    session
        .get(&path(&pool))
        .expect(200)
        .shows("/data/attributes/name", name);
}

/// What is not mentioned stays as it was.
fn test_agent_pools_update_when_updating_only_the_name(session: &Session<'_>) {
    let organization = Organization::new(session);
    let body = resource(
        "agent-pools",
        json!({"name": "a-pool", "organization-scoped": false}),
    );
    let pool = session
        .post(&organization.path("agent-pools"), &body)
        .expect(201);
    let mut expected = pool.data();
    expected["attributes"]["name"] = "updated-key-name".into();
    let changes = resource("agent-pools", json!({"name": "updated-key-name"}));
    session
        .patch(&path(&pool.id()), &changes)
        .expect(200)
        .shows("/data", expected);
}

fn test_agent_pools_update_when_updating_organization_scope(session: &Session<'_>) {
    let organization = Organization::new(session);
    let name = unique();
    let pool = organization
        .named_agent_pool(&name)
        .shows("/data/attributes/organization-scoped", true);
    let attributes = json!({"name": name, "organization-scoped": false});
    session
        .patch(
            &path(&pool.id()),
            &resource("agent-pools", attributes.clone()),
        )
        .expect(200)
        .shows_attributes(attributes);
}

fn test_agent_pools_delete_with_valid_options(session: &Session<'_>) {
    let organization = Organization::new(session);
    let pool = organization.agent_pool();
    session.delete(&path(&pool)).expect(204);
    session.get(&path(&pool)).expect_not_found();
}

fn test_agent_pools_delete_when_the_agent_pool_does_not_exist(session: &Session<'_>) {
    let organization = Organization::new(session);
    let pool = organization.agent_pool();
    session.delete(&path(&pool)).expect(204);
    session.delete(&path(&pool)).expect_not_found();
}
