//! Requests per second and latencies of the release server on one core, beside the same logic compiled natively and, where it is
//! installed, beside OpenBao. Run with: cargo bench -p gatehouse-tests
//!
//! `cargo bench -p gatehouse-tests -- tokens openbao` measures these parts alone; see [`PARTS`]. The part `programs` measures builds of
//! `gatehouse` that are given as paths in `GATEHOUSE_PROGRAMS`, with colons between, each twice and in turns.

mod cores;
mod load;
mod many_tokens;
mod native;
mod openbao;
mod organizations;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use gatehouse_fake_google::AccountSpec;
use gatehouse_tests::{INSTANCE_ROLE, Installation, Program, ROLE, Storage};
use serde_json::json;

use cores::Cores;
use load::{Load, Measured, measure, measure_once_each, request};

const LOAD: Load = Load {
    connections: 16,
    duration: Duration::from_secs(5),
};

/// What can be measured, in the order in which it is.
const PARTS: [&str; 9] = [
    "programs",
    "memory",
    "google",
    "durable",
    "tokens",
    "organizations",
    "fresh",
    "native",
    "openbao",
];

/// How many live tokens the store holds in which they are to make no difference.
const MANY_TOKENS: usize = 1_000_000;

/// How many of them are looked up.
const TOKENS_LOOKED_UP: usize = 100_000;

/// How many accounts log in for the first time.
const NEWCOMERS: usize = 40;

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
    let wants = |part: &str| wanted.is_empty() || wanted.contains(&part);

    let programs = wants("programs").then(given_programs).unwrap_or_default();
    if wanted != ["programs"] {
        gatehouse_tests::gatehouse_binary();
    } else if programs.is_empty() {
        bail!("GATEHOUSE_PROGRAMS names no build");
    }
    let cores = Cores::available()?;
    println!(
        "{} connections, {:?} a row, one core for the server\n",
        LOAD.connections, LOAD.duration
    );
    println!("| what | requests/s | p50 ms | p99 ms |");
    println!("|---|---|---|---|");

    for path in programs.iter().chain(&programs) {
        let program = Program::gatehouse_at(path.clone());
        in_memory(&cores, &path.display().to_string(), program, "")?;
    }
    if wants("memory") {
        in_memory(&cores, "gatehouse", Program::gatehouse(), "")?;
    }
    if wants("google") {
        google_asked(&cores)?;
    }
    if wants("durable") {
        durable(&cores)?;
    }
    let lookup = wants("tokens")
        .then(|| with_many_tokens(&cores))
        .transpose()?;
    if wants("organizations") {
        organizations::run(&cores)?;
    }
    if wants("fresh") {
        let name = "a fresh instance per request";
        let fresh = "[limits]\ninstance_reuse = 1";
        in_memory(&cores, name, Program::gatehouse(), fresh)?;
    }
    if wants("native") {
        let name = "the same logic compiled natively";
        in_memory(&cores, name, native::program()?, "")?;
    }
    if wants("openbao") {
        let Some(program) = openbao::find() else {
            println!("\nOpenBao's `bao` was not found: no rows for it");
            return Ok(());
        };
        let of_openbao = openbao::measure_logins(&cores, &program)?;
        if let Some(lookup) = lookup {
            println!(
                "\nlookup-self with {MANY_TOKENS} tokens: {:.1} times OpenBao's rate with one",
                lookup.rate / of_openbao.rate
            );
        }
    }
    Ok(())
}

/// The builds of `gatehouse` to compare.
fn given_programs() -> Vec<PathBuf> {
    std::env::var_os("GATEHOUSE_PROGRAMS")
        .map(|paths| std::env::split_paths(&paths).collect())
        .unwrap_or_default()
}

/// One request again and again.
fn row(what: &str, server: SocketAddr, request: &[u8]) -> Result<Measured> {
    row_of_any(what, server, &[request.to_vec()])
}

/// Any of some requests, in random order.
fn row_of_any(what: &str, server: SocketAddr, requests: &[Vec<u8>]) -> Result<Measured> {
    let measured = measure(server, requests, LOAD).with_context(|| what.to_owned())?;
    print(what, measured);
    Ok(measured)
}

fn print(what: &str, measured: Measured) {
    println!(
        "| {what} | {:.0} | {:.2} | {:.2} |",
        measured.rate, measured.median, measured.percentile_99
    );
}

