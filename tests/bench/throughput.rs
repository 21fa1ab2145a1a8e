//! Requests per second and latencies of the release server on one core, beside the same logic compiled natively and, where it is
//! installed, beside OpenBao. Run with: cargo bench -p gatehouse-tests

mod cores;
mod load;
mod native;
mod openbao;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use gatehouse_fake_google::AccountSpec;
use gatehouse_tests::{INSTANCE_ROLE, Installation, Program, ROLE, Storage};
use serde_json::json;

use cores::Cores;
use load::{Load, Measured, measure, measure_once_each, request};

const LOAD: Load = Load {
    connections: 16,
    duration: Duration::from_secs(5),
};

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
    gatehouse_tests::release_binary();
    let cores = Cores::available()?;
    println!(
        "{} connections, {:?} a row, one core for the server\n",
        LOAD.connections, LOAD.duration
    );
    println!("| what | requests/s | p50 ms | p99 ms |");
    println!("|---|---|---|---|");

    in_memory(&cores, "gatehouse", Program::gatehouse(), "")?;
    google_asked(&cores)?;
    durable(&cores)?;
    let fresh = "[limits]\ninstance_reuse = 1";
    in_memory(
        &cores,
        "a fresh instance per request",
        Program::gatehouse(),
        fresh,
    )?;
    in_memory(
        &cores,
        "the same logic compiled natively",
        native::program()?,
        "",
    )?;
    match openbao::find() {
        Some(program) => openbao::measure_logins(&cores, &program)?,
        None => println!("\nOpenBao's `bao` was not found: no rows for it"),
    }
    Ok(())
}

fn row(what: &str, server: SocketAddr, request: &[u8]) -> Result<Measured> {
    let measured = measure(server, request, LOAD).with_context(|| what.to_owned())?;
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
