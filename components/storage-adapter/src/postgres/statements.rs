//! All texts that are sent to the database.
//!
//! | table | columns | |
//! | --- | --- | --- |
//! | `entry` | store, key, version, value, expires_at | one row for each entry of each capability |
//! | `cache` | the same | what instances share and can lose; not logged |
//! | `keyring` | store, sealed | one row for each capability: its data keys, sealed by the root key |
//! | `outcome` | version, abandoned, at | one row for each commit of the last minutes, by the version it gave its entries |
//! | `number` | name, number | `schema`: the version of these tables |
//!
//! They lie in the schema `gatehouse_spin`, beside that of our own servers (`host/store/src/postgresql/statements.rs`) if they share a
//! database. Times are in milliseconds since 1970, null for never; keys have the collation `C`, which orders by bytes.
//!
//! Each statement that is asked for rows answers at least one, of nulls where there is nothing to answer: Spin 4.1 waits for the first row
//! indefinitely.
//!
//! A host pools connections and resets the settings of a session, so each setting that a statement needs belongs to the function that it
//! calls. These settings leave the planner nothing but the order of an index, since it believes a table to be small until it has been
//! analyzed. A commit first locks the keys that it checks (shared) and those that it writes, whether they exist or not, until it is
//! visible; then it checks. So commits that touch the same keys have one order, and a commit that waits for another is not rejected for
//! that.

use crate::sql::Table;

/// The version of the tables that this code reads and writes (SEC-S12).
pub const KNOWN_SCHEMA: i64 = 1;

/// The store. Answers the version of the tables, the sealed keyring or null, and how the database is run: if it recovers, if it flushes,
/// if its commits wait for the flush, and if transactions see what others commit. The last one is the default of the session: a backup reads in
/// a transaction of another kind.
pub const DESCRIBE: &str = "
    select n.number, k.sealed, pg_is_in_recovery(), current_setting('fsync') = 'on', current_setting('synchronous_commit') <> 'off',
        current_setting('default_transaction_isolation') = 'read committed'
    from (values (1)) one left join gatehouse_spin.number n on n.name = 'schema' left join gatehouse_spin.keyring k on k.store = $1::text";

/// The version that the engine describes itself by.
pub const SHOW_ENGINE: &str = "select version()";

/// Stores the first keyring: store, sealed keyring. Does nothing where the store has one, or where entries show that it had one.
pub const STORE_KEYRING: &str = "
    insert into gatehouse_spin.keyring (store, sealed)
    select $1::text, $2::bytea where not exists (select from gatehouse_spin.entry where store = $1::text)
    on conflict (store) do nothing";

/// Makes sure that the commit of a version is not applied later, unless it was applied already: version. Waits for a commit that is under
/// way.
pub const ABANDON: &str = "
    insert into gatehouse_spin.outcome (version, abandoned) values ($1::int8, true) on conflict do nothing";
/// Tells if the commit of a version was abandoned: version.
pub const WAS_ABANDONED: &str =
    "select (select abandoned from gatehouse_spin.outcome where version = $1::int8)";

/// Reads entries without the values that are held: store, keys, versions held, now. Answers the place of the key, counted from 1, version,
/// and value where it is not held.
pub const fn find(table: Table) -> &'static str {
    match table {
        Table::Entry => {
            "select n, version, value from (values (1)) one left join gatehouse_spin.find_entry($1::text, $2::text[], $3::int8[], $4::int8) on true"
        }
        Table::Cache => {
            "select n, version, value from (values (1)) one left join gatehouse_spin.find_cache($1::text, $2::text[], $3::int8[], $4::int8) on true"
        }
    }
}

/// Reads versions of entries: as [`find`], without the values.
pub const fn find_versions(table: Table) -> &'static str {
    match table {
        Table::Entry => {
            "select n, version, null from (values (1)) one left join gatehouse_spin.find_entry($1::text, $2::text[], $3::int8[], $4::int8) on true"
        }
        Table::Cache => {
            "select n, version, null from (values (1)) one left join gatehouse_spin.find_cache($1::text, $2::text[], $3::int8[], $4::int8) on true"
        }
    }
}

/// Reads a page: store, first key, a key to leave out, end of the prefix, now, how many, how many bytes. Answers key, version and value in
/// the order of keys. Rows end with the one that passes the bytes.
pub const fn scan(table: Table) -> &'static str {
    match table {
        Table::Entry => {
            "select key, version, value from (values (1)) one left join gatehouse_spin.scan_entry($1::text, $2::text, $3::text, $4::text, $5::int8, $6::int8, $7::int8) on true"
        }
        Table::Cache => {
            "select key, version, value from (values (1)) one left join gatehouse_spin.scan_cache($1::text, $2::text, $3::text, $4::text, $5::int8, $6::int8, $7::int8) on true"
        }
    }
}

