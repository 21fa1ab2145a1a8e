//! All texts that are sent to the database, so that a store over another SQL database can be held against them.
//!
//! | table | columns | |
//! | --- | --- | --- |
//! | `entry` | namespace, key, value, version, expires_at | one row for each entry; `expires_at` in milliseconds since 1970, null for never |
//! | `outcome` | version, abandoned, at | one row for each commit of the last minutes, by the version it gave its entries |
//! | `store` | name, number | `schema`, `versions-reserved`, `epoch` |
//!
//! They lie in the schema `gatehouse`. Keys have the collation `C`, which orders by bytes. Every transaction of a session is serializable
//! unless a text says otherwise: under anything less, a check of a key that is not written would not be protected, and a read could see
//! commits in another order than the one they are in.

/// The schema version that this code reads and writes (SEC-S12).
pub const KNOWN_SCHEMA: i64 = 1;

/// Prepares a new session. Lookups by key must stay lookups in a small table too: scanning it, each commit would depend on all others.
/// The keepalives end the session of a machine that is gone without a word, and with it what it holds.
pub const PREPARE_SESSION: &str = "
    set default_transaction_isolation = 'serializable';
    set statement_timeout = '1s';
    set idle_in_transaction_session_timeout = '5s';
    set enable_seqscan = off;
    set plan_cache_mode = force_generic_plan;
    set tcp_keepalives_idle = 5;
    set tcp_keepalives_interval = 2;
    set tcp_keepalives_count = 3";

/// Tells how the server is run: parameters none.
pub const DESCRIBE_SERVER: &str = "
    select pg_is_in_recovery(), current_setting('fsync'), current_setting('synchronous_commit'),
        current_setting('synchronous_standby_names'), current_setting('server_version_num')::int4,
        current_setting('transaction_isolation')";

/// Reads entries without the values that are held: namespace, keys, versions held, now. Answers the index of the key, counted from 1,
/// version, and value where it is not held.
pub const GET_CHANGED: &str = "
    select k.n, e.version, case when e.version is distinct from k.version then e.value end
    from unnest($2::text[], $3::int8[]) with ordinality as k (key, version, n)
    join gatehouse.entry e on e.namespace = $1::int2 and e.key = k.key
    where e.expires_at is null or e.expires_at > $4::int8";

/// Reads a page: namespace, first key, a key to leave out, end of the prefix, now, how many, how many bytes. Rows end with the one that
/// passes the bytes. Neither a value's length nor the order needs the value to be read.
pub const SCAN: &str = "
    select key, version, value from (
        select key, version, value,
            sum(octet_length(key) + octet_length(value)) over (order by key rows between unbounded preceding and 1 preceding) as before
        from (
            select key, version, value from gatehouse.entry
            where namespace = $1::int2 and key >= $2::text and key <> $3::text and key < $4::text
                and (expires_at is null or expires_at > $5::int8)
            order by key limit $6::int8
        ) matches
    ) page
    where before is null or before <= $7::int8
    order by key";

/// Commits: namespace, now, checked keys, their versions (null for absent), keys to put, values, ends, keys to delete, version, epoch.
///
/// All is one statement, so one point in time. Answers the first key whose check failed, if any; if the commit was applied; and if the
/// session is what [`PREPARE_SESSION`] made it, which it is not behind a pooler that lends it out by transaction.
pub const COMMIT: &str = "
    with failed as (
        select c.n, c.key
        from unnest($3::text[], $4::int8[]) with ordinality as c (key, version, n)
        left join gatehouse.entry e on e.namespace = $1::int2 and e.key = c.key and (e.expires_at is null or e.expires_at > $2::int8)
        where e.version is distinct from c.version
    ), guard as (
        select 1 where not exists (select from failed)
            and current_setting('transaction_isolation') = 'serializable'
            and ($10::int8 is null or exists (select from gatehouse.store where name = 'epoch' and number = $10::int8))
    ), written as (
        insert into gatehouse.entry (namespace, key, value, version, expires_at)
        select $1::int2, p.key, p.value, $9::int8, p.expires_at
        from guard, unnest($5::text[], $6::bytea[], $7::int8[]) as p (key, value, expires_at)
        on conflict (namespace, key) do update
        set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
    ), deleted as (
        delete from gatehouse.entry e using guard, unnest($8::text[]) as d (key) where e.namespace = $1::int2 and e.key = d.key
    ), noted as (
        insert into gatehouse.outcome (version, abandoned) select $9::int8, false from guard
    )
    select (select key from failed order by n limit 1), exists (select from guard),
        current_setting('transaction_isolation') = 'serializable'";

