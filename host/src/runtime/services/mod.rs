//! The imports of `gatehouse:host`: what a component may ask of the whole server.
//!
//! Each service but the rate limits, of which there is one kind, is a trait, so that the server, a test and an embedder each put in what
//! they have. [`Services::default`] has nothing beside them: the seal is automatic, the store is the server's own, nothing is recorded,
//! counted or backed up.

mod audit;
pub(super) mod audit_log;
mod backups;
mod bindings;
mod buckets;
mod keys;
mod log;
mod metrics;
mod rate_limits;
mod seal;
mod seal_keys;
mod shared_store;

use std::sync::Arc;

use wasmtime::component::Linker;

use super::state::InstanceState;

pub use audit_log::{
    Answer, AuditEntry, AuditError, AuditLog, AuditSink, NoAudit, OpenExchange, Side,
};
pub use backups::{BackupError, Backups, NoBackups};
pub use buckets::{Bucket, Buckets, Level};
pub use keys::{
    Ceremonies, Ceremony, CeremonyError, KeyStatus, Keys, RekeyProgress, RootProgress,
    RotationPolicy,
};
pub use log::{Log, LogLevel, LogLine, LogLines, NoLog};
pub use metrics::{Metrics, NoMetrics};
pub use seal::{AutomaticSeal, InitializeError, Progress, Seal, SealError, UnsealError};
pub use shared_store::{OwnStore, SharedStore, SharingNode, SharingNodes};

/// The services that instances get.
#[derive(Clone)]
pub struct Services {
    /// The seal, which holds the key of what is stored.
    pub seal: Arc<dyn Seal>,
    /// Where requests and answers are recorded.
    pub audit: Arc<dyn AuditLog>,
    /// The limits on how often something may happen.
    pub rate_limits: Arc<Buckets>,
    /// The numbers for monitoring.
    pub metrics: Arc<dyn Metrics>,
    /// The log of the server.
    pub log: Arc<dyn Log>,
    /// The store as far as several servers share it.
    pub shared_store: Arc<dyn SharedStore>,
    /// Backups of what is stored.
    pub backups: Arc<dyn Backups>,
}

impl Default for Services {
    fn default() -> Self {
        Self {
            seal: Arc::new(AutomaticSeal),
            audit: Arc::new(NoAudit),
            rate_limits: Arc::new(Buckets::default()),
            metrics: Arc::new(NoMetrics),
            log: Arc::new(NoLog),
            shared_store: Arc::new(OwnStore),
            backups: Arc::new(NoBackups),
        }
    }
}

/// Gives `services` to the imports of `gatehouse:host`.
///
/// # Errors
///
/// When one of the names is taken.
pub fn bind(linker: &mut Linker<InstanceState>, services: &Services) -> wasmtime::Result<()> {
    seal::bind(linker, &services.seal)?;
    seal_keys::bind(linker, &services.seal)?;
    audit::bind(linker, &services.audit)?;
    rate_limits::bind(linker, &services.rate_limits)?;
    metrics::bind(linker, &services.metrics)?;
    log::bind(linker, &services.log)?;
    shared_store::bind(linker, &services.shared_store)?;
    backups::bind(linker, &services.backups)
}
