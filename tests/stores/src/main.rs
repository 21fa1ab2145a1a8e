//! Compares the engines that a durable store could be built on, by what a login writes.
//!
//! ```sh
//! cargo run --release --manifest-path tests/stores/Cargo.toml --target-dir target/stores -- DIRECTORY [LOGINS] [ROUNDS] [ENGINES,...]
//! ```
//!
//! puts the stores into DIRECTORY, which must be on the disk that matters and not in memory, and prints tables. All engines are under the
//! same committer: one thread takes the commits that wait, applies them in one transaction, and answers after the sync; a batch waits
//! for company by the product's own rule.
//!
//! Each run is a process of its own for two seconds. The engines take turns, and a figure is the median of the rounds. CPU is that of
//! the process without the threads that pose as logins, so that other work on the machine shows in the times and less in the CPU.

mod engine;
mod engines;
mod fjall_engine;
// The product's own.
#[path = "../../../host/store/src/durable/gathering.rs"]
mod gathering;
mod log_engine;
mod measure;
mod redb_engine;
mod report;
mod sqlite_engine;
mod workload;

use std::path::PathBuf;

use engine::Outcome;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["--part", part, engine, directory, rest @ ..] => {
            let numbers: Result<Vec<u64>, _> = rest.iter().map(|number| number.parse()).collect();
            workload::run(part, engine, &PathBuf::from(directory), &numbers?)
        }
        [directory, rest @ ..] => {
            let number =
                |at: usize, default: u64| rest.get(at).map_or(Ok(default), |text| text.parse());
            let names = rest
                .get(2)
                .map_or(engines::NAMES.to_vec(), |names| names.split(',').collect());
            report::run(
                &PathBuf::from(directory),
                number(0, 300_000)?,
                number(1, 3)?,
                &names,
            )
        }
        [] => Err("give the directory for the stores".into()),
    }
}
