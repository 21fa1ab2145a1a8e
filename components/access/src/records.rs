//! The records of the store, and their keys.

use std::collections::BTreeMap;

use gatehouse_storage::{Cacheable, Record, key_segment};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::api::{FieldTooLong, Leases, Lifetime, Mount, MountConfiguration, MountView, TokenType};
use crate::bounds::{MOUNT_LISTS_BYTES, TEXT_BYTES, length_of_pairs};
use crate::generation::Generations;
use crate::identity::{AliasReference, Membership};
use crate::lifetime::{SYSTEM_DEFAULT_LEASE_TTL, SYSTEM_MAX_LEASE_TTL};
use crate::policy::{RESPONSE_WRAPPING, Rule};
use crate::secret::{TokenHash, TokenNames};

/// Key of the [`SystemRecord`].
pub(crate) const SYSTEM_KEY: &str = "system";
/// Key of the [`MountTableRecord`].
pub(crate) const MOUNT_TABLE_KEY: &str = "mount-table";
/// The prefix of the keys of all [`MountRecord`]s.
pub(crate) const MOUNT_PREFIX: &str = "mount/auth/";
/// Path of the mount that issues tokens to token holders.
pub(crate) const TOKEN_MOUNT: &str = "token/";
/// The prefix of the keys of all [`PolicyRecord`]s.
pub(crate) const POLICY_PREFIX: &str = "policy/";

/// The issuing path that the root token of an initialization shows.
pub(crate) const FIRST_ROOT_PATH: &str = "auth/token/root";

/// Before the hash in the name of a lease.
pub(crate) const LEASE_MARK: char = 'h';

/// The prefix of the keys of all [`TokenRecord`]s.
pub(crate) const TOKEN_PREFIX: &str = "token/";

/// Key of the [`TokenRecord`] of a token.
pub(crate) fn token_key(hash: &TokenHash) -> String {
    format!("{TOKEN_PREFIX}{}", hash.as_str())
}

/// The prefix of the keys of all [`AccessorRecord`]s.
pub(crate) const ACCESSOR_PREFIX: &str = "accessor/";

/// Key of the [`AccessorRecord`] of a hashed accessor.
pub(crate) fn accessor_key(hash: &TokenHash) -> String {
    format!("{ACCESSOR_PREFIX}{}", hash.as_str())
}

/// The prefix of the keys of all [`ChildRecord`]s.
pub(crate) const CHILD_PREFIX: &str = "child/";

/// The prefix of the keys of a token's children.
pub(crate) fn children_prefix(parent: &TokenHash) -> String {
    format!("{CHILD_PREFIX}{}/", parent.as_str())
}

/// Key of the [`ChildRecord`] that names a child of `parent`.
pub(crate) fn child_key(parent: &TokenHash, child: &TokenHash) -> String {
    format!("{}{}", children_prefix(parent), child.as_str())
}

/// The prefix of the keys of all [`RelinquishedRecord`]s.
pub(crate) const RELINQUISHED_PREFIX: &str = "relinquished/";

/// Key of the [`RelinquishedRecord`] of a token that ended without its children.
pub(crate) fn relinquished_key(parent: &TokenHash) -> String {
    format!("{RELINQUISHED_PREFIX}{}", parent.as_str())
}

/// Key of the [`WrappedRecord`] that a wrapping token gives out.
pub(crate) fn wrapped_key(token: &TokenHash) -> String {
    format!("wrapped/{}", token.as_str())
}

/// Key of the [`CubbyholeRecord`](crate::cubbyhole::CubbyholeRecord) of a token.
pub(crate) fn cubbyhole_key(token: &TokenHash) -> String {
    format!("cubbyhole/{}", token.as_str())
}

/// The prefix of the keys of all [`AliasRecord`]s.
pub(crate) const ALIAS_PREFIX: &str = "alias/";
/// The prefix of the keys of all [`EntityRecord`]s.
pub(crate) const ENTITY_PREFIX: &str = "entity/";

/// Key of the [`AliasRecord`] of a hashed alias.
pub(crate) fn alias_key(hash: &str) -> String {
    format!("{ALIAS_PREFIX}{hash}")
}

/// Key of the [`AliasMetadataRecord`] of a hashed alias.
pub(crate) fn alias_metadata_key(hash: &str) -> String {
    format!("alias-metadata/{hash}")
}

/// Key of an [`EntityRecord`].
pub(crate) fn entity_key(id: &str) -> String {
    format!("{ENTITY_PREFIX}{}", key_segment(id))
}

/// Key of the [`PolicyRecord`] of a policy.
pub(crate) fn policy_key(name: &str) -> String {
    format!("{POLICY_PREFIX}{}", key_segment(name))
}

