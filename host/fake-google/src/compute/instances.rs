//! One instance (contract 4.6, G4 to G8).

use serde_json::{Value, json};

use crate::answer::Outcome;
use crate::call::Call;
use crate::compute::{LINK_BASE, not_found};
use crate::instance::{Instance, instance_path};
use crate::state::State;
use crate::timestamp;

const GET: &str = "compute.instances.get";

impl State {
    /// Answers `instances.get`.
    pub(super) fn instance(
        &self,
        project: &str,
        zone: &str,
        name: &str,
        call: &Call<'_>,
    ) -> Outcome {
        let path = instance_path(project, zone, name);
        self.authorize_compute(project, GET, &path, call)?;
        self.instances
            .iter()
            .find(|instance| {
                instance.path() == path
                    || (instance.instance_id == name && instance.lives_in(project, zone))
            })
            .map(resource_of)
            .ok_or_else(|| not_found(&path))
    }
}

fn resource_of(instance: &Instance) -> Value {
    let mut resource = json!({
        "kind": "compute#instance",
        "id": instance.instance_id,
        "creationTimestamp": timestamp::pacific(instance.instance_creation_timestamp),
        "name": instance.instance_name,
        "status": instance.status,
        "zone": format!("{LINK_BASE}projects/{}/zones/{}", instance.project_id, instance.zone),
        "selfLink": format!("{LINK_BASE}{}", instance.path()),
    });
    // Google writes no empty map or list.
    if let Some(fields) = resource.as_object_mut() {
        if !instance.labels.is_empty() {
            fields.insert("labels".to_owned(), json!(instance.labels));
        }
        if !instance.service_account.is_empty() {
            let account = json!({
                "email": instance.service_account,
                "scopes": ["https://www.googleapis.com/auth/cloud-platform"],
            });
            fields.insert("serviceAccounts".to_owned(), json!([account]));
        }
    }
    resource
}
