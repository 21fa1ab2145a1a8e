//! The runtime of a command.

use std::time::Duration;

use anyhow::{Context, Result};

/// How long work that was given up, such as compiling at a start that was stopped, may keep the process.
const GIVEN_UP: Duration = Duration::from_secs(2);

pub(super) fn on_runtime<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(GIVEN_UP);
    done
}
