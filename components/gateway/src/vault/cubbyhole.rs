//! `cubbyhole`: secrets that one token keeps for itself and that end with it (contract 6.1).

use gatehouse_access_api::{Access, CubbyholeError, Operation, Refusal};
use serde_json::json;
use serde_json::value::RawValue;

use super::call::{Answer, Call};
use super::envelope::Reply;
use super::errors::{Fault, refusal};
use super::fields::Verbatim;

/// Answers a request at `path` below `cubbyhole/`, or for all of it where that is empty.
pub(super) fn handle(access: &dyn Access, call: &Call<'_>, path: &str) -> Answer {
    let token = call.caller_token()?;
    match call.operation {
        Operation::List => {
            let keys = access.list_cubbyhole(token, path).map_err(fault)?;
            if keys.is_empty() {
                return Err(Fault::absent());
            }
            Reply::data(&json!({ "keys": keys })).map(Some)
        }
        Operation::Help | Operation::Patch => Err(Fault::unsupported_operation()),
        _ if path.is_empty() => Err(Fault::plain(400, "missing path")),
        Operation::Read => {
            let secret = access.read_cubbyhole(token, path).map_err(fault)?;
            shown(secret.ok_or_else(Fault::absent)?).map(Some)
        }
        Operation::Delete => done(call, access.delete_cubbyhole(token, path)),
        Operation::Update | Operation::CreateOrUpdate => {
            let content = content(call)?;
            let permission = call.admission.write;
            done(
                call,
                access.write_cubbyhole(token, path, &content, permission),
            )
        }
    }
}

/// The object that was sent, to the digit. A secret is no field: what is `null` in it stays so.
fn content(call: &Call<'_>) -> Result<Vec<u8>, Fault> {
    let fields = Verbatim::of_body(call.request)?;
    if fields.is_empty() {
        return Err(Fault::plain(400, "missing data fields"));
    }
    serde_json::to_vec(&fields)
        .map_err(|error| Fault::internal(format!("a secret could not be written: {error}")))
}

fn shown(secret: Vec<u8>) -> Result<Reply, Fault> {
    // The message would quote what it could not read.
    let unreadable = || Fault::internal("a token's secret could not be read");
    let text = String::from_utf8(secret).map_err(|_| unreadable())?;
    let data: Box<RawValue> = RawValue::from_string(text).map_err(|_| unreadable())?;
    Reply::data(&data)
}

/// The answer to a change. What a token changes with its last use ends with it, so that there is nothing left to do.
fn done(call: &Call<'_>, changed: Result<(), CubbyholeError>) -> Answer {
    let caller = call.admission.caller.as_ref();
    let was_last_use =
        call.admission.limited_uses && caller.is_some_and(|caller| caller.num_uses == 0);
    match changed {
        Err(CubbyholeError::InvalidToken) if was_last_use => Ok(None),
        changed => {
            changed.map_err(fault)?;
            Ok(None)
        }
    }
}

fn fault(error: CubbyholeError) -> Fault {
    match error {
        CubbyholeError::InvalidToken => refusal(Refusal::InvalidToken, ""),
        CubbyholeError::BatchToken => Fault::plain(
            400,
            "cubbyhole operations are only supported by \"service\" type tokens",
        ),
        CubbyholeError::Denied => Fault::denied(),
        CubbyholeError::Failure(failure) => failure.into(),
        error @ (CubbyholeError::PathTooLong(_)
        | CubbyholeError::TooManySecrets(_)
        | CubbyholeError::TooLarge(_)) => Fault::plain(400, error.to_string()),
    }
}
