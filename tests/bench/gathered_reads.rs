//! Reads of the store on PostgreSQL, without a server around it: gathered into statements as servers do it, and each in one of its own.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use gatehouse_ports::{Change, Put, SystemClock};
use gatehouse_postgres_server::PostgresServer;
use gatehouse_store::{Gathering, Namespace, PostgresBackend, PostgresSettings, PrivateStore};
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::Runtime;

use crate::cores::Cores;
use crate::load::processor_time_of;

/// How many read at one time.
const READERS: [usize; 4] = [1, 4, 16, 64];
/// The keys of a read.
const KEYS: usize = 4;
/// Entries of the store, each as large as the record of a token.
const ENTRIES: usize = 10_000;
const VALUE_BYTES: usize = 500;
/// Entries that one commit writes before the measurement.
const ENTRIES_AT_ONCE: usize = 100;
/// How far the keys of one read are from each other.
const STRIDE: usize = 2_477;
/// The default of `storage.connections`.
const CONNECTIONS: usize = 16;
/// How long the reads of a row count, after a time that does not, in which connections come about.
const RUN: Duration = Duration::from_secs(3);
const WARM_UP: Duration = Duration::from_millis(600);

/// The ways to read that are compared.
fn ways() -> [(&'static str, Gathering); 3] {
    let gathered = Gathering::default();
    let alone = Gathering {
        keys: 0,
        ..gathered
    };
    let everywhere = Gathering {
        statements: CONNECTIONS,
        ..alone
    };
    [
        ("gathered", gathered),
        ("one read a statement, 4 statements at a time", alone),
        ("one read a statement, 16 at a time", everywhere),
    ]
}

/// Measures reads of each way by each number of readers, and answers the table in Markdown.
///
/// Readers and database share all cores.
///
/// # Errors
///
/// When the database does not answer as expected.
pub fn run(cores: &Cores) -> Result<String> {
    cores.enter_all()?;
    let runtime = Runtime::new()?;
    let database = runtime.block_on(PostgresServer::start(&[]));
    let settings = settings(&database, &runtime)?;
    runtime.block_on(fill(&settings))?;
    let mut table = String::from(
        "| readers | way | reads/s | p50 ms | p99 ms | CPU us of the database for a read |\n|---|---|---|---|---|---|\n",
    );
    for readers in READERS {
        for (name, gathering) in ways() {
            let store = runtime.block_on(store(&settings, gathering))?;
            runtime.block_on(read(&store, readers, WARM_UP))?;
            let (begun, before) = (Instant::now(), processor_time_of(&database)?);
            let mut latencies = runtime.block_on(read(&store, readers, RUN))?;
            let taken = processor_time_of(&database)?.saturating_sub(before);
            let elapsed = begun.elapsed();
            latencies.sort_unstable();
            let count = latencies.len() as f64;
            let at = |percent: usize| {
                let latency = latencies.get(latencies.len() * percent / 100);
                latency.map(|latency| latency.as_secs_f64() * 1e3)
            };
            let (median, slow) = at(50).zip(at(99)).context("nothing was read")?;
            // Writing to a string does not fail.
            let _ = writeln!(
                table,
                "| {readers} | {name} | {:.0} | {median:.2} | {slow:.2} | {:.0} |",
                count / elapsed.as_secs_f64(),
                taken.as_secs_f64() * 1e6 / count
            );
        }
    }
    Ok(table.trim_end().to_owned())
}

/// An empty database with the tables of a store.
fn settings(database: &PostgresServer, runtime: &Runtime) -> Result<PostgresSettings> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let settings = PostgresSettings {
        url: database.url(&runtime.block_on(database.create_database())),
        password: None,
        tls: Arc::new(tls),
        connections: CONNECTIONS,
    };
    runtime.block_on(PostgresBackend::migrate(&settings))?;
    Ok(settings)
}

async fn store(settings: &PostgresSettings, gathering: Gathering) -> Result<PrivateStore> {
    let clock = Arc::new(SystemClock);
    let backend = PostgresBackend::open_gathering(settings, clock, gathering).await?;
    Ok(PrivateStore::new(Arc::new(backend), Namespace::Access))
}

fn key(number: usize) -> String {
    format!("token/{:08}", number % ENTRIES)
}

async fn fill(settings: &PostgresSettings) -> Result<()> {
    let store = store(settings, Gathering::default()).await?;
    let put = |number| {
        Change::Put(Put {
            key: key(number),
            value: vec![7; VALUE_BYTES],
            expires_at: None,
        })
    };
    for first in (0..ENTRIES).step_by(ENTRIES_AT_ONCE) {
        let changes = (first..first + ENTRIES_AT_ONCE).map(put).collect();
        store.commit(Vec::new(), changes).await?;
    }
    Ok(())
}

/// Lets so many read any keys, each one read after the other; answers the time of every read.
async fn read(store: &PrivateStore, readers: usize, duration: Duration) -> Result<Vec<Duration>> {
    let end = Instant::now() + duration;
    let reader = |_| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut latencies = Vec::new();
            while Instant::now() < end {
                let first = fastrand::usize(..ENTRIES);
                let keys: [String; KEYS] = std::array::from_fn(|it| key(first + it * STRIDE));
                let names = keys.each_ref().map(String::as_str);
                let begun = Instant::now();
                let found = store.get(&names).await?;
                latencies.push(begun.elapsed());
                ensure!(found.iter().all(Option::is_some), "an entry is missing");
            }
            Ok(latencies)
        })
    };
    let readers: Vec<_> = (0..readers).map(reader).collect();
    let mut latencies = Vec::new();
    for reader in readers {
        latencies.append(&mut reader.await??);
    }
    Ok(latencies)
}
