//! The kernel's counters of this process.

use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::engine::Outcome;

/// CPU of the whole process.
pub fn process_cpu() -> Duration {
    cpu(ClockId::ProcessCPUTime)
}

/// CPU of the calling thread.
pub fn thread_cpu() -> Duration {
    cpu(ClockId::ThreadCPUTime)
}

fn cpu(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The number in a line `name: number ...` of a file of /proc/self.
pub fn counter(file: &str, name: &str) -> Outcome<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/{file}"))?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("the kernel does not count that")?.parse()?)
}

/// Bytes that the files in a directory take on the disk.
pub fn size_of(directory: &Path) -> Outcome<u64> {
    use std::os::unix::fs::MetadataExt as _;
    let mut size = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        size += match entry.metadata()? {
            folder if folder.is_dir() => size_of(&entry.path())?,
            file => file.blocks() * 512,
        };
    }
    Ok(size)
}
