//! The store that a command works on: that of a stopped server or of a database, or of an installation under Spin.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use gatehouse::settings::Settings;

use crate::commands::configuration::{Source, parse_assignment};

/// Options that name a store.
#[derive(Debug, Args)]
pub(in crate::commands) struct StoreSource {
    /// Configuration file, in TOML, that names the store and its key; shares are read from standard input, one a line
    #[arg(long, value_name = "FILE", conflicts_with = "spin_store")]
    config: Option<PathBuf>,
    /// Any setting; overrides the file and the environment; may be repeated
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE", value_parser = parse_assignment, requires = "config", conflicts_with = "spin_store")]
    set: Vec<(String, String)>,
    #[command(flatten)]
    spin: UnderSpin,
}

/// Options that name the store of an installation under Spin.
#[derive(Debug, Args)]
pub(in crate::commands) struct UnderSpin {
    /// Runtime configuration of Spin that names the stores of an installation under Spin, in place of --config
    #[arg(long, value_name = "FILE", group = "spin_store", requires = "seal_key")]
    spin_runtime: Option<PathBuf>,
    /// File with the text that Spin is given as its variable postgres_url, in place of --spin-runtime: the store of an installation under
    /// Spin with records in PostgreSQL
    #[arg(long, value_name = "FILE", group = "spin_store", requires = "seal_key")]
    postgres_url_file: Option<PathBuf>,
    /// PEM file with certificate authorities to trust for that database beside those of the system
    // Without the conflicts, what they name would stand in for what is required; so for the next options.
    #[arg(
        long,
        value_name = "FILE",
        requires = "postgres_url_file",
        conflicts_with_all = ["config", "spin_runtime"]
    )]
    postgres_ca_file: Option<PathBuf>,
    /// File with the text that Spin is given as its variable seal_key
    #[arg(
        long,
        value_name = "FILE",
        requires = "spin_store",
        conflicts_with = "config"
    )]
    seal_key: Option<PathBuf>,
    /// The form of the records that --spin-runtime leads to: SQLite, as spin.toml has it, or key-value stores
    #[arg(
        long,
        value_enum,
        value_name = "KIND",
        default_value_t,
        requires = "spin_runtime",
        conflicts_with_all = ["config", "postgres_url_file"]
    )]
    spin_records: RecordsInFiles,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum RecordsInFiles {
    #[default]
    Sqlite,
    KeyValue,
}

/// A store that a command was given.
pub(super) enum NamedStore<'a> {
    Server(Box<Settings>),
    UnderSpin(&'a UnderSpin),
}

impl StoreSource {
    /// The store that was named; `None` where none was.
    pub(super) fn find(&self) -> Result<Option<NamedStore<'_>>> {
        if let Some(config) = &self.config {
            let settings = Source::new(config.clone(), self.set.clone()).load()?;
            return Ok(Some(NamedStore::Server(Box::new(settings))));
        }
        let is_under_spin =
            self.spin.spin_runtime.is_some() || self.spin.postgres_url_file.is_some();
        Ok(is_under_spin.then_some(NamedStore::UnderSpin(&self.spin)))
    }

    /// The store that was named, where a command needs one.
    pub(super) fn load(&self) -> Result<NamedStore<'_>> {
        self.find()?.context(
            "name the store by --config, or that of an installation under Spin by --seal-key with --spin-runtime or --postgres-url-file",
        )
    }
}

#[cfg(feature = "spin")]
mod built_in {
    use anyhow::{Context, Result, bail};
    use gatehouse::backup::{
        RestoreOptions, Restored, SpinInstallation, SpinRecords, begin_under_spin,
        restore_under_spin,
    };
    use gatehouse_ports::Store;
    use gatehouse_store::{Backup, SpinForm};

    use super::{RecordsInFiles, UnderSpin};
    use crate::commands::operator::shares::read_share;
    use crate::commands::output::tell;

    impl UnderSpin {
        fn installation(&self) -> Result<SpinInstallation<'_>> {
            let unnamed =
                "name the installation by --seal-key with --spin-runtime or --postgres-url-file";
            let records = match (&self.spin_runtime, &self.postgres_url_file) {
                (Some(runtime), None) => SpinRecords::Files {
                    runtime,
                    form: match self.spin_records {
                        RecordsInFiles::Sqlite => SpinForm::Sqlite,
                        RecordsInFiles::KeyValue => SpinForm::KeyValue,
                    },
                },
                (None, Some(url)) => SpinRecords::Database {
                    url,
                    ca: self.postgres_ca_file.as_deref(),
                },
                (Some(_), Some(_)) | (None, None) => bail!(unnamed),
            };
            Ok(SpinInstallation {
                records,
                seal_key: self.seal_key.as_deref().context(unnamed)?,
            })
        }

        /// Begins a backup of it.
        pub(in crate::commands::operator) async fn begin_backup(&self) -> Result<Backup> {
            let (backup, empty) = begin_under_spin(self.installation()?).await?;
            for file in empty {
                tell(format_args!(
                    "{} has no records: its capability has not been called yet, or the path is wrong.",
                    file.display()
                ));
            }
            Ok(backup)
        }

        /// Restores a backup into it.
        pub(in crate::commands::operator) fn restore(
            &self,
            options: RestoreOptions<'_>,
            progress: impl FnMut(u64),
        ) -> Result<Restored> {
            let installation = self.installation()?;
            let restored = restore_under_spin(installation, options, read_share, progress)?;
            for file in installation.paths()? {
                tell(format_args!("{} is a database for Spin.", file.display()));
            }
            if self.postgres_url_file.is_some() {
                tell("The records are in the schema gatehouse_spin of the database, for Spin.");
            }
            Ok(restored)
        }

        /// Has `change` change the records of access control.
        pub(in crate::commands::operator) fn change_access(
            &self,
            change: impl FnOnce(&dyn Store) -> Result<()>,
        ) -> Result<()> {
            change(self.installation()?.open_to_write()?.access())
        }
    }
}

/// The program without SQLite.
#[cfg(not(feature = "spin"))]
mod left_out {
    use std::future::{Ready, ready};

    use anyhow::{Result, anyhow, bail};
    use gatehouse::backup::{RestoreOptions, Restored};
    use gatehouse_ports::Store;
    use gatehouse_store::Backup;

    use super::UnderSpin;

    const MISSING: &str = "this program was built without its feature `spin`: use one that has it";

    impl UnderSpin {
        pub(in crate::commands::operator) fn begin_backup(&self) -> Ready<Result<Backup>> {
            ready(Err(anyhow!(MISSING)))
        }

        pub(in crate::commands::operator) fn restore(
            &self,
            _: RestoreOptions<'_>,
            _: impl FnMut(u64),
        ) -> Result<Restored> {
            bail!(MISSING)
        }

        pub(in crate::commands::operator) fn change_access(
            &self,
            _: impl FnOnce(&dyn Store) -> Result<()>,
        ) -> Result<()> {
            bail!(MISSING)
        }
    }
}
