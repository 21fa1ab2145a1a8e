//! The population of the fake when it starts: its accounts, instances and projects.

use std::collections::BTreeMap;

use crate::account::AccountSpec;
use crate::compute::InstanceGroup;
use crate::instance::{Instance, InstanceStatus};
use crate::resource_manager::Ancestor;

/// Project of the demonstration population.
const DEMO_PROJECT: &str = "demo-project";
/// Number of that project.
const DEMO_PROJECT_NUMBER: u64 = 402_615_379_128;

/// The accounts and instances that exist from the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Population {
    /// Service accounts; a key is generated for each.
    pub accounts: Vec<AccountSpec>,
    /// Compute instances.
    pub instances: Vec<Instance>,
    /// Instance groups of those instances.
    pub instance_groups: Vec<InstanceGroup>,
    /// The folders and organization above each project, nearest first.
    pub ancestors: BTreeMap<String, Vec<Ancestor>>,
}

impl Population {
    /// Email of the account that [`Population::demo`] means for logging in.
    pub const WORKLOAD: &'static str = "workload@demo-project.iam.gserviceaccount.com";
    /// Email of the account that [`Population::demo`] means for the server's own calls to Google.
    pub const SERVER_ROOT: &'static str = "gatehouse-root@demo-project.iam.gserviceaccount.com";

    /// Name of the group of one zone that the workload's instance belongs to in [`Population::demo`].
    pub const ZONAL_GROUP: &'static str = "workload-zonal";
    /// Name of the group of a whole region that the workload's instance belongs to in [`Population::demo`].
    pub const REGIONAL_GROUP: &'static str = "workload-regional";
    /// Number of the folder in which [`Population::demo`] puts its project.
    pub const FOLDER: &'static str = "519283746510";
    /// Number of the organization in which [`Population::demo`] puts that folder.
    pub const ORGANIZATION: &'static str = "730164829355";

    /// One project, in a folder of an organization, with a workload, a second workload, the server's own account, and an
    /// instance for each workload. The first one's instance has labels and belongs to a zonal and a regional group.
    #[must_use]
    pub fn demo() -> Self {
        let account = |name| AccountSpec::new(name, DEMO_PROJECT);
        let instance =
            |name: &str, id: &str, zone: &str, created: u64, account: &AccountSpec| Instance {
                project_id: DEMO_PROJECT.to_owned(),
                project_number: DEMO_PROJECT_NUMBER,
                zone: zone.to_owned(),
                instance_id: id.to_owned(),
                instance_name: name.to_owned(),
                instance_creation_timestamp: created,
                service_account: account.email.clone(),
                labels: BTreeMap::new(),
                status: InstanceStatus::Running,
            };
        let (workload, batch) = (account("workload"), account("batch"));
        let mut workload_1 = instance(
            "workload-1",
            "3508962384417235914",
            "europe-west1-b",
            1_767_225_600,
            &workload,
        );
        workload_1.labels = [("env", "demo"), ("team", "platform")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into();
        let batch_1 = instance(
            "batch-1",
            "8126450937716604252",
            "us-central1-a",
            1_769_904_000,
            &batch,
        );
        let groups = [
            InstanceGroup::zonal(DEMO_PROJECT, &workload_1.zone, Self::ZONAL_GROUP),
            InstanceGroup::regional(DEMO_PROJECT, "europe-west1", Self::REGIONAL_GROUP),
        ];
        let ancestors = vec![
            Ancestor::Folder(Self::FOLDER.to_owned()),
            Ancestor::Organization(Self::ORGANIZATION.to_owned()),
        ];
        Self {
            instance_groups: groups
                .map(|group| group.with_member(&workload_1.zone, &workload_1.instance_name))
                .into(),
            ancestors: BTreeMap::from([(DEMO_PROJECT.to_owned(), ancestors)]),
            instances: vec![workload_1, batch_1],
            accounts: vec![workload, account("gatehouse-root"), batch],
        }
    }
}
