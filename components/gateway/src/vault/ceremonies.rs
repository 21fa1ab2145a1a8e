//! `sys/generate-root`, `sys/rekey` and OpenBao's newer names for them (`sys/generate-root-token`, `sys/rotate/root`): the ceremonies of the share
//! holders on an unsealed server (contract 6.1, SEC-K2, K4).
//!
//! Only `sys/rotate/root` needs a token; elsewhere, the shares are the only authorization. The requests of each address are limited.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use gatehouse_access_api::{BASE62, ROOT_TOKEN_CHARACTERS, ServiceError};
use serde::Serialize;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::call::{Answer, Call, Unadmitted};
use super::envelope::{self, Reply};
use super::errors::{ApiError, without_content};
use super::fields::Fields;
use super::initialization::written_shares;
use super::seal::{decoded, malformed};
use crate::host::{Bucket, Ceremonies, Ceremony, CeremonyError, InitializeSealError, SealError};
use crate::http::Response;
use crate::source;

/// The number of requests about ceremonies that one address may send at once, and per minute: enough for the largest number of share holders.
const REQUESTS: u32 = 300;
const PERIOD_MILLISECONDS: u32 = 60_000;

#[derive(Serialize)]
struct RootStatus<'a> {
    nonce: &'a str,
    started: bool,
    progress: u32,
    required: u32,
    complete: bool,
    encoded_token: &'a str,
    encoded_root_token: &'a str,
    pgp_fingerprint: &'a str,
    otp: &'a str,
    otp_length: usize,
}

#[derive(Serialize)]
struct RekeyStatus<'a> {
    nonce: &'a str,
    started: bool,
    t: u32,
    n: u32,
    progress: u32,
    required: u32,
    pgp_fingerprints: Option<[&'a str; 0]>,
    backup: bool,
    verification_required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification_nonce: Option<&'a str>,
}

#[derive(Serialize)]
struct Rekeyed<'a> {
    nonce: &'a str,
    complete: bool,
    keys: Vec<&'a str>,
    keys_base64: Vec<&'a str>,
    pgp_fingerprints: Option<[&'a str; 0]>,
    backup: bool,
    verification_required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification_nonce: Option<&'a str>,
}

#[derive(Serialize)]
struct VerificationStatus<'a> {
    nonce: &'a str,
    started: bool,
    t: u32,
    n: u32,
    progress: u32,
}

#[derive(Serialize)]
struct VerificationDone<'a> {
    nonce: &'a str,
    complete: bool,
}

