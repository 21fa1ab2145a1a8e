//! All texts that are sent to the database.
//!
//! | table | columns | |
//! | --- | --- | --- |
//! | `gatehouse_entry` | key, version, value, expires_at | one row for each entry; without a value, one that was removed lately |
//! | `gatehouse_cache` | the same | what instances share and can lose |
//! | `gatehouse_keyring` | id, sealed | one row: the data keys, sealed by the root key |
//! | `gatehouse_store` | name, number | `schema`: the version of these tables |
//!
//! Times are in milliseconds since 1970, null for never. Keys are compared by byte. The columns are those of the tables in PostgreSQL
//! (`host/store/src/postgresql/statements.rs`), and the statements are not: there a commit is a function that takes locks, and here one
//! statement alone has the write lock.

use std::fmt::Write as _;

use crate::sql::Table;

/// Keeps a statement from waiting for long within SQLite, whose pauses grow.
pub const WAIT_SHORTLY: &str = "pragma busy_timeout = 20";
/// Has a commit return when it is on the disk.
pub const SYNCHRONOUS: &str = "pragma synchronous = full";
/// Asks how far a commit is when it returns, where that could not be set.
pub const ASK_SYNCHRONOUS: &str = "pragma synchronous";
/// Leaves 40 MB in the file beside the database before its pages are brought into the database: commits touch pages in no order, so the more of
/// them come together the fewer are written twice, and the fewer commits wait for that.
pub const CHECKPOINT_SELDOM: &str = "pragma wal_autocheckpoint = 10000";
/// Writes ahead in a file beside the database, which takes one flush for each commit. Stays set in the file.
pub const WRITE_AHEAD: &str = "pragma journal_mode = wal";

/// The version of the schema and the sealed keyring. It fails where there are no tables yet.
pub const DESCRIBE: &str = "
    select s.number, k.sealed from gatehouse_store s left join gatehouse_keyring k on k.id = 1 where s.name = 'schema'";
/// Makes the tables. Each may be there already, made by another instance or by one that was cut off; the one that is looked for comes last.
pub const CREATE: [&str; 7] = [
    "create table if not exists gatehouse_keyring (id integer primary key check (id = 1), sealed blob not null) strict",
    "create table if not exists gatehouse_entry
        (key text not null primary key, version integer not null, value blob, expires_at integer) strict",
    "create index if not exists gatehouse_entry_expires_at on gatehouse_entry (expires_at) where expires_at is not null",
    "create table if not exists gatehouse_cache
        (key text not null primary key, version integer not null, value blob, expires_at integer) strict",
    "create index if not exists gatehouse_cache_expires_at on gatehouse_cache (expires_at) where expires_at is not null",
    "create table if not exists gatehouse_store (name text not null primary key, number integer not null) strict",
    "insert into gatehouse_store (name, number) values ('schema', 1) on conflict (name) do nothing",
];
/// Stores the first keyring: sealed keyring. Does nothing where one exists, or where entries show that one existed.
pub const STORE_KEYRING: &str = "
    insert into gatehouse_keyring (id, sealed) select 1, ? where not exists (select 1 from gatehouse_entry)
    on conflict (id) do nothing";

const fn name(table: Table) -> &'static str {
    match table {
        Table::Entry => "gatehouse_entry",
        Table::Cache => "gatehouse_cache",
    }
}

/// Reads entries without the values that are held: for each of `keys` the key and the version that is held or null, then now. Answers
/// the index of the key, version, and value or null where it is held.
pub fn get(table: Table, keys: usize) -> String {
    let (name, asked) = (name(table), rows(keys, 2));
    format!(
        "with asked (n, key, version) as ({asked})
        select a.n, e.version, case when e.version is not a.version then e.value end
        from asked a cross join {name} e on e.key = a.key
        where e.value is not null and (e.expires_at is null or e.expires_at > ?)"
    )
}

/// Reads the versions of entries: for each of `keys` the key, then now. Answers the index of the key and its version.
pub fn versions(table: Table, keys: usize) -> String {
    let (name, asked) = (name(table), rows(keys, 1));
    format!(
        "with asked (n, key) as ({asked})
        select a.n, e.version from asked a cross join {name} e on e.key = a.key
        where e.value is not null and (e.expires_at is null or e.expires_at > ?)"
    )
}

