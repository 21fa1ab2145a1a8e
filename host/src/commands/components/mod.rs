//! `gatehouse components`: what this program is made of, for other hosts.

mod artifacts;
mod code;
mod files;
mod folder;
mod image;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use gatehouse_components::Flavour;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Writes every component, alone and composed, and the WIT packages in their binary form
    Export(Export),
    /// Compiles the components ahead, so that the first start need not; for building an image, for example
    Compile(code::Arguments),
}

pub(super) use code::compile_apart;

#[derive(Debug, Args)]
pub(super) struct Export {
    /// Folder to write to; it is created where it does not exist
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Exports one flavour only: `portable` components run anywhere, `wide` ones need wide arithmetic and SIMD switched on
    #[arg(long, value_parser = flavour)]
    flavour: Option<Flavour>,
    /// Packs each as an OCI image layout, to be copied to a registry as it is
    #[arg(long)]
    oci: bool,
    /// Accepts a folder that is not empty: files of the same names are replaced, all others stay
    #[arg(long)]
    replace: bool,
}

pub(super) fn run(command: &Command) -> Result<()> {
    let export = match command {
        Command::Export(export) => export,
        Command::Compile(arguments) => return code::run(arguments),
    };
    let mut output = std::io::stdout().lock();
    for path in export.write()? {
        writeln!(output, "{}", path.display())?;
    }
    Ok(())
}

impl Export {
    /// Writes everything and says where each file is.
    fn write(&self) -> Result<Vec<PathBuf>> {
        let artifacts = artifacts::all(self.flavour)?;
        let files = if self.oci {
            image::layouts(&artifacts)?
        } else {
            files::files(artifacts)?
        };
        folder::fill(&self.to, &files, self.replace)?;
        let paths = files.into_iter().map(|file| self.to.join(file.path));
        Ok(paths.collect())
    }
}

fn flavour(name: &str) -> Result<Flavour, String> {
    let mut flavours = Flavour::ALL.into_iter();
    flavours
        .find(|flavour| flavour.name() == name)
        .ok_or_else(|| {
            format!(
                "it is one of {}",
                Flavour::ALL.map(Flavour::name).join(", ")
            )
        })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    #[command(no_binary_name = true)]
    struct Line {
        #[command(flatten)]
        export: Export,
    }

    #[test]
    fn the_exports_of_the_documents_work_one_after_the_other() {
        let documents = [
            include_str!("../../../../docs/hosts/artifacts.md"),
            include_str!("../../../../docs/hosts/python.md"),
        ];
        let arguments = documents
            .iter()
            .flat_map(|document| document.lines())
            .filter_map(|line| line.strip_prefix("$ gatehouse components export "))
            .map(|line| line.split('#').next().unwrap().split_whitespace());
        let place = tempfile::tempdir().unwrap();
        let mut exports = 0;
        for arguments in arguments {
            let Line { mut export } = Line::try_parse_from(arguments).unwrap();
            export.to = place.path().join(&export.to);
            let written = export.write().unwrap();
            assert!(written.iter().all(|path| path.is_file()), "{export:?}");
            exports += 1;
        }
        assert_eq!(exports, 4);
    }
}