/// A step of a ceremony.
type Step = fn(&Unadmitted<'_>) -> Result<Written, ApiError>;

/// Answers a step without a token as Vault does, without the envelope.
pub(super) fn bare(asked: &Unadmitted<'_>, step: Step) -> Result<Response, ApiError> {
    match taken(asked, step)? {
        Written::Nothing => Ok(without_content(204)),
        Written::Document(text) => envelope::bare(200, &raw(&text)?),
    }
}

/// The same in the envelope, as OpenBao answers at its newer paths.
pub(super) fn in_envelope(asked: &Unadmitted<'_>, step: Step) -> Result<Response, ApiError> {
    match taken(asked, step)? {
        Written::Nothing => Ok(without_content(204)),
        Written::Document(text) => {
            let id = asked.server.fresh_uuid()?;
            Reply::data(&raw(&text)?)?.response(&id, "system")
        }
    }
}

fn taken(asked: &Unadmitted<'_>, step: Step) -> Result<Written, ApiError> {
    limited(asked).and_then(|()| step(asked))
}

/// Answers a step below `sys/rotate/root`, for a caller with a token. None of these steps creates a root token.
pub(super) fn with_token(call: &Call<'_>, step: Step) -> Answer {
    match step(&Unadmitted::new(call.server, call.request))? {
        Written::Nothing => Ok(None),
        Written::Document(text) => Reply::data(&raw(&text)?).map(Some),
    }
}

/// Any other method at a step.
pub(super) fn otherwise(asked: &Unadmitted<'_>) -> Result<Response, ApiError> {
    bare(asked, |_| Err(ApiError::unsupported_operation()))
}

/// GET `backup`: backups consist of encrypted shares, and no share is encrypted.
pub(super) fn backup(_: &Unadmitted<'_>) -> Result<Written, ApiError> {
    Err(ApiError::plain(400, "no backed-up keys found"))
}

/// DELETE `backup`
pub(super) fn delete_backup(_: &Unadmitted<'_>) -> Result<Written, ApiError> {
    Ok(Written::Nothing)
}

/// `sys/rotate/recovery/...`: there are no recovery keys, only the key that the shares yield.
pub(super) fn no_recovery_keys_to_rotate(_: &Call<'_>) -> Answer {
    Err(recovery_refused())
}

/// `sys/rekey-recovery-key/...`, without a token
pub(super) fn no_recovery_keys_to_rekey(_: &Unadmitted<'_>) -> Result<Response, ApiError> {
    Err(recovery_refused())
}

fn recovery_refused() -> ApiError {
    ApiError::plain(
        400,
        "recovery rekeying not supported: there are no recovery keys",
    )
}

/// An answer before it is wrapped. It may hold secrets.
pub(super) enum Written {
    Nothing,
    Document(Zeroizing<String>),
}

impl Written {
    fn document(document: &impl Serialize) -> Result<Self, ApiError> {
        let text = serde_json::to_string(document).map_err(|_| unwritable())?;
        Ok(Self::Document(Zeroizing::new(text)))
    }
}

fn raw(document: &str) -> Result<&RawValue, ApiError> {
    serde_json::from_str(document).map_err(|_| unwritable())
}

fn unwritable() -> ApiError {
    ApiError::internal("the answer of a ceremony could not be written")
}

/// The source of the request.
fn origin(asked: &Unadmitted<'_>) -> String {
    source::network(asked.request.peer)
}

/// Counts the request against the limit of its address.
fn limited(asked: &Unadmitted<'_>) -> Result<(), ApiError> {
    let bucket = Bucket {
        key: format!("seal/ceremonies/{}", origin(asked)),
        events: REQUESTS,
        period: PERIOD_MILLISECONDS,
        burst: REQUESTS,
    };
    match asked.server.host.rate_limits.take(&[bucket]) {
        Ok(_) => Ok(()),
        Err(milliseconds) => Err(ApiError::too_many_requests(milliseconds.div_ceil(1000))),
    }
}

/// Takes a step of a ceremony. Without shares there are no ceremonies.
fn held<T>(
    asked: &Unadmitted<'_>,
    step: impl FnOnce(&dyn Ceremonies) -> Result<T, CeremonyError>,
) -> Result<T, CeremonyError> {
    match &asked.server.host.ceremonies {
        Some(ceremonies) => step(&**ceremonies),
        None => Err(SealError::Automatic.into()),
    }
}

fn fields<'a>(asked: &Unadmitted<'a>) -> Result<Fields<'a>, ApiError> {
    Ok(Fields::of_body(asked.request)?)
}

/// The share and the nonce of the body.
fn share(asked: &Unadmitted<'_>) -> Result<(Zeroizing<Vec<u8>>, String), ApiError> {
    let fields = fields(asked)?;
    let key = fields.string("key")?.map(Zeroizing::new);
    let key = key.filter(|key| !key.is_empty()).ok_or_else(|| {
        let text = "'key' must be specified in request body as JSON";
        ApiError::plain(400, text)
    })?;
    let key = decoded(&key)
        .ok_or_else(|| ApiError::plain(400, "'key' must be a valid hex or base64 string"))?;
    Ok((key, fields.string("nonce")?.unwrap_or_default()))
}

/// GET `init`
pub(super) fn rekey_progress(asked: &Unadmitted<'_>) -> Result<Written, ApiError> {
    rekey_status(&refused(held(asked, |it| it.rekey()), REKEY)?)
}

