//! vaultrs: its token, sys and identity modules. It reads answers strictly: a member that is missing, null or of another type
//! fails the call.

use std::collections::HashMap;

use gatehouse_tests::{Installation, ROLE, Storage};
use rustify_derive::Endpoint;
use serde::Serialize;
use serde_json::{Value, json};
use vaultrs::api::sys::requests::EnableAuthRequest;
use vaultrs::api::token::requests::{
    CreateOrphanTokenRequest, CreateRoleTokenRequest, CreateTokenRequest, SetTokenRoleRequest,
};
use vaultrs::api::{self, identity};
use vaultrs::client::{VaultClient, VaultClientSettingsBuilder};
use vaultrs::error::ClientError;
use vaultrs::sys::ServerStatus;
use vaultrs::{identity as identities, sys, token};

use crate::HOST;

const POLICY: &str = "path \"auth/token/create\" {\n  capabilities = [\"update\"]\n}\n";

/// The login of the method, which vaultrs does not have.
#[derive(Debug, Endpoint, Serialize)]
#[endpoint(path = "/auth/{self.mount}/login", method = "POST")]
struct LoginRequest {
    #[endpoint(skip)]
    mount: String,
    role: String,
    jwt: String,
}

/// Any read, to be wrapped.
#[derive(Debug, Endpoint, Serialize)]
#[endpoint(path = "/sys/policies/acl/{self.name}", response = "Value")]
struct ReadPolicyRequest {
    #[endpoint(skip)]
    name: String,
}

