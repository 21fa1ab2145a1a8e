//! The services that the front uses from the program that runs it: the Rust form of the WIT package `gatehouse:host`, which is their specification.

mod audit;
mod backups;
#[doc(hidden)]
#[allow(missing_docs, unsafe_code, clippy::all, clippy::restriction)]
pub mod bindings;
mod ceremonies;
mod keys;
mod log;
mod metrics;
mod rate_limits;
mod seal;
mod shared_store;

pub use audit::{AuditEntry, AuditError, AuditLog, AuditSink, NoAudit, Side};
pub use backups::{BackupError, Backups, NoBackups};
pub use ceremonies::{Ceremonies, Ceremony, CeremonyError, RekeyProgress, RootProgress};
pub use keys::{KeyStatus, Keys, RotationPolicy};
pub use log::{Log, LogLevel, LogLine, LogLines, NoLog};
pub use metrics::{Metrics, NoMetrics};
pub use rate_limits::{Bucket, Level, NoRateLimits, RateLimits};
pub use seal::{AutomaticSeal, InitializeSealError, Seal, SealError, SealProgress, UnsealError};
pub use shared_store::{Node, NodeList, OwnStore, SharedStore};

/// The services of a host.
pub struct Host {
    /// The seal: the holder of the key of the stored data.
    pub seal: Box<dyn Seal + Send + Sync>,
    /// The keys that seal the stored data; `None` where the host keeps none.
    pub keys: Option<Box<dyn Keys + Send + Sync>>,
    /// The ceremonies of the share holders; `None` where there are no shares.
    pub ceremonies: Option<Box<dyn Ceremonies + Send + Sync>>,
    /// The log that records requests and answers.
    pub audit: Box<dyn AuditLog + Send + Sync>,
    /// The rate limits.
    pub rate_limits: Box<dyn RateLimits + Send + Sync>,
    /// The metrics for monitoring.
    pub metrics: Box<dyn Metrics + Send + Sync>,
    /// The lines that the server logs.
    pub log: Box<dyn Log + Send + Sync>,
    /// The store, as far as several servers share it.
    pub shared_store: Box<dyn SharedStore + Send + Sync>,
    /// Backups of all stored data.
    pub backups: Box<dyn Backups + Send + Sync>,
}

impl Default for Host {
    /// A host that unseals automatically and offers no other service.
    fn default() -> Self {
        Self {
            seal: Box::new(AutomaticSeal),
            keys: None,
            ceremonies: None,
            audit: Box::new(NoAudit),
            rate_limits: Box::new(NoRateLimits),
            metrics: Box::new(NoMetrics),
            log: Box::new(NoLog),
            shared_store: Box::new(OwnStore),
            backups: Box::new(NoBackups),
        }
    }
}
