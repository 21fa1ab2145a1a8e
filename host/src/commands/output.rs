//! The output of commands.

use std::fmt::Display;
use std::io::Write;

use anyhow::{Context, Result};

/// Writes a line to standard output. `println!` would end the process where a disk is full or a reader is gone, without a word on what was
/// done before.
///
/// # Errors
///
/// When the line is not taken.
pub(super) fn print(line: impl Display) -> Result<()> {
    write_line(&mut std::io::stdout().lock(), line).context("cannot write to standard output")
}

/// Writes a line for the person at the terminal. Where it does not arrive, what was done is done all the same.
pub(super) fn tell(line: impl Display) {
    let _unheard = write_line(&mut std::io::stderr().lock(), line);
}

fn write_line(output: &mut dyn Write, line: impl Display) -> std::io::Result<()> {
    writeln!(output, "{line}")?;
    output.flush()
}
