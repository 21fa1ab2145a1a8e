//! Leases: finding tokens by where they came from, and ending them together (contract 6.5).

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Loaded, Records, Transaction, commit_with_retries, key_position};

use crate::api::{KeyPage, LeaseTree, PrefixError, ServiceError};
use crate::bounds::PAGE_ITEMS;
use crate::generation::{TooManyPathsError, is_at_or_below};
use crate::records::{
    LEASE_MARK, MountRecord, TOKEN_MOUNT, TOKEN_PREFIX, TokenRecord, mount_key, token_key,
};
use crate::secret::TokenHash;
use crate::service::AccessService;
use crate::token_location::LocatedToken;

/// Tokens that one call looks at: of all tokens only those of one path are shown, and a call does not walk through millions.
const MAXIMUM_LOOKED_AT: usize = 10_000;
/// Tokens read at a time.
const SCAN_PAGE: u32 = 500;

/// Below what every lease lies.
const AUTH: &str = "auth";
/// The path below a method's mount at which tokens are issued.
const LOGIN: &str = "login";
/// Where the mount `token/` issues tokens; below the first of them lie the names of token roles, and below those what the roles
/// have for a suffix.
const CREATE: [&str; 2] = ["create", "create-orphan"];
/// Most segments of a path that issues tokens under a role, below the first of [`CREATE`].
const ROLE_SEGMENTS: usize = 2;

/// The parts before and after the last `/` of a lease's name.
fn parse(id: &str) -> Option<(&str, TokenHash)> {
    let (path, mark) = id.rsplit_once('/')?;
    Some((path, TokenHash::parse(mark.strip_prefix(LEASE_MARK)?)?))
}

/// True if tokens can come from `path`, which is below `mount`.
fn issues_at(mount: &MountRecord, path: &str) -> bool {
    if mount.path != TOKEN_MOUNT {
        return path == LOGIN;
    }
    let of_role = path.strip_prefix("create/");
    CREATE.contains(&path) || of_role.is_some_and(|role| role.split('/').count() <= ROLE_SEGMENTS)
}

/// The path below the mount whose tokens `prefix`, which is below `auth/`, covers; empty for all.
fn covered<'p>(mount: &MountRecord, prefix: &'p str) -> Option<&'p str> {
    let mount_path = mount.path.trim_end_matches('/');
    if is_at_or_below(mount_path, prefix) {
        return Some("");
    }
    let below = prefix.strip_prefix(&mount.path)?;
    issues_at(mount, below).then_some(below)
}

