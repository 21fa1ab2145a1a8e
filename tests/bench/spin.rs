//! The components under a real Spin, with their records in SQLite and in key-value stores, beside the least that Spin itself takes and
//! beside our own server.

use std::fmt::Write as _;
use std::ops::Range;

use anyhow::{Context, Result};
use gatehouse_tests::{Host, Installation, Program, ROLE, Storage};

use crate::cores::Cores;
use crate::load::{Load, Measured, Target, measure, request};
use crate::organizations::Organizations;
use crate::report::Report;
use crate::spin_floor::{self, Floor, Work};
use crate::{
    LOAD, login_request, lookup_request, prepared, repeated, show_request, workload_token,
};

/// The programs of the rows.
const SPIN: &str = "under Spin";
const KEY_VALUE: &str = "under Spin, key-value stores";
const FLOOR: &str = "Spin itself";
const OWN: &str = "our own server";

/// The work of the rows.
const HEALTH: &str = "sys/health";
const LOOKUP: &str = "lookup-self";
const SHOW: &str = "organization show";
const LOGIN: &str = "login, service token";
const CROWDED_LOGIN: &str = "login, service token, 64 connections";
const HELLO: &str = "hello";
const READ: &str = "one statement that reads four rows";
const WRITE: &str = "one statement that writes a row";
const WRITE_OF_FEW: &str = "one statement that writes a row, 8 connections";
const CROWDED_WRITE: &str = "one statement that writes a row, 64 connections";

/// The organizations that are made, each by a commit that changes some twenty rows, by the row that they count in.
const CREATIONS: [Range<usize>; 3] = [0..1_000, 1_000..10_000, 10_000..100_000];
/// How many of these rows there are for key-value stores, where the rest would take an hour.
const KEY_VALUE_CREATIONS: usize = 2;
const CREATORS: usize = 8;

/// Connections where many wait.
const CROWDED: Load = Load {
    connections: 64,
    ..LOAD
};
/// As many connections as make organizations.
const FEW: Load = Load {
    connections: CREATORS,
    ..LOAD
};

/// Measures the floor, the work that needs no store, reads, logins and creations, and notes how they compare.
///
/// # Errors
///
/// When a server does not answer as expected.
pub fn run(cores: &Cores, report: &mut Report) -> Result<()> {
    // Built before a server has a core to itself.
    let component = spin_floor::component()?;
    let [sqlite, key_value, own] =
        [Host::Spin4, Host::SpinKeyValue, Host::Gatehouse].map(Host::program);
    let floor = Floor::start(cores, &component)?;
    for (what, work, load) in [
        (HELLO, Work::Hello, LOAD),
        (READ, Work::Read, LOAD),
        (WRITE, Work::Write, LOAD),
        (WRITE_OF_FEW, Work::Write, FEW),
        (CROWDED_WRITE, Work::Write, CROWDED),
    ] {
        row(report, FLOOR, what, floor.measured(work, load)?);
    }
    drop(floor);
    let (all, few) = (&CREATIONS[..], &CREATIONS[..KEY_VALUE_CREATIONS]);
    under_spin(cores, report, SPIN, sqlite, all)?;
    under_spin(cores, report, KEY_VALUE, key_value, few)?;
    own_server(cores, report, own)?;
    report.note(compared(report)?);
    Ok(())
}

fn under_spin(
    cores: &Cores,
    report: &mut Report,
    name: &str,
    program: Program,
    creations: &[Range<usize>],
) -> Result<()> {
    let (installation, server) = prepared(cores, program, Storage::Durable, "")?;
    let token = workload_token(&installation)?;
    let rows = [
        (HEALTH, request("GET", "/v1/sys/health", None, "")),
        (LOOKUP, lookup_request(&token)),
        (SHOW, show_request(&token)),
        (LOGIN, login_request(&installation, ROLE)?),
    ];
    for (work, request) in rows {
        row(report, name, work, repeated(server, work, &request)?);
    }
    let crowded = crowded_login(&installation, server)?;
    row(report, name, CROWDED_LOGIN, crowded);
    let organizations = Organizations {
        server,
        token: installation.root_token().to_owned(),
        connections: CREATORS,
    };
    for numbers in creations {
        let what = creation(numbers);
        let created = organizations.created(numbers.clone())?;
        row(report, name, &what, created);
    }
    Ok(())
}

fn own_server(cores: &Cores, report: &mut Report, program: Program) -> Result<()> {
    let (installation, server) = prepared(cores, program, Storage::Durable, "")?;
    let token = workload_token(&installation)?;
    for (work, request) in [
        (LOOKUP, lookup_request(&token)),
        (LOGIN, login_request(&installation, ROLE)?),
    ] {
        report.row(OWN, work, repeated(server, work, &request)?);
    }
    let crowded = crowded_login(&installation, server)?;
    report.row(OWN, CROWDED_LOGIN, crowded);
    Ok(())
}

fn crowded_login(installation: &Installation, server: Target) -> Result<Measured> {
    let login = login_request(installation, ROLE)?;
    measure(server, &[login], CROWDED).context(CROWDED_LOGIN)
}

fn creation(numbers: &Range<usize>) -> String {
    format!(
        "organization create, {CREATORS} clients, number {} to {}",
        numbers.start + 1,
        numbers.end
    )
}

/// Keeps a row of Spin. The process that was started launches others, so its processor time says nothing.
fn row(report: &mut Report, program: &str, work: &str, measured: Measured) {
    let cpu_micros = None;
    report.row(
        program,
        work,
        Measured {
            cpu_micros,
            ..measured
        },
    );
}

/// Each work under Spin beside the floor below it, and beside what does the same work, in Markdown.
fn compared(report: &Report) -> Result<String> {
    let [first, later, last] = CREATIONS.map(|numbers| creation(&numbers));
    let (first, later, last) = (first.as_str(), later.as_str(), last.as_str());
    let to_floor = [
        (HEALTH, HELLO),
        (LOOKUP, READ),
        (SHOW, READ),
        (LOGIN, WRITE),
        (CROWDED_LOGIN, CROWDED_WRITE),
        (first, WRITE_OF_FEW),
        (later, WRITE_OF_FEW),
        (last, WRITE_OF_FEW),
    ];
    let to_key_value = [LOOKUP, SHOW, LOGIN, CROWDED_LOGIN, first, later];
    let to_own = [LOOKUP, LOGIN, CROWDED_LOGIN];
    let pairs = to_floor
        .map(|(work, floor)| (work, FLOOR, floor))
        .into_iter()
        .chain(to_key_value.map(|work| (work, KEY_VALUE, work)))
        .chain(to_own.map(|work| (work, OWN, work)));
    let mut table =
        "| under Spin | beside | times its requests/s | times its p50 | times its p99 |\n\
         |---|---|---|---|---|"
            .to_owned();
    for (work, beside, its) in pairs {
        let find = |program, work| {
            let found = report.find(program, work);
            found.with_context(|| format!("no row of {program}: {work}"))
        };
        let (ours, other) = (find(SPIN, work)?, find(beside, its)?);
        // Writing to a string does not fail.
        let _ = write!(
            table,
            "\n| {work} | {beside}: {its} | {:.2} | {:.2} | {:.2} |",
            ours.rate / other.rate,
            ours.median / other.median,
            ours.percentile_99 / other.percentile_99,
        );
    }
    Ok(table)
}
