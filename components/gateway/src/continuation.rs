//! The continuation of an answer in parts: where the next part begins.

use serde::{Deserialize, Serialize};

use crate::host::LogLevel;
use crate::organizations::ListCursor;
use crate::parts::{Rest, ResumeError};

/// The point at which an answer continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Continuation {
    /// The list of organizations.
    Organizations(ListCursor),
    /// The lines of the server's log.
    Log(LogPlace),
    /// A backup of the server.
    Backup(BackupPlace),
}

impl Continuation {
    /// A continuation that [`Self::rest`] has written.
    ///
    /// # Errors
    ///
    /// [`ResumeError::Foreign`] for anything else.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, ResumeError> {
        serde_json::from_slice(bytes).map_err(|_| ResumeError::Foreign)
    }

    pub(crate) fn rest(&self) -> Rest {
        Rest {
            wait: match self {
                Self::Organizations(_) | Self::Backup(_) => 0,
                Self::Log(_) => LogPlace::WAIT,
            },
            // Made of text and lists of text, which always serialize.
            continuation: serde_json::to_vec(self).unwrap_or_default(),
        }
    }
}

/// How far the log has been told to a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogPlace {
    pub(crate) position: u64,
    pub(crate) level: LogLevel,
    pub(crate) format: LogFormat,
}

impl LogPlace {
    /// How long to wait for further lines, in milliseconds.
    pub(crate) const WAIT: u32 = 500;
}

/// How a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Time, level, target and text, for people.
    Standard,
    /// An object for each line.
    Json,
}

/// The backup that a client reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackupPlace {
    /// By which the host knows it.
    pub(crate) name: String,
}
