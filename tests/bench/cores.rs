//! Keeping the server and its load on cores of their own.

use anyhow::Result;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores that this program may use.
pub struct Cores(Vec<usize>);

impl Cores {
    /// The cores that this program was started with.
    ///
    /// # Errors
    ///
    /// When the system does not tell.
    pub fn available() -> Result<Self> {
        let set = sched_getaffinity(None)?;
        Ok(Self(
            (0..CpuSet::MAX_CPU)
                .filter(|core| set.is_set(*core))
                .collect(),
        ))
    }

    /// From now on, this thread and what it starts run on the core that servers are measured on.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn enter_server_core(&self) -> Result<()> {
        enter(&[self.0.first().copied().unwrap_or(0)])
    }

    /// From now on, this thread and what it starts run wherever there is room.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn enter_all(&self) -> Result<()> {
        enter(&self.0)
    }

    /// From now on, this thread and what it starts run on another core than servers do, where there is another.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn enter_load_core(&self) -> Result<()> {
        enter(&[self.0.last().copied().unwrap_or(0)])
    }
}

fn enter(cores: &[usize]) -> Result<()> {
    let mut set = CpuSet::new();
    for core in cores {
        set.set(*core);
    }
    Ok(sched_setaffinity(None, &set)?)
}