/// DELETE `init`
pub(super) fn cancel_rekey(asked: &Unadmitted<'_>) -> Result<Written, ApiError> {
    refused(held(asked, |it| it.cancel_rekey(&origin(asked))), REKEY)?;
    Ok(Written::Nothing)
}

/// GET `verify`
pub(super) fn verification_progress(asked: &Unadmitted<'_>) -> Result<Written, ApiError> {
    let ceremony = held(asked, |it| it.rekey_verification());
    verification_status(&refused(ceremony, VERIFICATION)?)
}

/// POST `verify`
pub(super) fn verify(asked: &Unadmitted<'_>) -> Result<Written, ApiError> {
    let (share, nonce) = share(asked)?;
    let given = held(asked, |it| it.verify_rekey(&share, &nonce));
    let ceremony = given.map_err(|error| refusal(error, VERIFICATION, share.len()))?;
    match (&ceremony.nonce, &ceremony.verification_nonce) {
        (None, nonce) => Written::document(&VerificationDone {
            nonce: nonce.as_deref().unwrap_or_default(),
            complete: true,
        }),
        _ => verification_status(&ceremony),
    }
}

/// DELETE `verify`
pub(super) fn restart_verification(asked: &Unadmitted<'_>) -> Result<Written, ApiError> {
    let restarted = held(asked, |it| it.restart_rekey_verification(&origin(asked)));
    verification_status(&refused(restarted, VERIFICATION)?)
}

/// POST `init`
pub(super) fn begin_rekey(asked: &Unadmitted<'_>) -> Result<Written, ApiError> {
    let fields = fields(asked)?;
    refuse_encryption(&fields, "pgp_keys")?;
    if fields.boolean("backup")?.unwrap_or_default() {
        let text = "backup is not supported: new shares are shown once and kept nowhere";
        return Err(ApiError::plain(400, text));
    }
    let number = |name| -> Result<u32, ApiError> {
        let number = fields.integer(name)?.unwrap_or_default();
        Ok(u32::try_from(number).unwrap_or_default())
    };
    let (shares, threshold) = (number("secret_shares")?, number("secret_threshold")?);
    let verification = fields.boolean("require_verification")?.unwrap_or_default();
    if threshold > shares {
        let text = "provided threshold greater than the total shares";
        return Err(ApiError::plain(400, text));
    }
    let begun = held(asked, |it| {
        it.begin_rekey(shares, threshold, verification, &origin(asked))
    });
    rekey_status(&refused(begun, REKEY)?)
}

/// POST `update`
pub(super) fn give_for_rekey(asked: &Unadmitted<'_>) -> Result<Written, ApiError> {
    let (share, nonce) = share(asked)?;
    let given = held(asked, |it| it.give_for_rekey(&share, &nonce));
    let progress = given.map_err(|error| refusal(error, REKEY, share.len()))?;
    if progress.new_shares.is_empty() {
        return rekey_status(&progress.ceremony);
    }
    let (hexadecimal, base64) = written_shares(&progress.new_shares);
    let verification_nonce = progress.ceremony.verification_nonce.as_deref();
    Written::document(&Rekeyed {
        nonce: &nonce,
        complete: true,
        keys: hexadecimal.iter().map(|key| key.as_str()).collect(),
        keys_base64: base64.iter().map(|key| key.as_str()).collect(),
        pgp_fingerprints: None,
        backup: false,
        verification_required: verification_nonce.is_some(),
        verification_nonce,
    })
}

/// GET `attempt`
pub(super) fn root_progress(asked: &Unadmitted<'_>) -> Result<Written, ApiError> {
    root_status(&refused(held(asked, |it| it.root_generation()), ROOT)?, "")
}

/// DELETE `attempt`
pub(super) fn cancel_root(asked: &Unadmitted<'_>) -> Result<Written, ApiError> {
    let cancelled = held(asked, |it| it.cancel_root_generation(&origin(asked)));
    refused(cancelled, ROOT)?;
    Ok(Written::Nothing)
}

