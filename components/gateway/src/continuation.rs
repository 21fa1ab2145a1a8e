//! The continuation of an answer in parts: the position at which the next part begins.

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
    /// A continuation that was written by [`Self::rest`].
    ///
    /// # Errors
    ///
    /// [`ResumeError::Foreign`] for any other bytes.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, ResumeError> {
        serde_json::from_slice(bytes).map_err(|_| ResumeError::Foreign)
    }

    pub(crate) fn rest(&self) -> Rest {
        Rest {
            wait: match self {
                Self::Organizations(_) | Self::Backup(_) => 0,
                Self::Log(_) => LogPlace::WAIT,
            },
            // It consists of texts, numbers and lists, which always serialize.
            continuation: serde_json::to_vec(self).unwrap_or_default(),
        }
    }
}

/// The position up to which a client has received the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogPlace {
    pub(crate) position: u64,
    pub(crate) level: LogLevel,
    pub(crate) format: LogFormat,
}

impl LogPlace {
    /// The time to wait for further lines, in milliseconds.
    pub(crate) const WAIT: u32 = 500;
}

/// The format of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Time, level, target and text, readable by people.
    Standard,
    /// One JSON object per line.
    Json,
}

/// The backup that a client reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackupPlace {
    /// The name by which the host knows the backup.
    pub(crate) name: String,
}
