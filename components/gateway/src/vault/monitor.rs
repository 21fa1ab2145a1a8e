//! `sys/monitor`: the lines of the server's log as they are logged, for as long as the client reads them.

use std::fmt::Write;

use gatehouse_access_api::{self as access, TokenReference};
use jiff::Timestamp;
use serde_json::json;

use super::call::Call;
use super::errors::ApiError;
use super::reading_on;
use crate::continuation::{Continuation, LogFormat, LogPlace};
use crate::host::{LogLevel, LogLine, LogLines};
use crate::parts::{Part, ResumeError};
use crate::vault::server::Server;
use crate::{Request, Response, query};

/// The path below `v1/`.
const PATH: &str = "sys/monitor";

/// The last line for a client that follows the log of a server that was sealed.
const SEALED: &str = "the server was sealed: its log is not shown any more";

/// Begins to send the lines that the server logs from now on.
pub(super) fn read(call: &Call<'_>) -> Result<Response, ApiError> {
    let server = call.server;
    let asked = |name| query::first(&call.request.query, name).filter(|text| !text.is_empty());
    let level = match asked("log_level").as_deref() {
        None => LogLevel::Info,
        Some(name) => level_of(name).ok_or_else(|| ApiError::plain(400, "unknown log level"))?,
    };
    let format = match asked("log_format").as_deref() {
        None => LogFormat::Standard,
        Some(name) => format_of(name).ok_or_else(|| ApiError::plain(400, "unknown log format"))?,
    };
    // Before each part, the rights of a token with limited uses are looked up without a use. The lookup finds neither conditional rules nor, after
    // the last use, any rule. The answer would be cut off before its first part.
    let token = TokenReference::Id(call.caller_token()?.into());
    if call.admission.limited_uses && !reading_on::permits_without_conditions(server, &token, PATH)?
    {
        return Err(ApiError::denied());
    }
    let Some(LogLines { position, .. }) = server.host.log.follow(None, level) else {
        let text = "this host keeps no log lines to follow: read its log where it writes it";
        return Err(ApiError::plain(400, text));
    };
    let place = LogPlace {
        position,
        level,
        format,
    };
    let mut response = Response::new(200, "text/plain; charset=utf-8", Vec::new());
    response.rest = Some(Continuation::Log(place).rest());
    Ok(response)
}

/// Sends the lines that were logged since `place`, after checking the caller's rights again.
///
/// # Errors
///
/// When the request is a different one, or its caller may no longer read the log.
pub(crate) fn resume(
    server: &Server<'_>,
    request: &Request,
    mut place: LogPlace,
) -> Result<Part, ResumeError> {
    reading_on::check(request, PATH)?;
    match reading_on::may_go_on(server, request, PATH) {
        Ok(true) => {}
        Ok(false) => return Err(ResumeError::Refused),
        Err(access::ServiceError::Sealed) => {
            let mut text = String::new();
            place.format.write_note(&mut text, SEALED);
            return Ok(Part {
                body: text.into_bytes(),
                rest: None,
            });
        }
        // No line is sent before the caller is identified, but the client may wait for that: the log is needed most when the store fails.
        Err(access::ServiceError::Contended | access::ServiceError::Unavailable(_)) => {
            return Ok(Part {
                body: Vec::new(),
                rest: Some(Continuation::Log(place).rest()),
            });
        }
        Err(failure) => {
            server.tell_operator(&failure.to_string());
            return Err(ResumeError::Failed);
        }
    }
    let log = &server.host.log;
    let found = log.follow(Some(place.position), place.level);
    let found = found.ok_or(ResumeError::Failed)?;
    place.position = found.position;
    let mut text = String::new();
    if found.lost > 0 {
        let lost = format!("{} lines were logged faster than they are told", found.lost);
        place.format.write_note(&mut text, &lost);
    }
    for line in &found.lines {
        place.format.write(&mut text, line);
    }
    Ok(Part {
        body: text.into_bytes(),
        rest: Some(Continuation::Log(place).rest()),
    })
}

fn level_of(name: &str) -> Option<LogLevel> {
    let known = [
        ("error", LogLevel::Error),
        ("err", LogLevel::Error),
        ("warn", LogLevel::Warn),
        ("warning", LogLevel::Warn),
        ("info", LogLevel::Info),
        ("debug", LogLevel::Debug),
        ("trace", LogLevel::Trace),
    ];
    let mut known = known.iter();
    known
        .find(|(known, _)| known.eq_ignore_ascii_case(name.trim()))
        .map(|(_, level)| *level)
}

fn format_of(name: &str) -> Option<LogFormat> {
    match () {
        () if name.eq_ignore_ascii_case("standard") => Some(LogFormat::Standard),
        () if name.eq_ignore_ascii_case("json") => Some(LogFormat::Json),
        () => None,
    }
}

const fn name_of(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
        LogLevel::Trace => "trace",
    }
}

impl LogFormat {
    fn write(self, text: &mut String, line: &LogLine) {
        let time = i64::try_from(line.time).unwrap_or(i64::MAX);
        let time = Timestamp::from_millisecond(time).unwrap_or(Timestamp::MAX);
        let level = name_of(line.level);
        // Writing to a string never fails.
        let _ = match self {
            Self::Standard => {
                let level = format!("[{}]", level.to_ascii_uppercase());
                writeln!(text, "{time:.3} {level:<7} {}: {}", line.target, line.text)
            }
            Self::Json => writeln!(
                text,
                "{}",
                json!({
                    "@timestamp": format!("{time:.3}"),
                    "@level": level,
                    "@module": line.target,
                    "@message": line.text,
                })
            ),
        };
    }

    /// Writes a note that is not a line of the log.
    fn write_note(self, text: &mut String, note: &str) {
        let _ = match self {
            Self::Standard => writeln!(text, "[{note}]"),
            Self::Json => writeln!(text, "{}", json!({"@level": "warn", "@message": note})),
        };
    }
}