/// The prefix of the keys of all [`PolicyNameRecord`]s.
pub(crate) const POLICY_NAME_PREFIX: &str = "policy-name/";

/// Key of the [`PolicyNameRecord`] of a policy.
pub(crate) fn policy_name_key(name: &str) -> String {
    format!("{POLICY_NAME_PREFIX}{}", key_segment(name))
}

/// Key of the [`RulesRecord`] of a policy.
pub(crate) fn rules_key(name: &str) -> String {
    format!("rules/{}", key_segment(name))
}

/// Made once, by initialization. Never changed. Wiped when dropped, since it holds the server's secret.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(crate) struct SystemRecord {
    pub(crate) cluster_id: String,
    pub(crate) cluster_name: String,
    /// Base64 of the key under which identifiers are hashed.
    pub(crate) identifier_key: String,
}

impl Record for SystemRecord {
    const SCHEMA: u16 = 1;
}

/// The mount that a login token came from. The token is valid while a mount with this identifier is at this path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TokenOrigin {
    pub(crate) mount_id: String,
    pub(crate) mount_path: String,
    /// Base64 of what the method wants back at renewals; empty for a batch token, which has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) renewal_state: String,
}

/// A token: stored for a service token, carried along by a batch token. Points in time and durations are in seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TokenRecord {
    /// Empty for a batch token, and for no other.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) accessor: String,
    /// The hash of its text, where its key is the hash of its accessor; `None` where its key is the hash of its text. See
    /// [`TokenNames`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) proof: Option<TokenHash>,
    /// From the oldest to the parent, as they were when it was made; empty for an orphan. Behind the last of them that left a
    /// [`RelinquishedRecord`] none counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ancestors: Vec<TokenHash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<TokenOrigin>,
    /// Generation of the mount that issued it; see [`MountRecord::honours`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) generation: u64,
    pub(crate) policies: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) entity_id: Option<String>,
    pub(crate) display_name: String,
    pub(crate) path: String,
    /// Name of the token-store role that it was created under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) bound_cidrs: Vec<String>,
    pub(crate) creation_time: u64,
    pub(crate) creation_ttl: u64,
    /// `None` for a root token without an end.
    pub(crate) expire_time: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_renewal_time: Option<u64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) explicit_max_ttl: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) period: u64,
    /// Uses that remain; 0 for unlimited.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) num_uses: u64,
    pub(crate) renewable: bool,
    /// The keys of the places that it has in quotas; see [`crate::quotas`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) places: Vec<String>,
    /// True if it keeps secrets, or did; see [`crate::cubbyhole`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) keeps_secrets: bool,
}

impl Record for TokenRecord {
    const SCHEMA: u16 = 1;
}

impl TokenRecord {
    /// The facts from its creation, sorted by name.
    pub(crate) fn shown_metadata(&self) -> Option<Vec<(String, String)>> {
        let pairs = |metadata: &BTreeMap<String, String>| metadata.clone().into_iter().collect();
        self.metadata.as_ref().map(pairs)
    }

    /// True if the token does not end before `now`.
    pub(crate) fn is_alive_at(&self, now: u64) -> bool {
        self.expire_time.is_none_or(|end| now < end)
    }

    /// How it is kept.
    pub(crate) fn token_type(&self) -> TokenType {
        if self.accessor.is_empty() {
            TokenType::Batch
        } else {
            TokenType::Service
        }
    }

    /// True if its own policies make it a root token.
    pub(crate) fn is_root(&self) -> bool {
        self.policies.iter().any(|policy| policy == "root")
    }

    /// True if it stands for a wrapped response. No caller can give a token this policy, so no other token has it.
    pub(crate) fn is_wrapping(&self) -> bool {
        self.policies
            .iter()
            .any(|policy| policy == RESPONSE_WRAPPING)
    }

    /// Path of the mount that has to honour it; `None` for the first root token and for wrapping tokens, which no mount issued.
    pub(crate) fn issuer(&self) -> Option<&str> {
        match &self.origin {
            Some(origin) => Some(&origin.mount_path),
            None if self.is_wrapping() || self.path == FIRST_ROOT_PATH => None,
            None => Some(TOKEN_MOUNT),
        }
    }

    /// True if it, which was read under the hash in `names`, is that of the token with these names: the hash of a text says so by itself,
    /// that of an accessor only together with the proof.
    pub(crate) fn is_of(&self, names: &TokenNames) -> bool {
        match &names.derived {
            None => true,
            Some(derived) => {
                let proof = self.proof.as_ref();
                proof.is_some_and(|proof| proof.is(&derived.proof))
            }
        }
    }

