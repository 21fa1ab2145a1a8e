//! The gateway alone: every capability is a double that fails the request when it is called, but for what a test puts in its place.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gatehouse::runtime::pool::{Pool, PoolSettings, ServeError};
use gatehouse::runtime::state::InstanceState;
use gatehouse_components::{Flavour, Part};
use serde_json::Value;
use wasmtime::bail;
use wasmtime::component::Linker;
use wasmtime::component::types::ComponentItem;

use crate::access_alone::bindings::exports::gatehouse::access::requests::{
    Admission, Refusal, Request,
};
use crate::access_alone::bindings::exports::gatehouse::access::system::Cluster;
use crate::access_alone::bindings::exports::gatehouse::access::types::Failure;
use crate::surroundings::Surroundings;

/// What this module tests.
pub const SUBJECT: Part = Part::Gateway;

const SYSTEM: &str = "gatehouse:access/system@0.1.0";
const REQUESTS: &str = "gatehouse:access/requests@0.1.0";

/// The gateway over doubles; `replace` puts in the ones that answer.
fn gateway(flavour: Flavour, replace: impl FnOnce(&mut Linker<InstanceState>)) -> Arc<Pool> {
    let surroundings = Surroundings::new();
    let (component, mut linker) = surroundings.load(SUBJECT, flavour);
    let component_type = component.component_type();
    for (interface, item) in component_type.imports(&surroundings.engine) {
        let ComponentItem::ComponentInstance(instance) = &item.ty else {
            continue;
        };
        if !interface.starts_with("gatehouse:") || interface.starts_with("gatehouse:host/") {
            continue;
        }
        let mut double = linker.instance(interface).unwrap();
        for (function, item) in instance.exports(&surroundings.engine) {
            if matches!(item.ty, ComponentItem::ComponentFunc(_)) {
                let name = format!("{interface} {function}");
                double
                    .func_new(function, move |_, _, _, _| bail!("{name} has no double"))
                    .unwrap();
            }
        }
    }
    linker.allow_shadowing(true);
    replace(&mut linker);
    let settings = PoolSettings {
        instances: 1,
        instance_reuse: 10,
        queue: 1,
        wall_time: Duration::from_secs(120),
    };
    let template = linker.instantiate_pre(&component).unwrap();
    Pool::new(template, surroundings.grants, settings).unwrap()
}

/// Answers the question for the server's identity.
fn with_cluster(
    linker: &mut Linker<InstanceState>,
    answer: fn() -> Result<Option<Cluster>, Failure>,
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
        .header("x-gatehouse-peer", "192.0.2.1")
        .body(Bytes::new())
        .unwrap();
    let answer = gateway.serve(request).await?;
    let json = serde_json::from_slice(answer.body()).unwrap_or(Value::Null);
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
            with_cluster(linker, || Err(Failure::Sealed))
        });
        assert_eq!(get(&sealed, "/v1/sys/health").await.unwrap().0, 503);
    }
}

#[tokio::test]
async fn a_request_that_access_refuses_reaches_no_other_capability() {
    for flavour in Flavour::ALL {
        let refusing = gateway(flavour, |linker| {
            let refuse = |request: Request| -> Result<Admission, Refusal> {
                assert_eq!(request.path, "organizations/acme");
                assert_eq!(request.source_address.as_deref(), Some("192.0.2.1"));
                Err(Refusal::NoToken)
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