/// Runs `test` with a server of its own and a client that has the operator's token.
fn with_server<F: Future<Output = Result<(), ClientError>>>(
    test: impl FnOnce(&'static Installation, VaultClient) -> F,
) {
    let program = HOST.program().ended_with_the_tests();
    let installation = Installation::start_program(program, Storage::Memory, "").unwrap();
    // Requests borrow it for as long as the test runs.
    let installation: &'static Installation = Box::leak(Box::new(installation));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let client = client(installation, installation.root_token());
    runtime.block_on(test(installation, client)).unwrap();
}

fn client(installation: &Installation, token: &str) -> VaultClient {
    let settings = VaultClientSettingsBuilder::default()
        .address(format!("http://{}", installation.address()))
        .token(token)
        .build()
        .unwrap();
    VaultClient::new(settings).unwrap()
}

/// Lists by name come in no order that a client could know.
fn in_order(mut names: Vec<String>) -> Vec<String> {
    names.sort_unstable();
    names
}

#[track_caller]
fn refused<T: std::fmt::Debug>(answer: Result<T, ClientError>, status: u16) {
    match answer {
        Err(ClientError::APIError { code, .. }) => assert_eq!(code, status),
        other => panic!("expected {status}: {other:?}"),
    }
}

#[test]
fn vaultrs_logs_in_with_an_endpoint_of_its_own() {
    with_server(|installation, _| async move {
        // It waits for answers, which a task must not.
        let set_up = std::thread::spawn(|| installation.set_up_login().unwrap());
        set_up.join().unwrap();
        let login = LoginRequest {
            mount: "gcp".to_owned(),
            role: ROLE.to_owned(),
            jwt: installation.login_jwt().unwrap(),
        };
        let auth = api::auth(&client(installation, ""), login).await?;
        assert_eq!(auth.token_policies, ["default", "demo"]);
        assert_eq!(auth.token_type, "service");
        assert!(auth.orphan && auth.renewable && !auth.entity_id.is_empty());
        let workload = client(installation, &auth.client_token);
        let shown = token::lookup_self(&workload).await?;
        assert_eq!(
            (shown.entity_id, shown.path.as_str()),
            (auth.entity_id, "auth/gcp/login")
        );
        token::renew_self(&workload, None).await?;
        token::revoke_self(&workload).await
    });
}

#[test]
fn vaultrs_makes_shows_renews_and_revokes_tokens() {
    with_server(|installation, root| async move {
        sys::policy::set(&root, "maker", POLICY).await?;
        let mut options = CreateTokenRequest::builder();
        options
            .policies(["maker".to_owned()])
            .ttl("1h")
            .explicit_max_ttl("2h")
            .display_name("rs")
            .meta(HashMap::from([("team".to_owned(), "a".to_owned())]))
            .num_uses(20_u64);
        let auth = token::new(&root, Some(&mut options)).await?;
        assert_eq!((auth.token_policies.len(), auth.lease_duration), (2, 3600));
        let shown = token::lookup(&root, &auth.client_token).await?;
        assert_eq!((shown.explicit_max_ttl, shown.num_uses), (7200, 20));
        assert_eq!(shown.meta.unwrap()["team"], "a");
        let own = client(installation, &auth.client_token);
        assert_eq!(token::lookup_self(&own).await?.id, auth.client_token);
        let shown = token::lookup_accessor(&root, &auth.accessor).await?;
        assert_eq!(
            (shown.id.as_str(), shown.accessor.as_str()),
            ("", auth.accessor.as_str())
        );

        let renewed = token::renew(&root, &auth.client_token, Some("30m")).await?;
        assert_eq!(renewed.lease_duration, 1800);
        let renewed = token::renew_accessor(&root, &auth.accessor, Some("20m")).await?;
        assert_eq!(
            (renewed.lease_duration, renewed.client_token.as_str()),
            (1200, "")
        );
        assert_eq!(
            token::renew_self(&own, Some("15m")).await?.lease_duration,
            900
        );

        // The very last use shows no negative number.
        let mut once = CreateTokenRequest::builder();
        once.policies(["default".to_owned()]).num_uses(1_u64);
        let once = token::new(&root, Some(&mut once)).await?;
        let shown = token::lookup_self(&client(installation, &once.client_token)).await?;
        assert_eq!(shown.num_uses, 0);

        let mut options = CreateOrphanTokenRequest::builder();
        options.policies(["maker".to_owned()]).ttl("5m");
        let orphan = token::new_orphan(&root, Some(&mut options)).await?;
        assert!(orphan.orphan);
        let child = token::new(&client(installation, &orphan.client_token), None).await?;
        token::revoke_orphan(&root, &orphan.client_token).await?;
        refused(token::lookup(&root, &orphan.client_token).await, 403);
        assert!(token::lookup(&root, &child.client_token).await?.orphan);
        token::revoke_accessor(&root, &child.accessor).await?;
        refused(token::lookup(&root, &child.client_token).await, 403);
        token::revoke_self(&own).await?;
        token::revoke(&root, &auth.client_token).await?;
        refused(token::lookup_self(&own).await, 403);
        token::tidy(&root).await
    });
}

#[test]
fn vaultrs_manages_token_roles() {
    with_server(|_, root| async move {
        let mut options = SetTokenRoleRequest::builder();
        options
            .allowed_policies(["default".to_owned()])
            .orphan(true)
            .path_suffix("suffix")
            .token_period("1h");
        token::role::set(&root, "rs", Some(&mut options)).await?;
        let role = token::role::read(&root, "rs").await?;
        assert_eq!(
            (role.name.as_str(), role.token_period, role.orphan),
            ("rs", 3600, true)
        );
        assert_eq!(token::role::list(&root).await?.keys, ["rs"]);
        let mut options = CreateRoleTokenRequest::builder();
        options.ttl("5m");
        let auth = token::new_role(&root, "rs", Some(&mut options)).await?;
        let shown = token::lookup(&root, &auth.client_token).await?;
        assert_eq!(shown.role.as_deref(), Some("rs"));
        token::role::delete(&root, "rs").await?;
        refused(token::role::read(&root, "rs").await, 404);
        Ok(())
    });
}

#[test]
fn vaultrs_reads_status_and_manages_policies_and_mounts() {
    with_server(|_, root| async move {
        let health = sys::health(&root).await?;
        assert!(health.initialized && !health.sealed && !health.performance_standby);
        assert!(matches!(sys::status(&root).await?, ServerStatus::OK));

        sys::policy::set(&root, "rs", POLICY).await?;
        assert_eq!(sys::policy::read(&root, "rs").await?.rules, POLICY);
        assert!(
            sys::policy::list(&root)
                .await?
                .policies
                .contains(&"rs".to_owned())
        );
        sys::policy::delete(&root, "rs").await?;
        refused(sys::policy::read(&root, "rs").await, 404);

        let mut options = EnableAuthRequest::builder();
        options.description("for vaultrs");
        sys::auth::enable(&root, "rs", "gcp", Some(&mut options)).await?;
        let mounts = sys::auth::list(&root).await?;
        let mount = &mounts["rs/"];
        assert_eq!(
            (mount.mount_type.as_str(), mount.description.as_str()),
            ("gcp", "for vaultrs")
        );
        assert_eq!(mounts["token/"].config.token_type, "default-service");

        let begun = sys::remount::remount(&root, "auth/rs", "auth/moved").await?;
        let status = sys::remount::remount_status(&root, &begun.migration_id).await?;
        assert_eq!(
            status.migration_info.target_mount.trim_end_matches('/'),
            "auth/moved"
        );
        assert!(sys::auth::list(&root).await?.contains_key("moved/"));
        sys::auth::disable(&root, "moved").await?;
        assert!(!sys::auth::list(&root).await?.contains_key("moved/"));
        Ok(())
    });
}

#[test]
fn vaultrs_wraps_and_unwraps() {
    with_server(|_, root| async move {
        sys::policy::set(&root, "rs", POLICY).await?;
        let read = || ReadPolicyRequest {
            name: "rs".to_owned(),
        };
        let wrapped = api::wrap(&root, read()).await?;
        let shown = wrapped.lookup(&root).await?;
        assert_eq!(shown.creation_path, "sys/policies/acl/rs");
        let shown = sys::wrapping::lookup(&root, &wrapped.info.token).await?;
        assert_eq!(shown.creation_path, "sys/policies/acl/rs");
        assert_eq!(wrapped.unwrap(&root).await?["policy"], POLICY);
        refused(
            sys::wrapping::unwrap::<Value>(&root, Some(&wrapped.info.token)).await,
            400,
        );
        let wrapped = api::wrap(&root, read()).await?;
        let data: Value = sys::wrapping::unwrap(&root, Some(&wrapped.info.token)).await?;
        assert_eq!(data, json!({"name": "rs", "policy": POLICY}));
        Ok(())
    });
}

#[test]
fn vaultrs_manages_entities_groups_and_their_aliases() {
    with_server(|_, root| async move {
        sys::auth::enable(&root, "rs", "gcp", None).await?;
        let accessor = sys::auth::list(&root).await?["rs/"].accessor.clone();

        let mut options = identity::entity::requests::CreateEntityRequest::builder();
        options.name("one").policies(vec!["a".to_owned()]);
        let entity = identities::entity::create(&root, Some(&mut options))
            .await?
            .id;
        let shown = identities::entity::read_by_id(&root, &entity).await?;
        assert_eq!((shown.name.as_str(), shown.disabled), ("one", false));
        let mut options = identity::entity::requests::UpdateEntityByIdRequest::builder();
        options.name("renamed");
        identities::entity::update_by_id(&root, &entity, Some(&mut options)).await?;
        assert_eq!(
            identities::entity::read_by_name(&root, "renamed").await?.id,
            entity
        );
        identities::entity::create_or_update_by_name(&root, "two", None).await?;
        let second = identities::entity::read_by_name(&root, "two").await?.id;
        assert!(
            identities::entity::list_by_id(&root)
                .await?
                .keys
                .contains(&second)
        );
        let names = identities::entity::list_by_name(&root).await?.keys;
        assert_eq!(in_order(names), ["renamed", "two"]);

        use identities::entity_alias;
        let alias = entity_alias::create(&root, "al", &entity, &accessor, None).await?;
        assert_eq!(alias.canonical_id, entity);
        let shown = entity_alias::read_by_id(&root, &alias.id).await?;
        assert_eq!(
            (shown.name.as_str(), shown.mount_path.as_str()),
            ("al", "auth/rs/")
        );
        assert_eq!(
            entity_alias::list_by_id(&root).await?.key_info[&alias.id].name,
            "al"
        );
        let mut options = identity::entity_alias::requests::UpdateEntityAliasByIdRequest::builder();
        options
            .name("am")
            .canonical_id(entity.as_str())
            .mount_accessor(accessor.as_str());
        entity_alias::update_by_id(&root, &alias.id, Some(&mut options)).await?;
        assert_eq!(entity_alias::read_by_id(&root, &alias.id).await?.name, "am");
        assert_eq!(
            identities::entity::read_by_id(&root, &entity)
                .await?
                .aliases[0]
                .name,
            "am"
        );
        entity_alias::delete_by_id(&root, &alias.id).await?;
        refused(entity_alias::read_by_id(&root, &alias.id).await, 404);

        use identities::group;
        let mut options = identity::group::requests::CreateGroupRequest::builder();
        options.member_entity_ids(vec![entity.clone()]);
        let made = group::create(&root, Some(&mut options)).await?;
        let shown = group::read_by_id(&root, &made.id).await?;
        assert_eq!(shown.member_entity_ids, Some(vec![entity.clone()]));
        let mut options = identity::group::requests::UpdateGroupByIdRequest::builder();
        options.name("h");
        group::update_by_id(&root, &made.id, Some(&mut options)).await?;
        assert_eq!(group::read_by_name(&root, "h").await?.id, made.id);
        group::create_or_update_by_name(&root, "k", None).await?;
        assert_eq!(group::list_by_id(&root).await?.keys.len(), 2);
        let names = group::list_by_name(&root).await?.keys;
        assert_eq!(in_order(names), ["h", "k"]);
        group::delete_by_name(&root, "k").await?;
        group::delete_by_id(&root, &made.id).await?;
        refused(group::read_by_id(&root, &made.id).await, 404);

        use identities::group_alias;
        let mut options = identity::group::requests::CreateGroupRequest::builder();
        options.group_type("external");
        let external = group::create(&root, Some(&mut options)).await?.id;
        let mut options = identity::group_alias::requests::CreateGroupAliasRequest::builder();
        options.canonical_id(external.as_str());
        let alias = group_alias::create(&root, "ga", &accessor, Some(&mut options)).await?;
        assert_eq!(
            group_alias::read_by_id(&root, &alias.id)
                .await?
                .canonical_id,
            external
        );
        let mut options = identity::group_alias::requests::UpdateGroupAliasByIdRequest::builder();
        options.name("gb").canonical_id(external.as_str());
        group_alias::update_by_id(&root, &alias.id, &accessor, Some(&mut options)).await?;
        assert_eq!(group_alias::read_by_id(&root, &alias.id).await?.name, "gb");
        assert_eq!(
            group_alias::list_by_id(&root).await?.keys,
            [alias.id.as_str()]
        );
        group_alias::delete_by_id(&root, &alias.id).await?;
        refused(group_alias::read_by_id(&root, &alias.id).await, 404);

        identities::entity::delete_by_name(&root, "renamed").await?;
        identities::entity::batch_delete(&root, vec![second.clone()]).await?;
        refused(identities::entity::read_by_id(&root, &second).await, 404);
        refused(identities::entity::list_by_id(&root).await, 404);
        Ok(())
    });
}
