//! Databases that cannot be used: requests that need them get 503, the log says what mends it, and nothing has changed
//! afterwards (contract 1.6, SEC-S4).

use std::fs;

use gatehouse_spin_sqlite::{Connection, Databases};
use gatehouse_tests::{Installation, Program, ServerProcess, Storage, real_spin};
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

/// The program with databases of that nature; real Spin has none but files.
fn with_databases(nature: &str) -> Program {
    let mut program = HOST.program();
    let given = ["--databases", nature].map(str::to_owned);
    program.arguments.splice(1..1, given);
    program
}

/// A server on what the installation has, whose log can be read.
fn start_logging(installation: &Installation) -> ServerProcess {
    start_logging_program(installation, HOST.program())
}

fn start_logging_program(installation: &Installation, program: Program) -> ServerProcess {
    ServerProcess::start(
        &program.logging(),
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
        assert_eq!(server.send("GET", path, token, None).status, 503, "{path}");
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
    assert_eq!(write(&installation, "second"), Err(503));
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

/// The most policies that are tried: a database that was just made has not so many free pages.
const LARGE_POLICIES: usize = 64;

/// Writes large policies until one is refused, into whatever free pages there are; answers the names of those that were written, and of the
/// one that was not.
fn write_until_refused(server: &ServerProcess, token: &str) -> (Vec<String>, String) {
    let rule = "path \"demo/*\" { capabilities = [\"read\"] }\n";
    let body = json!({"policy": rule.repeat(2_000)});
    let mut written = Vec::new();
    for number in 0..LARGE_POLICIES {
        let name = format!("large-{number}");
        let path = format!("/v1/sys/policies/acl/{name}");
        match server.send("PUT", &path, Some(token), Some(&body)).status {
            200 | 204 => written.push(name),
            503 => return (written, name),
            other => panic!("{name}: {other}"),
        }
    }
    panic!("{LARGE_POLICIES} large policies were written");
}

fn assert_reads_go_on_and_nothing_is_written(nature: &str, cure: &str) {
    if real_spin().is_some() {
        return;
    }
    let installation = used();
    let token = Some(installation.root_token());
    let mut server = start_logging_program(&installation, with_databases(nature));
    let first = "/v1/sys/policies/acl/first";
    assert_eq!(server.send("GET", first, token, None).status, 200);
    let (written, refused) = write_until_refused(&server, installation.root_token());
    let organization = json!({"data": {
        "type": "organizations",
        "attributes": {"name": "acme".repeat(10), "email": "it@acme.example"},
    }});
    // That database is as it was made: there is no room for tables, or no right to make them.
    let path = "/api/v2/organizations";
    let creation = server.send("POST", path, token, Some(&organization));
    assert_eq!(creation.status, 503, "{creation:?}");
    assert_eq!(server.send("GET", first, token, None).status, 200);
    let told = log(&installation);
    assert!(told.contains(cure), "{told}");
    server.kill();

    let mut installation = installation;
    installation.run().unwrap();
    assert!(has(&installation, "first"));
    for name in written {
        assert!(has(&installation, &name), "{name}");
    }
    assert!(!has(&installation, &refused), "half of it was written");
    let listed = installation.as_root("GET", path, None).json();
    assert_eq!(listed["data"], json!([]));
    assert_eq!(write(&installation, "second"), Ok(()));
}

#[test]
fn a_full_disk_is_told_with_its_cure_and_nothing_is_half_written() {
    assert_reads_go_on_and_nothing_is_written("full", "make room; nothing was written");
}

#[test]
fn a_file_that_is_not_writable_is_told_with_its_cure_and_can_be_read() {
    assert_reads_go_on_and_nothing_is_written("read-only", "the right to write to the file");
}

#[test]
fn a_file_that_is_no_database_is_named_and_left_as_it_is() {
    let installation = used();
    let data = installation.folder().join("data");
    let lost = installation.folder().join("lost");
    fs::rename(&data, &lost).unwrap();
    fs::create_dir(&data).unwrap();
    let text = "text\n".repeat(1000);
    fs::write(data.join("access.sqlite"), &text).unwrap();
    let mut server = start_logging(&installation);
    let token = Some(installation.root_token());
    let path = "/v1/auth/token/lookup-self";
    assert_eq!(server.send("GET", path, token, None).status, 503);
    let told = log(&installation);
    assert!(told.contains("correct its path"), "{told}");
    server.kill();
    let left = fs::read_to_string(data.join("access.sqlite")).unwrap();
    assert_eq!(left, text);
    fs::remove_dir_all(&data).unwrap();
    fs::rename(&lost, &data).unwrap();
    let mut installation = installation;
    installation.run().unwrap();
    assert!(has(&installation, "first"));
}

#[test]
fn two_processes_on_one_file_read_what_the_other_has_written_and_one_of_them_gets_a_name() {
    let mut installation =
        Installation::start_program(HOST.program(), Storage::Durable, "").unwrap();
    let other = installation.another_server().unwrap();
    let token = Some(installation.root_token());
    write(&installation, "first").unwrap();
    let read = other.send("GET", "/v1/sys/policies/acl/first", token, None);
    assert_eq!(read.status, 200, "{read:?}");
    let made = json!({"policies": ["default"]});
    let made = other.send("POST", "/v1/auth/token/create", token, Some(&made));
    let of_other = made.json()["auth"]["client_token"].clone();
    let of_other = of_other.as_str().unwrap();
    let lookup = "/v1/auth/token/lookup-self";
    let seen = |server: Option<&ServerProcess>| match server {
        Some(server) => server.send("GET", lookup, Some(of_other), None).status,
        None => {
            installation
                .send("GET", lookup, Some(of_other), None)
                .status
        }
    };
    assert_eq!((seen(None), seen(Some(&other))), (200, 200));
    let revoke = "/v1/auth/token/revoke-self";
    let revoked = installation.send("POST", revoke, Some(of_other), None);
    assert_eq!(revoked.status, 204, "{revoked:?}");
    assert_eq!((seen(None), seen(Some(&other))), (403, 403));

    let names: Vec<String> = (0..10).map(|number| format!("race-{number}")).collect();
    for name in &names {
        let organization = json!({"data": {
            "type": "organizations",
            "attributes": {"name": name, "email": "it@acme.example"},
        }});
        let path = "/api/v2/organizations";
        let statuses = std::thread::scope(|scope| {
            let ours = scope.spawn(|| installation.as_root("POST", path, Some(&organization)));
            let theirs = scope.spawn(|| other.send("POST", path, token, Some(&organization)));
            let mut statuses = [ours, theirs].map(|racer| racer.join().unwrap().status);
            statuses.sort_unstable();
            statuses
        });
        assert_eq!(statuses, [201, 422], "{name}");
    }
    installation.server().kill();
    installation.run().unwrap();
    for name in &names {
        let path = format!("/api/v2/organizations/{name}");
        assert_eq!(installation.as_root("GET", &path, None).status, 200);
    }
}

#[test]
fn a_server_of_libsql_serves_logins_and_organizations_and_keeps_them_through_a_restart() {
    if real_spin().is_some() {
        return;
    }
    let program = with_databases("libsql");
    let mut installation = Installation::start_program(program, Storage::Durable, "").unwrap();
    installation.set_up_login().unwrap();
    let mut tokens = Vec::new();
    for number in 0..30 {
        let login = installation.login().unwrap();
        assert_eq!(login.status, 200, "{login:?}");
        let token = &login.json()["auth"]["client_token"];
        tokens.push(token.as_str().unwrap().to_owned());
        let organization = json!({"data": {
            "type": "organizations",
            "attributes": {"name": format!("demo-{number}"), "email": "it@acme.example"},
        }});
        let path = "/api/v2/organizations";
        let made = installation.as_root("POST", path, Some(&organization));
        assert_eq!(made.status, 201, "{made:?}");
    }
    installation.server().terminate().unwrap();
    installation.run().unwrap();
    for (number, token) in tokens.iter().enumerate() {
        let path = format!("/api/v2/organizations/demo-{number}");
        let shown = installation.send("GET", &path, Some(token), None);
        assert_eq!(shown.status, 200, "{shown:?}");
    }
}

#[test]
fn a_server_that_is_told_to_stop_does_not_say_that_an_instance_has_failed() {
    let installation = used();
    let mut server = start_logging(&installation);
    let token = Some(installation.root_token());
    for _ in 0..3 {
        let path = "/v1/auth/token/lookup-self";
        assert_eq!(server.send("GET", path, token, None).status, 200);
    }
    server.terminate().unwrap();
    let told = log(&installation);
    assert!(!told.contains("has failed"), "{told}");
}
