//! The gateway alone: every capability is a double that fails the request when it is called, but for what a test puts in its place.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gatehouse::runtime::exchange::{BodyPart, Peer, ServeError};
use gatehouse::runtime::pool::{Pool, PoolSettings};
use gatehouse::runtime::state::InstanceState;
use gatehouse_components::{Flavour, Part};
use serde_json::Value;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{Engine, bail};

use crate::access_alone::bindings::exports::gatehouse::access::requests::{
    Admission, AdmissionError, Request,
};
use crate::access_alone::bindings::exports::gatehouse::access::system::Cluster;
use crate::access_alone::bindings::exports::gatehouse::access::types::ServiceError;
use crate::access_alone::bindings::gatehouse::network::addresses::IpAddress;
use crate::surroundings::Surroundings;

/// The component under test.
pub const SUBJECT: Part = Part::Gateway;

const SYSTEM: &str = "gatehouse:access/system@0.1.0";
const REQUESTS: &str = "gatehouse:access/requests@0.1.0";

/// Where the client is.
const PEER: IpAddress = IpAddress::Ipv4((192, 0, 2, 1));

/// The gateway over doubles; `replace` puts in the ones that answer.
fn gateway(flavour: Flavour, replace: impl FnOnce(&mut Linker<InstanceState>)) -> Arc<Pool> {
    let surroundings = Surroundings::new();
    let template = template(&surroundings, flavour, replace);
    Pool::new(template, surroundings.grants, SETTINGS).unwrap()
}

pub const SETTINGS: PoolSettings = PoolSettings {
    instances: 1,
    instance_reuse: 10,
    queue: 1,
    wall_time: Duration::from_secs(120),
};

fn template(
    surroundings: &Surroundings,
    flavour: Flavour,
    replace: impl FnOnce(&mut Linker<InstanceState>),
) -> InstancePre<InstanceState> {
    let (component, mut linker) = surroundings.load(SUBJECT, flavour);
    for package in [
        "gatehouse:access/",
        "gatehouse:auth-method/",
        "gatehouse:orgs/",
    ] {
        without(&mut linker, (&surroundings.engine, &component), package);
    }
    linker.allow_shadowing(true);
    replace(&mut linker);
    linker.instantiate_pre(&component).unwrap()
}

/// Offers `component` each interface of `package` that it imports, with functions that fail the request.
pub fn without(
    linker: &mut Linker<InstanceState>,
    (engine, component): (&Engine, &Component),
    package: &str,
) {
    for (interface, item) in component.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(instance) = &item.ty else {
            continue;
        };
        if !interface.starts_with(package) {
            continue;
        }
        let mut double = linker.instance(interface).unwrap();
        for (function, item) in instance.exports(engine) {
            if matches!(item.ty, ComponentItem::ComponentFunc(_)) {
                let name = format!("{interface} {function}");
                double
                    .func_new(function, move |_, _, _, _| bail!("{name} has no double"))
                    .unwrap();
            }
        }
    }
}

/// Answers the question for the server's identity.
fn with_cluster(
    linker: &mut Linker<InstanceState>,
    answer: fn() -> Result<Option<Cluster>, ServiceError>,
) {
    let mut system = linker.instance(SYSTEM).unwrap();
    system
        .func_wrap("current-cluster", move |_, ()| Ok((answer(),)))
        .unwrap();
}

async fn get(gateway: &Arc<Pool>, path: &str) -> Result<(u16, Value), ServeError> {
    let request = http::Request::builder()
        .uri(path)
        .header("host", "localhost")
        .extension(Peer([192, 0, 2, 1].into()))
        .body(Bytes::new())
        .unwrap();
    let answer = gateway.serve(request).await?;
    let json = serde_json::from_slice(&answer.body().bytes).unwrap_or(Value::Null);
    Ok((answer.status().as_u16(), json))
}

#[tokio::test]
async fn a_path_outside_both_protocols_is_not_found_and_reaches_no_capability() {
    for flavour in Flavour::ALL {
        let gateway = gateway(flavour, |_| ());
        assert_eq!(get(&gateway, "/nothing").await.unwrap().0, 404);
    }
}