/// Logins that Google has to be asked about: of an instance, whose state is never remembered, and of accounts nobody has seen yet.
fn google_asked(cores: &Cores) -> Result<()> {
    let (installation, server) = prepared(cores, Program::gatehouse(), Storage::Memory, "")?;
    let body = json!({"role": INSTANCE_ROLE, "jwt": installation.instance_jwt()?}).to_string();
    let login = request("POST", "/v1/auth/gcp/login", None, &body);
    row("gatehouse: gce login, in memory", server, &login)?;

    let role =
        json!({"type": "iam", "bound_service_accounts": "*", "bound_projects": "demo-project"});
    let written = installation.as_root("POST", "/v1/auth/gcp/role/anybody", Some(&role));
    ensure!(written.status == 200, "role: {written:?}");
    let google = installation.google();
    let mut logins = Vec::with_capacity(NEWCOMERS);
    for number in 0..NEWCOMERS {
        let account = AccountSpec::new(&format!("newcomer-{number}"), "demo-project");
        let email = account.email.clone();
        google.add_account(account)?;
        let jwt = google.sign_login_jwt(&email, "anybody")?;
        let body = json!({"role": "anybody", "jwt": jwt}).to_string();
        logins.push(request("POST", "/v1/auth/gcp/login", None, &body));
    }
    let measured = measure_once_each(server, &logins)?;
    print(
        "gatehouse: first login of an account, one after the other",
        measured,
    );
    Ok(())
}

fn login_request(installation: &Installation) -> Result<Vec<u8>> {
    let body = json!({"role": ROLE, "jwt": installation.login_jwt()?}).to_string();
    Ok(request("POST", "/v1/auth/gcp/login", None, &body))
}

fn prepared(
    cores: &Cores,
    program: Program,
    storage: Storage,
    settings: &str,
) -> Result<(Installation, SocketAddr)> {
    cores.enter_server_core()?;
    let installation = Installation::start_program(program, storage, settings)?;
    cores.enter_load_core()?;
    installation.set_up_login()?;
    let server = installation.address().parse()?;
    Ok((installation, server))
}

fn in_memory(cores: &Cores, name: &str, program: Program, settings: &str) -> Result<()> {
    let (installation, server) = prepared(cores, program, Storage::Memory, settings)?;
    row(
        &format!("{name}: login, in memory"),
        server,
        &login_request(&installation)?,
    )?;
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
    let lookup = request("GET", "/v1/auth/token/lookup-self", Some(token), "");
    row(&format!("{name}: lookup-self"), server, &lookup)?;
    let show = request("GET", "/api/v2/organizations/demo", Some(token), "");
    row(&format!("{name}: organization show"), server, &show)?;
    Ok(())
}

fn durable(cores: &Cores) -> Result<()> {
    let (installation, server) = prepared(cores, Program::gatehouse(), Storage::Durable, "")?;
    row(
        "gatehouse: login, durable",
        server,
        &login_request(&installation)?,
    )?;
    Ok(())
}

/// A lookup of any of very many tokens, and logins beside them.
fn with_many_tokens(cores: &Cores) -> Result<Measured> {
    let (mut installation, server) = prepared(cores, Program::gatehouse(), Storage::Durable, "")?;
    installation.server().terminate()?;
    cores.enter_all()?;
    let begun = Instant::now();
    let tokens = many_tokens::issue(installation.folder(), MANY_TOKENS)?;
    let filled = begun.elapsed();
    cores.enter_server_core()?;
    installation.run()?;
    cores.enter_load_core()?;

    let lookup = |token: &String| request("GET", "/v1/auth/token/lookup-self", Some(token), "");
    let every = MANY_TOKENS / TOKENS_LOOKED_UP;
    let lookups: Vec<Vec<u8>> = tokens.iter().step_by(every).map(lookup).collect();
    let name = format!("gatehouse: lookup-self, durable, {MANY_TOKENS} tokens");
    let measured = row_of_any(&name, server, &lookups)?;
    row(
        &format!("gatehouse: login, durable, {MANY_TOKENS} tokens"),
        server,
        &login_request(&installation)?,
    )?;
    let process = installation.server().id();
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    println!(
        "| ({MANY_TOKENS} tokens issued in {filled:.0?}; resident now: {}) | | | |",
        resident.unwrap_or("unknown").trim()
    );
    Ok(measured)
}
