//! The number of calls into orgs that a request of the organizations API takes: each crosses from one component into another.
//!
//! The gateway runs alone. Its calls into access and orgs are passed on to instances of the two, and calls into orgs are counted.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use gatehouse::runtime::exchange::Peer;
use gatehouse::runtime::pool::{Pool, PoolSettings};
use gatehouse::runtime::state::InstanceState;
use gatehouse_components::{Flavour, Part};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Instance, Linker};
use wasmtime::{Engine, Store};

use crate::gateway_alone::{SETTINGS, without};
use crate::surroundings::Surroundings;

/// The most calls of a request.
const MOST: usize = 3;

/// The names of functions of orgs, in the order in which they were called.
type Calls = Arc<std::sync::Mutex<Vec<String>>>;

/// A capability that runs in a store of its own, and serves another instance.
struct Callee {
    store: Mutex<Store<InstanceState>>,
    instance: Instance,
}

impl Callee {
    async fn new(surroundings: &Surroundings, part: Part) -> Arc<Self> {
        let (component, linker) = surroundings.load(part, Flavour::Wide);
        let mut store = surroundings.store();
        let instance = linker.instantiate_async(&mut store, &component).await;
        Arc::new(Self {
            instance: instance.unwrap(),
            store: Mutex::new(store),
        })
    }

    /// Serves the interfaces of `package` that `component` imports.
    async fn serve(
        self: &Arc<Self>,
        linker: &mut Linker<InstanceState>,
        (engine, component): (&Engine, &Component),
        package: &str,
        calls: &Calls,
    ) {
        for (interface, item) in component.component_type().imports(engine) {
            let ComponentItem::ComponentInstance(instance) = &item.ty else {
                continue;
            };
            if !interface.starts_with(package) {
                continue;
            }
            let mut served = linker.instance(interface).unwrap();
            for (name, item) in instance.exports(engine) {
                if !matches!(item.ty, ComponentItem::ComponentFunc(_)) {
                    continue;
                }
                let mut store = self.store.lock().await;
                let interface = self
                    .instance
                    .get_export_index(&mut *store, None, interface)
                    .unwrap();
                let index = self
                    .instance
                    .get_export_index(&mut *store, Some(&interface), name)
                    .unwrap();
                let function = self.instance.get_func(&mut *store, index).unwrap();
                drop(store);
                let (callee, calls, name) = (Arc::clone(self), Arc::clone(calls), name.to_owned());
                let passed_on =
                    served.func_new_async(name.clone().as_str(), move |_, _, sent, answer| {
                        calls.lock().unwrap().push(name.clone());
                        let callee = Arc::clone(&callee);
                        Box::new(async move {
                            let mut store = callee.store.lock().await;
                            function.call_async(&mut *store, sent, answer).await
                        })
                    });
                passed_on.unwrap();
            }
        }
    }
}

/// A server of one edition whose calls into orgs are counted.
struct Counted {
    gateway: Arc<Pool>,
    calls: Calls,
    root: String,
}

impl Counted {
    async fn new(edition: &str) -> Self {
        let mut surroundings = Surroundings::new();
        let edition = ("GATEHOUSE_EDITION".to_owned(), edition.to_owned());
        surroundings.grants.environment.push(edition);
        let (component, mut linker) = surroundings.load(Part::Gateway, Flavour::Wide);
        let (calls, uncounted) = (Calls::default(), Calls::default());
        for (part, package, calls) in [
            (Part::Access, "gatehouse:access/", &uncounted),
            (Part::Orgs, "gatehouse:orgs/", &calls),
        ] {
            let callee = Callee::new(&surroundings, part).await;
            let caller = (&surroundings.engine, &component);
            callee.serve(&mut linker, caller, package, calls).await;
        }
        let caller = (&surroundings.engine, &component);
        without(&mut linker, caller, "gatehouse:auth-method/");
        let template = linker.instantiate_pre(&component).unwrap();
        // One instance for all: the first use of the feature sets in each takes one more call.
        let settings = PoolSettings {
            instance_reuse: usize::MAX,
            ..SETTINGS
        };
        let mut counted = Self {
            gateway: Pool::new(template, surroundings.grants, settings).unwrap(),
            calls,
            root: String::new(),
        };
        let init = counted
            .send("", "PUT", "/v1/sys/init", Some(&json!({})))
            .await;
        counted.root = text(&init.1["root_token"]);
        counted
    }

