//! Work that is due without a request: the export `gatehouse:gateway/background`.

use std::time::Duration;

use gatehouse_ports::{OsRandom, Random};
use tracing::Instrument as _;
use wasmtime::Engine;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, ComponentExportIndex, InstancePre};

use super::state::{Grants, InstanceState};
use crate::traces;

/// The interface whose functions are called, where the component exports it.
const INTERFACE: &str = "gatehouse:gateway/background@0.1.0";

/// By how many hundredths a pause is longer or shorter than set, at most: so that hosts that started together do not work together.
const JITTER_PERCENT: u32 = 10;

/// The name of a duty: its function's name.
pub type Duty = String;

/// When and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackgroundSettings {
    /// From the end of one round of duties to the beginning of the next, give or take a tenth.
    pub interval: Duration,
    /// How long one duty may take, waiting included.
    pub wall_time: Duration,
}

/// Why a duty did not end well. It is called again in the next round.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It took longer than it may, and was cut off.
    #[error("it took longer than {0:?}")]
    TimedOut(Duration),
    /// It trapped or could not be started.
    #[error("the component failed: {0:#}")]
    Failed(#[from] wasmtime::Error),
    /// It could not do what was due, and the component has told the operator what was in the way.
    #[error("the component has logged the reason")]
    Told,
}

/// Calls the duties of a component every now and then, each in a fresh instance, of which there is one at a time: a duty that traps
/// or takes too long holds up no other.
pub struct Background {
    engine: Engine,
    template: InstancePre<InstanceState>,
    duties: Vec<(Duty, ComponentExportIndex)>,
    grants: Grants,
    settings: BackgroundSettings,
}

impl Background {
    /// The background work of the component behind `template`; `None` where it has none.
    #[must_use]
    pub fn find(
        template: &InstancePre<InstanceState>,
        grants: Grants,
        settings: BackgroundSettings,
    ) -> Option<Self> {
        Some(Self {
            engine: template.engine().clone(),
            duties: exported_duties(template.engine(), template.component())?,
            template: template.clone(),
            grants,
            settings,
        })
    }

    /// The names of the duties.
    pub fn duties(&self) -> impl Iterator<Item = &str> {
        self.duties.iter().map(|(duty, _)| duty.as_str())
    }

    /// Does a round at once and then again and again, until `stop` is ready between two rounds. Each duty is told to `done` with whether
    /// it ended well; failures go to the log. Duties that `held` names are left out of a round.
    pub async fn repeat(
        self,
        held: impl Fn(&str) -> bool,
        done: impl Fn(&str, bool),
        stop: impl Future<Output = ()>,
    ) {
        let mut stop = std::pin::pin!(stop);
        loop {
            for (duty, outcome) in self.round(&held).await {
                done(duty, outcome.is_ok());
                if let Err(error) = outcome {
                    tracing::error!(duty, %error, "background work failed; it is tried again later");
                }
            }
            let pause = jittered(self.settings.interval, random());
            tokio::select! {
                () = &mut stop => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// One round: every duty, one after the other, and how each ended.
    pub async fn run_once(&self) -> Vec<(&str, Result<(), RunError>)> {
        self.round(&|_| false).await
    }

    /// The same without the duties that `held` names.
    pub async fn run_once_without(
        &self,
        held: impl Fn(&str) -> bool,
    ) -> Vec<(&str, Result<(), RunError>)> {
        self.round(&held).await
    }

    async fn round(&self, held: &impl Fn(&str) -> bool) -> Vec<(&str, Result<(), RunError>)> {
        let wall_time = self.settings.wall_time;
        let mut round = Vec::with_capacity(self.duties.len());
        for (duty, function) in self.duties.iter().filter(|(duty, _)| !held(duty)) {
            let call = self
                .call(function)
                .instrument(traces::component_call(INTERFACE, duty));
            let outcome = match tokio::time::timeout(wall_time, call).await {
                Ok(outcome) => outcome,
                Err(_) => Err(RunError::TimedOut(wall_time)),
            };
            round.push((duty.as_str(), outcome));
        }
        round
    }

    async fn call(&self, function: &ComponentExportIndex) -> Result<(), RunError> {
        let mut store = self.grants.store(&self.engine);
        let instance = self.template.instantiate_async(&mut store).await?;
        let duty = instance.get_typed_func::<(), (Result<(), ()>,)>(&mut store, function)?;
        let (outcome,) = duty.call_async(&mut store, ()).await?;
        outcome.map_err(|()| RunError::Told)
    }
}

/// The functions of the interface, in the order in which the component exports them; `None` where it does not export the interface.
fn exported_duties(
    engine: &Engine,
    component: &Component,
) -> Option<Vec<(Duty, ComponentExportIndex)>> {
    let interface = component.get_export_index(None, INTERFACE)?;
    let component_type = component.component_type();
    let exported = component_type.get_export(engine, INTERFACE)?;
    let ComponentItem::ComponentInstance(exported) = exported.ty else {
        return None;
    };
    let duties = exported.exports(engine).filter_map(|(duty, _)| {
        let function = component.get_export_index(Some(&interface), duty)?;
        Some((duty.to_owned(), function))
    });
    Some(duties.collect())
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
