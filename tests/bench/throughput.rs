//! Requests per second, latencies and processor time of the release server on one core, beside the same logic compiled natively and,
//! where it is installed, beside OpenBao. Run with: cargo bench -p gatehouse-tests
//!
//! `cargo bench -p gatehouse-tests -- tokens openbao` measures these parts alone; see [`PARTS`]. With `GATEHOUSE_WRITE=1` each table replaces
//! the one in docs/performance.md, whose parts are then measured together: see [`TABLES`]. The part `programs` measures builds of `gatehouse` that are given as paths in
//! `GATEHOUSE_PROGRAMS`, with colons between, each twice and in turns.

mod budget;
mod cores;
mod footprint;
mod gathered_reads;
mod load;
mod many_tokens;
mod native;
mod openbao;
mod organizations;
mod report;
mod several_servers;
mod spin;
mod spin_floor;
mod stopped_store;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use gatehouse_fake_google::AccountSpec;
use gatehouse_tests::{
    INSTANCE_ROLE, Installation, Program, ROLE, Storage, WORKLOAD, real_spin, workspace,
};
use serde_json::json;

use cores::Cores;
use load::{Load, Measured, Target, measure, measure_each, request};
use report::{GATEHOUSE, LOOKUP, Report};

const LOAD: Load = Load {
    connections: 16,
    duration: Duration::from_secs(5),
};

/// The parts of a measurement, in their order.
const PARTS: [&str; 14] = [
    "programs",
    "memory",
    "durable",
    "servers",
    "reads",
    "footprint",
    "google",
    "tokens",
    "organizations",
    "fresh",
    "native",
    "openbao",
    "spin",
    "budget",
];

/// The tables of the document: rows that are compared with each other are of one run.
const TABLES: [&[&str]; 6] = [
    &[
        "memory",
        "durable",
        "google",
        "footprint",
        "native",
        "fresh",
        "openbao",
    ],
    &["servers"],
    &["reads"],
    &["tokens"],
    &["organizations"],
    &["spin"],
];

/// The part that measures something else than a build of `gatehouse`.
const WITHOUT_GATEHOUSE: &str = "reads";

const NO_SPIN: &str = "GATEHOUSE_SPIN names no `spin`: no figures of it.";

/// How many live tokens the store holds in which they are to make no difference.
const MANY_TOKENS: usize = 1_000_000;

/// How many of them are looked up.
const TOKENS_LOOKED_UP: usize = 100_000;

/// How many accounts log in for the first time.
const NEWCOMERS: usize = 40;

/// The role that gives batch tokens.
const BATCH_ROLE: &str = "batch";

fn main() -> Result<()> {
    // `cargo bench` passes flags for a harness that this program does not have.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, configuration] = arguments.as_slice()
        && mode == native::MODE
    {
        return native::serve(configuration.as_ref());
    }
    let wanted: Vec<&str> = arguments
        .iter()
        .map(String::as_str)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    if let Some(unknown) = wanted.iter().find(|part| !PARTS.contains(part)) {
        bail!(
            "no part is called {unknown}; there are {}",
            PARTS.join(", ")
        );
    }
    let cores = Cores::available()?;
    // Needs a build of its own, with names.
    if wanted == ["budget"] {
        return budget::run(&cores);
    }
    let wants = |part: &str| wanted.is_empty() || wanted.contains(&part);

    let programs = wants("programs").then(given_programs).unwrap_or_default();
    if wanted == ["programs"] {
        ensure!(!programs.is_empty(), "GATEHOUSE_PROGRAMS names no build");
    } else if PARTS
        .iter()
        .any(|part| wants(part) && *part != WITHOUT_GATEHOUSE)
    {
        gatehouse_tests::gatehouse_binary();
    }
    println!(
        "{} connections, {:?} a row, one core for the server\n",
        LOAD.connections, LOAD.duration
    );
    Report::head();
    if std::env::var_os("GATEHOUSE_WRITE").is_none() {
        let all = wanted.is_empty().then_some(&PARTS[1..PARTS.len() - 1]);
        let report = measure_parts(&cores, all.unwrap_or(&wanted), &programs)?;
        println!("\n{}", report.compared());
        return Ok(());
    }
    for parts in TABLES {
        if parts == ["spin"] && real_spin().is_none() {
            println!("\n{NO_SPIN}");
            continue;
        }
        if wanted.is_empty() || parts.iter().any(|part| wanted.contains(part)) {
            let table = measure_parts(&cores, parts, &[])?.compared();
            println!("\n{table}");
            report::write_into(&workspace().join("docs/performance.md"), parts, &table)?;
        }
    }
    Ok(())
}

