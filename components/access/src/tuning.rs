//! Changing an enabled mount (contract 6.3).

use gatehouse_ports::{Clock, Random, Store};
use gatehouse_storage::{Attempt, Transaction, commit_with_retries};

use crate::api::{Leases, MountTuning, TuneError};
use crate::lifetime::SYSTEM_MAX_LEASE_TTL;
use crate::mounts::{chosen, identity_token_key, listing_visibility, normalize_path, token_type};
use crate::records::{MountRecord, TOKEN_MOUNT, mount_key};
use crate::service::AccessService;

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    pub(crate) fn tune(&self, path: &str, tuning: &MountTuning) -> Result<(), TuneError> {
        let path = normalize_path(path).map_err(|_| TuneError::NoMount)?;
        let key = mount_key(&path);
        commit_with_retries(&self.clock, &self.random, || {
            let loaded = self.records.get::<MountRecord>(&key)?;
            let loaded = loaded.ok_or(TuneError::NoMount)?;
            let mut tuned = tuned(&loaded.record, tuning)?;
            if tuning.description.is_none() {
                tuned.shorten_description();
            }
            if tuned == loaded.record {
                return Ok(Attempt::Done(()));
            }
            tuned.require_bounded()?;
            let mut transaction = Transaction::new();
            transaction
                .require(key.as_str(), loaded.version)
                .put(key.as_str(), &tuned)?;
            Ok(Attempt::from_commit(self.records.commit(transaction), ())?)
        })
    }
}

/// The mount as it is to be.
fn tuned(mount: &MountRecord, tuning: &MountTuning) -> Result<MountRecord, TuneError> {
    let mut tuned = mount.clone();
    let configuration = &mut tuned.configuration;
    set(
        &mut configuration.default_lease_ttl,
        tuning.default_lease_ttl,
    );
    set(&mut configuration.max_lease_ttl, tuning.max_lease_ttl);
    let max_ttl = match configuration.max_lease_ttl {
        0 => SYSTEM_MAX_LEASE_TTL,
        set => set,
    };
    if configuration.default_lease_ttl > max_ttl {
        return Err(TuneError::MaxBelowDefault(Leases {
            default_ttl: configuration.default_lease_ttl,
            max_ttl,
        }));
    }
    let token_type = chosen(
        tuning.token_type.as_deref(),
        token_type,
        TuneError::InvalidTokenType,
    )?;
    if token_type.is_some() && mount.path == TOKEN_MOUNT {
        return Err(TuneError::TokenMountType);
    }
    set(&mut configuration.token_type, token_type);
    if let Some(name) = &tuning.listing_visibility {
        let unknown = TuneError::InvalidListingVisibility;
        configuration.listing_visibility = chosen(Some(name), listing_visibility, unknown)?;
    }
    set(
        &mut configuration.audit_non_hmac_request_keys,
        tuning.audit_non_hmac_request_keys.clone(),
    );
    set(
        &mut configuration.audit_non_hmac_response_keys,
        tuning.audit_non_hmac_response_keys.clone(),
    );
    set(
        &mut configuration.passthrough_request_headers,
        tuning.passthrough_request_headers.clone(),
    );
    set(
        &mut configuration.allowed_response_headers,
        tuning.allowed_response_headers.clone(),
    );
    if let Some(name) = &tuning.identity_token_key {
        let unknown = TuneError::UnknownIdentityTokenKey;
        configuration.identity_token_key = chosen(Some(name), identity_token_key, unknown)?;
    }
    set(
        &mut configuration.trim_request_trailing_slashes,
        tuning.trim_request_trailing_slashes,
    );
    set(&mut tuned.description, tuning.description.clone());
    let options = tuning.options.clone();
    set(
        &mut tuned.options,
        options.map(|it| it.into_iter().collect()),
    );
    Ok(tuned)
}

fn set<T>(value: &mut T, change: Option<T>) {
    if let Some(change) = change {
        *value = change;
    }
}
