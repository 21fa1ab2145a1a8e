//! `sys/tools`: random bytes, and hashes of what the caller sends.

use base64::DecodeError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_access_api::Operation;
use serde_json::json;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use super::call::{Answer, Call, ignored_fields, replaced_field};
use super::envelope::Reply;
use super::errors::Fault;
use super::fields::Fields;
use super::text::{excerpt, quoted};
use crate::vault::server::Server;

/// Most random bytes in one answer.
const MAXIMUM_BYTES: i64 = 128 * 1024;
/// Random bytes where nobody says how many.
const DEFAULT_BYTES: i64 = 32;
/// Where random bytes may come from; there is one source.
const SOURCES: [&str; 3] = ["platform", "seal", "all"];
/// Most of a caller's word that is repeated.
const SHOWN_BYTES: usize = 64;

/// Answers a request below `sys/tools/`.
pub(super) fn handle(server: &Server<'_>, call: &Call<'_>, below: &str) -> Answer {
    let (tool, rest) = below.split_once('/').unwrap_or((below, ""));
    match (tool, call.operation) {
        ("random", Operation::Update) => random(server, call, rest),
        ("hash", Operation::Update) => hash(call, rest),
        ("random" | "hash", _) => Err(Fault::unsupported_operation()),
        _ => Err(Fault::unsupported_path()),
    }
}

fn random(server: &Server<'_>, call: &Call<'_>, path: &str) -> Answer {
    let fields = call.fields()?;
    let (source, count) = match path.split_once('/') {
        Some((source, count)) => (source, count),
        None if SOURCES.contains(&path) => (path, ""),
        None => ("", path),
    };
    let in_body = fields.integer("bytes")?;
    let bytes = match count {
        "" => in_body.unwrap_or(DEFAULT_BYTES),
        count => count.parse().map_err(|_| {
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
    let format = Format::of(&fields, Format::Base64, quoted)?;
    if !source.is_empty() && !SOURCES.contains(&source) {
        let source = quoted(excerpt(source, SHOWN_BYTES));
        return Err(refused(format!("unsupported entropy source {source}")));
    }
    let mut drawn = vec![0; usize::try_from(bytes).unwrap_or_default()];
    server.fill_randomly(&mut drawn)?;
    let only_platform = (source == "seal").then(|| {
        "no seal/entropy augmentation available, using platform entropy source".to_owned()
    });
    let warnings = only_platform
        .into_iter()
        .chain(ignored_fields(&fields, &["bytes", "format", "source"]))
        .chain(replaced_field(&fields, "source"));
    let reply = Reply::data(&json!({ "random_bytes": format.write(&drawn) }))?;
    Ok(Some(reply.warned(warnings)))
}

fn hash(call: &Call<'_>, in_path: &str) -> Answer {
    let fields = call.fields()?;
    let input = fields.string("input")?.unwrap_or_default();
    let input = STANDARD.decode(&input).map_err(|error| {
        let at = position(&error, input.len());
        refused(format!(
            "unable to decode input as base64: illegal base64 data at input byte {at}"
        ))
    })?;
    let algorithm = match in_path {
        "" => fields.string("algorithm")?,
        in_path => Some(in_path.to_owned()),
    };
    let algorithm = algorithm.unwrap_or_else(|| "sha2-256".to_owned());
    let format = Format::of(&fields, Format::Hexadecimal, str::to_owned)?;
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
    let warnings = ignored_fields(&fields, &["input", "algorithm", "format"]);
    let reply = Reply::data(&json!({ "sum": format.write(&sum) }))?;
    Ok(Some(reply.warned(warnings)))
}

/// How bytes are written.
#[derive(Clone, Copy)]
enum Format {
    Hexadecimal,
    Base64,
}

impl Format {
    /// What the field `format` says; a refusal repeats it as `shown` has it.
    fn of(
        fields: &Fields<'_>,
        default: Self,
        shown: impl FnOnce(&str) -> String,
    ) -> Result<Self, Fault> {
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

/// Where the text stops being base64; where its end is wrong, the start of its last group.
fn position(error: &DecodeError, length: usize) -> usize {
    match error {
        DecodeError::InvalidByte(at, _) => *at,
        _ => length - length % 4,
    }
}

fn refused(text: String) -> Fault {
    Fault::plain(400, text)
}
