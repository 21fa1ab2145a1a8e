//! All components composed, driven through the pool that the server uses, with a fresh instance per request and with one instance
//! for many.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gatehouse::runtime::background::{Background, BackgroundSettings};
use gatehouse::runtime::cache::{self, SharedCache};
use gatehouse::runtime::exchange::{Peer, ServeError};
use gatehouse::runtime::linker::ensure_imports_are_met;
use gatehouse::runtime::pool::{Pool, PoolSettings};
use gatehouse::runtime::storage;
use gatehouse::server::DELETING_DUTIES;
use gatehouse_components::{Flavour, Part};
use gatehouse_ports::doubles::ManualClock;
use gatehouse_ports::{Clock as _, SystemClock};
use gatehouse_store::Namespace;
use serde_json::{Value, json};

use crate::surroundings::Surroundings;

/// The component under test.
pub const SUBJECT: Part = Part::Composed;

/// A fresh instance for each request.
pub const FRESH: usize = 1;
const REUSED: usize = 10_000;

/// Longer than a request or background work takes on a machine under load.
const WALL_TIME: Duration = Duration::from_secs(120);

/// The composition behind a pool, over a store in memory.
pub struct Product {
    pub surroundings: Surroundings,
    pool: Arc<Pool>,
    background: Background,
}

impl Product {
    pub fn new(instance_reuse: usize, flavour: Flavour) -> Self {
        Self::within(Surroundings::new(), instance_reuse, flavour)
    }

    fn within(surroundings: Surroundings, instance_reuse: usize, flavour: Flavour) -> Self {
        let (component, mut linker) = surroundings.load(SUBJECT, flavour);
        for (name, namespace) in [
            ("auth-method-storage", Namespace::AuthMethod),
            ("access-storage", Namespace::Access),
            ("orgs-storage", Namespace::Orgs),
        ] {
            storage::bind(&mut linker, name, surroundings.private(namespace)).unwrap();
        }
        let cache = SharedCache::new(Arc::new(SystemClock));
        cache::bind(&mut linker, "auth-method-cache", cache).unwrap();
        ensure_imports_are_met(&linker, &component).unwrap();
        let settings = PoolSettings {
            instances: 8,
            instance_reuse,
            queue: 64,
            wall_time: WALL_TIME,
        };
        let template = linker.instantiate_pre(&component).unwrap();
        let background = BackgroundSettings {
            interval: Duration::from_secs(60),
            wall_time: WALL_TIME,
        };
        let background = Background::find(&template, surroundings.grants.clone(), background);
        let pool = Pool::new(template, surroundings.grants.clone(), settings).unwrap();
        Self {
            surroundings,
            pool,
            background: background.unwrap(),
        }
    }

    /// Does the work that is due without a request.
    pub async fn run_background(&self) {
        for (duty, outcome) in self.background.run_once().await {
            outcome.unwrap_or_else(|error| panic!("{duty}: {error}"));
        }
    }

    /// The same without the duties that a host with a doubted clock holds back.
    async fn run_duties_that_delete_nothing_by_the_time(&self) {
        let held = |duty: &str| DELETING_DUTIES.contains(&duty);
        for (duty, outcome) in self.background.run_once_without(held).await {
            outcome.unwrap_or_else(|error| panic!("{duty}: {error}"));
        }
    }

    /// All that is stored.
    async fn entries(&self) -> Vec<(String, Vec<u8>)> {
        let mut entries = Vec::new();
        for namespace in [Namespace::AuthMethod, Namespace::Access, Namespace::Orgs] {
            entries.extend(self.surroundings.entries(namespace).await);
        }
        entries
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<Value>,
    ) -> (u16, Value) {
        self.try_send(method, path, token, body).await.unwrap()
    }

    /// As [`Self::send`], where the component may fail to answer.
    pub async fn try_send(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<Value>,
    ) -> Result<(u16, Value), ServeError> {
        let mut request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .extension(Peer([127, 0, 0, 1].into()));
        if let Some(token) = token {
            request = request
                .header("x-vault-token", token)
                .header("authorization", format!("Bearer {token}"));
        }
        if body.is_some() {
            request = request.header("content-type", "application/vnd.api+json");
        }
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let answer = self.pool.serve(request.body(body).unwrap()).await?;
        let json = serde_json::from_slice(&answer.body().bytes).unwrap_or(Value::Null);
        Ok((answer.status().as_u16(), json))
    }

    pub async fn initialize(&self) -> String {
        let (status, answer) = self
            .send("PUT", "/v1/sys/init", None, Some(json!({})))
            .await;
        assert_eq!(status, 200, "{answer}");
        answer["root_token"].as_str().unwrap().to_owned()
    }

    async fn keys(&self, namespace: Namespace) -> Vec<String> {
        self.surroundings.keys(namespace).await
    }
}

