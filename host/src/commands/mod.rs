//! The commands that can be typed after `gatehouse`.

mod apply;
mod audit;
mod components;
mod configuration;
mod dev;
mod import;
mod installation;
mod login_jwt;
mod operator;
mod process;
mod serve;
mod service_manager;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

/// Logs cloud workloads in by the identity their cloud gave them, and manages organizations.
#[derive(Debug, Parser)]
#[command(name = "gatehouse", version, arg_required_else_help = true)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Starts a server for trying things out: nothing is kept, and a Google of its own is ready for a first login
    Dev(dev::Arguments),
    /// Starts a server
    Server(serve::Arguments),
    /// Looks at configuration files
    #[command(subcommand)]
    Config(configuration::Command),
    /// Signs a login JWT with a service-account key file and prints it
    LoginJwt(login_jwt::Arguments),
    /// Brings a running server into the state that a file describes
    Apply(apply::Arguments),
    /// Copies policies, auth methods of type gcp, roles and identities of a Vault or OpenBao
    Import(import::Arguments),
    /// Looks at audit logs
    #[command(subcommand)]
    Audit(audit::Command),
    /// Work on a server's machine, and the first users of a server
    #[command(subcommand)]
    Operator(operator::Command),
    /// The WebAssembly components that this program carries
    #[command(subcommand)]
    Components(components::Command),
}

/// Does what was asked for. The code tells how it went where a command has more to say than that it is done.
///
/// # Errors
///
/// When it cannot be done; the message is for the person who typed the command.
pub fn run(line: CommandLine) -> Result<ExitCode> {
    let done = match line.command {
        Command::Apply(arguments) => return on_runtime(apply::run(arguments)),
        Command::Import(arguments) => return on_runtime(import::run(arguments)),
        Command::Dev(arguments) => on_runtime(dev::run(arguments)),
        Command::Server(arguments) => on_runtime(serve::run(arguments)),
        Command::Config(command) => configuration::run(&command),
        Command::LoginJwt(arguments) => login_jwt::run(&arguments),
        Command::Audit(command) => audit::run(&command),
        Command::Operator(command) => operator::run(command),
        Command::Components(command) => components::run(&command),
    };
    done.map(|()| ExitCode::SUCCESS)
}

fn on_runtime<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?
        .block_on(work)
}