/// Finds the first check that does not hold: store, keys, versions (null for absent), now. Answers its place, counted from 1, or null.
pub const fn check(table: Table) -> &'static str {
    match table {
        Table::Entry => {
            "select gatehouse_spin.check_entry($1::text, $2::text[], $3::int8[], $4::int8)"
        }
        Table::Cache => {
            "select gatehouse_spin.check_cache($1::text, $2::text[], $3::int8[], $4::int8)"
        }
    }
}

/// Commits: store, now, checked keys, their versions (null for absent), keys to write, all values one behind the other, the bytes of each
/// (null for a removal), ends, version. Answers null if it was applied, and otherwise the place of the first check that did not hold, counted from 1.
pub const fn commit(table: Table) -> &'static str {
    match table {
        Table::Entry => {
            "select gatehouse_spin.commit_entry($1::text, $2::int8, $3::text[], $4::int8[], $5::text[], $6::bytea, $7::int8[], $8::int8[], $9::int8)"
        }
        Table::Cache => {
            "select gatehouse_spin.commit_cache($1::text, $2::int8, $3::text[], $4::int8[], $5::text[], $6::bytea, $7::int8[], $8::int8[], $9::int8)"
        }
    }
}

/// Deletes expired rows, and outcomes that no caller asks for any more: until when, how many at most.
pub const fn purge(table: Table) -> &'static str {
    match table {
        Table::Entry => "select gatehouse_spin.purge_entry($1::int8, $2::int8)",
        Table::Cache => "select gatehouse_spin.purge_cache($1::int8, $2::int8)",
    }
}

/// Creates the tables and functions where they are missing. It is one statement, so it is done as a whole or not at all; of several
/// concurrent callers one does it.
pub fn create() -> String {
    let table = |name, logged| {
        let text = TABLE.replace("TABLE", name).replace("LOGGED", logged);
        text.replace("BY_INDEX", BY_INDEX)
    };
    let (entry, cache) = (table("entry", ""), table("cache", "unlogged"));
    format!(
        "do $create$ begin
            perform pg_advisory_xact_lock(7307498, 3);
            create schema if not exists gatehouse_spin;
            {entry}{cache}{TABLES}
        end $create$"
    )
}

/// Begins a transaction that reads the database as it is at its first read, and changes nothing.
pub const BEGIN_TO_READ: &str = "begin isolation level repeatable read read only";
/// Begins a transaction of many commits.
pub const BEGIN_TO_FILL: &str = "begin isolation level read committed";
/// Makes commits wait for the transaction, and the transaction wait for commits that are under way. From then on its own commits take no
/// locks of keys, which would be held until it ends.
pub const TAKE_GATE: &str = "
    select pg_advisory_xact_lock(7307498, 4), set_config('gatehouse_spin.gate', 'own', true)";
/// Makes instances that would store a first keyring wait for the transaction.
pub const LOCK_TABLES: &str =
    "lock table gatehouse_spin.keyring, gatehouse_spin.entry in share row exclusive mode";
/// Ends a transaction without a failed statement: after a failure, `commit` undoes the transaction and reports no error.
pub const COMMIT: &str = "commit";
/// Fails in a transaction in which a statement has failed.
pub const CHECK_TRANSACTION: &str = "select true";

/// Tells if the tables exist.
pub const HAS_TABLES: &str = "
    select to_regclass('gatehouse_spin.keyring') is not null and to_regclass('gatehouse_spin.entry') is not null";
/// Describes stores: names. Answers for each of them if it has a keyring and if it has entries, in the order of the names.
pub const SHOW_STORES: &str = "
    select exists (select from gatehouse_spin.keyring k where k.store = s.store),
        exists (select from gatehouse_spin.entry e where e.store = s.store)
    from unnest($1::text[]) with ordinality as s (store, n) order by s.n";

/// The planner's settings.
const BY_INDEX: &str = "set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off \
    set plan_cache_mode = force_generic_plan set jit = off";