impl<S: Store, C: Clock, R: Random> LeaseTree for AccessService<S, C, R> {
    fn list_leases(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<KeyPage, ServiceError> {
        let prefix = prefix.trim_end_matches('/');
        let limit = limit.clamp(1, PAGE_ITEMS) as usize;
        if prefix.is_empty() {
            return Ok(page(vec![format!("{AUTH}/")], after, limit));
        }
        let Some(prefix) = below_auth(prefix) else {
            return Ok(KeyPage::default());
        };
        for mount in self.mount_records()? {
            let mount = mount.record;
            if let Some(path) = prefix.strip_prefix(&mount.path)
                && issues_at(&mount, path)
            {
                return self.leases_at(&format!("{AUTH}/{prefix}"), after, limit);
            }
        }
        Ok(page(self.branches_below(prefix)?, after, limit))
    }

    fn revoke_prefix(&self, prefix: &str) -> Result<(), PrefixError> {
        let prefix = prefix.trim_end_matches('/');
        if parse(prefix).is_some() {
            if let Some(token) = self.token_of_lease(prefix)? {
                self.revoke_located(token)?;
            }
            return Ok(());
        }
        let Some(prefix) = below_auth(prefix) else {
            return Ok(());
        };
        self.hasher()?;
        self.cut_mounts(|mount| covered(mount, prefix))
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    /// Ends what mounts have issued, of each at and below the path that `covered` names.
    pub(crate) fn cut_mounts<'p>(
        &self,
        covered: impl Fn(&MountRecord) -> Option<&'p str>,
    ) -> Result<(), PrefixError> {
        commit_with_retries(&self.clock, &self.random, || {
            let mut transaction = Transaction::new();
            for Loaded {
                record: mut mount,
                version,
            } in self.mount_records()?
            {
                let Some(path) = covered(&mount) else {
                    continue;
                };
                mount.generations.cut(path).map_err(|TooManyPathsError| {
                    PrefixError::TooManyPrefixes(mount.path.clone())
                })?;
                let key = mount_key(&mount.path);
                transaction
                    .require(key.as_str(), version)
                    .put(key, &mount)?;
            }
            Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
        })
    }

    /// The token that has this lease; `None` where there is none.
    pub(crate) fn token_of_lease(&self, id: &str) -> Result<Option<LocatedToken>, ServiceError> {
        let Some((_, hash)) = parse(id) else {
            return Ok(None);
        };
        let token = self.records.get::<TokenRecord>(&token_key(&hash))?;
        let has_this =
            |token: &Loaded<TokenRecord>| token.record.lease_id(&hash).as_deref() == Some(id);
        let token = token.filter(has_this);
        Ok(token.map(|token| LocatedToken::stored(hash, token)))
    }

    /// The segments between `auth/` and the paths that issue tokens, as the mounts are now: whether a lease lies there is seen
    /// only below.
    fn branches_below(&self, prefix: &str) -> Result<Vec<String>, ServiceError> {
        let mut branches = Vec::new();
        for mount in self.mount_records()? {
            let mount = mount.record;
            let paths: &[&str] = if mount.path == TOKEN_MOUNT {
                &CREATE
            } else {
                &[LOGIN]
            };
            for path in paths {
                let path = format!("{}{path}", mount.path);
                let below = match prefix {
                    "" => Some(path.as_str()),
                    prefix => path
                        .strip_prefix(prefix)
                        .and_then(|it| it.strip_prefix('/')),
                };
                let branch = below.and_then(|below| below.split('/').next());
                branches.extend(branch.map(|branch| format!("{branch}/")));
            }
        }
        branches.sort_unstable();
        branches.dedup();
        Ok(branches)
    }

    /// The valid tokens that `path` issued, in the order of their hashes.
    fn leases_at(
        &self,
        path: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<KeyPage, ServiceError> {
        let after = after.and_then(|after| after.strip_prefix(LEASE_MARK));
        let mut position = after.map(|after| key_position(TOKEN_PREFIX, after));
        let mut keys = Vec::new();
        let mut looked_at = 0;
        loop {
            let scanned =
                self.records
                    .store()
                    .scan(TOKEN_PREFIX, position.as_deref(), SCAN_PAGE)?;
            let mut candidates = Vec::new();
            for item in scanned.items {
                let token = Records::<S>::load::<TokenRecord>(Some(item.entry))?;
                let here =
                    token.filter(|it| it.record.path == path && it.record.issuer().is_some());
                candidates.push((item.key, here.map(|token| token.record)));
            }
            let tokens = candidates.iter().filter_map(|(_, token)| token.as_ref());
            let foundations = self.foundations(tokens)?;
            for (key, token) in candidates {
                if keys.len() == limit || looked_at == MAXIMUM_LOOKED_AT {
                    let next = position.as_deref().and_then(lease_name);
                    return Ok(KeyPage { keys, next });
                }
                looked_at += 1;
                if token.is_some_and(|token| foundations.carry(&token)) {
                    keys.extend(lease_name(&key));
                }
                position = Some(key);
            }
            if !scanned.more {
                return Ok(KeyPage { keys, next: None });
            }
        }
    }
}

/// The rest of a path that begins with `auth`; empty for that alone.
fn below_auth(path: &str) -> Option<&str> {
    match path.strip_prefix(AUTH)? {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    }
}

/// The name, in its path, of the lease of the token under `key`.
fn lease_name(key: &str) -> Option<String> {
    let hash = key.strip_prefix(TOKEN_PREFIX)?;
    Some(format!("{LEASE_MARK}{hash}"))
}

/// Those of sorted `keys` that come after `after`, at most `limit`.
fn page(mut keys: Vec<String>, after: Option<&str>, limit: usize) -> KeyPage {
    keys.retain(|key| after.is_none_or(|after| key.as_str() > after));
    let cut = keys.len() > limit;
    keys.truncate(limit);
    KeyPage {
        next: keys.last().filter(|_| cut).cloned(),
        keys,
    }
}
