//! Where the processor time of a request goes: a profile of the server by the names of its functions and those of its components.
//!
//! Run with: cargo bench -p gatehouse-tests -- budget. It needs `perf`, and builds a server that keeps all names. Each sample counts for
//! the innermost frame that one of [`PARTS`] knows; what the compiler has inlined into another part counts for that part.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use gatehouse_ports::doubles::name_in_no_order;
use gatehouse_tests::{Program, ROLE, Storage, target_folder, workspace};

use crate::cores::Cores;
use crate::load::Measured;
use crate::organizations::Organizations;
use crate::{
    LOAD, login_request, lookup_request, prepared, repeated, report, show_request, workload_token,
};

/// A program with names that is there already, in place of building one.
const GIVEN: &str = "GATEHOUSE_PROFILED";
/// How many organizations there are.
const ORGANIZATIONS: usize = 1_000;
/// The folder that the samples are kept in, as text, for a closer look.
const KEPT: &str = "budget";

/// A part of a request, and names of functions that belong to it. The first part that knows a frame takes it.
const PARTS: [(&str, &[&str]); 14] = [
    ("kernel", &["([kernel."]),
    ("RSA", &["crypto_bigint", "verifier", "rsa::", "rs256"]),
    (
        "records to and from JSON",
        &["storage::record", "::records::"],
    ),
    (
        "sealing",
        &[
            "gatehouse_barrier",
            "aes_gcm",
            "aes::",
            "polyval",
            "ghash",
            "universal_hash",
        ],
    ),
    ("store", &["gatehouse_store", "redb"]),
    ("access: token, policies", &["gatehouse_access"]),
    (
        "auth method: JWT, role, account",
        &["gatehouse_auth_method"],
    ),
    ("organizations", &["gatehouse_orgs"]),
    ("gateway", &["gatehouse_gateway"]),
    ("JSON", &["serde_json", "gatehouse_json"]),
    (
        "crossings",
        &["wasmtime", "cabi_", "wit_bindgen", "adapter"],
    ),
    ("host: limits, audit, pool", &["gatehouse::"]),
    ("HTTP", &["hyper", "http::", "httparse", "h2::"]),
    ("runtime", &["tokio", "mimalloc", "mi_", "futures"]),
];
const REST: &str = "the rest";

/// Prints microseconds of processor time by part, for each request that a budget is kept of; with `GATEHOUSE_WRITE`, writes them into
/// docs/performance.md.
///
/// # Errors
///
/// When `perf` is missing, or the server does not answer as expected.
pub fn run(cores: &Cores) -> Result<()> {
    let program = match std::env::var_os(GIVEN) {
        Some(path) => PathBuf::from(path),
        None => built()?,
    };
    let mut columns: Vec<(String, f64, BTreeMap<&str, f64>)> = Vec::new();
    for (storage, name) in [
        (Storage::Memory, "in memory"),
        (Storage::Durable, "durable"),
    ] {
        let given = Program::gatehouse_at(program.clone());
        let (installation, server) = prepared(cores, given, storage, "")?;
        let token = workload_token(&installation)?;
        let organizations = Organizations::new(server, installation.root_token());
        organizations.created(0..ORGANIZATIONS)?;
        let requests = [
            ("login", login_request(&installation, ROLE)?),
            ("lookup-self", lookup_request(&token)),
            ("organization show", show_request(&token)),
            ("page of 20", organizations.page(1)),
            (
                "search",
                organizations.search_for(&name_in_no_order(ORGANIZATIONS / 2)),
            ),
        ];
        for (work, request) in requests {
            let what = format!("{work}, {name}");
            let kept = target_folder().join(KEPT);
            std::fs::create_dir_all(&kept)?;
            let samples = kept
                .join(what.replace([' ', ','], "-"))
                .with_extension("txt");
            repeated(server, &what, &request)?;
            let measured = sampled(server.process, &samples, || {
                repeated(server, &what, &request)
            })?;
            let total = measured.cpu_micros.context("no processor time")?;
            let shares = shares(&std::fs::read_to_string(&samples)?)?;
            columns.push((what, total, shares));
        }
    }
    let table = table(&columns);
    println!("{table}");
    if std::env::var_os("GATEHOUSE_WRITE").is_some() {
        let document = workspace().join("docs/performance.md");
        report::write_into(&document, &["budget"], &table)?;
    }
    Ok(())
}

