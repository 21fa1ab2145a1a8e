//! Compute instances and the identity tokens that Google's metadata server gives them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;

use crate::account::AccountSpec;
use crate::jwt::Claims;

/// A compute instance that runs as a service account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Instance {
    /// Project that the instance belongs to.
    pub project_id: String,
    /// Number of that project.
    pub project_number: u64,
    /// Zone, such as `europe-west1-b`.
    pub zone: String,
    /// Decimal number of the instance.
    pub instance_id: String,
    /// Name, unique within its zone and project.
    pub instance_name: String,
    /// When it was created, in seconds since the Unix epoch.
    pub instance_creation_timestamp: u64,
    /// Email of the service account that it runs as.
    pub service_account: String,
    /// Labels, by key.
    pub labels: BTreeMap<String, String>,
    /// Where it stands between its start and its end.
    pub status: InstanceStatus,
}

/// Where an instance stands between its start and its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum InstanceStatus {
    /// Resources are being set aside for it.
    Provisioning,
    /// It has its resources and is about to boot.
    Staging,
    /// It boots or runs.
    #[default]
    Running,
    /// It is being stopped.
    Stopping,
    /// It is being suspended.
    Suspending,
    /// It is suspended.
    Suspended,
    /// It failed and is being repaired.
    Repairing,
    /// It was stopped.
    Terminated,
}

/// How much a metadata identity token says about the instance that asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityFormat {
    /// Only the service account, as Cloud Run and Kubernetes nodes also get it.
    Standard,
    /// The service account and the instance.
    Full,
}

/// The path of an instance: `projects/p/zones/z/instances/n`.
pub(crate) fn instance_path(project: &str, zone: &str, name: &str) -> String {
    format!("projects/{project}/zones/{zone}/instances/{name}")
}

impl Instance {
    /// The instance's path: `projects/p/zones/z/instances/n`.
    #[must_use]
    pub fn path(&self) -> String {
        instance_path(&self.project_id, &self.zone, &self.instance_name)
    }

    /// True if `name` is the instance's name, number or path.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.instance_name == name || self.instance_id == name || self.path() == name
    }

    /// True if it belongs to this zone of this project.
    pub(crate) fn lives_in(&self, project: &str, zone: &str) -> bool {
        self.project_id == project && self.zone == zone
    }

    /// The claims of the identity token that the metadata server would answer at `now` (seconds since the Unix epoch).
    pub(crate) fn identity_claims(
        &self,
        account: &AccountSpec,
        audience: &str,
        format: IdentityFormat,
        now: u64,
    ) -> Claims {
        let mut claims = Claims::new();
        claims.insert("aud".to_owned(), audience.into());
        claims.insert("azp".to_owned(), account.unique_id.as_str().into());
        claims.insert("email".to_owned(), account.email.as_str().into());
        claims.insert("email_verified".to_owned(), true.into());
        claims.insert("iat".to_owned(), now.into());
        claims.insert("exp".to_owned(), (now + 3600).into());
        claims.insert("iss".to_owned(), "https://accounts.google.com".into());
        claims.insert("sub".to_owned(), account.unique_id.as_str().into());
        if format == IdentityFormat::Full {
            let compute_engine = json!({
                "project_id": self.project_id,
                "project_number": self.project_number,
                "zone": self.zone,
                "instance_id": self.instance_id,
                "instance_name": self.instance_name,
                "instance_creation_timestamp": self.instance_creation_timestamp,
            });
            claims.insert(
                "google".to_owned(),
                json!({ "compute_engine": compute_engine }),
            );
        }
        claims
    }
}
