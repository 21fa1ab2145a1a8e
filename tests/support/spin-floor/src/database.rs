//! The database, opened once in an instance and with the settings that the storage adapter makes (`components/storage-adapter/src/sqlite`).

use std::cell::OnceCell;
use std::time::Duration;

use bindings::spin::sqlite::sqlite::{Connection, Error, RowResult, Value};

use crate::DATABASE;

#[allow(missing_docs, unsafe_code, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        inline: "
            package gatehouse:spin-floor;

            world floor {
                import spin:sqlite/sqlite@3.0.0;
            }
        ",
        path: "../../../wit/deps/sqlite",
        world: "gatehouse:spin-floor/floor",
        generate_all,
    });
}

/// Settings of a connection: statements do not wait for long within SQLite, a commit returns when it is on the disk, and the file beside the
/// database grows to 40 MB.
const SETTINGS: [&str; 3] = [
    "pragma busy_timeout = 20",
    "pragma synchronous = full",
    "pragma wal_autocheckpoint = 10000",
];

/// Makes the tables, in a file that is written ahead. Sixteen rows are there to be read.
const PREPARATION: [&str; 4] = [
    "pragma journal_mode = wal",
    "create table if not exists read_row (key text not null primary key, value blob not null) strict",
    "create table if not exists written_row (key text not null primary key, value blob not null) strict",
    "with recursive numbered (n) as (values (1) union all select n + 1 from numbered where n < 16)
        insert into read_row (key, value) select 'row-' || n, randomblob(100) from numbered where true on conflict (key) do nothing",
];

const READ: &str = "select key, value from read_row where key in (?, ?, ?, ?)";
const READ_KEYS: [&str; 4] = ["row-2", "row-5", "row-11", "row-16"];

const WRITE: &str = "insert into written_row (key, value) values (hex(randomblob(16)), ?)";
const WRITTEN_BYTES: usize = 100;

/// How often a statement is tried while another connection writes, and how long it waits before it is tried again.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(1);

thread_local! {
    static CONNECTION: OnceCell<Connection> = const { OnceCell::new() };
}

pub fn prepare() -> Result<String, Error> {
    for statement in PREPARATION {
        execute(statement, &[])?;
    }
    Ok("prepared".to_owned())
}

pub fn read() -> Result<String, Error> {
    let rows = execute(READ, &READ_KEYS.map(|key| Value::Text(key.to_owned())))?;
    if rows.len() != READ_KEYS.len() {
        return Err(Error::Io(format!("{} rows were found", rows.len())));
    }
    Ok("read".to_owned())
}

pub fn write() -> Result<String, Error> {
    execute(WRITE, &[Value::Blob(vec![7; WRITTEN_BYTES])])?;
    Ok("written".to_owned())
}

fn execute(statement: &str, parameters: &[Value]) -> Result<Vec<RowResult>, Error> {
    CONNECTION.with(|cell| match cell.get() {
        Some(connection) => execute_on(connection, statement, parameters),
        None => {
            let connection = Connection::open(DATABASE)?;
            for setting in SETTINGS {
                execute_on(&connection, setting, &[])?;
            }
            execute_on(cell.get_or_init(|| connection), statement, parameters)
        }
    })
}

fn execute_on(
    connection: &Connection,
    statement: &str,
    parameters: &[Value],
) -> Result<Vec<RowResult>, Error> {
    let mut tries = 1;
    loop {
        match connection.execute(statement, parameters) {
            Err(Error::Io(text)) if text.contains("is locked") && tries < TRIES => {
                tries += 1;
                std::thread::sleep(PAUSE);
            }
            outcome => return outcome.map(|answer| answer.rows),
        }
    }
}
