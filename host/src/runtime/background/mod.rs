//! Work that is due without anybody asking: the export `gatehouse:gateway/background`.

use std::time::Duration;

use gatehouse_ports::{OsRandom, Random};
use wasmtime::Engine;
use wasmtime::component::{Component, ComponentExportIndex, InstancePre};

use super::state::{Grants, InstanceState};

/// The interface whose `run` is called, where the component exports it.
const INTERFACE: &str = "gatehouse:gateway/background@0.1.0";

/// By how many hundredths a pause is longer or shorter than set, at most: so that hosts that started together do not work together.
const JITTER_PERCENT: u32 = 10;

/// When and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackgroundSettings {
    /// From the end of one run to the beginning of the next, give or take a tenth.
    pub interval: Duration,
    /// How long one run may take, waiting included.
    pub wall_time: Duration,
}

/// Why a run did not end well. The next one comes all the same.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It took longer than a run may take, and was cut off.
    #[error("it took longer than {0:?}")]
    TimedOut(Duration),
    /// It trapped or could not be started.
    #[error("the component failed: {0:#}")]
    Failed(#[from] wasmtime::Error),
}

/// Calls a component every now and then, each time by a fresh instance, of which there is one at a time.
pub struct Background {
    engine: Engine,
    template: InstancePre<InstanceState>,
    run: ComponentExportIndex,
    grants: Grants,
    settings: BackgroundSettings,
}

impl Background {
    /// The background work of the component behind `template`; `None` where it has none.
    #[must_use]
    pub fn of(
        template: &InstancePre<InstanceState>,
        grants: Grants,
        settings: BackgroundSettings,
    ) -> Option<Self> {
        Some(Self {
            engine: template.engine().clone(),
            run: exported_run(template.component())?,
            template: template.clone(),
            grants,
            settings,
        })
    }

    /// Works once at once and then again and again, until `stop` is ready between two runs. Failures go to the log.
    pub async fn repeat(self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            if let Err(error) = self.run_once().await {
                tracing::error!(%error, "background work failed; it is tried again later");
            }
            let pause = jittered(self.settings.interval, random());
            tokio::select! {
                () = &mut stop => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// One run.
    ///
    /// # Errors
    ///
    /// When it fails or takes too long.
    pub async fn run_once(&self) -> Result<(), RunError> {
        let wall_time = self.settings.wall_time;
        match tokio::time::timeout(wall_time, self.call()).await {
            Ok(outcome) => Ok(outcome?),
            Err(_) => Err(RunError::TimedOut(wall_time)),
        }
    }

    async fn call(&self) -> wasmtime::Result<()> {
        let mut store = self.grants.store(&self.engine);
        let instance = self.template.instantiate_async(&mut store).await?;
        let run = instance.get_typed_func::<(), ()>(&mut store, &self.run)?;
        run.call_async(&mut store, ()).await
    }
}

fn exported_run(component: &Component) -> Option<ComponentExportIndex> {
    let interface = component.get_export_index(None, INTERFACE)?;
    component.get_export_index(Some(&interface), "run")
}

/// `interval`, changed by up to [`JITTER_PERCENT`] in either direction as `random` decides.
fn jittered(interval: Duration, random: u32) -> Duration {
    let percent = f64::from(JITTER_PERCENT) / 100.0;
    let share = f64::from(random) / f64::from(u32::MAX);
    interval.mul_f64(1.0 - percent + 2.0 * percent * share)
}

// Without randomness everything still works, only at the same moment as elsewhere.
fn random() -> u32 {
    let mut bytes = (u32::MAX / 2).to_ne_bytes();
    let _ = OsRandom.fill(&mut bytes);
    u32::from_ne_bytes(bytes)
}

#[cfg(test)]
mod tests;
