//! Organizations alone, over a store in memory.

use gatehouse_components::{Flavour, Part};
use gatehouse_store::Namespace;
use wasmtime::Store;

use crate::surroundings::Surroundings;
use bindings::Orgs;
use bindings::exports::gatehouse::orgs::organizations::{CreateError, FieldFault};
use bindings::exports::gatehouse::orgs::types::{
    Caller, Fault, Field, FlagChange, Identity, NumberChange, Organization, OrganizationChanges,
    Principal, TextChange,
};
use gatehouse::runtime::state::InstanceState;

/// The component under test.
pub const SUBJECT: Part = Part::Orgs;

mod bindings {
    wasmtime::component::bindgen!({
        path: ["../wit/storage", "../wit/orgs"],
        world: "gatehouse:orgs/orgs",
        exports: { default: async },
        additional_derives: [PartialEq],
    });
}

/// One instance, and what it can reach.
struct Alone {
    surroundings: Surroundings,
    store: Store<InstanceState>,
    component: Orgs,
}

impl Alone {
    async fn new(flavour: Flavour) -> Self {
        let surroundings = Surroundings::new();
        let (component, linker) = surroundings.load(SUBJECT, flavour);
        let mut store = surroundings.store();
        let component = Orgs::instantiate_async(&mut store, &component, &linker)
            .await
            .unwrap();
        Self {
            surroundings,
            store,
            component,
        }
    }

    async fn create(&mut self, name: &str, email: &str) -> Result<Organization, CreateError> {
        let organizations = self.component.gatehouse_orgs_organizations();
        let changes = OrganizationChanges {
            name: TextChange::Value(name.to_owned()),
            email: TextChange::Value(email.to_owned()),
            ..nothing()
        };
        let by = installation();
        let created = organizations.call_create(&mut self.store, &changes, None, &by);
        created.await.unwrap().map(|made| made.organization)
    }

    async fn keys(&self) -> Vec<String> {
        self.surroundings.keys(Namespace::Orgs).await
    }
}

/// A caller who may do everything.
fn installation() -> Caller {
    Caller {
        identity: Identity {
            principal: Principal::Installation,
            token_id: None,
        },
        request_id: String::new(),
        client_request_id: None,
    }
}

/// A request that mentions no field.
const fn nothing() -> OrganizationChanges {
    OrganizationChanges {
        name: TextChange::Absent,
        email: TextChange::Absent,
        session_timeout: NumberChange::Absent,
        session_remember: NumberChange::Absent,
        collaborator_auth_policy: TextChange::Absent,
        cost_estimation_enabled: FlagChange::Absent,
        send_passing_statuses_for_untriggered_speculative_plans: FlagChange::Absent,
        aggregated_commit_status_enabled: FlagChange::Absent,
        speculative_plan_management_enabled: FlagChange::Absent,
        owners_team_saml_role_id: TextChange::Absent,
        assessments_enforced: FlagChange::Absent,
        allow_force_delete_workspaces: FlagChange::Absent,
        default_execution_mode: TextChange::Absent,
        default_agent_pool_id: TextChange::Absent,
        default_agent_pool: TextChange::Absent,
        stacks_enabled: FlagChange::Absent,
        stacks_default_execution_mode: TextChange::Absent,
        stacks_default_agent_pool: TextChange::Absent,
        user_tokens_enabled: FlagChange::Absent,
        max_ttl_enabled: FlagChange::Absent,
        enforce_hyok: FlagChange::Absent,
        registry_monorepo_support_enabled: FlagChange::Absent,
        recoverable_items_enabled: FlagChange::Absent,
    }
}

#[tokio::test]
async fn an_organization_is_stored_found_and_deleted() {
    for flavour in Flavour::ALL {
        let mut alone = Alone::new(flavour).await;
        let created = alone.create("Acme", "it@acme.example").await.unwrap();
        assert_eq!(created.name, "Acme");
        let keys = alone.keys().await;
        assert!(keys.contains(&"organization/acme".to_owned()), "{keys:?}");
        assert!(
            keys.contains(&format!("external/{}", created.external_id)),
            "{keys:?}"
        );

        let organizations = alone.component.gatehouse_orgs_organizations();
        let read = organizations.call_read(&mut alone.store, "ACME");
        let id = created.external_id.clone();
        assert_eq!(read.await.unwrap(), Ok(Some(created)));
        let by = installation();
        let deleted = organizations.call_delete(&mut alone.store, &id, &by);
        assert_eq!(deleted.await.unwrap(), Ok(true));
        let left = alone.keys().await;
        // The installation has become a user by making it, and stays one.
        let stays = |key: &String| {
            [
                "count/",
                "directory/",
                "event/",
                "hash-key",
                "subject/",
                "user-email/",
                "user/",
                "username/",
            ]
            .iter()
            .any(|prefix| key.starts_with(prefix))
        };
        assert!(left.iter().all(stays), "{left:?}");
    }
}

#[tokio::test]
async fn a_refused_organization_is_told_every_fault_and_stores_nothing() {
    for flavour in Flavour::ALL {
        let mut alone = Alone::new(flavour).await;
        let faults = vec![
            FieldFault {
                field: Field::Name,
                fault: Fault::ForbiddenCharacter,
            },
            FieldFault {
                field: Field::Email,
                fault: Fault::NotAnAddress,
            },
        ];
        let refused = alone.create("ac me", "nobody").await;
        assert_eq!(refused, Err(CreateError::Invalid(faults)));
        assert_eq!(alone.keys().await, [""; 0]);
    }
}

#[tokio::test]
async fn a_taken_name_is_refused_whatever_its_case_and_the_first_organization_stays() {
    for flavour in Flavour::ALL {
        let mut alone = Alone::new(flavour).await;
        let first = alone.create("acme", "it@acme.example").await.unwrap();
        let before = alone.keys().await;
        let taken = vec![FieldFault {
            field: Field::Name,
            fault: Fault::Taken,
        }];
        let second = alone.create("ACME", "other@acme.example").await;
        assert_eq!(second, Err(CreateError::Invalid(taken)));
        assert_eq!(alone.keys().await, before);
        let organizations = alone.component.gatehouse_orgs_organizations();
        let read = organizations.call_read(&mut alone.store, "acme");
        assert_eq!(read.await.unwrap(), Ok(Some(first)));
    }
}
