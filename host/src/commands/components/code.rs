//! `gatehouse components compile`: machine code for the engine, made before a server needs it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Result, ensure};
use clap::Args;
use gatehouse::runtime::served;
use tokio::signal::unix::{Signal, SignalKind, signal};

#[derive(Debug, Args)]
pub(in crate::commands) struct Arguments {
    /// Folder for the compiled code, the server's components.cache_directory; by default the user's cache folder
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    served::compile(arguments.to.as_deref())
}

/// Has the component compiled by a process of its own where there is no code of it that fits: the compiler takes hundreds of megabytes, which
/// this process would keep. Where that fails, the server compiles for itself.
pub(in crate::commands) async fn compile_apart(folder: Option<&Path>) {
    if let Err(error) = compile_where_needed(folder).await {
        tracing::warn!("the components are compiled in this process: {error:#}");
    }
}

async fn compile_where_needed(folder: Option<&Path>) -> Result<()> {
    let Some(why) = served::why_compile(folder)? else {
        return Ok(());
    };
    tracing::info!("compiling the components, which later starts need not: {why:#}");
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["components", "compile"]);
    if let Some(folder) = folder {
        command.arg("--to").arg(folder);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = Compiler::start(&mut command)?.ended().await?;
    ensure!(
        status.success(),
        "the compiling process ended with {status}"
    );
    Ok(())
}

/// A process that compiles. It ends with the process that waits for it: a start that is given up leaves none behind.
struct Compiler {
    process: Child,
    /// Ends of processes of this one.
    ends: Signal,
}

impl Compiler {
    fn start(command: &mut Command) -> Result<Self> {
        // Before the process, which may end at once.
        let ends = signal(SignalKind::child())?;
        Ok(Self {
            process: command.spawn()?,
            ends,
        })
    }

    async fn ended(mut self) -> Result<ExitStatus> {
        loop {
            if let Some(status) = self.process.try_wait()? {
                return Ok(status);
            }
            self.ends.recv().await;
        }
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        // Neither does anything to a process that was waited for.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::fd::OwnedFd;

    use super::*;

    #[tokio::test]
    async fn the_end_of_a_compiler_is_noticed_and_told() {
        for (program, well) in [("true", true), ("false", false)] {
            let compiler = Compiler::start(&mut Command::new(program)).unwrap();
            assert_eq!(compiler.ended().await.unwrap().success(), well);
        }
    }

    #[tokio::test]
    async fn o1_a_compiler_that_nobody_waits_for_any_more_is_ended() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut command = Command::new("cat");
        let (held, _input) = std::io::pipe().unwrap();
        command
            .stdin(OwnedFd::from(held))
            .stdout(OwnedFd::from(writer));
        let compiler = Compiler::start(&mut command).unwrap();
        drop(command);
        drop(compiler.ended());
        // The end of the pipe: the process that held the other side is gone.
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
    }
}
