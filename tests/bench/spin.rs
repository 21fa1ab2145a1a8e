//! The components under a real Spin, with their records in SQLite.

use anyhow::Result;
use gatehouse_tests::{Host, ROLE, Storage};

use crate::cores::Cores;
use crate::load::{Measured, request};
use crate::organizations::Organizations;
use crate::report::Report;
use crate::{login_request, lookup_request, prepared, repeated, show_request, workload_token};

const SPIN: &str = "under Spin";

/// How many organizations are made, each by a commit that changes some twenty rows, and how many of them count as the first.
const ORGANIZATIONS: usize = 10_000;
const FIRST_ORGANIZATIONS: usize = 1_000;
const CREATORS: usize = 8;

/// Measures the work that needs no store, reads, logins and creations.
///
/// # Errors
///
/// When the server does not answer as expected.
pub fn run(cores: &Cores, report: &mut Report) -> Result<()> {
    let (installation, server) = prepared(cores, Host::Spin4.program(), Storage::Durable, "")?;
    let token = workload_token(&installation)?;
    // The process that was started launches others, so its processor time says nothing.
    let mut row = |work: &str, measured: Measured| {
        let cpu_micros = None;
        report.row(
            SPIN,
            work,
            Measured {
                cpu_micros,
                ..measured
            },
        );
    };
    let rows = [
        ("sys/health", request("GET", "/v1/sys/health", None, "")),
        ("lookup-self", lookup_request(&token)),
        ("organization show", show_request(&token)),
        ("login, service token", login_request(&installation, ROLE)?),
    ];
    for (work, request) in rows {
        row(work, repeated(server, work, &request)?);
    }
    let organizations = Organizations {
        server,
        token: installation.root_token().to_owned(),
        connections: CREATORS,
    };
    for numbers in [0..FIRST_ORGANIZATIONS, FIRST_ORGANIZATIONS..ORGANIZATIONS] {
        let what = format!(
            "organization create, {CREATORS} clients, number {} to {}",
            numbers.start + 1,
            numbers.end
        );
        row(&what, organizations.created(numbers)?);
    }
    Ok(())
}
