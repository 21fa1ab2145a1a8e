//! `gatehouse components`: what this program is made of, for other hosts.

mod artifacts;
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
}

#[derive(Debug, Args)]
pub(super) struct Export {
    /// Folder to write to; it is created where it does not exist
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Leaves the components of the other flavour out: `portable` ones run anywhere, `wide` ones where wide arithmetic and SIMD are switched on
    #[arg(long, value_parser = flavour)]
    flavour: Option<Flavour>,
    /// Packs each as an OCI image layout, to be copied to a registry as it is
    #[arg(long)]
    oci: bool,
    /// Takes a folder that is not empty: files of the same names are replaced, all others stay
    #[arg(long)]
    replace: bool,
}

pub(super) fn run(command: &Command) -> Result<()> {
    let Command::Export(export) = command;
    let artifacts = artifacts::all(export.flavour)?;
    let files = if export.oci {
        image::layouts(&artifacts)?
    } else {
        files::files(artifacts)?
    };
    folder::fill(&export.to, &files, export.replace)?;
    let mut output = std::io::stdout().lock();
    for file in files {
        writeln!(output, "{}", export.to.join(file.path).display())?;
    }
    Ok(())
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
