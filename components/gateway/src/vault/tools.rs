//! `sys/tools`: random bytes, and hashes of data that the caller sends.

use base64::DecodeError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::ApiError;
use super::fields::Fields;
use super::text::{excerpt, quoted};

/// The maximum number of random bytes in one answer.
const MAXIMUM_BYTES: i64 = 128 * 1024;
/// The default number of random bytes.
const DEFAULT_BYTES: i64 = 32;
/// The names of sources of random bytes. All of them are the same source.
const SOURCES: [&str; 3] = ["platform", "seal", "all"];
/// The maximum number of bytes of a caller's text in a message.
const SHOWN_BYTES: usize = 64;

/// `sys/tools/random`, and below it a source, a number of bytes, or both
pub(super) fn random(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let named = (call.find_captured("source"), call.find_captured("urlbytes"));
    let (source, count) = match named {
        (Some(count), None) if !SOURCES.contains(&count) => (None, Some(count)),
        named => named,
    };
    let in_body = fields.integer("bytes")?;
    let bytes = match count {
        None => in_body.unwrap_or(DEFAULT_BYTES),
        Some(count) => count.parse().map_err(|_| {
            let count = quoted(excerpt(count, SHOWN_BYTES));
            refused(format!(
                "error parsing url-set byte count: strconv.Atoi: parsing {count}: invalid syntax"
            ))
        })?,
    };
    if bytes < 1 {
        return Err(refused("'bytes' cannot be less than 1".to_owned()));
    }
    if bytes > MAXIMUM_BYTES {
        return Err(refused(format!(
            "'bytes' should be less than {MAXIMUM_BYTES}"
        )));
    }
    let format = Format::from_field(&fields, Format::Base64, quoted)?;
    if let Some(source) = source.filter(|source| !SOURCES.contains(source)) {
        let source = quoted(excerpt(source, SHOWN_BYTES));
        return Err(refused(format!("unsupported entropy source {source}")));
    }
    let mut drawn = vec![0; usize::try_from(bytes).unwrap_or_default()];
    call.server.fill_randomly(&mut drawn)?;
    let only_platform = (source == Some("seal")).then(|| {
        "no seal/entropy augmentation available, using platform entropy source".to_owned()
    });
    let warnings = only_platform
        .into_iter()
        .chain(fields.ignored_warning())
        .chain(
            fields
                .replaced_warning("source")
                .filter(|_| call.captured.is_empty()),
        );
    let reply = Reply::data(&json!({ "random_bytes": format.write(&drawn) }))?;
    Ok(Some(reply.warned(warnings)))
}

/// `sys/tools/hash`, and below it the algorithm
pub(super) fn hash(call: &Call<'_>) -> Answer {
    let fields = call.fields()?;
    let input = fields.string("input")?.unwrap_or_default();
    let input = STANDARD.decode(&input).map_err(|error| {
        let at = position(&error, input.len());
        refused(format!(
            "unable to decode input as base64: illegal base64 data at input byte {at}"
        ))
    })?;
    let algorithm = match call.find_captured("urlalgorithm") {
        None => fields.string("algorithm")?,
        Some(in_path) => Some(in_path.to_owned()),
    };
    let algorithm = algorithm.unwrap_or_else(|| "sha2-256".to_owned());
    let format = Format::from_field(&fields, Format::Hexadecimal, str::to_owned)?;
    let sum = match algorithm.as_str() {
        "sha2-224" => Sha224::digest(&input).to_vec(),
        "sha2-256" => Sha256::digest(&input).to_vec(),
        "sha2-384" => Sha384::digest(&input).to_vec(),
        "sha2-512" => Sha512::digest(&input).to_vec(),
        other => {
            let other = excerpt(other, SHOWN_BYTES);
            return Err(refused(format!("unsupported algorithm {other}")));
        }
    };
    let reply = Reply::data(&json!({ "sum": format.write(&sum) }))?;
    Ok(Some(reply.warned(fields.ignored_warning())))
}

/// The format of bytes in the answer.
#[derive(Clone, Copy)]
enum Format {
    Hexadecimal,
    Base64,
}

impl Format {
    /// Reads the field `format`. A refusal repeats it as `shown` formats it.
    fn from_field(
        fields: &Fields<'_>,
        default: Self,
        shown: impl FnOnce(&str) -> String,
    ) -> Result<Self, ApiError> {
        match fields.string("format")?.as_deref() {
            None => Ok(default),
            Some("hex") => Ok(Self::Hexadecimal),
            Some("base64") => Ok(Self::Base64),
            Some(unknown) => {
                let unknown = shown(excerpt(unknown, SHOWN_BYTES));
                Err(refused(format!(
                    "unsupported encoding format {unknown}; must be \"hex\" or \"base64\""
                )))
            }
        }
    }

    fn write(self, bytes: &[u8]) -> String {
        match self {
            Self::Hexadecimal => base16ct::lower::encode_string(bytes),
            Self::Base64 => STANDARD.encode(bytes),
        }
    }
}

/// The position at which the text is no longer base64. If only its end is wrong, the start of its last group.
fn position(error: &DecodeError, length: usize) -> usize {
    match error {
        DecodeError::InvalidByte(at, _) => *at,
        _ => length - length % 4,
    }
}

fn refused(text: String) -> ApiError {
    ApiError::plain(400, text)
}
