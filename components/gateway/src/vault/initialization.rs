//! `sys/init`: the first start of a server (contract 6.2, SEC-A8).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_access_api::{InitializeError, Initialized, ServiceError};
use serde::Serialize;
use zeroize::Zeroizing;

use super::call::Unadmitted;
use super::envelope;
use super::errors::ApiError;
use super::fields::Fields;
use super::headers;
use super::stage::Stage;
use crate::host::InitializeSealError;
use crate::http::Response;
use crate::settings::Initializer;
use crate::vault::server::Server;

#[derive(Serialize)]
struct Initialization {
    initialized: bool,
}

/// GET `sys/init`
pub(super) fn status(asked: &Unadmitted<'_>) -> Result<Response, ApiError> {
    let initialized = !matches!(Stage::current(asked.server)?, Stage::Uninitialized);
    envelope::bare(200, &Initialization { initialized })
}

/// The fields that ask for secrets to be encrypted with a key. An answer in clear would disclose the secrets.
const ENCRYPTING_FIELDS: [&str; 3] = ["pgp_keys", "recovery_pgp_keys", "root_token_pgp_key"];

/// The fields about keys that this server never has, with the reasons.
const ABSENT_KEYS: [(&str, &str); 3] = [
    (
        "stored_shares",
        "the server keeps no shares of its own key: leave it out",
    ),
    ("recovery_shares", "there are no recovery keys: set it to 0"),
    (
        "recovery_threshold",
        "there are no recovery keys: set it to 0",
    ),
];

#[derive(Serialize)]
struct Made<'a> {
    keys: Vec<&'a str>,
    keys_base64: Vec<&'a str>,
    root_token: &'a str,
}

/// POST `sys/init`: creates the shares, where the seal has shares, and the first token.
///
/// Besides the fields of the protocol, `root_token` may name the token to create: the caller who initializes a server owns it in any case, unless its
/// operator has chosen the first token by a hash.
pub(super) fn initialize(asked: &Unadmitted<'_>) -> Result<Response, ApiError> {
    let server = asked.server;
    let fields = Fields::of_body(asked.request)?;
    let seal = server.host.seal.status()?;
    match Stage::with_seal(seal.as_ref(), server.access)? {
        Stage::Uninitialized => {}
        Stage::Sealed if seal.is_none() => return Err(ServiceError::Sealed.into()),
        Stage::Sealed | Stage::Active(_) => return Err(already_initialized()),
    }
    refuse_unsupported(&fields)?;
    let number = |name| Ok::<_, ApiError>(fields.integer(name)?.unwrap_or_default());
    let (shares, threshold) = (number("secret_shares")?, number("secret_threshold")?);
    let chosen = chosen_root_token(asked, &fields)?;
    let (shares, threshold) = match seal {
        Some(_) => numbers_of_shares(shares, threshold)?,
        None => no_shares(shares, threshold)?,
    };
    let shares = server.host.seal.begin_initialization(shares, threshold);
    let shares = shares.map_err(|error| match error {
        InitializeSealError::AlreadyInitialized => already_initialized(),
        InitializeSealError::InvalidNumbers => invalid_configuration(&error.to_string()),
        InitializeSealError::Failure(failure) => failure.into(),
    })?;
    let initialized =
        complete(server, chosen.as_ref().map(|token| token.as_str())).inspect_err(|_| {
            // The client never receives these shares.
            if let Err(failure) = server.host.seal.abandon_initialization() {
                server.tell_operator(&format!("initialization could not be undone: {failure}"));
            }
        })?;

    let (hexadecimal, base64) = written_shares(&shares);
    let made = Made {
        keys: hexadecimal.iter().map(|key| key.as_str()).collect(),
        keys_base64: base64.iter().map(|key| key.as_str()).collect(),
        root_token: &initialized.root_token,
    };
    envelope::bare(200, &made)
}