const TABLES: &str = "
    create table if not exists gatehouse_spin.keyring (store text collate \"C\" primary key, sealed bytea not null);
    create table if not exists gatehouse_spin.outcome (
        version bigint primary key,
        abandoned boolean not null,
        at timestamptz not null default now()
    );
    create index if not exists outcome_at on gatehouse_spin.outcome (at);
    create table if not exists gatehouse_spin.number (name text collate \"C\" primary key, number bigint not null);
    insert into gatehouse_spin.number (name, number) values ('schema', 1) on conflict (name) do nothing;";

/// One table of entries with its functions. Their arguments are described at the statements that call them.
const TABLE: &str = "
    create LOGGED table if not exists gatehouse_spin.TABLE (
        store text collate \"C\" not null,
        key text collate \"C\" not null,
        version bigint not null,
        value bytea not null,
        expires_at bigint,
        primary key (store, key)
    );
    alter table gatehouse_spin.TABLE alter column value set storage external;
    create index if not exists TABLE_expires_at on gatehouse_spin.TABLE (expires_at) where expires_at is not null;

    create or replace function gatehouse_spin.find_TABLE(text, text[], bigint[], bigint)
    returns table (n bigint, version bigint, value bytea) language plpgsql stable BY_INDEX as $find$
    #variable_conflict use_column
    begin
        return query
        select k.n, e.version, case when e.version is distinct from k.version then e.value end
        from unnest($2, $3) with ordinality as k (key, version, n)
        cross join lateral (
            select f.version, f.value from gatehouse_spin.TABLE f
            where f.store = $1 and f.key = k.key and (f.expires_at is null or f.expires_at > $4)
            limit 1
        ) e;
    end $find$;

    create or replace function gatehouse_spin.scan_TABLE(text, text, text, text, bigint, bigint, bigint)
    returns table (key text, version bigint, value bytea) language plpgsql stable BY_INDEX as $scan$
    #variable_conflict use_column
    begin
        return query
        select p.key, p.version, p.value from (
            select m.key, m.version, m.value,
                sum(octet_length(m.key) + octet_length(m.value)) over (order by m.key rows between unbounded preceding and 1 preceding) as before
            from (
                select e.key, e.version, e.value from gatehouse_spin.TABLE e
                where e.store = $1 and e.key >= $2 and e.key <> $3 and e.key < $4 and (e.expires_at is null or e.expires_at > $5)
                order by e.key limit $6
            ) m
        ) p
        where p.before is null or p.before <= $7
        order by p.key;
    end $scan$;

    create or replace function gatehouse_spin.check_TABLE(text, text[], bigint[], bigint)
    returns bigint language plpgsql volatile BY_INDEX as $check$
    begin
        return (
            select c.n
            from unnest($2, $3) with ordinality as c (key, version, n)
            left join lateral (
                select e.version from gatehouse_spin.TABLE e
                where e.store = $1 and e.key = c.key and (e.expires_at is null or e.expires_at > $4)
                limit 1
            ) found on true
            where found.version is distinct from c.version
            order by c.n limit 1
        );
    end $check$;

    create or replace function gatehouse_spin.commit_TABLE(
        text, bigint, text[], bigint[], text[], bytea, bigint[], bigint[], bigint
    ) returns bigint language plpgsql volatile BY_INDEX set lock_timeout = '5s' as $commit$
    declare
        failed bigint;
        deleted text;
    begin
        if current_setting('transaction_isolation') <> 'read committed' then
            raise exception using errcode = 'GH002', message = 'default_transaction_isolation is not read committed';
        end if;
        -- One that touches many keys takes the gate for itself, since a server holds few locks; so does a transaction of many commits.
        if cardinality($3) + cardinality($5) > 64 or current_setting('gatehouse_spin.gate', true) = 'own' then
            perform pg_advisory_xact_lock(7307498, 4);
        else
            perform pg_advisory_xact_lock_shared(7307498, 4);
            perform case when touched.written then pg_advisory_xact_lock(touched.lock) else pg_advisory_xact_lock_shared(touched.lock) end
            from (
                select hashtextextended(key, hashtextextended('TABLE ' || $1, 0)) as lock, bool_or(written) as written
                from (select unnest($3), false union all select unnest($5), true) touches (key, written)
                group by 1 order by 1
            ) touched;
        end if;
        failed := gatehouse_spin.check_TABLE($1, $3, $4, $2);
        if failed is not null then
            return failed;
        end if;
        insert into gatehouse_spin.TABLE as e (store, key, version, value, expires_at)
        select $1, w.key, $9, substring($6 from (w.before + 1)::int for w.bytes::int), w.expires_at
        from (
            select key, bytes, expires_at, coalesce(sum(bytes) over (order by n rows between unbounded preceding and 1 preceding), 0) as before
            from unnest($5, $7, $8) with ordinality as u (key, bytes, expires_at, n)
        ) w
        where w.bytes is not null
        on conflict (store, key) do update
        set version = excluded.version, value = excluded.value, expires_at = excluded.expires_at;
        for deleted in select key from unnest($5, $7) as u (key, bytes) where bytes is null loop
            delete from gatehouse_spin.TABLE e where e.store = $1 and e.key = deleted;
        end loop;
        insert into gatehouse_spin.outcome (version, abandoned) values ($9, false);
        return null;
    end $commit$;

    create or replace function gatehouse_spin.purge_TABLE(bigint, bigint) returns void language plpgsql volatile BY_INDEX as $purge$
    begin
        delete from gatehouse_spin.TABLE where ctid = any (array (
            select ctid from gatehouse_spin.TABLE where expires_at <= $1 order by expires_at limit $2 for update skip locked
        ));
        delete from gatehouse_spin.outcome where version = any (array (
            select version from gatehouse_spin.outcome where at < now() - interval '10 minutes'
            order by at limit $2 for update skip locked
        ));
    end $purge$;
";
