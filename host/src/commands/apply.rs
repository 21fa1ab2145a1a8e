//! `gatehouse apply`: brings a running server into the state that a file describes.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;

use super::client::ServerArguments;
use super::installation::{Description, Options, Reconciler, Report, Server, Summary};
use super::progress::Progress;

/// The exit code of a dry run that found differences.
pub(super) const DIFFERENCES: u8 = 2;

pub(super) const EXIT_CODES: &str = "\
Exit codes: 0, the server is as described; 1, something could not be read or written; 2, a dry run found differences; 64, the \
command line is not understood.";

const HELP: &str = "\
Policies, auth methods with configuration and roles, token roles, entities, groups and organizations are compared with the server field by field, \
and only what differs is written. What the file does not name is left alone, and nothing is ever deleted: remove it by hand. \
Credentials cannot be read back: they are written where there are none yet, and with --write-secrets.";

#[derive(Debug, Args)]
#[command(after_help = HELP, after_long_help = format!("{HELP}\n\n{EXIT_CODES}"))]
pub(super) struct Arguments {
    /// The description: TOML, or JSON if its name ends in .json
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Shows what differs and writes nothing; the exit code is 2 if anything does
    #[arg(long)]
    dry_run: bool,
    /// Writes credentials, although the server may have them
    #[arg(long)]
    write_secrets: bool,
    #[command(flatten)]
    server: ServerArguments,
}

pub(super) async fn run(arguments: Arguments) -> Result<ExitCode> {
    let description = Description::read(&arguments.file)?;
    let server = Server::from_arguments(&arguments.server)?;
    let options = Options {
        dry_run: arguments.dry_run,
        write_secrets: arguments.write_secrets,
        leave_unknown_fields: false,
    };
    // Not locked: the report is written between the calls of a task that may wait.
    let progress = Progress::of_objects("compared");
    let mut output = progress.above(std::io::stdout());
    let mut report = Report::to(&mut output).with_progress(&progress);
    Reconciler::connect(&server, options, &mut report)
        .await?
        .apply(&description)
        .await?;
    report.finish(options.dry_run)?;
    progress.finish();
    exit_code(report.summary(), options.dry_run)
}

/// The exit code of a run that came to its end.
///
/// # Errors
///
/// When some objects failed.
pub(super) fn exit_code(summary: Summary, dry_run: bool) -> Result<ExitCode> {
    if summary.failed > 0 {
        bail!(
            "{} of the objects could not be applied: see the lines that begin with !",
            summary.failed
        );
    }
    Ok(match dry_run && summary.has_differences() {
        true => ExitCode::from(DIFFERENCES),
        false => ExitCode::SUCCESS,
    })
}
