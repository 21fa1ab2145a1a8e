//! The mounts that always exist in addition to the auth mounts. Clients look for them among the secret engines: `sys/mounts` (contract 6.3).

use gatehouse_access_api::Access;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{PLUGIN_VERSION, members};
use crate::cubbyhole_paths;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;
use crate::vault::text::quoted;

/// A mount that the server itself provides.
pub(in crate::vault) struct SystemMount {
    /// The path, which ends in one slash.
    pub(in crate::vault) path: &'static str,
    mount_type: &'static str,
    description: &'static str,
}

/// All system mounts, sorted by path.
pub(in crate::vault) const SYSTEM_MOUNTS: [SystemMount; 3] = [
    SystemMount {
        path: cubbyhole_paths::ROOT,
        mount_type: cubbyhole_paths::MOUNT_TYPE,
        description: "per-token private secret storage",
    },
    SystemMount {
        path: "identity/",
        mount_type: "identity",
        description: "identity store",
    },
    SystemMount {
        path: "sys/",
        mount_type: "system",
        description: "system endpoints used for control, policy and debugging",
    },
];

#[derive(Serialize)]
struct MountDescription {
    accessor: String,
    config: Configuration,
    description: &'static str,
    external_entropy_access: bool,
    local: bool,
    options: Option<Map<String, Value>>,
    plugin_version: &'static str,
    running_plugin_version: &'static str,
    running_sha256: &'static str,
    seal_wrap: bool,
    #[serde(rename = "type")]
    mount_type: &'static str,
    uuid: String,
}

/// The fixed configuration of such a mount, which cannot be tuned.
#[derive(Serialize)]
struct Configuration {
    default_lease_ttl: u64,
    force_no_cache: bool,
    max_lease_ttl: u64,
}

impl SystemMount {
    /// The members of the mount in lists. The mount has no record, so its identifiers are derived from that of the cluster.
    pub(in crate::vault) fn listed_members(
        &self,
        cluster_id: &str,
    ) -> Result<Map<String, Value>, ApiError> {
        let digest = Sha256::new()
            .chain_update(cluster_id)
            .chain_update([0])
            .chain_update(self.path)
            .finalize();
        let (accessor, rest) = digest.split_at(4);
        let mut id = [0; 16];
        id.copy_from_slice(rest.first_chunk::<16>().unwrap_or(&[0; 16]));
        members(&MountDescription {
            accessor: format!("{}_{:x}", self.mount_type, base16ct::HexDisplay(accessor)),
            config: Configuration {
                default_lease_ttl: 0,
                force_no_cache: false,
                max_lease_ttl: 0,
            },
            description: self.description,
            external_entropy_access: false,
            local: self.mount_type == cubbyhole_paths::MOUNT_TYPE,
            options: None,
            plugin_version: "",
            running_plugin_version: PLUGIN_VERSION,
            running_sha256: "",
            seal_wrap: self.mount_type == "system",
            mount_type: self.mount_type,
            uuid: uuid::Builder::from_custom_bytes(id).into_uuid().to_string(),
        })
    }
}

/// The identifier of the cluster.
pub(in crate::vault) fn cluster_id(access: &dyn Access) -> Result<String, ApiError> {
    let cluster = access.current_cluster()?;
    Ok(cluster.map(|cluster| cluster.id).unwrap_or_default())
}

/// `sys/mounts`
pub(in crate::vault) fn list(call: &Call<'_>) -> Answer {
    let cluster_id = cluster_id(call.server.access)?;
    let mut data = Map::new();
    for mount in &SYSTEM_MOUNTS {
        data.insert(
            mount.path.to_owned(),
            mount.listed_members(&cluster_id)?.into(),
        );
    }
    Ok(Some(Reply::copied(data)))
}

/// GET `sys/mounts/<path>`
pub(in crate::vault) fn read(call: &Call<'_>) -> Answer {
    let path = format!("{}/", call.captured("path")?);
    match SYSTEM_MOUNTS.iter().find(|mount| mount.path == path) {
        Some(mount) => Ok(Some(Reply::copied(
            mount.listed_members(&cluster_id(call.server.access)?)?,
        ))),
        None => Err(ApiError::plain(
            400,
            format!("No secret engine mount at {path}"),
        )),
    }
}

/// DELETE `sys/mounts/<path>`: a mount that does not exist counts as removed, and the existing ones cannot be removed.
pub(in crate::vault) fn remove(call: &Call<'_>) -> Answer {
    let path = format!("{}/", call.captured("path")?);
    let is_mounted = SYSTEM_MOUNTS.iter().any(|mount| mount.path == path);
    refuse_removal(is_mounted, &path)
}

/// DELETE `sys/mounts/auth/<path>`
pub(in crate::vault) fn remove_auth(call: &Call<'_>) -> Answer {
    let path = format!("{}/", call.captured("path")?);
    let is_mounted = call.server.access.read_mount(&path)?.is_some();
    refuse_removal(is_mounted, &format!("auth/{path}"))
}

fn refuse_removal(is_mounted: bool, path: &str) -> Answer {
    if is_mounted {
        let path = quoted(path);
        return Err(ApiError::plain(400, format!("cannot unmount {path}")));
    }
    Ok(None)
}