pub fn organization(name: &str) -> Value {
    json!({"data": {
        "type": "organizations",
        "attributes": {"name": name, "email": format!("{name}@example.com")},
    }})
}

async fn an_operator_prepares_a_login_and_a_policy_holder_manages_an_organization(
    product: &Product,
) {
    let (status, _) = product.send("GET", "/v1/sys/health", None, None).await;
    assert_eq!(status, 501);
    let root = product.initialize().await;
    let root = Some(root.as_str());
    let (status, health) = product.send("GET", "/v1/sys/health", None, None).await;
    assert_eq!((status, &health["initialized"]), (200, &json!(true)));

    let enable = json!({"type": "gcp"});
    let (status, answer) = product
        .send("POST", "/v1/sys/auth/gcp", root, Some(enable))
        .await;
    assert_eq!(status, 204, "{answer}");
    let role = json!({"type": "iam", "bound_service_accounts": "dev@p1.iam.gserviceaccount.com"});
    let (status, answer) = product
        .send("POST", "/v1/auth/gcp/role/dev", root, Some(role))
        .await;
    assert_eq!(status, 200, "{answer}");
    let (status, answer) = product
        .send("GET", "/v1/auth/gcp/role/DEV", root, None)
        .await;
    assert_eq!((status, &answer["data"]["max_jwt_exp"]), (200, &json!(900)));

    let policy =
        json!({"policy": "path \"organizations/acme\" { capabilities = [\"create\", \"read\"] }"});
    let (status, answer) = product
        .send("PUT", "/v1/sys/policies/acl/acme", root, Some(policy))
        .await;
    assert_eq!(status, 204, "{answer}");
    let create = json!({"policies": ["acme"], "ttl": "1h"});
    let (status, answer) = product
        .send("POST", "/v1/auth/token/create", root, Some(create))
        .await;
    assert_eq!(status, 200, "{answer}");
    let token = answer["auth"]["client_token"].as_str();

    let create = organization("acme");
    let (status, answer) = product
        .send("POST", "/api/v2/organizations", token, Some(create))
        .await;
    assert_eq!(status, 201, "{answer}");
    let (status, answer) = product
        .send("GET", "/api/v2/organizations/ACME", token, None)
        .await;
    assert_eq!((status, &answer["data"]["id"]), (200, &json!("acme")));
    let (status, _) = product
        .send("DELETE", "/api/v2/organizations/acme", token, None)
        .await;
    assert_eq!(status, 404);
    let (status, _) = product
        .send("DELETE", "/api/v2/organizations/acme", root, None)
        .await;
    assert_eq!(status, 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_product_works_with_a_fresh_instance_for_every_request() {
    let product = Product::new(FRESH, Flavour::Portable);
    an_operator_prepares_a_login_and_a_policy_holder_manages_an_organization(&product).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_product_works_with_instances_used_again() {
    let product = Product::new(REUSED, Flavour::Wide);
    an_operator_prepares_a_login_and_a_policy_holder_manages_an_organization(&product).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn w6_records_of_one_capability_never_appear_in_the_store_of_another() {
    let product = Product::new(REUSED, Flavour::Wide);
    let root = product.initialize().await;
    let root = Some(root.as_str());
    let enable = json!({"type": "gcp"});
    product
        .send("POST", "/v1/sys/auth/gcp", root, Some(enable))
        .await;
    let access_before = product.keys(Namespace::Access).await;

    let role = json!({"type": "iam", "bound_service_accounts": "*"});
    product
        .send("POST", "/v1/auth/gcp/role/dev", root, Some(role))
        .await;
    product
        .send(
            "POST",
            "/api/v2/organizations",
            root,
            Some(organization("acme")),
        )
        .await;

    assert_eq!(product.keys(Namespace::Access).await, access_before);
    let roles = product.keys(Namespace::AuthMethod).await;
    assert!(
        !roles.is_empty() && roles.iter().all(|key| key.contains("/role")),
        "{roles:?}"
    );
    let organizations = product.keys(Namespace::Orgs).await;
    assert!(!organizations.is_empty());
    assert!(
        organizations
            .iter()
            .all(|key| !roles.contains(key) && !access_before.contains(key))
    );
}

/// An entry of every kind that expires is stored, and the clock leaps ahead by two years. The entries that are missing after a round show
/// which duties delete by the time. `tests/google/rotation.rs` covers `rotate-credentials`, which deletes keys at Google.
#[tokio::test(flavor = "multi_thread")]
async fn t6_the_duties_that_a_doubted_clock_holds_back_are_those_that_delete_by_it() {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let clock = Arc::new(ManualClock::at_seconds(SystemClock.now_seconds()));
    let surroundings = Surroundings::at(Arc::clone(&clock) as _);
    let product = Product::within(surroundings, REUSED, Flavour::Wide);
    for held in DELETING_DUTIES {
        assert!(product.background.duties().any(|duty| duty == held));
    }

    let root = product.initialize().await;
    let send = async |method: &str, path: &str, token: &str, body: Value| {
        let (status, answer) = product.send(method, path, Some(token), Some(body)).await;
        assert!((200..300).contains(&status), "{path}: {answer}");
        answer
    };
    let issuer = json!({"issuer": "https://gatehouse.example"});
    send("POST", "/v1/identity/oidc/config", &root, issuer).await;
    let create = json!({"policies": ["root"], "ttl": "1h"});
    let parent = send("POST", "/v1/auth/token/create", &root, create).await;
    let parent = parent["auth"]["client_token"].as_str().unwrap();
    let create = json!({"ttl": "2h"});
    send("POST", "/v1/auth/token/create", parent, create).await;
    let batch = json!({"type": "batch", "policies": ["default"]});
    send("POST", "/v1/auth/token/create", &root, batch).await;
    let organizations = "/api/v2/organizations";
    send("POST", organizations, &root, organization("acme")).await;
    let end = jiff::Timestamp::now() + Duration::from_secs(60 * 60);
    let token = json!({"data": {"type": "authentication-tokens", "attributes": {"expired-at": end.to_string()}}});
    let path = "/api/v2/organizations/acme/authentication-token";
    send("POST", path, &root, token).await;
    // This round deletes the events that were reported, which no time decides, and makes the keys.
    product.run_background().await;

    // The number of live tokens depends on the time, and nothing depends on that number.
    let all_but_the_count = async || {
        let mut entries = product.entries().await;
        entries.retain(|(key, _)| key != "token-count");
        entries
    };
    let before = all_but_the_count().await;
    clock.advance(2 * 365 * DAY);
    product.run_duties_that_delete_nothing_by_the_time().await;
    assert_eq!(all_but_the_count().await, before);

    let below_parents = async || {
        let keys = product.keys(Namespace::Access).await;
        keys.iter().filter(|key| key.starts_with("child/")).count()
    };
    let names_of_keys = async || {
        let path = "/v1/identity/oidc/plugins/.well-known/keys";
        let (status, keys) = product.send("GET", path, None, None).await;
        assert_eq!(status, 200, "{keys}");
        let keys = keys["keys"].as_array().unwrap();
        let name = |key: &Value| key["kid"].as_str().unwrap().to_owned();
        keys.iter().map(name).collect::<Vec<_>>()
    };
    assert!(below_parents().await > 0);
    product.run_background().await;
    assert_eq!(below_parents().await, 0);
    let first = names_of_keys().await.pop().unwrap();
    for _ in 0..2 {
        clock.advance(2 * DAY);
        product.run_background().await;
    }
    assert!(!names_of_keys().await.contains(&first));
}

#[tokio::test(flavor = "multi_thread")]
async fn w4_nothing_of_one_request_shows_in_the_next_of_the_same_instance() {
    let product = Product::new(REUSED, Flavour::Wide);
    let root = product.initialize().await;
    let canary = "canary-4f1d";
    let (status, _) = product
        .send(
            "GET",
            &format!("/v1/{canary}?{canary}=1"),
            Some(&root),
            None,
        )
        .await;
    assert_eq!(status, 404);
    let secret = json!({"role": canary, "jwt": canary});
    product
        .send("POST", "/v1/auth/gcp/login", Some(canary), Some(secret))
        .await;
    for path in [
        "/v1/sys/health",
        "/v1/nothing",
        "/api/v2/organizations/nothing",
        "/nothing",
    ] {
        let (_, answer) = product.send("GET", path, None, None).await;
        assert!(!answer.to_string().contains(canary), "{path}: {answer}");
    }
    // A caller without a token has no identity, whichever caller came before.
    let (status, _) = product
        .send("GET", "/v1/auth/token/lookup-self", None, None)
        .await;
    assert_eq!(status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn w10_more_requests_than_places_are_refused_and_the_pool_recovers() {
    let product = Product::new(REUSED, Flavour::Wide);
    product.initialize().await;
    let mut requests = tokio::task::JoinSet::new();
    for _ in 0..500 {
        let pool = Arc::clone(&product.pool);
        requests.spawn(async move {
            let request = http::Request::builder()
                .uri("/v1/sys/health")
                .header("host", "localhost")
                .body(Bytes::new())
                .unwrap();
            pool.serve(request).await
        });
    }
    while let Some(outcome) = requests.join_next().await {
        match outcome.unwrap() {
            Ok(answer) => assert_eq!(answer.status(), 200),
            Err(error) => assert!(matches!(error, ServeError::Overloaded), "{error}"),
        }
    }
    let (status, _) = product.send("GET", "/v1/sys/health", None, None).await;
    assert_eq!(status, 200);
}
