//! All texts that are sent to the database, so that a store over another SQL database can be compared with them.
//!
//! | table | columns | |
//! | --- | --- | --- |
//! | `entry` | namespace, key, value, version, expires_at | one row for each entry; `expires_at` in milliseconds since 1970, null for never |
//! | `outcome` | version, abandoned, at | one row for each commit of the last minutes, by the version it gave its entries |
//! | `store` | name, number | `schema`, `versions-reserved`, `epoch` |
//! | `node` | id, name, address, version, started_at, seen_at, clock | one row for each server that runs; `clock` is what its own clock showed at `seen_at`, in milliseconds since 1970 |
//! | `lease` | work, node, ends_at | one row for each work that one server at a time does |
//!
//! They lie in the schema `gatehouse`. Keys have the collation `C`, which orders by bytes. Every transaction is one statement, read
//! committed. A commit first locks the keys that it checks (shared) and those that it writes, there or not, and lets go of them only once
//! it can be seen; then it checks. So commits that touch the same keys have one order, it is the order in which reads see them, and
//! one that waits for another is not thrown away. Serializable transactions would promise the same and keep it by refusing: they depend
//! on each other where their keys share a page of the index, as those of new tokens always do, and on whatever else is open in the server.

/// The schema version that this code reads and writes (SEC-S12).
pub const KNOWN_SCHEMA: i64 = 4;

/// Prepares a new session. Until the database has counted a table it believes it to be small, and would read all of a namespace for a few
/// keys or a page of them, so nothing but the order of an index is left to it; lookups by key are lateral joins with a limit, which it cannot
/// turn into a join with the whole table. Where all of a small table has to be read, that seems so costly then that it would compile the
/// statement, which takes longer. The keepalives end the session of a machine that is gone without a word, and with it what it holds.
pub const PREPARE_SESSION: &str = "
    set default_transaction_isolation = 'read committed';
    set gatehouse.session = 'prepared';
    set statement_timeout = '1s';
    set idle_in_transaction_session_timeout = '5s';
    set enable_seqscan = off;
    set enable_bitmapscan = off;
    set enable_sort = off;
    set plan_cache_mode = force_generic_plan;
    set jit = off;
    set tcp_keepalives_idle = 5;
    set tcp_keepalives_interval = 2;
    set tcp_keepalives_count = 3";

/// Tells how the server is run: parameters none.
pub const DESCRIBE_SERVER: &str = "
    select pg_is_in_recovery(), current_setting('fsync'), current_setting('synchronous_commit'),
        current_setting('synchronous_standby_names'), current_setting('server_version_num')::int4,
        current_setting('transaction_isolation') = 'read committed' and current_setting('gatehouse.session', true) = 'prepared',
        version(), (extract(epoch from pg_postmaster_start_time()) * 1000000)::int8";
/// A write that needs no room in a table, and that a session may do which is to write in none: parameters none. Its commit is answered once
/// it is where commits have to be. Answers when the server started, in its own microseconds.
pub const CONFIRM: &str = "
    select (extract(epoch from pg_postmaster_start_time()) * 1000000)::int8 from pg_logical_emit_message(true, 'gatehouse', '')";
/// Asks the server for its own name: parameters none. Other engines that speak the protocol answer it, even if they know no other statement.
pub const SHOW_ENGINE: &str = "select version()";

/// Reads entries without the values that are held: namespaces, keys, versions held, now. Answers the index of the key, counted from 1,
/// version, and value where it is not held.
pub const GET_CHANGED: &str = "
    select k.n, e.version, case when e.version is distinct from k.version then e.value end
    from unnest($1::int2[], $2::text[], $3::int8[]) with ordinality as k (namespace, key, version, n)
    cross join lateral (
        select version, value from gatehouse.entry
        where namespace = k.namespace and key = k.key and (expires_at is null or expires_at > $4::int8)
        limit 1
    ) e";

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
/// Answers the first key whose check failed, if any; if the commit was applied; and if the session is what [`PREPARE_SESSION`] made it,
/// which it is not behind a pooler that lends it out by transaction; and true, as no guard was lost.
pub const COMMIT: &str = "
    select failed, applied, prepared, true from gatehouse.commit(
        $1::int2, $2::int8, $3::text[], $4::int8[], $5::text[], $6::bytea[], $7::int8[], $8::text[], $9::int8, $10::int8
    )";