/// POST `attempt`
pub(super) fn begin_root(asked: &Unadmitted<'_>) -> Result<Written, ApiError> {
    let fields = fields(asked)?;
    refuse_encryption(&fields, "pgp_key")?;
    let given = fields.string("otp")?.map(Zeroizing::new);
    let given = given.filter(|given| !given.is_empty());
    let made = match &given {
        Some(given) if given.len() != ROOT_TOKEN_CHARACTERS => {
            return Err(ApiError::plain(400, "OTP string is wrong length"));
        }
        Some(_) => None,
        None => Some(one_time_password(asked)?),
    };
    let password = given.as_ref().or(made.as_ref());
    let password = password.map(|password| password.as_bytes());
    let begun = held(asked, |it| {
        it.begin_root_generation(password.unwrap_or_default(), &origin(asked))
    });
    let shown = made.as_ref().map_or("", |made| made.as_str());
    root_status(&refused(begun, ROOT)?, shown)
}

/// Random characters, as many as a root token has.
fn one_time_password(asked: &Unadmitted<'_>) -> Result<Zeroizing<String>, ApiError> {
    let mut password = Zeroizing::new(String::with_capacity(ROOT_TOKEN_CHARACTERS));
    let mut drawn = Zeroizing::new([0_u8; 64]);
    while password.len() < ROOT_TOKEN_CHARACTERS {
        asked.server.fill_randomly(&mut *drawn)?;
        for byte in drawn.iter() {
            // All values of the six remaining bits are equally likely, and those beyond the alphabet are skipped, so all characters are equally
            // likely.
            if let Some(character) = BASE62.get(usize::from(byte >> 2))
                && password.len() < ROOT_TOKEN_CHARACTERS
            {
                password.push(char::from(*character));
            }
        }
    }
    Ok(password)
}

/// POST `update`
pub(super) fn give_for_root(asked: &Unadmitted<'_>) -> Result<Written, ApiError> {
    let (share, nonce) = share(asked)?;
    let given = held(asked, |it| it.give_for_root(&share, &nonce));
    let progress = given.map_err(|error| refusal(error, ROOT, share.len()))?;
    let Some(password) = progress.one_time_password else {
        return root_status(&progress.ceremony, "");
    };
    let token = asked.server.access.generate_root()?;
    let hidden: Zeroizing<Vec<u8>> = Zeroizing::new(
        token
            .expose()
            .bytes()
            .zip(password.iter())
            .map(|(token, password)| token ^ password)
            .collect(),
    );
    asked.root_token.set(Some(token));
    let encoded = Zeroizing::new(STANDARD_NO_PAD.encode(&*hidden));
    asked
        .server
        .tell_operator("holders of enough shares have made a root token");
    Written::document(&RootStatus {
        nonce: &nonce,
        started: true,
        progress: progress.ceremony.required,
        required: progress.ceremony.required,
        complete: true,
        encoded_token: &encoded,
        encoded_root_token: &encoded,
        pgp_fingerprint: "",
        otp: "",
        otp_length: ROOT_TOKEN_CHARACTERS,
    })
}

fn root_status(ceremony: &Ceremony, password: &str) -> Result<Written, ApiError> {
    Written::document(&RootStatus {
        nonce: ceremony.nonce.as_deref().unwrap_or_default(),
        started: ceremony.nonce.is_some(),
        progress: ceremony.given,
        required: ceremony.required,
        complete: false,
        encoded_token: "",
        encoded_root_token: "",
        pgp_fingerprint: "",
        otp: password,
        otp_length: ROOT_TOKEN_CHARACTERS,
    })
}

fn rekey_status(ceremony: &Ceremony) -> Result<Written, ApiError> {
    Written::document(&RekeyStatus {
        nonce: ceremony.nonce.as_deref().unwrap_or_default(),
        started: ceremony.nonce.is_some(),
        t: ceremony.threshold,
        n: ceremony.shares,
        progress: ceremony.given,
        required: ceremony.required,
        pgp_fingerprints: None,
        backup: false,
        verification_required: ceremony.verification,
        verification_nonce: ceremony.verification_nonce.as_deref(),
    })
}

