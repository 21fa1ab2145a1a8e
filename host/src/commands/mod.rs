//! The commands that can be typed after `gatehouse`.

mod access_file;
mod apply;
mod audit;
mod bootstrap;
mod bounded_file;
mod client;
mod components;
mod configuration;
mod dev;
mod generated;
mod import;
mod installation;
mod login_jwt;
mod operator;
mod output;
mod process;
mod progress;
mod reload;
mod runtime;
mod serve;
mod service_manager;
mod status;

use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory as _, Parser, Subcommand};

use self::runtime::on_runtime;

/// Logs cloud workloads in with the identity that their cloud gave them, and manages organizations.
#[derive(Debug, Parser)]
#[command(name = "gatehouse", version, arg_required_else_help = true)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Starts a server to try things out: it keeps nothing and runs a fake Google for a first login
    Dev(dev::Arguments),
    /// Starts a server
    Server(serve::Arguments),
    /// Shows the state of a running server
    #[command(after_help = status::STATUS_HELP)]
    Status(status::StatusArguments),
    /// Checks that a running server can serve, for probes; prints nothing if it can
    #[command(after_help = status::HEALTH_HELP)]
    Health(status::HealthArguments),
    /// Checks configuration files and describes their settings
    #[command(subcommand)]
    Config(configuration::Command),
    /// Signs a login JWT with a service-account key file and prints it
    LoginJwt(login_jwt::Arguments),
    /// Brings a running server into the state that a file describes
    Apply(apply::Arguments),
    /// Copies policies, auth methods of type gcp, roles and identities of a Vault or OpenBao
    Import(import::Arguments),
    /// Verifies audit logs
    #[command(subcommand)]
    Audit(audit::Command),
    /// Operates a server on its own machine, and creates its first users
    #[command(subcommand)]
    Operator(operator::Command),
    /// The WebAssembly components that this program carries
    #[command(subcommand)]
    Components(components::Command),
    /// Prints a script by which a shell completes commands
    Completions(generated::Completions),
    /// Prints the manual page, or writes one for each command
    Man(generated::Manual),
}

/// The exit code for a command line that is not understood, as sysexits.h has it: 2, which clap would take, tells of servers and differences.
const USAGE: u8 = 64;

/// Prints the help that was asked for, or what is wrong with a command line.
pub fn not_understood(error: &clap::Error) -> ExitCode {
    let _unheard = error.print();
    match error.use_stderr() {
        true => ExitCode::from(USAGE),
        false => ExitCode::SUCCESS,
    }
}

/// Tells why a command failed.
pub fn failed(error: &anyhow::Error) -> ExitCode {
    output::tell(format_args!("error: {error:#}"));
    ExitCode::FAILURE
}

/// Does what was asked for, and says how the process ends.
///
/// # Errors
///
/// When it cannot be done; the message is for the person who typed the command.
pub fn run(line: CommandLine) -> Result<ExitCode> {
    let done = match line.command {
        Command::Status(arguments) => return on_runtime(status::status(arguments)),
        Command::Apply(arguments) => return on_runtime(apply::run(arguments)),
        Command::Import(arguments) => return on_runtime(import::run(arguments)),
        Command::Dev(arguments) => on_runtime(dev::run(arguments)),
        Command::Server(arguments) => on_runtime(serve::run(arguments)),
        Command::Health(arguments) => on_runtime(status::health(arguments)),
        Command::Config(command) => configuration::run(&command),
        Command::LoginJwt(arguments) => login_jwt::run(&arguments),
        Command::Audit(command) => audit::run(&command),
        Command::Operator(command) => operator::run(command),
        Command::Components(command) => components::run(&command),
        Command::Completions(arguments) => {
            generated::completions(&arguments, CommandLine::command())
        }
        Command::Man(arguments) => generated::manual(&arguments, CommandLine::command()),
    };
    done.map(|()| ExitCode::SUCCESS)
}
