//! The memory that a server keeps, and how long it takes to start.

use std::time::Instant;

use anyhow::{Context, Result};
use gatehouse_tests::{Program, ROLE, Storage};

use crate::cores::Cores;
use crate::report::Report;
use crate::{login_request, prepared, repeated, target};

/// How often a start is measured, of which the median counts.
const STARTS: usize = 5;

/// Notes the memory of a durable server before and under a load of logins, and how long it takes until it answers.
///
/// # Errors
///
/// When the server does not answer as expected.
pub fn run(cores: &Cores, report: &mut Report) -> Result<()> {
    let (mut installation, _) = prepared(cores, Program::gatehouse(), Storage::Durable, "")?;
    let mut starts = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        installation.server().terminate()?;
        cores.enter_server_core()?;
        let begun = Instant::now();
        installation.run()?;
        starts.push(begun.elapsed().as_millis());
        cores.enter_load_core()?;
    }
    starts.sort_unstable();
    let server = target(&mut installation)?;
    let idle = resident_megabytes(server.process)?;
    let login = login_request(&installation, ROLE)?;
    repeated(server, "logins for the memory under load", &login)?;
    report.note(format!(
        "A durable server answers {} ms after its start (median of {STARTS}), keeps {idle} MB idle and {} MB under logins.",
        starts.get(STARTS / 2).context("no start")?,
        resident_megabytes(server.process)?
    ));
    Ok(())
}

/// Resident memory of a process.
///
/// # Errors
///
/// When it is gone.
pub fn resident_megabytes(process: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let kilobytes: u64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_ascii_whitespace().next())
        .context("no VmRSS")?
        .parse()?;
    Ok(kilobytes / 1024)
}
