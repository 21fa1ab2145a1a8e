//! Databases that cannot be used: requests below `/v1` that need them get 500, the log says what mends it, and nothing has changed
//! afterwards (contract 1.6, SEC-S4).

use std::fs;

use gatehouse_spin_sqlite::{Connection, Databases};
use gatehouse_tests::{Installation, ServerProcess, Storage};
use serde_json::json;

use crate::HOST;

/// An installation that has been used, stopped.
fn used() -> Installation {
    let mut installation =
        Installation::start_program(HOST.program(), Storage::Durable, "").unwrap();
    write(&installation, "first").unwrap();
    installation.server().kill();
    installation
}

/// Stores a policy of this name; the status where it was refused.
fn write(installation: &Installation, name: &str) -> Result<(), u16> {
    let path = format!("/v1/sys/policies/acl/{name}");
    let body = json!({"policy": "path \"demo/*\" { capabilities = [\"read\"] }"});
    let answer = installation.as_root("PUT", &path, Some(&body));
    match answer.status {
        200 | 204 => Ok(()),
        refused => Err(refused),
    }
}

fn has(installation: &Installation, name: &str) -> bool {
    let path = format!("/v1/sys/policies/acl/{name}");
    installation.as_root("GET", &path, None).status == 200
}

/// The database of the tokens and policies.
fn database(installation: &Installation) -> Connection {
    let folder = installation.folder().join("data");
    Databases::in_folder(&folder, &["access"])
        .open("access")
        .unwrap()
}

fn execute(connection: &Connection, statement: &str) {
    connection.execute(statement, &[]).unwrap();
}

/// A server on what the installation has, whose log can be read.
fn start_logging(installation: &Installation) -> ServerProcess {
    let program = HOST.program().logging();
    ServerProcess::start(
        &program,
        &installation.configuration(),
        installation.address(),
        installation.output().unwrap(),
    )
    .unwrap()
}

fn log(installation: &Installation) -> String {
    let path = installation.configuration().with_extension("toml.log");
    fs::read_to_string(path).unwrap()
}

#[test]
fn s12_tables_of_a_newer_version_are_refused_and_left_as_they_are() {
    let installation = used();
    let connection = database(&installation);
    execute(&connection, "update gatehouse_store set number = 2");
    let server = start_logging(&installation);
    for path in ["/v1/auth/token/lookup-self", "/v1/sys/policies/acl/first"] {
        let token = Some(installation.root_token());
        assert_eq!(server.send("GET", path, token, None).status, 500, "{path}");
    }
    let log = log(&installation);
    assert!(log.contains("newer version of this software"), "{log}");
    execute(&connection, "update gatehouse_store set number = 1");
    assert!(has(&installation, "first"));
}

#[test]
fn a_database_that_something_else_holds_is_waited_for_and_then_refused_and_can_be_read_meanwhile() {
    let installation = used();
    let _server = start_logging(&installation);
    let other = database(&installation);
    execute(&other, "begin immediate");
    assert!(has(&installation, "first"));
    assert_eq!(write(&installation, "second"), Err(500));
    let log = log(&installation);
    assert!(log.contains("end what has the file open"), "{log}");
    execute(&other, "rollback");
    assert!(!has(&installation, "second"));
    assert_eq!(write(&installation, "second"), Ok(()));

    // Let go in time, it is not noticed.
    execute(&other, "begin immediate");
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| write(&installation, "third"));
        assert!(has(&installation, "first"));
        execute(&other, "rollback");
        assert_eq!(writing.join().unwrap(), Ok(()));
    });
}