/// The token to create; `None` for a random one. Where the operator decides who initializes the server, no client gets a root token by being the
/// first to ask (SEC-A8).
fn chosen_root_token(
    asked: &Unadmitted<'_>,
    fields: &Fields<'_>,
) -> Result<Option<Zeroizing<String>>, ApiError> {
    let named = fields.string("root_token")?.filter(|text| !text.is_empty());
    let named = named.map(Zeroizing::new);
    let hash = match &asked.server.settings.initializer {
        Initializer::AnyCaller => return Ok(named),
        Initializer::HolderOf(hash) => hash,
        Initializer::NoCaller => {
            return Err(ApiError::plain(
                403,
                "no first root token has been chosen: set root_token_hash to the hash that `gatehouse operator root-token` prints, start \
                 the server again, and present the token as X-Vault-Token",
            ));
        }
    };
    let presented = match &named {
        Some(token) => Some(token.as_str()),
        None => headers::token(asked.request),
    };
    match presented.filter(|token| hash.is_of(token)) {
        Some(token) => Ok(Some(Zeroizing::new(token.to_owned()))),
        None => Err(ApiError::plain(
            403,
            "the first root token has been chosen by its hash: present that token as X-Vault-Token",
        )),
    }
}

/// The shares in hexadecimal and in base64.
pub(super) fn written_shares(
    shares: &[Zeroizing<Vec<u8>>],
) -> (Vec<Zeroizing<String>>, Vec<Zeroizing<String>>) {
    let written = |write: fn(&[u8]) -> String| -> Vec<Zeroizing<String>> {
        let write = |share: &Zeroizing<Vec<u8>>| Zeroizing::new(write(share));
        shares.iter().map(write).collect()
    };
    let hexadecimal = written(base16ct::lower::encode_string);
    (hexadecimal, written(|share| STANDARD.encode(share)))
}

/// Completes the initialization once the stores are open.
fn complete(
    server: &Server<'_>,
    root_token: Option<&str>,
) -> Result<Zeroizing<Initialized>, ApiError> {
    let initialized = match server.access.initialize(root_token) {
        Ok(initialized) => Zeroizing::new(initialized),
        Err(InitializeError::AlreadyInitialized) => return Err(already_initialized()),
        Err(InitializeError::Failure(failure)) => return Err(failure.into()),
        Err(error @ InitializeError::UnusableRootToken) => {
            return Err(ApiError::plain(400, error.to_string()));
        }
    };
    server.host.seal.finish_initialization()?;
    Ok(initialized)
}

fn refuse_unsupported(fields: &Fields<'_>) -> Result<(), ApiError> {
    for field in ENCRYPTING_FIELDS {
        let asked = fields.list(field)?.unwrap_or_default();
        if asked.iter().any(|key| !key.is_empty()) {
            let text = format!("{field} is not supported: leave it out");
            return Err(ApiError::plain(400, text));
        }
    }
    for (field, why) in ABSENT_KEYS {
        if fields.integer(field)?.unwrap_or_default() != 0 {
            let text = format!("{field} is not supported: {why}");
            return Err(ApiError::plain(400, text));
        }
    }
    Ok(())
}

/// The number of shares and the threshold. Invalid numbers are refused in the words of the reference.
fn numbers_of_shares(shares: i64, threshold: i64) -> Result<(u32, u32), ApiError> {
    let wrong = match (shares, threshold) {
        (..=0, _) => "shares must be at least one",
        (256.., _) => "shares must be less than 256",
        (_, ..=0) => "threshold must be at least one",
        (shares, threshold) if threshold > shares => "threshold cannot be larger than shares",
        (2.., 1) => "threshold must be greater than one for multiple shares",
        _ => {
            let number = |number: i64| u32::try_from(number).unwrap_or_default();
            return Ok((number(shares), number(threshold)));
        }
    };
    Err(invalid_configuration(wrong))
}

/// Refuses several shares: a client that asks an automatic seal for them relies on no single holder having the whole key.
fn no_shares(shares: i64, threshold: i64) -> Result<(u32, u32), ApiError> {
    for (field, number) in [("secret_shares", shares), ("secret_threshold", threshold)] {
        if !matches!(number, 0 | 1) {
            let text = format!(
                "{field} must be 1 or left out: the seal is a key file, so there are no unseal shares to give out"
            );
            return Err(ApiError::plain(400, text));
        }
    }
    Ok((1, 1))
}

fn already_initialized() -> ApiError {
    ApiError::plain(400, "Vault is already initialized")
}

fn invalid_configuration(what: &str) -> ApiError {
    ApiError::plain(400, format!("invalid seal configuration: {what}"))
}
