//! How fast the backends are here: commits per second by the number of writers, and the time of a read.
//!
//! `cargo run --release -p gatehouse-store --example throughput [DIRECTORY]` puts the file into DIRECTORY, which must be on the
//! disk that matters and not in memory. Each commit is what a login writes: one record of 500 bytes with an end, and a small
//! index entry, both checked to be absent.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gatehouse_ports::{
    Change, Check, Clock as _, CommitError, OsRandom, Put, Requirement, SystemClock,
};
use gatehouse_store::{
    Backend, MemoryBackend, Namespace, PrivateStore, RedbBackend, RootKey, SealedBackend,
};

const RUN: Duration = Duration::from_secs(3);
const READS: u32 = 100_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let directory = match std::env::args_os().nth(1) {
        Some(parent) => tempfile::tempdir_in(parent)?,
        None => tempfile::tempdir()?,
    };
    println!("backend         writers   commits/s   p50 µs   p99 µs   get µs");
    for name in ["memory", "sealed memory", "redb", "sealed redb"] {
        for writers in [1, 16, 64] {
            let path = directory.path().join(format!("{name} {writers}"));
            let backend = open(name, &path).await?;
            let store = PrivateStore::new(backend, Namespace::Access);
            let (rate, median, slow) = write(&store, writers).await?;
            let get = read(&store).await?;
            println!("{name:15} {writers:7} {rate:11.0} {median:8} {slow:8} {get:8.2}");
        }
    }
    Ok(())
}

async fn open(name: &str, path: &Path) -> Result<Arc<dyn Backend>, Box<dyn Error>> {
    let clock = Arc::new(SystemClock);
    let backend: Arc<dyn Backend> = if name.ends_with("memory") {
        Arc::new(MemoryBackend::new(clock.clone()))
    } else {
        Arc::new(RedbBackend::open(path, clock.clone())?)
    };
    if !name.starts_with("sealed") {
        return Ok(backend);
    }
    let sealed = SealedBackend::new(backend, clock);
    sealed.unseal(&RootKey::generate(&OsRandom)?).await?;
    Ok(Arc::new(sealed))
}

/// Spreads numbers over the key space, as the hashed names of tokens are.
fn token(number: u64) -> String {
    format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn login(number: u64) -> (Vec<Check>, Vec<Change>) {
    let token = token(number);
    let put = |key, length| {
        Change::Put(Put {
            key,
            value: vec![7; length],
            expires_at: Some(SystemClock.now_milliseconds() + 3_600_000),
        })
    };
    let changes = vec![
        put(format!("token/{token}"), 500),
        put(format!("accessor/{token}"), 50),
    ];
    let absent = |change: &Change| Check {
        key: change.key().to_owned(),
        requirement: Requirement::Absent,
    };
    (changes.iter().map(absent).collect(), changes)
}

async fn write(store: &PrivateStore, writers: u32) -> Result<(f64, u128, u128), Box<dyn Error>> {
    let next = Arc::new(AtomicU64::new(0));
    let start = Instant::now();
    let writer = || {
        let (store, next) = (store.clone(), next.clone());
        tokio::spawn(async move {
            let mut times = Vec::new();
            while start.elapsed() < RUN {
                let (checks, changes) = login(next.fetch_add(1, Ordering::Relaxed));
                let began = Instant::now();
                store.commit(checks, changes).await?;
                times.push(began.elapsed().as_micros());
            }
            Ok::<_, CommitError>(times)
        })
    };
    let writers: Vec<_> = (0..writers).map(|_| writer()).collect();
    let mut times = Vec::new();
    for writer in writers {
        times.extend(writer.await??);
    }
    let seconds = start.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or(0);
    Ok((times.len() as f64 / seconds, at(50), at(99)))
}

/// Microseconds for a read of one of the first thousand tokens.
async fn read(store: &PrivateStore) -> Result<f64, Box<dyn Error>> {
    let keys: Vec<_> = (0..1000).map(|n| format!("token/{}", token(n))).collect();
    let start = Instant::now();
    for key in keys.iter().cycle().take(READS as usize) {
        store.get(&[key]).await?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(READS))
}