/// Commits under a guard: the parameters of [`COMMIT`], and the namespace, key and version of an entry that must be as it was. Answers the
/// same, and false at the end where only that one was another.
pub const COMMIT_UNDER: &str = "
    select failed, applied, prepared, guarded from gatehouse.commit_under(
        $1::int2, $2::int8, $3::text[], $4::int8[], $5::text[], $6::bytea[], $7::int8[], $8::text[], $9::int8, $10::int8,
        $11::int2, $12::text, $13::int8
    )";

/// Makes sure that the commit of a version is not applied later, unless it has been: version. Waits for one that is under way.
pub const ABANDON: &str = "insert into gatehouse.outcome (version, abandoned) values ($1::int8, true) on conflict do nothing";
/// Tells if the commit of a version was abandoned: version.
pub const WAS_ABANDONED: &str = "select abandoned from gatehouse.outcome where version = $1::int8";

/// Reserves versions: how many. Answers the last of them.
pub const RESERVE_VERSIONS: &str = "update gatehouse.store set number = number + $1::int8 where name = 'versions-reserved' returning number";

/// Has only versions above a number be reserved from now on: the number.
pub const SKIP_VERSIONS: &str = "update gatehouse.store set number = greatest(number, $1::int8) where name = 'versions-reserved'";

/// Opens the transaction of a snapshot. It is read while a client takes it, so both may be slower than a request.
pub const BEGIN_SNAPSHOT: &str = "
    begin isolation level repeatable read read only;
    set local statement_timeout = '30s';
    set local idle_in_transaction_session_timeout = '5min'";
/// The last version that was reserved. The first statement of a snapshot, which fixes the time of the snapshot.
pub const SHOW_VERSIONS: &str =
    "select number from gatehouse.store where name = 'versions-reserved'";
/// Reads a page of a snapshot: namespace, a key to go on after, how many, how many bytes. Rows end with the one that passes the bytes.
pub const SNAPSHOT_PAGE: &str = "
    select key, value, expires_at from (
        select key, value, expires_at,
            sum(octet_length(key) + octet_length(value)) over (order by key rows between unbounded preceding and 1 preceding) as before
        from (
            select key, value, expires_at from gatehouse.entry
            where namespace = $1::int2 and key > $2::text order by key limit $3::int8
        ) entries
    ) page
    where before is null or before < $4::int8
    order by key";

/// Opens the transaction of a purge. It drops what reads as absent, so it locks no keys.
pub const BEGIN_PURGE: &str = "begin";
/// Tells if no other session purges; the lock goes with the transaction.
pub const LOCK_PURGE: &str = "select pg_try_advisory_xact_lock(7307497, 2)";
/// Drops entries whose time has come: now, how many at most.
pub const PURGE_ENTRIES: &str = "
    delete from gatehouse.entry where ctid = any (array (
        select ctid from gatehouse.entry where expires_at <= $1::int8 order by expires_at limit $2::int8 for update skip locked
    ))";
/// Drops outcomes that no caller asks for any more: how many at most.
pub const PURGE_OUTCOMES: &str = "
    delete from gatehouse.outcome where version = any (array (
        select version from gatehouse.outcome where at < now() - interval '10 minutes' order by at limit $1::int8
    ))";