    /// The name of its lease: the path that issued it and its hash, which is of no use as a token. `None` where no mount issued it.
    pub(crate) fn lease_id(&self, hash: &TokenHash) -> Option<String> {
        self.issuer()
            .map(|_| format!("{}/{LEASE_MARK}{}", self.path, hash.as_str()))
    }

    /// When the store may drop it, in milliseconds.
    pub(crate) fn expires_at(&self) -> Option<u64> {
        self.expire_time.map(|end| end.saturating_mul(1000))
    }

    /// The values that its creator fixed, for a renewal without fresh ones.
    pub(crate) fn created_lifetime(&self) -> Lifetime {
        Lifetime {
            ttl: self.creation_ttl,
            max_ttl: 0,
            explicit_max_ttl: self.explicit_max_ttl,
            period: self.period,
        }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Leads from an accessor to its token, where the token's own key does not follow from the accessor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AccessorRecord {
    pub(crate) token: TokenHash,
}

impl Record for AccessorRecord {
    const SCHEMA: u16 = 1;
}

/// Leads from a token to one of its children, so that a revocation can remove their records.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ChildRecord {
    pub(crate) token: TokenHash,
}

impl Record for ChildRecord {
    const SCHEMA: u16 = 1;
}

/// Stands where a token was that ended without its children: from there on down they and their descendants are orphans, though
/// their records still name it. Never there together with the token. It is needed as long as there are such children, which keep
/// their places in the index.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RelinquishedRecord {
    /// When the token ended.
    pub(crate) end_time: u64,
}

impl Record for RelinquishedRecord {
    const SCHEMA: u16 = 1;
}

/// The content that a wrapping token gives out. It comes and goes with its token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WrappedRecord {
    /// Base64 of the response, encrypted under a key that the token yields.
    pub(crate) sealed_content: String,
    /// Of the token in the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wrapped_accessor: Option<String>,
}

impl Record for WrappedRecord {
    const SCHEMA: u16 = 1;
}

/// The identity that a mount knows under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AliasRecord {
    pub(crate) id: String,
    pub(crate) entity_id: String,
    pub(crate) name: String,
    pub(crate) mount_accessor: String,
    pub(crate) creation_time: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) last_update_time: u64,
    /// The metadata that an operator set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) custom_metadata: BTreeMap<String, String>,
    /// The entities that it belonged to before they were merged, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) merged_from: Vec<String>,
}

impl Record for AliasRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for AliasRecord {}

/// The metadata of the last login of an alias. Apart from the alias, since identities that share one overwrite each other
/// here at every login, and must not conflict over it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AliasMetadataRecord {
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) last_update_time: u64,
}

impl Record for AliasMetadataRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for AliasMetadataRecord {}

/// The entity that stands behind one or more aliases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EntityRecord {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) disabled: bool,
    #[serde(default)]
    pub(crate) policies: Vec<String>,
    pub(crate) creation_time: u64,
    #[serde(default)]
    pub(crate) last_update_time: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) metadata: BTreeMap<String, String>,
    /// At most one for each mount.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) aliases: Vec<AliasReference>,
    /// Sorted identifiers; each of these groups names the entity as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) internal_groups: Vec<String>,
    /// By mount accessor, what the last login there brought; sorted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) external_groups: BTreeMap<String, Vec<Membership>>,
    /// The entities that became part of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) merged: Vec<String>,
    /// The key of the place that it has in a quota of its token role; see [`crate::quotas`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
}

impl Record for EntityRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for EntityRecord {}

/// A policy as it was written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PolicyRecord {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Record for PolicyRecord {
    const SCHEMA: u16 = 1;
}

/// The name of a policy, for lists. What a [`PolicyRecord`] has beside it is left out, so it is read from one as well.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PolicyNameRecord {
    pub(crate) name: String,
}

impl Record for PolicyNameRecord {
    const SCHEMA: u16 = 1;
}

/// A policy as requests need it: parsed. Written in the same commit as its text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RulesRecord {
    pub(crate) rules: Vec<Rule>,
}

impl Record for RulesRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for RulesRecord {}

/// Changes with every mount that comes or goes, so that two changes at related paths cannot pass each other.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct MountTableRecord {
    pub(crate) changes: u64,
}

impl Record for MountTableRecord {
    const SCHEMA: u16 = 1;
}

/// Key of the [`MountRecord`] at `path`, which may end in `/`.
pub(crate) fn mount_key(path: &str) -> String {
    let path = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<String> = path.split('/').map(key_segment).collect();
    format!("{MOUNT_PREFIX}{}", segments.join("/"))
}

/// The prefix of the keys of all [`DisabledMountRecord`]s.
pub(crate) const DISABLED_MOUNT_PREFIX: &str = "disabled-mount/";

