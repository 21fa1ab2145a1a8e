//! `gatehouse components`: the WebAssembly components for other hosts.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Subcommand;
use gatehouse_components::{Flavour, Part, bytes};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Writes every component, alone and composed, in each flavour to a folder of the flavour's name
    Export {
        /// Directory to write to; it is created where it does not exist
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

pub(super) fn run(command: &Command) -> Result<()> {
    let Command::Export { directory } = command;
    let mut output = std::io::stdout().lock();
    for path in export(directory)? {
        writeln!(output, "{}", path.display())?;
    }
    Ok(())
}

fn export(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for flavour in Flavour::ALL {
        let folder = directory.join(flavour.name());
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        for part in Part::ALL {
            let path = folder.join(part.name()).with_extension("wasm");
            std::fs::write(&path, bytes(part, flavour))
                .with_context(|| format!("cannot write {}", path.display()))?;
            written.push(path);
        }
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_is_written_in_each_flavour() {
        let directory = tempfile::tempdir().unwrap();
        let written = export(&directory.path().join("new")).unwrap();
        assert_eq!(written.len(), Flavour::ALL.len() * Part::ALL.len());
        for path in written {
            assert!(
                std::fs::read(&path).unwrap().starts_with(b"\0asm"),
                "{}",
                path.display()
            );
        }
    }
}