/// Tells if no other session has the installation: the lock stays until the session ends.
pub const LOCK_INSTALLATION: &str = "select pg_try_advisory_lock(7307497, 1)";
/// Tells if no session has the installation alone: the lock stays until the session ends.
pub const SHARE_INSTALLATION: &str = "select pg_try_advisory_lock_shared(7307497, 1)";
/// Tells since when and from where another session has the installation, the first of several.
pub const SHOW_HOLDER: &str = "
    select coalesce(a.client_addr::text, 'this machine'), to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.classid = 7307497 and l.objid = 1 and l.granted
        and l.database = (select oid from pg_database where datname = current_database())
    order by a.backend_start limit 1";
/// Begins an epoch, in which no commit of an earlier one is applied any more: waits for those that are under way, as a commit that writes
/// many keys does.
pub const BEGIN_EPOCH: &str = "
    with gate as materialized (select pg_advisory_xact_lock(7307497, 4))
    update gatehouse.store set number = number + 1 from gate where name = 'epoch' returning number";
/// The present epoch.
pub const SHOW_EPOCH: &str = "select number from gatehouse.store where name = 'epoch'";

/// Notes that a server runs, forgets a few that have not been seen for long, and answers which run, itself included: its id, name, address,
/// version, clock, for how many milliseconds one counts as running after it was seen, and after how many it is forgotten. Answers their id,
/// name, address, version, when they were seen first and last, the clock they had then, and the time now; the longest running first.
pub const BEAT: &str = "
    with own as (
        insert into gatehouse.node as n (id, name, address, version, clock)
        values ($1::text, $2::text, $3::text, $4::text, $5::int8)
        on conflict (id) do update set seen_at = clock_timestamp(), clock = excluded.clock
        returning n.id, n.name, n.address, n.version, n.started_at, n.seen_at, n.clock
    ), forgotten as (
        delete from gatehouse.node where id in (
            select id from gatehouse.node
            where id <> $1::text and seen_at < clock_timestamp() - $7::int8 * interval '1 millisecond'
            order by seen_at limit 16 for update skip locked
        )
    ), live as (
        select * from own
        union all
        select id, name, address, version, started_at, seen_at, clock from gatehouse.node
        where id <> $1::text and seen_at > clock_timestamp() - $6::int8 * interval '1 millisecond'
    )
    select id, name, address, version, (extract(epoch from started_at) * 1000)::int8, (extract(epoch from seen_at) * 1000)::int8, clock,
        (extract(epoch from clock_timestamp()) * 1000)::int8, (extract(epoch from pg_postmaster_start_time()) * 1000000)::int8
    from live order by started_at, id limit 256";
/// Takes or keeps a lease, unless another server has it: work, id of the server, for how many milliseconds. Answers a row where it was taken.
pub const TAKE_LEASE: &str = "
    insert into gatehouse.lease as l (work, node, ends_at)
    values ($1::text, $2::text, clock_timestamp() + $3::int8 * interval '1 millisecond')
    on conflict (work) do update set node = excluded.node, ends_at = excluded.ends_at
    where l.node = excluded.node or l.ends_at <= clock_timestamp()
    returning l.work";
/// Notes that a server ends, and ends its leases: its id.
pub const LEAVE: &str = "
    with ended as (delete from gatehouse.lease where node = $1::text)
    delete from gatehouse.node where id = $1::text";

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
pub const MIGRATIONS: [&[&str]; 4] = [
    &[TABLES, COMMIT_FUNCTION, FIRST_NUMBERS],
    &[TABLES_OF_SERVERS],
    &[COMMIT_UNDER_FUNCTION],
    // The function of versions 1 to 3 read more rows than it named.
    &[COMMIT_FUNCTION],
];
const TABLES: &str = "
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
    create index outcome_at on gatehouse.outcome (at)";
