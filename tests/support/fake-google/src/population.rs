//! Who lives in the fake when it starts.

use crate::account::AccountSpec;
use crate::instance::Instance;

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
}

impl Population {
    /// Email of the account that [`Population::demo`] means for logging in.
    pub const WORKLOAD: &'static str = "workload@demo-project.iam.gserviceaccount.com";
    /// Email of the account that [`Population::demo`] means for the server's own calls to Google.
    pub const SERVER_ROOT: &'static str = "gatehouse-root@demo-project.iam.gserviceaccount.com";

    /// One project with a workload, a second workload, the server's own account, and an instance for each workload.
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
            };
        let (workload, batch) = (account("workload"), account("batch"));
        Self {
            instances: vec![
                instance(
                    "workload-1",
                    "3508962384417235914",
                    "europe-west1-b",
                    1_767_225_600,
                    &workload,
                ),
                instance(
                    "batch-1",
                    "8126450937716604252",
                    "us-central1-a",
                    1_769_904_000,
                    &batch,
                ),
            ],
            accounts: vec![workload, account("gatehouse-root"), batch],
        }
    }
}