#[tokio::test]
async fn health_is_what_access_says_of_the_server() {
    for flavour in Flavour::ALL {
        let initialized = gateway(flavour, |linker| {
            with_cluster(linker, || {
                Ok(Some(Cluster {
                    id: "2f6c".to_owned(),
                    name: "gatehouse-cluster-0000abcd".to_owned(),
                }))
            });
        });
        let (status, health) = get(&initialized, "/v1/sys/health").await.unwrap();
        assert_eq!(
            (status, &health["cluster_name"]),
            (200, &"gatehouse-cluster-0000abcd".into())
        );

        let new = gateway(flavour, |linker| with_cluster(linker, || Ok(None)));
        assert_eq!(get(&new, "/v1/sys/health").await.unwrap().0, 501);
        let sealed = gateway(flavour, |linker| {
            with_cluster(linker, || Err(ServiceError::Sealed))
        });
        assert_eq!(get(&sealed, "/v1/sys/health").await.unwrap().0, 503);
    }
}

#[tokio::test]
async fn a_request_that_access_refuses_reaches_no_other_capability() {
    for flavour in Flavour::ALL {
        let refusing = gateway(flavour, |linker| {
            let refuse = |request: Request| -> Result<Admission, AdmissionError> {
                assert_eq!(request.path, "organizations/acme");
                assert_eq!(request.source_address, Some(PEER));
                Err(AdmissionError::NoToken)
            };
            let mut requests = linker.instance(REQUESTS).unwrap();
            requests
                .func_wrap("admit", move |_, (request,): (Request,)| {
                    Ok((refuse(request),))
                })
                .unwrap();
        });
        assert_eq!(
            get(&refusing, "/api/v2/organizations/acme")
                .await
                .unwrap()
                .0,
            401
        );
    }
}

#[tokio::test]
async fn a_capability_that_traps_fails_the_request() {
    let gateway = gateway(Flavour::Wide, |_| ());
    let failed = get(&gateway, "/v1/sys/health").await.unwrap_err();
    let ServeError::Failed(error) = failed else {
        panic!("{failed}")
    };
    assert!(
        format!("{error:?}").contains(&format!("{SYSTEM} current-cluster")),
        "{error:?}"
    );
}

#[tokio::test]
async fn both_exports_give_the_same_answer() {
    let request = |method: &str, target: &str, body: &'static str| {
        http::Request::builder()
            .method(method)
            .uri(target)
            .header("host", "localhost")
            .extension(Peer([192, 0, 2, 1].into()))
            // The client's own, which must not count by either export.
            .header("x-gatehouse-peer", "192.0.2.66")
            .header("x-vault-token", "t")
            .body(Bytes::from_static(body.as_bytes()))
            .unwrap()
    };
    for flavour in Flavour::ALL {
        let surroundings = Surroundings::new();
        let template = template(&surroundings, flavour, |linker| {
            with_cluster(linker, || Ok(None));
            let refuse = |request: Request| -> Result<Admission, AdmissionError> {
                assert_eq!(request.source_address, Some(PEER));
                assert_eq!(request.token.as_deref(), Some("t"));
                Err(AdmissionError::Denied)
            };
            let mut requests = linker.instance(REQUESTS).unwrap();
            let admit = move |_: wasmtime::StoreContextMut<'_, InstanceState>,
                              (request,): (Request,)| {
                Ok((refuse(request),))
            };
            requests.func_wrap("admit", admit).unwrap();
        });
        let grants = surroundings.grants.clone();
        let whole = Pool::new(template.clone(), grants.clone(), SETTINGS).unwrap();
        let streaming = Pool::streaming(template, grants, SETTINGS).unwrap();
        for (method, target, body, status) in [
            ("GET", "/nothing", "", 404),
            ("GET", "/v1/sys/health?uninitcode=299", "", 299),
            ("HEAD", "/v1/sys/health", "", 501),
            ("LIST", "/v1/sys/policies/acl", "", 403),
            (
                "POST",
                "/v1/auth/token/create?x=%2F",
                "{\"ttl\":\"1h\"}",
                403,
            ),
            ("GET", "/v1/a%5Cb", "", 400),
        ] {
            let one = whole.serve(request(method, target, body)).await.unwrap();
            let other = streaming
                .serve(request(method, target, body))
                .await
                .unwrap();
            assert_eq!(one.status(), status, "{method} {target}");
            assert_eq!(one.status(), other.status(), "{method} {target}");
            assert_eq!(one.body(), other.body(), "{method} {target}");
            let without_length = |answer: &http::Response<BodyPart>| {
                let mut headers = answer.headers().clone();
                headers.remove("content-length");
                headers
            };
            assert_eq!(without_length(&one), without_length(&other));
        }
    }
}
