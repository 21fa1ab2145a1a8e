//! `gatehouse components compile`: machine code for the engine, made before a server needs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use clap::Args;
use gatehouse::runtime::served;

#[derive(Debug, Args)]
pub(in crate::commands) struct Arguments {
    /// Folder for compiled code, as components.cache_directory names it for the server; the user's cache folder where it is left out
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    served::compile(arguments.to.as_deref())
}

/// Has the component compiled by a process of its own where there is no code of it that fits: the compiler takes hundreds of megabytes, which
/// this process would keep. Where that fails, the server compiles for itself.
pub(in crate::commands) fn compile_apart(folder: Option<&Path>) {
    let compiled = served::why_compile(folder).and_then(|why| {
        let Some(why) = why else {
            return Ok(());
        };
        tracing::info!("compiling the components, which later starts need not: {why:#}");
        let mut compiler = Command::new(std::env::current_exe()?);
        compiler.args(["components", "compile"]);
        if let Some(folder) = folder {
            compiler.arg("--to").arg(folder);
        }
        let status = compiler
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()?;
        ensure!(
            status.success(),
            "the compiling process ended with {status}"
        );
        Ok(())
    });
    if let Err(error) = compiled {
        tracing::warn!("the components are compiled in this process: {error:#}");
    }
}