    /// The answer to a request of `token`.
    async fn send(
        &self,
        token: &str,
        method: &str,
        target: &str,
        document: Option<&Value>,
    ) -> (u16, Value) {
        let request = http::Request::builder()
            .method(method)
            .uri(target)
            .header("host", "localhost")
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/vnd.api+json")
            .extension(Peer([192, 0, 2, 1].into()));
        let body = document.map_or_else(Bytes::new, |document| document.to_string().into());
        let answer = self
            .gateway
            .serve(request.body(body).unwrap())
            .await
            .unwrap();
        let document = serde_json::from_slice(&answer.body().bytes).unwrap_or(Value::Null);
        (answer.status().as_u16(), document)
    }

    /// As [`Self::send`], of a request that takes no more calls than one may.
    async fn ask(
        &self,
        token: &str,
        method: &str,
        target: &str,
        document: Option<&Value>,
    ) -> (u16, Value) {
        self.calls.lock().unwrap().clear();
        let answer = self.send(token, method, target, document).await;
        let calls = self.calls.lock().unwrap();
        assert!(calls.len() <= MOST, "{method} {target}: {calls:?}");
        answer
    }

    /// As [`Self::ask`], of the root token, answered by this status.
    async fn make(&self, method: &str, target: &str, document: &Value, status: u16) -> Value {
        let target = format!("/api/v2/{target}");
        let answer = self.ask(&self.root, method, &target, Some(document)).await;
        assert_eq!(answer.0, status, "{method} {target}: {}", answer.1);
        answer.1
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn document(kind: &str, attributes: &Value) -> Value {
    json!({"data": {"type": kind, "attributes": attributes}})
}

/// An organization with a team, a user that is invited to both, an agent pool and a token of each kind.
struct Made {
    /// The identifier that a path wants in place of its parameter, by the segment before it.
    ids: HashMap<&'static str, String>,
    /// A token of each kind of caller.
    tokens: Vec<String>,
}

async fn make_one_of_each(server: &Counted) -> Made {
    let acme = json!({"name": "acme", "email": "acme@example.com"});
    let acme = document("organizations", &acme);
    let acme = server.make("POST", "organizations", &acme, 201).await;
    let external_id = text(&acme["data"]["attributes"]["external-id"]);
    let team = document("teams", &json!({"name": "ops"}));
    let team = server
        .make("POST", "organizations/acme/teams", &team, 201)
        .await;
    let team = text(&team["data"]["id"]);
    let ada = json!({"username": "ada", "email": "ada@example.com", "is-site-admin": false});
    let user = server
        .make("POST", "admin/users", &document("users", &ada), 201)
        .await;
    let mut guest = document(
        "organization-memberships",
        &json!({"email": "ada@example.com"}),
    );
    guest["data"]["relationships"] = json!({"teams": {"data": [{"type": "teams", "id": team}]}});
    let memberships = "organizations/acme/organization-memberships";
    let membership = server.make("POST", memberships, &guest, 201).await;
    let membership = text(&membership["data"]["id"]);
    let user_token = text(&user["meta"]["token"]);
    let accept = format!("/api/v2/organization-memberships/{membership}/actions/accept");
    let accepted = server.ask(&user_token, "POST", &accept, None).await;
    assert_eq!(accepted.0, 200, "{}", accepted.1);
    let pool = document("agent-pools", &json!({"name": "workers"}));
    let pool = server
        .make("POST", "organizations/acme/agent-pools", &pool, 201)
        .await;
    let pool = text(&pool["data"]["id"]);

    let mut tokens = vec![server.root.clone(), user_token];
    let mut last = String::new();
    for owner in [
        "organizations/acme/authentication-token".to_owned(),
        format!("teams/{team}/authentication-token"),
        format!("teams/{team}/authentication-tokens"),
        format!("agent-pools/{pool}/authentication-tokens"),
    ] {
        let attributes = json!({"description": "first"});
        let wanted = document("authentication-tokens", &attributes);
        let token = server.make("POST", &owner, &wanted, 201).await;
        tokens.push(text(&token["data"]["attributes"]["token"]));
        last = text(&token["data"]["id"]);
    }
    let project = server.ask(
        &server.root,
        "GET",
        "/api/v2/organizations/acme/projects",
        None,
    );
    let project = text(&project.await.1["data"][0]["id"]);
    let ids = [
        ("organizations", "acme".to_owned()),
        ("entitlement-sets", external_id),
        ("teams", team),
        ("users", text(&user["data"]["id"])),
        ("organization-memberships", membership),
        ("agent-pools", pool),
        ("authentication-tokens", last),
        ("projects", project),
        ("subscriptions", "sub-unknown".to_owned()),
    ];
    Made {
        ids: ids.into_iter().collect(),
        tokens,
    }
}

impl Made {
    /// The address of a path of the description, with an identifier for its parameter.
    fn address(&self, path: &str) -> String {
        let Some((before, rest)) = path.split_once("/{") else {
            return path.to_owned();
        };
        let (_, after) = rest.split_once('}').unwrap();
        let kind = before.rsplit('/').next().unwrap();
        format!("{before}/{}{after}", self.ids[kind])
    }
}

/// The values of `include` that an operation takes.
fn includes(operation: &Value) -> String {
    let parameters = operation["parameters"].as_array();
    let include = parameters
        .into_iter()
        .flatten()
        .find(|parameter| parameter["name"] == "include");
    let values = include.map(|include| include["schema"]["items"]["enum"].clone());
    let values: Vec<String> =
        serde_json::from_value(values.unwrap_or_default()).unwrap_or_default();
    values.join(",")
}

async fn assert_no_request_takes_more_calls(edition: &str) {
    let server = Counted::new(edition).await;
    let made = make_one_of_each(&server).await;
    let path = "/api/v2/organizations?page%5Bnumber%5D=1&include=subscription";
    server.send(&server.root, "GET", path, None).await;
    let described = server.ask("", "GET", "/api/v2/openapi.json", None).await.1;
    let (mut shown, mut widest) = (0, 0);
    for (path, operations) in described["paths"].as_object().unwrap() {
        let Some(operation) = operations.get("get") else {
            continue;
        };
        let address = made.address(path);
        for token in &made.tokens {
            for query in ["", &format!("&include={}", includes(operation))] {
                let target = format!("{address}?page%5Bnumber%5D=1{query}");
                let (status, _) = server.ask(token, "GET", &target, None).await;
                shown += usize::from(status == 200);
                widest = widest.max(server.calls.lock().unwrap().len());
            }
        }
    }
    assert!(shown > 200, "{shown} of the answers were 200");
    assert_eq!(widest, MOST, "a lower bound would do");

    for (method, target, sent, status) in [
        (
            "PATCH",
            "organizations/acme",
            document("organizations", &json!({"email": "new@example.com"})),
            200,
        ),
        (
            "PATCH",
            "admin/organizations/acme",
            document("organizations", &json!({"global-module-sharing": true})),
            200,
        ),
        (
            "PATCH",
            "organizations/acme/token-ttl-policies",
            json!({"data": []}),
            422,
        ),
        (
            "PATCH",
            &format!("teams/{}", made.ids["teams"]),
            document("teams", &json!({"name": "operators"})),
            200,
        ),
        (
            "PATCH",
            &format!("agent-pools/{}", made.ids["agent-pools"]),
            document("agent-pools", &json!({"name": "hands"})),
            200,
        ),
        (
            "PATCH",
            "admin/general-settings",
            document(
                "general-settings",
                &json!({"limit-user-organization-creation": false}),
            ),
            200,
        ),
        (
            "DELETE",
            &format!(
                "authentication-tokens/{}",
                made.ids["authentication-tokens"]
            ),
            json!({}),
            204,
        ),
        (
            "DELETE",
            "organizations/acme/authentication-token",
            json!({}),
            204,
        ),
        (
            "DELETE",
            &format!("agent-pools/{}", made.ids["agent-pools"]),
            json!({}),
            204,
        ),
        (
            "DELETE",
            &format!(
                "organization-memberships/{}",
                made.ids["organization-memberships"]
            ),
            json!({}),
            204,
        ),
        (
            "DELETE",
            &format!("teams/{}", made.ids["teams"]),
            json!({}),
            204,
        ),
        ("DELETE", "organizations/acme", json!({}), 204),
    ] {
        server.make(method, target, &sent, status).await;
    }
}

#[tokio::test]
async fn no_request_takes_more_than_three_calls_into_orgs() {
    for edition in ["self-hosted", "hosted"] {
        assert_no_request_takes_more_calls(edition).await;
    }
}