/// Makes sure that the commit of a version is not applied later, unless it has been: version. Waits for one that is under way.
pub const ABANDON: &str = "insert into gatehouse.outcome (version, abandoned) values ($1::int8, true) on conflict do nothing";
/// Tells if the commit of a version was abandoned: version.
pub const WAS_ABANDONED: &str = "select abandoned from gatehouse.outcome where version = $1::int8";

/// Reserves versions: how many. Answers the last of them.
pub const RESERVE_VERSIONS: &str = "update gatehouse.store set number = number + $1::int8 where name = 'versions-reserved' returning number";

/// Opens the transaction of a purge. Dropping what reads as absent changes no answer, so it need not be serializable, nor does it disturb
/// those that are.
pub const BEGIN_PURGE: &str = "begin isolation level read committed";
/// Tells if no other session purges; the lock goes with the transaction.
pub const LOCK_PURGE: &str = "select pg_try_advisory_xact_lock(7307497, 2)";
/// Drops entries whose time has come: now, how many at most.
pub const PURGE_ENTRIES: &str = "
    with due as (
        select namespace, key from gatehouse.entry where expires_at <= $1::int8 order by expires_at limit $2::int8
        for update skip locked
    )
    delete from gatehouse.entry e using due d where e.namespace = d.namespace and e.key = d.key and e.expires_at <= $1::int8";
/// Drops outcomes that no caller asks for any more: how many at most.
pub const PURGE_OUTCOMES: &str = "
    delete from gatehouse.outcome where version in (
        select version from gatehouse.outcome where at < now() - interval '10 minutes' order by at limit $1::int8
    )";

/// Tells if no other server has the installation: the lock stays until the session ends.
pub const LOCK_INSTALLATION: &str = "select pg_try_advisory_lock(7307497, 1)";
/// Tells since when and from where another session has the installation.
pub const SHOW_HOLDER: &str = "
    select coalesce(a.client_addr::text, 'this machine'), to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.classid = 7307497 and l.objid = 1 and l.granted
        and l.database = (select oid from pg_database where datname = current_database())";
/// Begins an epoch, in which no commit of an earlier one is applied any more.
pub const BEGIN_EPOCH: &str =
    "update gatehouse.store set number = number + 1 where name = 'epoch' returning number";
/// The epoch that it is.
pub const SHOW_EPOCH: &str = "select number from gatehouse.store where name = 'epoch'";

/// Tells what is in the schema: how many tables, and if one of them is `store`.
pub const DESCRIBE_SCHEMA: &str = "
    select (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'gatehouse'),
        to_regclass('gatehouse.store') is not null";
/// The version of the schema.
pub const SHOW_SCHEMA: &str = "select number from gatehouse.store where name = 'schema'";
/// Lets one session at a time change the schema; the lock goes with the transaction.
pub const LOCK_SCHEMA: &str = "select pg_advisory_xact_lock(7307497, 3)";
/// Makes the schema, where the database has none of the name.
pub const CREATE_SCHEMA: &str = "create schema gatehouse";
/// The changes from each version of the schema to the next, beginning with an empty one. Values are sealed, so the database need not try
/// to compress them.
pub const MIGRATIONS: [&str; 1] = ["
    create table gatehouse.store (
        name text collate \"C\" primary key,
        number bigint not null
    );
    create table gatehouse.entry (
        namespace smallint not null,
        key text collate \"C\" not null,
        value bytea not null,
        version bigint not null,
        expires_at bigint,
        primary key (namespace, key)
    );
    alter table gatehouse.entry alter column value set storage external;
    create index entry_expires_at on gatehouse.entry (expires_at) where expires_at is not null;
    create table gatehouse.outcome (
        version bigint primary key,
        abandoned boolean not null,
        at timestamptz not null default now()
    );
    create index outcome_at on gatehouse.outcome (at);
    insert into gatehouse.store (name, number) values ('schema', 1), ('versions-reserved', 0), ('epoch', 0)"];
/// Notes the version of the schema: version.
pub const NOTE_SCHEMA: &str = "update gatehouse.store set number = $1::int8 where name = 'schema'";
