//! Serves a component as Spin would: its engine, its imports, its reuse of instances, the header fields that it adds. Tests run on it
//! in Spin's place, which is in no package registry.
//!
//! It takes the configuration file of `gatehouse server`.

mod application;
mod engine;
mod handler;
mod imports;
mod listener;
mod outbound;
mod platform;
mod postgres;
mod real_spin;
mod request;
mod sqlite;
mod state;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand, ValueEnum};
use gatehouse::runtime::code_cache::{CodeCache, folder_of_user};
use gatehouse::settings::Settings;
use gatehouse_spin_sqlite::Nature;
use tokio::net::TcpListener;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use application::{Surroundings, platform};
use handler::Handler;
use imports::Version;
use outbound::Outbound;
use real_spin::RealSpin;
use state::Grants;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serves until it is told to stop.
    Server {
        /// The configuration file.
        #[arg(long)]
        config: PathBuf,
        /// The WASI version of the component's handler, which decides on what is offered to it.
        #[arg(long, default_value = "0.3")]
        front: Front,
        /// The component to serve.
        #[arg(long)]
        component: PathBuf,
        /// A variable as `spin up` takes it, `NAME=VALUE`; it takes precedence over the configuration file.
        #[arg(long, value_parser = variable)]
        variable: Vec<(String, String)>,
        /// The nature of the databases behind the labels: files, read-only, full or libsql.
        #[arg(long, default_value = "files")]
        databases: Nature,
    },
    /// Becomes a real Spin with the same configuration.
    Spin {
        /// The configuration file.
        #[arg(long)]
        config: PathBuf,
        /// The program `spin`.
        #[arg(long)]
        program: PathBuf,
        /// The manifest, one of those of the repository.
        #[arg(long)]
        manifest: PathBuf,
        /// The folder of the components that the manifest names.
        #[arg(long)]
        parts: PathBuf,
        /// A variable as `spin up` takes it.
        #[arg(long, value_parser = variable)]
        variable: Vec<(String, String)>,
    },
}

/// The WASI version of a front's handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Front {
    /// For Spin 3.6 and SpinKube.
    #[value(name = "0.2")]
    Wasi0_2,
    /// For Spin 4.1.
    #[value(name = "0.3")]
    Wasi0_3,
}

impl Front {
    const fn version(self) -> Version {
        match self {
            Self::Wasi0_2 => Version::Spin3,
            Self::Wasi0_3 => Version::Spin4,
        }
    }
}

fn variable(text: &str) -> Result<(String, String)> {
    let (name, value) = text.split_once('=').context("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[tokio::main]
async fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Server {
            config,
            front,
            component,
            variable,
            databases,
        } => {
            serve(&config, front, &component, variable, databases).await?;
            // At once, as Spin ends: nothing is taken down, and no instance that waits for its next request is said to have failed.
            std::process::exit(0)
        }
        Command::Spin {
            config,
            program,
            manifest,
            parts,
            variable,
        } => {
            let settings = settings(&config)?;
            let address = settings.listener.address;
            let surroundings = Surroundings::new(&settings, address, variable)?;
            let spin = RealSpin {
                program,
                manifest,
                parts,
            };
            spin.run(&settings, address, surroundings, folder_of(&config)?)
        }
    }
}

async fn serve(
    config: &Path,
    front: Front,
    component: &Path,
    given: Vec<(String, String)>,
    databases: Nature,
) -> Result<()> {
    let settings = settings(config)?;
    let filter: Targets = settings.log.level.parse().context("log.level")?;
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(std::io::stderr);
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .init();
    let listener = TcpListener::bind(settings.listener.address)
        .await
        .context("listener.address")?;
    let Surroundings {
        variables,
        environment,
    } = Surroundings::new(&settings, listener.local_addr()?, given)?;
    let grants = Grants {
        environment,
        platform: platform(&settings, variables, folder_of(config)?, databases)?,
        outbound: Outbound::new(settings.google.allow_http_loopback),
    };
    let handler = handler(&settings, front, component, grants)?;
    listener::serve(listener, handler).await
}

fn settings(config: &Path) -> Result<Settings> {
    Ok(Settings::load(config, std::env::vars(), Vec::new())?)
}

fn folder_of(config: &Path) -> Result<&Path> {
    config
        .parent()
        .context("the configuration file has no folder")
}

fn handler(settings: &Settings, front: Front, component: &Path, grants: Grants) -> Result<Handler> {
    let engine = engine::engine()?;
    let folder = settings.components.cache_directory.clone();
    let code = CodeCache::open(folder.unwrap_or_else(folder_of_user))?;
    let component = code.load(&engine, &fs::read(component)?)?;
    imports::ensure_met(&engine, &component, front.version())?;
    let linker = imports::linker(&engine)?;
    Handler::new(linker.instantiate_pre(&component)?, grants)
}