/// Measures these parts, in the order of [`PARTS`].
fn measure_parts(cores: &Cores, parts: &[&str], programs: &[PathBuf]) -> Result<Report> {
    let wants = |part: &str| parts.contains(&part);
    let mut report = Report::default();
    for path in programs.iter().chain(programs) {
        let program = Program::gatehouse_at(path.clone());
        let name = path.display().to_string();
        in_memory(cores, &mut report, &name, program.clone(), "")?;
        durable(cores, &mut report, &name, program)?;
    }
    if wants("memory") {
        in_memory(cores, &mut report, GATEHOUSE, Program::gatehouse(), "")?;
    }
    if wants("durable") {
        durable(cores, &mut report, GATEHOUSE, Program::gatehouse())?;
    }
    if wants("servers") {
        several_servers::run(cores, &mut report)?;
    }
    if wants("reads") {
        report.note(gathered_reads::run(cores)?);
    }
    if wants("footprint") {
        footprint::run(cores, &mut report)?;
    }
    if wants("google") {
        google_asked(cores, &mut report)?;
    }
    if wants("tokens") {
        with_many_tokens(cores, &mut report)?;
    }
    if wants("organizations") {
        organizations::run(cores, &mut report)?;
    }
    if wants("fresh") {
        let name = "a fresh instance per request";
        let fresh = "[limits]\ninstance_reuse = 1";
        in_memory(cores, &mut report, name, Program::gatehouse(), fresh)?;
    }
    if wants("native") {
        let name = "the same logic compiled natively";
        in_memory(cores, &mut report, name, native::program()?, "")?;
    }
    if wants("openbao") {
        match openbao::find() {
            Some(program) => openbao::run(cores, &mut report, &program)?,
            None => report.note("OpenBao's `bao` was not found: no figures of it.".to_owned()),
        }
    }
    if wants("spin") {
        match real_spin() {
            Some(_) => spin::run(cores, &mut report)?,
            None => report.note(NO_SPIN.to_owned()),
        }
    }
    Ok(report)
}

/// The builds of `gatehouse` to compare.
fn given_programs() -> Vec<PathBuf> {
    std::env::var_os("GATEHOUSE_PROGRAMS")
        .map(|paths| std::env::split_paths(&paths).collect())
        .unwrap_or_default()
}

/// One request again and again.
fn repeated(server: Target, what: &str, request: &[u8]) -> Result<Measured> {
    any_of(server, what, &[request.to_vec()])
}

/// Any of some requests, in random order.
fn any_of(server: Target, what: &str, requests: &[Vec<u8>]) -> Result<Measured> {
    measure(server, requests, LOAD).with_context(|| what.to_owned())
}

/// Logins that Google has to be asked about: of an instance, whose state is never remembered, and of accounts not seen before.
fn google_asked(cores: &Cores, report: &mut Report) -> Result<()> {
    let (installation, server) = prepared(cores, Program::gatehouse(), Storage::Memory, "")?;
    let body = json!({"role": INSTANCE_ROLE, "jwt": installation.instance_jwt()?}).to_string();
    let login = request("POST", "/v1/auth/gcp/login", None, &body);
    let what = "gce login, in memory (asks for the instance each time)";
    report.row(GATEHOUSE, what, repeated(server, what, &login)?);

    let role =
        json!({"type": "iam", "bound_service_accounts": "*", "bound_projects": "demo-project"});
    let written = installation.as_root("POST", "/v1/auth/gcp/role/any", Some(&role));
    ensure!(written.status == 200, "role: {written:?}");
    let google = installation.google();
    let mut logins = Vec::with_capacity(NEWCOMERS);
    for number in 0..NEWCOMERS {
        let account = AccountSpec::new(&format!("newcomer-{number}"), "demo-project");
        let email = account.email.clone();
        google.add_account(account)?;
        let jwt = google.sign_login_jwt(&email, "any")?;
        let body = json!({"role": "any", "jwt": jwt}).to_string();
        logins.push(request("POST", "/v1/auth/gcp/login", None, &body));
    }
    report.row(
        GATEHOUSE,
        "first login of an account, one after the other (two questions to Google each)",
        measure_each(server, &logins, 1)?,
    );
    Ok(())
}

fn login_request(installation: &Installation, role: &str) -> Result<Vec<u8>> {
    let jwt = installation.google().sign_login_jwt(WORKLOAD, role)?;
    let body = json!({"role": role, "jwt": jwt}).to_string();
    Ok(request("POST", "/v1/auth/gcp/login", None, &body))
}

