//! Access alone, over a store in memory.

use gatehouse::runtime::state::InstanceState;
use gatehouse_components::{Flavour, Part};
use gatehouse_store::Namespace;
use wasmtime::Store;

use crate::surroundings::Surroundings;
use bindings::Access;
use bindings::exports::gatehouse::access::policies::PolicyError;
use bindings::exports::gatehouse::access::requests::{
    Admission, AdmissionError, Operation, Request,
};
use bindings::exports::gatehouse::access::system::InitializeError;
use bindings::exports::gatehouse::access::types::ServiceError;
use bindings::gatehouse::network::addresses::IpAddress;

/// The component under test.
pub const SUBJECT: Part = Part::Access;

/// The interfaces that are called here, as a host sees them.
pub mod bindings {
    wasmtime::component::bindgen!({
        path: ["../wit/network", "../wit/storage", "../wit/access"],
        world: "gatehouse:access/access",
        exports: { default: async },
        additional_derives: [PartialEq],
    });
}

/// One instance, and what it can reach.
struct Alone {
    surroundings: Surroundings,
    store: Store<InstanceState>,
    component: Access,
}

impl Alone {
    async fn new(flavour: Flavour) -> Self {
        let surroundings = Surroundings::new();
        let (component, linker) = surroundings.load(SUBJECT, flavour);
        let mut store = surroundings.store();
        let component = Access::instantiate_async(&mut store, &component, &linker)
            .await
            .unwrap();
        Self {
            surroundings,
            store,
            component,
        }
    }

    async fn initialize(&mut self) -> Result<String, InitializeError> {
        let system = self.component.gatehouse_access_system();
        let initialized = system.call_initialize(&mut self.store, None).await.unwrap();
        initialized.map(|initialized| initialized.root_token)
    }

    async fn admit(&mut self, token: Option<&str>) -> Result<Admission, AdmissionError> {
        let request = Request {
            token: token.map(str::to_owned),
            operation: Operation::Read,
            path: "organizations/acme".to_owned(),
            source_address: Some(IpAddress::Ipv4((192, 0, 2, 1))),
            wrap_ttl: None,
            parameters: None,
        };
        let requests = self.component.gatehouse_access_requests();
        requests
            .call_admit(&mut self.store, &request)
            .await
            .unwrap()
    }

    async fn write_policy(&mut self, name: &str, text: &str) -> Result<(), PolicyError> {
        let policies = self.component.gatehouse_access_policies();
        policies
            .call_write_policy(&mut self.store, name, text)
            .await
            .unwrap()
    }

    async fn keys(&self) -> Vec<String> {
        self.surroundings.keys(Namespace::Access).await
    }
}

#[tokio::test]
async fn initialization_stores_a_root_token_as_a_hash_and_happens_once() {
    for flavour in Flavour::ALL {
        let mut alone = Alone::new(flavour).await;
        assert_eq!(
            alone.admit(Some("hvs.guess")).await,
            Err(AdmissionError::Failure(ServiceError::NotInitialized))
        );
        assert!(alone.keys().await.is_empty());

        let root = alone.initialize().await.unwrap();
        let stored = alone.surroundings.entries(Namespace::Access).await;
        assert!(stored.iter().any(|(key, _)| key.starts_with("token/")));
        for (key, value) in &stored {
            let value = String::from_utf8_lossy(value);
            assert!(
                !key.contains(&root) && !value.contains(&root),
                "{key}: {value}"
            );
        }
        assert_eq!(
            alone.initialize().await,
            Err(InitializeError::AlreadyInitialized)
        );
        assert_eq!(alone.surroundings.entries(Namespace::Access).await, stored);
        let admission = alone.admit(Some(&root)).await.unwrap();
        assert_eq!(admission.caller.unwrap().policies, ["root"]);
    }
}

#[tokio::test]
async fn nobody_and_an_unknown_token_are_refused_and_nothing_is_stored() {
    for flavour in Flavour::ALL {
        let mut alone = Alone::new(flavour).await;
        alone.initialize().await.unwrap();
        let before = alone.surroundings.entries(Namespace::Access).await;
        assert_eq!(alone.admit(None).await, Err(AdmissionError::NoToken));
        assert_eq!(
            alone.admit(Some("hvs.guess")).await,
            Err(AdmissionError::InvalidToken)
        );
        assert_eq!(alone.surroundings.entries(Namespace::Access).await, before);
    }
}

#[tokio::test]
async fn a_policy_is_stored_and_one_with_an_unknown_capability_is_not() {
    for flavour in Flavour::ALL {
        let mut alone = Alone::new(flavour).await;
        alone.initialize().await.unwrap();
        let before = alone.keys().await;
        let text = "path \"organizations/acme\" { capabilities = [\"fly\"] }";
        let refused = alone.write_policy("acme", text).await;
        assert_eq!(
            refused,
            Err(PolicyError::InvalidCapability("fly".to_owned()))
        );
        assert_eq!(alone.keys().await, before);

        let text = "path \"organizations/acme\" { capabilities = [\"read\"] }";
        alone.write_policy("acme", text).await.unwrap();
        let mut added = alone.keys().await;
        added.retain(|key| !before.contains(key));
        assert_eq!(added, ["policy-name/acme", "policy/acme", "rules/acme"]);
    }
}
