//! The audit log: records of requests and answers (SEC-L1 to L4).

pub use super::bindings::gatehouse::host::audit::{Side, Sink as AuditSink};

/// One record.
pub struct AuditEntry {
    /// The side of the exchange: request or answer.
    pub side: Side,
    /// A JSON object. It may hold secrets: the log hashes every text in it that `clear` does not name.
    pub document: String,
    /// JSON pointers to the texts that stay readable.
    pub clear: Vec<String>,
}

/// The reason why a record was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// No sink accepted the record.
    #[error("no audit sink takes records")]
    NoSink,
    /// The document is not a JSON object, or is too large.
    #[error("an audit record is malformed or too large")]
    Invalid,
}

/// An audit log. The WIT interface is the specification.
pub trait AuditLog {
    /// True if there is any sink.
    fn is_on(&self) -> bool;

    /// Writes a record, durably in at least one sink.
    fn write(&self, entry: AuditEntry) -> Result<(), AuditError>;

    /// All sinks, sorted by name.
    fn sinks(&self) -> Vec<AuditSink>;

    /// The text that the records of a sink show in place of `text`; `None` where there is no such sink.
    fn hash(&self, sink: &str, text: &str) -> Option<String>;
}

/// A host without an audit log.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAudit;

impl AuditLog for NoAudit {
    fn is_on(&self) -> bool {
        false
    }

    fn write(&self, _: AuditEntry) -> Result<(), AuditError> {
        Ok(())
    }

    fn sinks(&self) -> Vec<AuditSink> {
        Vec::new()
    }

    fn hash(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}