/// Key of a [`DisabledMountRecord`].
pub(crate) fn disabled_mount_key(id: &str) -> String {
    format!("{DISABLED_MOUNT_PREFIX}{}", key_segment(id))
}

/// Says that the method may still keep something for a mount that is gone. The mount goes in the same commit in which this comes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DisabledMountRecord {
    pub(crate) id: String,
}

impl Record for DisabledMountRecord {
    const SCHEMA: u16 = 1;
}

/// Key of a [`MigrationRecord`].
pub(crate) fn migration_key(id: &str) -> String {
    format!("migration/{}", key_segment(id))
}

/// Says for a while where a mount was moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MigrationRecord {
    pub(crate) source: String,
    pub(crate) target: String,
}

impl Record for MigrationRecord {
    const SCHEMA: u16 = 1;
}

/// An enabled auth method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MountRecord {
    pub(crate) id: String,
    pub(crate) accessor: String,
    /// With one trailing `/`.
    pub(crate) path: String,
    pub(crate) mount_type: String,
    pub(crate) description: String,
    pub(crate) configuration: MountConfiguration,
    #[serde(default)]
    pub(crate) options: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) local: bool,
    #[serde(default)]
    pub(crate) seal_wrap: bool,
    #[serde(default)]
    pub(crate) external_entropy_access: bool,
    /// The generations that tell which of its tokens were cut off.
    #[serde(default, skip_serializing_if = "Generations::is_first")]
    pub(crate) generations: Generations,
}

impl Record for MountRecord {
    const SCHEMA: u16 = 1;
}

impl Cacheable for MountRecord {}

impl MountRecord {
    /// The leases that are in force: the system's where none are set, and no default above the maximum.
    pub(crate) fn leases(&self) -> Leases {
        let or_system = |set: u64, system: u64| if set == 0 { system } else { set };
        let max_ttl = or_system(self.configuration.max_lease_ttl, SYSTEM_MAX_LEASE_TTL);
        let default_ttl = or_system(
            self.configuration.default_lease_ttl,
            SYSTEM_DEFAULT_LEASE_TTL,
        );
        Leases {
            default_ttl: default_ttl.min(max_ttl),
            max_ttl,
        }
    }

    /// True if it issued the token and did not cut it off since.
    pub(crate) fn honours(&self, token: &TokenRecord) -> bool {
        let origin = token.origin.as_ref();
        let path = token.path.strip_prefix("auth/");
        let below = path.and_then(|path| path.strip_prefix(&self.path));
        origin.is_none_or(|origin| origin.mount_id == self.id)
            && self
                .generations
                .count(below.unwrap_or_default(), token.generation)
    }

    /// Refuses a mount with longer texts than a list of all mounts bears.
    pub(crate) fn require_bounded(&self) -> Result<(), FieldTooLong> {
        FieldTooLong::check("description", self.description.len(), TEXT_BYTES)?;
        let configuration = &self.configuration;
        let lists = [
            &configuration.audit_non_hmac_request_keys,
            &configuration.audit_non_hmac_response_keys,
            &configuration.passthrough_request_headers,
            &configuration.allowed_response_headers,
        ];
        let key = configuration.identity_token_key.as_ref();
        let texts = lists.into_iter().flatten().chain(key).map(String::len);
        let length = texts.sum::<usize>() + length_of_pairs(&self.options);
        FieldTooLong::check(
            "the lists and options of a mount together",
            length,
            MOUNT_LISTS_BYTES,
        )
    }

    /// Cuts a description of an earlier version down to what descriptions have now.
    pub(crate) fn shorten_description(&mut self) {
        let end = self.description.floor_char_boundary(TEXT_BYTES);
        self.description.truncate(end);
        self.description.shrink_to_fit();
    }

    /// The mount as a request meets it.
    pub(crate) fn in_force(&self) -> Mount {
        let leases = self.leases();
        Mount {
            id: self.id.clone(),
            accessor: self.accessor.clone(),
            path: self.path.clone(),
            mount_type: self.mount_type.clone(),
            default_lease_ttl: leases.default_ttl,
            max_lease_ttl: leases.max_ttl,
            audit_non_hmac_request_keys: self.configuration.audit_non_hmac_request_keys.clone(),
            audit_non_hmac_response_keys: self.configuration.audit_non_hmac_response_keys.clone(),
        }
    }

    /// The mount as it is listed.
    pub(crate) fn view(self) -> MountView {
        MountView {
            leases: self.leases(),
            path: self.path,
            id: self.id,
            accessor: self.accessor,
            mount_type: self.mount_type,
            description: self.description,
            configuration: self.configuration,
            options: self.options.into_iter().collect(),
            local: self.local,
            seal_wrap: self.seal_wrap,
            external_entropy_access: self.external_entropy_access,
        }
    }
}
