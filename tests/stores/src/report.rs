//! Runs the parts in turns and prints their medians.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::engine::Outcome;
use crate::workload::Kind;

const KINDS: [(Kind, &str); 3] = [
    (
        Kind {
            rows: 1,
            in_order: false,
        },
        "one row",
    ),
    (
        Kind {
            rows: 5,
            in_order: false,
        },
        "five rows",
    ),
    (
        Kind {
            rows: 1,
            in_order: true,
        },
        "one row, keys in the order of time",
    ),
];
const CLIENTS: [u64; 2] = [16, 64];

type Figures = BTreeMap<String, f64>;

fn command(part: &str, engine: &str, directory: &Path, numbers: &[u64]) -> Outcome<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["--part", part, engine])
        .arg(directory.join(engine));
    command.args(numbers.iter().map(u64::to_string));
    Ok(command)
}

fn part(part: &str, engine: &str, directory: &Path, numbers: &[u64]) -> Outcome<Figures> {
    eprintln!("{part} {engine} {numbers:?}");
    let output = command(part, engine, directory, numbers)?
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("{part} of {engine} failed").into());
    }
    let text = String::from_utf8(output.stdout)?;
    let figure = |line: &str| {
        let (name, number) = line.split_once('=')?;
        Some((name.to_owned(), number.parse().ok()?))
    };
    Ok(text.lines().filter_map(figure).collect())
}

/// Kills a writer a while after its first commits.
fn kill(engine: &str, directory: &Path, numbers: &[u64]) -> Outcome<()> {
    let mut child = command("write-until-killed", engine, directory, numbers)?
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut String::new())?;
    }
    thread::sleep(Duration::from_millis(700));
    child.kill()?;
    child.wait()?;
    Ok(())
}

fn median(of: &[Figures], name: &str) -> f64 {
    let mut numbers: Vec<f64> = of
        .iter()
        .filter_map(|figures| figures.get(name).copied())
        .collect();
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

pub fn run(directory: &Path, logins: u64, rounds: u64, engines: &[&str]) -> Outcome<()> {
    let mut results: BTreeMap<(usize, u64, &str), Vec<Figures>> = BTreeMap::new();
    let mut whole: BTreeMap<&str, Figures> = BTreeMap::new();
    let mut next: BTreeMap<&str, u64> = BTreeMap::new();
    for engine in engines {
        std::fs::create_dir_all(directory.join(engine))?;
        whole
            .entry(engine)
            .or_default()
            .extend(part("load", engine, directory, &[logins])?);
        next.insert(engine, logins);
    }
    for _ in 0..rounds {
        for (at, (kind, _)) in KINDS.iter().enumerate() {
            for clients in CLIENTS {
                for engine in engines {
                    let first = next.get(engine).copied().unwrap_or(logins);
                    let numbers = [kind.rows, u64::from(kind.in_order), clients, first];
                    let figures = part("write", engine, directory, &numbers)?;
                    next.insert(
                        engine,
                        figures.get("next").map_or(first, |next| *next as u64),
                    );
                    results
                        .entry((at, clients, engine))
                        .or_default()
                        .push(figures);
                }
            }
        }
    }
    for (at, (_, name)) in KINDS.iter().enumerate() {
        for clients in CLIENTS {
            println!("\n{name}, {clients} clients\n");
            println!(
                "| engine | logins/s | CPU µs | p50 ms | p99 ms | logins per sync | write calls | bytes written | resident MB |"
            );
            println!("|---|---|---|---|---|---|---|---|---|");
            for engine in engines {
                let of = results
                    .get(&(at, clients, *engine))
                    .map_or(&[][..], Vec::as_slice);
                let m = |name| median(of, name);
                println!(
                    "| {engine} | {:.0} | {:.0} | {:.1} | {:.1} | {:.1} | {:.2} | {:.0} | {:.0} |",
                    m("rate"),
                    m("cpu"),
                    m("p50"),
                    m("p99"),
                    m("batch"),
                    m("syscw"),
                    m("wchar"),
                    m("rss"),
                );
            }
        }
    }

    let mut opened: BTreeMap<&str, Vec<Figures>> = BTreeMap::new();
    for _ in 0..rounds {
        for engine in engines {
            let first = next.get(engine).copied().unwrap_or(logins);
            kill(engine, directory, &[1, 0, 16, first])?;
            next.insert(engine, first + 1_000_000);
            let mut figures = part("open", engine, directory, &[])?;
            let clean = part("open", engine, directory, &[])?;
            figures.insert("open_clean".to_owned(), median(&[clean], "open"));
            figures.extend(part("read", engine, directory, &[logins])?);
            if engine.contains("redb") {
                figures.extend(part("verify", engine, directory, &[])?);
            }
            opened.entry(engine).or_default().push(figures);
        }
    }
    for engine in engines {
        whole
            .entry(engine)
            .or_default()
            .extend(part("purge", engine, directory, &[])?);
    }

    println!("\n{logins} logins of one row, and what was written above\n");
    println!(
        "| engine | load s | load CPU µs | size MB | open after kill ms | open ms | verify ms | get µs | resident: opened, reading MB | size before purge MB | purged | compacted | purge CPU µs |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for engine in engines {
        let one: Vec<Figures> = whole.get(engine).cloned().into_iter().collect();
        let w = |name| median(&one, name);
        let of = opened.get(engine).map_or(&[][..], Vec::as_slice);
        let o = |name| median(of, name);
        println!(
            "| {engine} | {:.1} | {:.0} | {:.0} | {:.0} | {:.1} | {:.0} | {:.1} | {:.0}, {:.0} | {:.0} | {:.0} | {:.0} | {:.0} |",
            w("load_s"),
            w("load_cpu"),
            w("size"),
            o("open"),
            o("open_clean"),
            o("verify"),
            o("get"),
            o("rss_open"),
            o("rss_read"),
            w("size_before"),
            w("size_purged"),
            w("size_compacted"),
            w("purge_cpu"),
        );
    }
    Ok(())
}
