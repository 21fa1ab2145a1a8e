//! The continuation of an answer in parts: where the next part begins.

use serde::{Deserialize, Serialize};

use crate::organizations::ListPlace;
use crate::parts::{Rest, ResumeError};
use crate::vault::{BackupPlace, LogPlace};

/// The point at which an answer continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Continuation {
    /// The list of organizations.
    Organizations(ListPlace),
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
