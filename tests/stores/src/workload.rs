//! The parts that run in a process of their own. Each prints `name=number` lines.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::engine::{Engine, Outcome, Row};
use crate::engines;
use crate::gathering::Gathering;
use crate::measure::{counter, process_cpu, size_of, thread_cpu};

const RUN: Duration = Duration::from_secs(2);
const BATCH_LENGTH: usize = 512;
const READS: u64 = 50_000;

/// The rows that a login writes.
#[derive(Clone, Copy)]
pub struct Kind {
    pub rows: u64,
    /// The keys of the rows grow with time, instead of being spread.
    pub in_order: bool,
}

struct Request {
    rows: Vec<Row>,
    answer: SyncSender<()>,
}

pub fn run(part: &str, name: &str, directory: &Path, numbers: &[u64]) -> Outcome<()> {
    let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
    let kind = Kind {
        rows: number(0),
        in_order: number(1) == 1,
    };
    match part {
        "load" => load(name, directory, number(0)),
        "write" => write(name, directory, kind, number(2), number(3), RUN),
        "write-until-killed" => write(name, directory, kind, number(2), number(3), Duration::MAX),
        "open" => open(name, directory),
        "verify" => verify(directory),
        "read" => read(name, directory, number(0)),
        "purge" => purge(name, directory),
        other => Err(format!("no part is called {other}").into()),
    }
}