/// A server with the names of its functions, and of those of its components.
fn built() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let rustc = Command::new("rustc").arg("-vV").output()?;
    let version = String::from_utf8(rustc.stdout)?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("rustc names no host")?;
    let flags = format!(
        "CARGO_TARGET_{}_RUSTFLAGS",
        host.to_uppercase().replace('-', "_")
    );
    let status = Command::new(cargo)
        .current_dir(workspace())
        .args(["build", "--locked", "--profile", "profiling"])
        .args(["--bin", "gatehouse", "--features", "gatehouse/profiling"])
        .arg("--target-dir")
        .arg(target_folder())
        .env(flags, "-Cforce-frame-pointers=yes")
        .status()?;
    ensure!(status.success(), "the server with names cannot be built");
    Ok(target_folder().join("profiling").join("gatehouse"))
}

/// Samples the stacks of a process while `load` runs, and leaves them in `file`.
fn sampled(process: u32, file: &Path, load: impl FnOnce() -> Result<Measured>) -> Result<Measured> {
    let data = file.with_extension("data");
    let mut perf = Command::new("perf")
        .args(["record", "--quiet", "--freq", "1999", "--call-graph", "fp"])
        .args(["--pid", &process.to_string(), "--output"])
        .arg(&data)
        .args(["--", "sleep"])
        .arg(LOAD.duration.as_secs().to_string())
        .stdout(Stdio::null())
        .spawn()
        .context("`perf` is needed")?;
    let measured = load();
    ensure!(perf.wait()?.success(), "perf failed");
    let script = Command::new("perf")
        .args(["script", "--fields", "ip,sym,dso", "--input"])
        .arg(&data)
        .stderr(Stdio::null())
        .output()?;
    std::fs::write(file, script.stdout)?;
    std::fs::remove_file(data)?;
    measured
}

/// The share of each part in the samples, which are separated by empty lines.
fn shares(samples: &str) -> Result<BTreeMap<&'static str, f64>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = 0;
    for sample in samples.split("\n\n").filter(|text| !text.trim().is_empty()) {
        *counts.entry(part(sample)).or_default() += 1;
        all += 1;
    }
    ensure!(all > 0, "perf took no sample");
    let share = |(part, count)| (part, count as f64 / all as f64);
    Ok(counts.into_iter().map(share).collect())
}

/// The part that the innermost known frame belongs to.
fn part(sample: &str) -> &'static str {
    sample
        .lines()
        .find_map(|frame| {
            PARTS
                .iter()
                .find(|(_, names)| names.iter().any(|name| frame.contains(name)))
                .map(|(part, _)| *part)
        })
        .unwrap_or(REST)
}

/// The microseconds of each part, in Markdown.
fn table(columns: &[(String, f64, BTreeMap<&str, f64>)]) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, ..)| name.as_str()).collect();
    let mut table = format!(
        "| microseconds of | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    // Writing to a string does not fail.
    let mut row = |part: &str, cells: &[String]| {
        let _ = writeln!(table, "| {part} | {} |", cells.join(" | "));
    };
    for part in PARTS.iter().map(|(part, _)| *part).chain([REST]) {
        let cells: Vec<String> = columns
            .iter()
            .map(|(_, total, shares)| format!("{:.1}", total * shares.get(part).unwrap_or(&0.0)))
            .collect();
        row(part, &cells);
    }
    let totals: Vec<String> = columns
        .iter()
        .map(|(_, total, _)| format!("{total:.1}"))
        .collect();
    row("all", &totals);
    table
}
