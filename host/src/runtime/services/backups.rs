//! The import `gatehouse:host/backups`: backups of what is stored.

use std::sync::Arc;

use wasmtime::component::Linker;

use super::Answer;
use super::bindings::gatehouse::host::backups as wit;
use crate::runtime::state::InstanceState;

const INTERFACE: &str = "gatehouse:host/backups@0.1.0";

pub use wit::BackupError;

/// Backups of the stores. The WIT interface is the specification.
pub trait Backups: Send + Sync {
    /// Begins one, and answers its name.
    fn begin(&self, installation: Option<String>) -> Answer<'_, Result<String, BackupError>>;

    /// The next bytes of one; `None` once it is complete.
    fn next(&self, name: String) -> Answer<'_, Result<Option<Vec<u8>>, BackupError>>;
}

/// Makes no backups.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBackups;

impl Backups for NoBackups {
    fn begin(&self, _: Option<String>) -> Answer<'_, Result<String, BackupError>> {
        Box::pin(async { Err(BackupError::Unsupported) })
    }

    fn next(&self, _: String) -> Answer<'_, Result<Option<Vec<u8>>, BackupError>> {
        Box::pin(async { Err(BackupError::Unsupported) })
    }
}

pub(super) fn bind(
    linker: &mut Linker<InstanceState>,
    backups: &Arc<dyn Backups>,
) -> wasmtime::Result<()> {
    let mut instance = linker.instance(INTERFACE)?;
    let bound = Arc::clone(backups);
    instance.func_wrap_async("begin", move |_, (installation,): (Option<String>,)| {
        let backups = Arc::clone(&bound);
        Box::new(async move { Ok((backups.begin(installation).await,)) })
    })?;
    let bound = Arc::clone(backups);
    instance.func_wrap_async("next", move |_, (name,): (String,)| {
        let backups = Arc::clone(&bound);
        Box::new(async move { Ok((backups.next(name).await,)) })
    })
}
