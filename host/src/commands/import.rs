//! `gatehouse import`: copies what a server of Vault's protocol has into a running one, or into a description of it.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use url::Url;

use super::apply::{EXIT_CODES, exit_code};
use super::client::{RemoteServer, ServerArguments, Token};
use super::installation::source::{Taken, take};
use super::installation::{Options, Reconciler, Report, Server, shown};
use super::output::tell;
use super::progress::Progress;

/// Where the token of the server that is read is looked for.
const FROM_TOKEN_VARIABLES: [&str; 1] = ["GATEHOUSE_FROM_TOKEN"];

const HELP: &str = "\
Auth methods of type gcp are copied with description, tuning, configuration and roles, and policies, token roles, entities, groups and aliases of \
those methods. No server reveals a private key: configure it afterwards. What is not copied is listed at the end, and nothing is ever deleted. The other \
server's token needs to read and list; a read that is refused is reported, and the rest goes on.";

#[derive(Debug, Args)]
#[command(after_help = HELP, after_long_help = format!("{HELP}\n\n{EXIT_CODES}"))]
pub(super) struct Arguments {
    /// Address of the Vault, OpenBao or Gatehouse to read
    #[arg(long, value_name = "URL")]
    from: Url,
    /// File with the token for it; without it, the token is read from GATEHOUSE_FROM_TOKEN
    #[arg(long, value_name = "FILE")]
    from_token_file: Option<PathBuf>,
    /// PEM file with certificate authorities to trust for it beside those of the system
    #[arg(long, value_name = "FILE")]
    from_ca_file: Option<PathBuf>,
    /// The namespace to read there
    #[arg(long, value_name = "NAMESPACE")]
    from_namespace: Option<String>,
    /// Shows what would differ and writes nothing; the exit code is 2 if anything does
    #[arg(long)]
    dry_run: bool,
    /// Writes a description for `gatehouse apply` to a new file, and nothing to a server
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    to_file: Option<PathBuf>,
    #[command(flatten)]
    server: ServerArguments,
}

pub(super) async fn run(arguments: Arguments) -> Result<ExitCode> {
    let token = Token::find(
        arguments.from_token_file.as_deref(),
        &FROM_TOKEN_VARIABLES,
        &format!("for {}", arguments.from),
    )?;
    let from = RemoteServer::new(arguments.from.clone(), arguments.from_ca_file.clone());
    let from = Server::at(&from, &token, arguments.from_namespace.as_deref())?;
    if let Some(file) = &arguments.to_file {
        let taken = take_all(&from).await;
        write_new(file, &taken.to_file_text()?)?;
        tell_missing(&taken, &[]);
        tell(format_args!(
            "The description is in {}: read it, then apply it with `gatehouse apply`.",
            file.display()
        ));
        return taken_code(&taken, ExitCode::SUCCESS);
    }
    let server = Server::from_arguments(&arguments.server)?;
    let taken = take_all(&from).await;
    let options = Options {
        dry_run: arguments.dry_run,
        write_secrets: false,
        leave_unknown_fields: true,
    };
    let progress = Progress::of_objects("compared");
    let mut output = progress.above(std::io::stdout());
    let mut report = Report::to(&mut output).with_progress(&progress);
    let mut reconciler = Reconciler::connect(&server, options, &mut report).await?;
    reconciler.apply(&taken.description).await?;
    let left_out = reconciler.left_out().to_vec();
    report.finish(options.dry_run)?;
    let summary = report.summary();
    progress.finish();
    tell_missing(&taken, &left_out);
    taken_code(&taken, exit_code(summary, options.dry_run)?)
}

async fn take_all(from: &Server) -> Taken {
    // It takes its line away before that of the comparison is drawn.
    let progress = Progress::of_objects("read");
    take(from, &progress).await
}

/// Says what is missing in the copy.
fn tell_missing(taken: &Taken, left_out: &[String]) {
    for path in &taken.keyless {
        tell(format_args!(
            "The private key of {}/ cannot be read: write it with `bao write auth/{}/config credentials=@key.json`.",
            shown(path),
            shown(path)
        ));
    }
    for left in taken.left.iter().chain(left_out) {
        tell(format_args!("not taken: {}", shown(left)));
    }
    for failure in &taken.failures {
        tell(format_args!("not read: {}", shown(failure)));
    }
}

/// The exit code of a copy that is otherwise done.
fn taken_code(taken: &Taken, code: ExitCode) -> Result<ExitCode> {
    if !taken.failures.is_empty() {
        bail!(
            "{} reads failed, so the copy is not whole",
            taken.failures.len()
        );
    }
    Ok(code)
}

/// Writes a file that only its owner may read, and replaces none.
fn write_new(path: &Path, text: &str) -> Result<()> {
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    let mut file = file.with_context(|| format!("cannot create {}", path.display()))?;
    file.write_all(text.as_bytes())?;
    Ok(file.sync_all()?)
}