const COMMIT_FUNCTION: &str = "
    -- Arguments and answer are described at the statement that calls it. Each of its statements sees what was committed before it began,
    -- so those after the locks see all that the locks waited for. The locks end with the transaction. They are taken in one order, so no
    -- two commits wait for each other. One that touches many keys takes the gate for itself instead, since a server holds few locks.
    create or replace function gatehouse.commit(
        smallint, bigint, text[], bigint[], text[], bytea[], bigint[], text[], bigint, bigint,
        out failed text, out applied boolean, out prepared boolean
    ) language plpgsql as $commit$
    declare
        deleted text;
    begin
        applied := false;
        prepared := current_setting('transaction_isolation') = 'read committed'
            and coalesce(current_setting('gatehouse.session', true), '') = 'prepared';
        if not prepared then
            return;
        end if;
        if cardinality($3) + cardinality($5) + cardinality($8) > 64 then
            perform pg_advisory_xact_lock(7307497, 4);
        else
            perform pg_advisory_xact_lock_shared(7307497, 4);
            perform case when touched.written then pg_advisory_xact_lock(touched.lock) else pg_advisory_xact_lock_shared(touched.lock) end
            from (
                select hashtextextended(key, $1) as lock, bool_or(written) as written
                from (
                    select unnest($3), false union all select unnest($5), true union all select unnest($8), true
                ) touches (key, written)
                group by 1 order by 1
            ) touched;
        end if;
        if $10 is not null and not exists (select from gatehouse.store where name = 'epoch' and number = $10) then
            return;
        end if;
        select c.key into failed
        from unnest($3, $4) with ordinality as c (key, version, n)
        left join lateral (
            select e.version from gatehouse.entry e
            where e.namespace = $1 and e.key = c.key and (e.expires_at is null or e.expires_at > $2)
            limit 1
        ) found on true
        where found.version is distinct from c.version
        order by c.n limit 1;
        if failed is not null then
            return;
        end if;
        insert into gatehouse.entry as e (namespace, key, value, version, expires_at)
        select $1, p.key, p.value, $9, p.expires_at from unnest($5, $6, $7) as p (key, value, expires_at)
        on conflict (namespace, key) do update
        set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at;
        foreach deleted in array $8 loop
            delete from gatehouse.entry e where e.namespace = $1 and e.key = deleted;
        end loop;
        insert into gatehouse.outcome (version, abandoned) values ($9, false);
        applied := true;
    end $commit$";
const FIRST_NUMBERS: &str = "
    insert into gatehouse.store (name, number) values ('schema', 1), ('versions-reserved', 0), ('epoch', 0)";
const TABLES_OF_SERVERS: &str = "
    create table gatehouse.node (
        id text collate \"C\" primary key,
        name text not null,
        address text,
        version text not null,
        started_at timestamptz not null default clock_timestamp(),
        seen_at timestamptz not null default clock_timestamp(),
        clock bigint not null
    );
    create table gatehouse.lease (
        work text collate \"C\" primary key,
        node text collate \"C\" not null,
        ends_at timestamptz not null
    )";
const COMMIT_UNDER_FUNCTION: &str = "
    -- The entry of the guard is locked after those of the commit: a commit that writes it has its own locks by then or waits for none that
    -- this one holds. What was applied is undone where the guard is lost.
    create function gatehouse.commit_under(
        smallint, bigint, text[], bigint[], text[], bytea[], bigint[], text[], bigint, bigint, smallint, text, bigint,
        out failed text, out applied boolean, out prepared boolean, out guarded boolean
    ) language plpgsql as $commit$
    begin
        guarded := true;
        begin
            select c.failed, c.applied, c.prepared into failed, applied, prepared
            from gatehouse.commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) c;
            if not applied then
                return;
            end if;
            perform pg_advisory_xact_lock_shared(hashtextextended($12, $11));
            if not exists (select from gatehouse.entry where namespace = $11 and key = $12 and version = $13) then
                raise exception using errcode = 'GH001', message = 'the guard is lost';
            end if;
        exception when sqlstate 'GH001' then
            applied := false;
            guarded := false;
        end;
    end $commit$";
/// Notes the version of the schema: version.
pub const NOTE_SCHEMA: &str = "update gatehouse.store set number = $1::int8 where name = 'schema'";
