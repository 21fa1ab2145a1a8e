//! One, two and three servers on one database, beside one server with a file.

use std::time::Duration;

use anyhow::{Context, Result};
use gatehouse_postgres_server::PostgresServer;
use gatehouse_tests::{Installation, ROLE, ServerProcess, Storage};

use crate::cores::Cores;
use crate::load::{Target, measure_over, processor_time_of};
use crate::report::Report;
use crate::{LOAD, login_request, lookup_request, target, workload_token};

const MOST_SERVERS: usize = 3;

/// Measures logins and lookups, and notes the processor time that the database takes for one of each.
///
/// Servers, database and load share all cores, since each needs one: on a machine with few cores the rates show what fits on it, and the
/// processor times what would fit on more.
///
/// # Errors
///
/// When a server does not answer as expected.
pub fn run(cores: &Cores, report: &mut Report) -> Result<()> {
    cores.enter_all()?;
    let mut on_file = started(Storage::Durable)?;
    let file = [target(&mut on_file)?];
    let requests_of_file = requests(&on_file)?;
    rows(report, "one server, file", &file, &requests_of_file, None)?;
    on_file.server().terminate()?;

    let mut on_database = started(Storage::Postgres)?;
    let mut servers = vec![target(&mut on_database)?];
    let work = requests(&on_database)?;
    let mut further: Vec<ServerProcess> = Vec::new();
    loop {
        let name = format!("{} on one database", counted(servers.len()));
        let database = Some(on_database.database());
        rows(report, &name, &servers, &work, database)?;
        if servers.len() == MOST_SERVERS {
            return Ok(());
        }
        let server = on_database.another_server()?;
        let address = server.address().trim_start_matches("http://").parse()?;
        let process = server.id();
        servers.push(Target { address, process });
        further.push(server);
    }
}

fn started(storage: Storage) -> Result<Installation> {
    let installation = Installation::start(storage, "")?;
    installation.set_up_login()?;
    Ok(installation)
}

fn counted(servers: usize) -> String {
    match servers {
        1 => "one server".to_owned(),
        number => format!("{number} servers"),
    }
}

fn requests(installation: &Installation) -> Result<[(&'static str, Vec<u8>); 2]> {
    let token = workload_token(installation)?;
    Ok([
        ("login, service token", login_request(installation, ROLE)?),
        ("lookup-self", lookup_request(&token)),
    ])
}

fn rows(
    report: &mut Report,
    name: &str,
    servers: &[Target],
    requests: &[(&str, Vec<u8>)],
    database: Option<&PostgresServer>,
) -> Result<()> {
    // A connection has a process, and the first ones under load are made under it: those that have not been there before count whole.
    let time_of_database = || match database {
        Some(database) => processor_time_of(database),
        None => Ok(Duration::ZERO),
    };
    for (work, request) in requests {
        let before = time_of_database()?;
        let measured = measure_over(servers, std::slice::from_ref(request), LOAD);
        let measured = measured.with_context(|| (*work).to_owned())?;
        let taken = time_of_database()?.saturating_sub(before);
        report.row(name, work, measured);
        if database.is_some() {
            report.note(format!(
                "{name}: {:.0} us of the database's processor time for one {work}.",
                taken.as_secs_f64() * 1e6 / measured.count as f64
            ));
        }
    }
    Ok(())
}