fn lookup_request(token: &str) -> Vec<u8> {
    request("GET", "/v1/auth/token/lookup-self", Some(token), "")
}

fn show_request(token: &str) -> Vec<u8> {
    request("GET", "/api/v2/organizations/demo", Some(token), "")
}

fn prepared(
    cores: &Cores,
    program: Program,
    storage: Storage,
    settings: &str,
) -> Result<(Installation, Target)> {
    cores.enter_server_core()?;
    let mut installation = Installation::start_program(program, storage, settings)?;
    cores.enter_load_core()?;
    installation.set_up_login()?;
    let batch = json!({
        "type": "iam", "bound_service_accounts": WORKLOAD, "token_policies": "demo", "token_type": "batch",
    });
    let written = installation.as_root(
        "POST",
        &format!("/v1/auth/gcp/role/{BATCH_ROLE}"),
        Some(&batch),
    );
    ensure!(written.status == 200, "role: {written:?}");
    let server = target(&mut installation)?;
    Ok((installation, server))
}

fn target(installation: &mut Installation) -> Result<Target> {
    Ok(Target {
        address: installation.address().parse()?,
        process: installation.server().id(),
    })
}

/// A token of a login, which has made the organization `demo`.
fn workload_token(installation: &Installation) -> Result<String> {
    let login = installation.login()?;
    ensure!(login.status == 200, "login: {login:?}");
    let login = login.json();
    let token = login["auth"]["client_token"].as_str().context("no token")?;
    let organization = json!({"data": {
        "type": "organizations",
        "attributes": {"name": "demo", "email": "demo@example.com"},
    }});
    let created = installation.send(
        "POST",
        "/api/v2/organizations",
        Some(token),
        Some(&organization),
    );
    ensure!(created.status == 201, "organization: {created:?}");
    Ok(token.to_owned())
}

fn in_memory(
    cores: &Cores,
    report: &mut Report,
    name: &str,
    program: Program,
    settings: &str,
) -> Result<()> {
    let (installation, server) = prepared(cores, program, Storage::Memory, settings)?;
    let token = workload_token(&installation)?;
    let rows = [
        (
            "login, service token, in memory",
            login_request(&installation, ROLE)?,
        ),
        (
            "login, batch token, in memory",
            login_request(&installation, BATCH_ROLE)?,
        ),
        (LOOKUP, lookup_request(&token)),
        ("organization show, in memory", show_request(&token)),
        ("sys/health", request("GET", "/v1/sys/health", None, "")),
    ];
    for (work, request) in rows {
        report.row(name, work, repeated(server, work, &request)?);
    }
    Ok(())
}

fn durable(cores: &Cores, report: &mut Report, name: &str, program: Program) -> Result<()> {
    let (installation, server) = prepared(cores, program, Storage::Durable, "")?;
    let token = workload_token(&installation)?;
    let rows = [
        (
            "login, service token, durable",
            login_request(&installation, ROLE)?,
        ),
        ("lookup-self, durable", lookup_request(&token)),
        ("organization show, durable", show_request(&token)),
    ];
    for (work, request) in rows {
        report.row(name, work, repeated(server, work, &request)?);
    }
    Ok(())
}

/// A lookup of any of very many tokens, and logins beside them.
fn with_many_tokens(cores: &Cores, report: &mut Report) -> Result<()> {
    let no_quota = "[limits]\nlive_tokens_per_mount = \"none\"";
    let (mut installation, _) = prepared(cores, Program::gatehouse(), Storage::Durable, no_quota)?;
    installation.server().terminate()?;
    cores.enter_all()?;
    let begun = Instant::now();
    let tokens = many_tokens::issue(installation.folder(), MANY_TOKENS)?;
    let filled = begun.elapsed();
    cores.enter_server_core()?;
    installation.run()?;
    cores.enter_load_core()?;
    let server = target(&mut installation)?;

    let every = MANY_TOKENS / TOKENS_LOOKED_UP;
    let lookups: Vec<Vec<u8>> = tokens
        .iter()
        .step_by(every)
        .map(|token| lookup_request(token))
        .collect();
    let what = format!("lookup-self of random tokens among {MANY_TOKENS}, durable");
    report.row(GATEHOUSE, &what, any_of(server, &what, &lookups)?);
    let what = format!("login among {MANY_TOKENS} tokens, durable");
    let login = login_request(&installation, ROLE)?;
    report.row(GATEHOUSE, &what, repeated(server, &what, &login)?);
    report.note(format!(
        "{MANY_TOKENS} tokens were made in {filled:.0?}; the server keeps {} MB under the load on them.",
        footprint::resident_megabytes(server.process)?
    ));
    Ok(())
}
