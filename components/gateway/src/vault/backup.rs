//! `sys/backup`: all data of the server at one moment, as a file that the client reads in parts.

use gatehouse_access_api::{ServiceError, TokenReference};

use super::call::Call;
use super::errors::ApiError;
use super::reading_on;
use crate::continuation::{BackupPlace, Continuation};
use crate::host::BackupError;
use crate::parts::{Part, ResumeError};
use crate::vault::server::Server;
use crate::{Request, Response};

/// The path below `v1/`.
const PATH: &str = "sys/backup";

const MEDIA_TYPE: &str = "application/octet-stream";

/// The name that browsers give the file.
const DISPOSITION: &str = "attachment; filename=\"gatehouse.backup\"";

/// Begins a backup.
pub(super) fn read(call: &Call<'_>) -> Result<Response, ApiError> {
    let server = call.server;
    // Before each part, the rights of a token with limited uses are looked up without a use. The lookup finds neither conditional rules nor, after
    // the last use, any rule. The answer would be cut off before its first part.
    let token = TokenReference::Id(call.caller_token()?.into());
    if call.admission.limited_uses && !reading_on::permits_without_conditions(server, &token, PATH)?
    {
        return Err(ApiError::denied());
    }
    let installation = match server.access.current_cluster() {
        Ok(cluster) => cluster.map(|cluster| cluster.id),
        Err(ServiceError::NotInitialized) => None,
        Err(failure) => return Err(failure.into()),
    };
    let begun = server.host.backups.begin(installation.as_deref());
    let name = begun.map_err(refusal)?;
    let mut response =
        Response::new(200, MEDIA_TYPE, Vec::new()).with_header("content-disposition", DISPOSITION);
    response.rest = Some(Continuation::Backup(BackupPlace { name }).rest());
    Ok(response)
}

/// The next part of a backup. The caller and their rights are checked again.
///
/// # Errors
///
/// When the request is a different one, its caller may not read the rest, or the host does not continue. The backup is then cut off.
pub(crate) fn resume(
    server: &Server<'_>,
    request: &Request,
    place: BackupPlace,
) -> Result<Part, ResumeError> {
    reading_on::check(request, PATH)?;
    match reading_on::may_go_on(server, request, PATH) {
        Ok(true) => {}
        Ok(false) => return Err(ResumeError::Refused),
        Err(failure) => {
            server.tell_operator(&failure.to_string());
            return Err(ResumeError::Failed);
        }
    }
    match server.host.backups.next(&place.name) {
        Ok(Some(body)) => Ok(Part {
            body,
            rest: Some(Continuation::Backup(place).rest()),
        }),
        Ok(None) => Ok(Part {
            body: Vec::new(),
            rest: None,
        }),
        Err(failure) => {
            server.tell_operator(&failure.to_string());
            Err(ResumeError::Failed)
        }
    }
}

fn refusal(failure: BackupError) -> ApiError {
    let text = failure.to_string();
    match failure {
        BackupError::Unsupported => ApiError::plain(400, text),
        BackupError::Busy => ApiError::plain(503, text),
        BackupError::Unknown | BackupError::Unavailable(_) => {
            ApiError::plain(503, "the backup cannot be made now").with_detail(text)
        }
    }
}
