//! The configuration of a mount for its tokens: as it is enabled, and as it is tuned later (contract 6.3).

use crate::api::{
    Leases, ListingVisibility, MountConfiguration, MountError, MountRequest, MountTokenType,
    MountTuning, TuneError,
};
use crate::lifetime::SYSTEM_MAX_LEASE_TTL;
use crate::records::{MountRecord, TOKEN_MOUNT};

/// The token type of this name.
pub(crate) fn token_type(name: &str) -> Option<MountTokenType> {
    match name {
        "default-service" => Some(MountTokenType::DefaultService),
        "default-batch" => Some(MountTokenType::DefaultBatch),
        "service" => Some(MountTokenType::Service),
        "batch" => Some(MountTokenType::Batch),
        _ => None,
    }
}

/// The listing visibility of this name.
pub(crate) fn listing_visibility(name: &str) -> Option<ListingVisibility> {
    match name {
        "hidden" => Some(ListingVisibility::Hidden),
        "unauth" => Some(ListingVisibility::Unauthenticated),
        _ => None,
    }
}

/// The key of identity tokens of this name. There is one, which the auth method makes and replaces by itself.
pub(crate) fn identity_token_key(name: &str) -> Option<String> {
    (name == "default").then(|| name.to_owned())
}

/// The value that `parse` finds for a name, where an absent or empty one is no choice.
pub(crate) fn chosen<T, E>(
    name: Option<&str>,
    parse: impl FnOnce(&str) -> Option<T>,
    unknown: E,
) -> Result<Option<T>, E> {
    match name.unwrap_or_default() {
        "" => Ok(None),
        name => parse(name).map(Some).ok_or(unknown),
    }
}

/// The configuration that a new mount is asked for.
pub(crate) fn configuration(request: &MountRequest) -> Result<MountConfiguration, MountError> {
    let max_lease_ttl = match request.max_lease_ttl {
        0 => SYSTEM_MAX_LEASE_TTL,
        set => set,
    };
    if request.default_lease_ttl > max_lease_ttl {
        return Err(MountError::DefaultAboveMaximum);
    }
    Ok(MountConfiguration {
        default_lease_ttl: request.default_lease_ttl,
        max_lease_ttl: request.max_lease_ttl,
        force_no_cache: request.force_no_cache,
        token_type: chosen(
            request.token_type.as_deref(),
            token_type,
            MountError::InvalidTokenType,
        )?
        .unwrap_or_default(),
        listing_visibility: chosen(
            request.listing_visibility.as_deref(),
            listing_visibility,
            MountError::InvalidListingVisibility,
        )?,
        audit_non_hmac_request_keys: request.audit_non_hmac_request_keys.clone(),
        audit_non_hmac_response_keys: request.audit_non_hmac_response_keys.clone(),
        passthrough_request_headers: request.passthrough_request_headers.clone(),
        allowed_response_headers: request.allowed_response_headers.clone(),
        identity_token_key: chosen(
            request.identity_token_key.as_deref(),
            identity_token_key,
            MountError::UnknownIdentityTokenKey,
        )?,
        trim_request_trailing_slashes: request.trim_request_trailing_slashes,
    })
}

/// `mount` as `tuning` leaves it.
pub(crate) fn tuned(mount: &MountRecord, tuning: &MountTuning) -> Result<MountRecord, TuneError> {
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