fn verification_status(ceremony: &Ceremony) -> Result<Written, ApiError> {
    Written::document(&VerificationStatus {
        nonce: ceremony.verification_nonce.as_deref().unwrap_or_default(),
        started: ceremony.verification_nonce.is_some(),
        t: ceremony.threshold,
        n: ceremony.shares,
        progress: ceremony.given,
    })
}

/// Refuses to encrypt the answer: an answer in clear would disclose the secrets.
fn refuse_encryption(fields: &Fields<'_>, field: &'static str) -> Result<(), ApiError> {
    let asked = fields.list(field)?.unwrap_or_default();
    if asked.iter().all(String::is_empty) {
        return Ok(());
    }
    let text = format!("{field} is not supported: leave it out");
    Err(ApiError::plain(400, text))
}

/// The texts of a ceremony.
#[derive(Clone, Copy)]
struct Words {
    /// The refusal of a second ceremony.
    under_way: &'static str,
    /// The refusal of a share without a ceremony.
    not_under_way: &'static str,
    /// The purpose of a share.
    operation: &'static str,
    /// The refusal on a server without shares. It names the command that does the same.
    automatic: &'static str,
    /// The refusal of wrong shares.
    wrong: &'static str,
}

const ROOT: Words = Words {
    under_way: "root generation already in progress",
    not_under_way: "no root generation in progress",
    operation: "root generation operation",
    automatic: "the seal is a key file: stop the server and run `gatehouse operator generate-root` on its machine",
    wrong: "root generation aborted: the shares do not yield the key",
};
const REKEY: Words = Words {
    under_way: "rekey already in progress",
    not_under_way: "no barrier rekey in progress",
    operation: "rekey operation",
    automatic: "the seal is a key file: stop the server and run `gatehouse operator rekey` on its machine",
    wrong: "the shares do not yield the key",
};
const VERIFICATION: Words = Words {
    not_under_way: "no rekey configuration found",
    operation: "verify operation",
    wrong: "rekey verification failed; incorrect key shares supplied",
    ..REKEY
};

fn refused<T>(result: Result<T, CeremonyError>, words: Words) -> Result<T, ApiError> {
    // The request had no share, so no share has the wrong length.
    result.map_err(|error| refusal(error, words, 0))
}

/// The refusal of a request with a share of this length, in bytes.
fn refusal(error: CeremonyError, words: Words, share: usize) -> ApiError {
    let text = match error {
        CeremonyError::Sealed => return ServiceError::Sealed.into(),
        CeremonyError::Failure(SealError::Automatic) => words.automatic.to_owned(),
        CeremonyError::Failure(failure) => return failure.into(),
        CeremonyError::NotInitialized => "server is not yet initialized".to_owned(),
        CeremonyError::UnderWay => words.under_way.to_owned(),
        CeremonyError::NotUnderWay => words.not_under_way.to_owned(),
        CeremonyError::OtherNonce(nonce) => format!(
            "incorrect nonce supplied; nonce for this {} is \"{nonce}\"",
            words.operation
        ),
        CeremonyError::GivenBefore => {
            "given key has already been provided during this generation operation".to_owned()
        }
        CeremonyError::Malformed => malformed(share),
        CeremonyError::WrongShares => words.wrong.to_owned(),
        CeremonyError::InvalidNumbers => format!(
            "invalid rekey seal configuration: {}",
            InitializeSealError::InvalidNumbers
        ),
        CeremonyError::OthersOwn => {
            "another address began this lately: cancel it from there, or ten minutes later"
                .to_owned()
        }
        CeremonyError::VerificationDue(nonce) => format!(
            "rekey operation already finished; verification must be performed; nonce for the verification operation is \"{nonce}\""
        ),
        CeremonyError::NothingToVerify => "no rekey verification in progress".to_owned(),
    };
    ApiError::plain(400, text)
}
