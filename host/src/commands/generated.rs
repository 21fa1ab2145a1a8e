//! `gatehouse completions` and `gatehouse man`: files made of the command line itself.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell that the script is for
    shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct Manual {
    /// Folder that gets a page for each command; without it, the page of gatehouse goes to standard output
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(super) fn completions(arguments: &Completions, mut line: Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut line, "gatehouse", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(())
}

pub(super) fn manual(arguments: &Manual, line: Command) -> Result<()> {
    let Some(folder) = &arguments.folder else {
        let mut page = Vec::new();
        Man::new(line).render(&mut page)?;
        std::io::stdout().lock().write_all(&page)?;
        return Ok(());
    };
    let unwritable = || format!("the pages cannot be written to {}", folder.display());
    std::fs::create_dir_all(folder).with_context(unwritable)?;
    clap_mangen::generate_to(line, folder).with_context(unwritable)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, ValueEnum as _};

    use super::*;
    use crate::commands::CommandLine;

    #[test]
    fn every_shell_gets_a_script_that_knows_the_commands() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            let line = &mut CommandLine::command();
            clap_complete::generate(*shell, line, "gatehouse", &mut script);
            let script = String::from_utf8(script).unwrap();
            for command in ["login-jwt", "status", "rekey"] {
                assert!(script.contains(command), "{shell}: {command}");
            }
        }
    }

    #[test]
    fn every_command_has_a_page_of_its_own() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("man1");
        let arguments = Manual {
            folder: Some(folder.clone()),
        };
        manual(&arguments, CommandLine::command()).unwrap();
        for page in [
            "gatehouse.1",
            "gatehouse-server.1",
            "gatehouse-operator-user-create.1",
        ] {
            let text = std::fs::read_to_string(folder.join(page)).unwrap();
            assert!(text.contains(".TH"), "{page}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }
}