/// Spreads numbers over the key space, as the hashed names of tokens are.
fn spread(number: u64) -> u64 {
    (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn token_key(number: u64) -> Vec<u8> {
    format!(
        "access\0token/{:016x}{:016x}",
        spread(number),
        spread(spread(number))
    )
    .into_bytes()
}

/// Bytes that do not shrink, as what is sealed.
fn sealed(mut seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        seed = spread(seed ^ (seed >> 29));
        bytes.extend_from_slice(&seed.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

fn rows(number: u64, kind: Kind) -> Vec<Row> {
    let row = |at: u64| {
        let length = match at {
            0 => 400,
            1 => 80,
            _ => 40,
        };
        let key = match (at, kind.in_order) {
            (0, false) => token_key(number),
            (0, true) => format!("access\0token/{number:016x}{:016x}", spread(number)).into_bytes(),
            _ => format!(
                "access\0index-{at}/{:016x}{number:016x}",
                spread(number ^ at)
            )
            .into_bytes(),
        };
        // Tokens that were made earlier end earlier.
        Row {
            key,
            value: sealed(number ^ at << 56, length),
            end: 1_000_000 + number,
        }
    };
    (0..kind.rows).map(row).collect()
}

fn load(name: &str, directory: &Path, logins: u64) -> Outcome<()> {
    let mut engine = engines::open(name, directory)?;
    let began = Instant::now();
    let kind = Kind {
        rows: 1,
        in_order: false,
    };
    let numbers: Vec<u64> = (0..logins).collect();
    for batch in numbers.chunks(BATCH_LENGTH) {
        let rows: Vec<Row> = batch
            .iter()
            .flat_map(|number| rows(*number, kind))
            .collect();
        engine.commit(&rows.iter().collect::<Vec<_>>(), 0, 0)?;
    }
    println!("load_s={}", began.elapsed().as_secs_f64());
    println!(
        "load_cpu={}",
        process_cpu().as_secs_f64() * 1e6 / logins as f64
    );
    println!("rss_load={}", counter("status", "VmRSS")? as f64 / 1e3);
    drop(engine);
    println!("size={}", size_of(directory)? as f64 / 1e6);
    Ok(())
}

fn write(
    name: &str,
    directory: &Path,
    kind: Kind,
    clients: u64,
    first: u64,
    time: Duration,
) -> Outcome<()> {
    let engine = engines::open(name, directory)?;
    let (sender, requests) = sync_channel(1024);
    let committer = thread::spawn(move || commit(engine, &requests));
    let next = Arc::new(AtomicU64::new(first));
    let stop = Arc::new(AtomicBool::new(false));
    let times = Arc::new(Mutex::new(Vec::new()));
    let others = Arc::new(Mutex::new(Duration::ZERO));
    let cpu = process_cpu();
    let before = ["syscw", "wchar", "write_bytes"].map(|name| counter("io", name).unwrap_or(0));
    let began = Instant::now();
    let client = |_| {
        let (sender, next, stop) = (sender.clone(), next.clone(), stop.clone());
        let (times, others) = (times.clone(), others.clone());
        thread::spawn(move || {
            let (answer, outcome) = sync_channel(1);
            let mut mine = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let rows = rows(next.fetch_add(1, Ordering::Relaxed), kind);
                let began = Instant::now();
                let request = Request {
                    rows,
                    answer: answer.clone(),
                };
                if sender.send(request).is_err() || outcome.recv().is_err() {
                    break;
                }
                mine.push(began.elapsed().as_micros() as f64);
            }
            if let (Ok(mut times), Ok(mut others)) = (times.lock(), others.lock()) {
                times.extend(mine);
                *others += thread_cpu();
            }
        })
    };
    let clients: Vec<_> = (0..clients).map(client).collect();
    drop(sender);
    // Told apart from the parent's kill, which comes at any moment after this line.
    println!("started=1");
    thread::sleep(time);
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().map_err(|_| "a client failed")?;
    }
    let elapsed = began.elapsed().as_secs_f64();
    let batches = committer.join().map_err(|_| "the committer failed")??;
    let others = *others.lock().map_err(|_| "a client failed")?;
    let mut times = std::mem::take(&mut *times.lock().map_err(|_| "a client failed")?);
    times.sort_unstable_by(f64::total_cmp);
    let count = times.len() as f64;
    let at = |part: f64| times.get((count * part) as usize).copied().unwrap_or(0.0);
    println!("rate={}", count / elapsed);
    println!(
        "cpu={}",
        (process_cpu() - cpu).saturating_sub(others).as_secs_f64() * 1e6 / count
    );
    println!("p50={}", at(0.5) / 1e3);
    println!("p99={}", at(0.99) / 1e3);
    println!("max={}", times.last().copied().unwrap_or(0.0) / 1e3);
    println!("batch={}", count / batches as f64);
    for (name, before) in ["syscw", "wchar", "write_bytes"].into_iter().zip(before) {
        println!("{name}={}", (counter("io", name)? - before) as f64 / count);
    }
    println!("rss={}", counter("status", "VmHWM")? as f64 / 1e3);
    println!("next={}", next.load(Ordering::Relaxed));
    Ok(())
}

/// The committer of the product, without its checks and failures.
fn commit(mut engine: Box<dyn Engine>, requests: &Receiver<Request>) -> Outcome<u64> {
    let mut gathering = Gathering::default();
    let mut batches = 0;
    while let Ok(first) = requests.recv() {
        let mut batch = vec![first];
        let take = |batch: &mut Vec<Request>| {
            batch.extend(requests.try_iter().take(BATCH_LENGTH - batch.len()));
        };
        take(&mut batch);
        gathering.gather(batch.len(), BATCH_LENGTH, |time| {
            thread::sleep(time);
            take(&mut batch);
            batch.len()
        });
        let rows: Vec<&Row> = batch.iter().flat_map(|request| &request.rows).collect();
        engine.commit(&rows, 0, rows.len() * 2 + 32)?;
        for request in &batch {
            let _ = request.answer.send(());
        }
        batches += 1;
    }
    Ok(batches)
}

fn open(name: &str, directory: &Path) -> Outcome<()> {
    let began = Instant::now();
    let mut engine = engines::open(name, directory)?;
    let found = engine.get(&token_key(0))?;
    println!("open={}", began.elapsed().as_secs_f64() * 1e3);
    println!("rss_open={}", counter("status", "VmHWM")? as f64 / 1e3);
    if found.is_none() {
        return Err("a row that was acknowledged is gone".into());
    }
    Ok(())
}

/// How long the product's walk through the whole file takes, after redb has been opened.
fn verify(directory: &Path) -> Outcome<()> {
    let mut redb =
        crate::redb_engine::Redb::open(directory, crate::redb_engine::Tables::Two, false)?;
    let began = Instant::now();
    redb.verify()?;
    println!("verify={}", began.elapsed().as_secs_f64() * 1e3);
    Ok(())
}

fn read(name: &str, directory: &Path, logins: u64) -> Outcome<()> {
    let mut engine = engines::open(name, directory)?;
    let key = |number: u64| token_key(spread(spread(number) ^ 7) % logins);
    for number in 0..READS {
        engine.get(&key(number))?;
    }
    let cpu = process_cpu();
    for number in READS..2 * READS {
        engine.get(&key(number))?.ok_or("a row is gone")?;
    }
    println!(
        "get={}",
        (process_cpu() - cpu).as_secs_f64() * 1e6 / READS as f64
    );
    println!("rss_read={}", counter("status", "VmRSS")? as f64 / 1e3);
    Ok(())
}

fn purge(name: &str, directory: &Path) -> Outcome<()> {
    println!("size_before={}", size_of(directory)? as f64 / 1e6);
    let mut engine = engines::open(name, directory)?;
    let began = Instant::now();
    let (cpu, mut purged) = (process_cpu(), 0);
    loop {
        match engine.commit(&[], u64::MAX - 1, 1024)? {
            0 => break,
            count => purged += count,
        }
    }
    println!("purge_s={}", began.elapsed().as_secs_f64());
    println!(
        "purge_cpu={}",
        (process_cpu() - cpu).as_secs_f64() * 1e6 / purged.max(1) as f64
    );
    println!("size_purged={}", size_of(directory)? as f64 / 1e6);
    engine.compact()?;
    drop(engine);
    println!("size_compacted={}", size_of(directory)? as f64 / 1e6);
    Ok(())
}
