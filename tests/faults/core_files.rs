//! Core files: a server that crashes leaves nothing of its memory. Of our own server alone: Spin decides about its own process.

use gatehouse_tests::{Installation, Storage};

use crate::HOST;

#[test]
fn k6_the_memory_of_a_started_server_goes_into_no_core_file() {
    let mut installation =
        Installation::start_program(HOST.program(), Storage::Durable, "").unwrap();
    let limits = format!("/proc/{}/limits", installation.server().id());
    let limits = std::fs::read_to_string(limits).unwrap();
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max core file size"));
    // The second is what the process could raise the first to.
    let words: Vec<&str> = line.unwrap().split_whitespace().collect();
    assert_eq!(words[..2], ["0", "0"], "{limits}");
}