/// Reads a page: first key, a key to leave out, end of the prefix, now, how many, how many bytes. Answers key, version and value. Rows
/// end with the one that passes the bytes; the values of others are not read.
pub fn scan(table: Table) -> String {
    let name = name(table);
    format!(
        "with matched (id, key, bytes) as (
            select rowid, key, length(key) + length(value) from {name}
            where key >= ? and key <> ? and key < ? and value is not null and (expires_at is null or expires_at > ?)
            order by key limit ?
        ), placed (id, key, before) as (
            select id, key, sum(bytes) over (order by key rows between unbounded preceding and 1 preceding) from matched
        )
        select p.key, e.version, e.value from placed p cross join {name} e on e.rowid = p.id
        where p.before is null or p.before <= ? order by p.key"
    )
}

/// Commits: for each of `checks` the key and its version or null for absent; for each of `changes` the key, its value or null for a
/// removal, and its end; then the version and, where there are checks, now. Answers a row for each change, or none where a check failed.
pub fn commit(table: Table, checks: usize, changes: usize) -> String {
    let (name, changed) = (name(table), rows(changes, 3));
    let (checked, guard) = match checks {
        0 => (String::new(), String::from("true")),
        _ => (
            format!("checked (n, key, version) as ({}),", rows(checks, 2)),
            format!("not exists (select 1 from {})", failed(table)),
        ),
    };
    format!(
        "with {checked} changed (n, key, value, expires_at) as ({changed})
        insert into {name} (key, version, value, expires_at)
        select c.key, ?, c.value, c.expires_at from changed c where {guard}
        on conflict (key) do update
        set version = excluded.version, value = excluded.value, expires_at = excluded.expires_at
        returning 1"
    )
}

/// Tells if a commit has left a row: its version, then its `keys`. Answers a row if so.
pub fn written(table: Table, keys: usize) -> String {
    let (name, keys) = (name(table), vec!["?"; keys].join(", "));
    format!("select 1 from {name} where version = ? and key in ({keys}) limit 1")
}

/// Finds the first check that does not hold: for each of `checks` the key and its version or null for absent; then now. Answers its
/// index.
pub fn check(table: Table, checks: usize) -> String {
    let checked = rows(checks, 2);
    let failed = failed(table);
    format!(
        "with checked (n, key, version) as ({checked}) select checked.n from {failed} order by checked.n limit 1"
    )
}

/// The checks that do not hold, of the rows `checked`: now.
fn failed(table: Table) -> String {
    let name = name(table);
    format!(
        "checked left join {name} e
        on e.key = checked.key and e.value is not null and (e.expires_at is null or e.expires_at > ?)
        where e.version is not checked.version"
    )
}

/// Drops rows whose time has come: now, how many at most.
pub fn purge(table: Table) -> String {
    let name = name(table);
    format!(
        "delete from {name} where rowid in
        (select rowid from {name} where expires_at <= ? order by expires_at limit ?)"
    )
}

/// So many rows of parameters, each behind its index.
fn rows(count: usize, parameters: usize) -> String {
    let row = ", ?".repeat(parameters);
    let mut text = String::with_capacity((row.len() + 8) * count + 8);
    text.push_str("values ");
    for number in 0..count {
        let comma = if number == 0 { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = write!(text, "{comma}({number}{row})");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_has_the_parameters_that_it_describes() {
        let parameters = |text: &str| text.matches('?').count();
        for (count, statement) in [
            (1, STORE_KEYRING.to_owned()),
            (7, get(Table::Entry, 3)),
            (4, versions(Table::Entry, 3)),
            (6, scan(Table::Entry)),
            (7, commit(Table::Entry, 0, 2)),
            (4 + 6 + 2, commit(Table::Cache, 2, 2)),
            (4, written(Table::Entry, 3)),
            (5, check(Table::Cache, 2)),
            (2, purge(Table::Cache)),
        ] {
            assert_eq!(parameters(&statement), count, "{statement}");
        }
    }
}
