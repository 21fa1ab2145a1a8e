//! `gatehouse audit`: verifying audit logs.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use gatehouse::audit::{self, Expectations, Link};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Verifies the hash chain of a log, and prints its last record, to be kept for --expect
    #[command(after_help = VERIFY_HELP)]
    Verify(Verify),
}

const VERIFY_HELP: &str = "\
A record that was changed, inserted, moved or removed breaks the chain, and the first line that does not follow is named. \
That the last records were cut off, or that the whole log was written anew, shows only against a record that was \
remembered elsewhere: keep what is printed, and give it to --expect the next time.";

#[derive(Debug, Args)]
pub(super) struct Verify {
    /// The files of one log, the oldest first
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Hash of the record before the first one, if the oldest files are left out
    #[arg(long, value_name = "HASH")]
    from: Option<Link>,
    /// Number and hash of a record that must be in the log, as an earlier run printed them
    #[arg(long, value_name = "SEQUENCE:HASH", value_parser = parse_record)]
    expect: Option<(u64, Link)>,
}

fn parse_record(text: &str) -> Result<(u64, Link), String> {
    let parts = text.split_once(':').and_then(|(sequence, hash)| {
        Some((sequence.trim().parse().ok()?, hash.trim().parse().ok()?))
    });
    parts.ok_or_else(|| "expected a number, a colon and 64 hexadecimal digits".to_owned())
}

pub(super) fn run(command: &Command) -> Result<()> {
    let Command::Verify(arguments) = command;
    let expectations = Expectations {
        from: arguments.from,
        line: arguments.expect,
    };
    let verified = audit::verify(&arguments.files, expectations)?;
    let mut output = std::io::stdout().lock();
    for remark in &verified.remarks {
        writeln!(output, "{remark}")?;
    }
    writeln!(output, "records: {}", verified.lines)?;
    for (name, record) in [("first", verified.first), ("last", verified.last)] {
        if let Some((sequence, hash)) = record {
            writeln!(output, "{name}: {sequence}:{hash}")?;
        }
    }
    Ok(())
}
