//! `gatehouse operator backup`, `verify` and `restore`.

mod download;

use std::fs::File;
use std::io::{BufReader, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use gatehouse::backup::{self, Destination, KeySource, RestoreOptions, begin_offline};
use gatehouse_store::{Inventory, RootKey, SealKind, Sharing, read_manifest, verify_backup};
use jiff::Timestamp;
use url::Url;

use super::shares::{print_shares, read_share};
use super::store_source::{NamedStore, StoreSource};
use crate::commands::client::{RemoteServer, TOKEN_VARIABLES, Token};
use crate::commands::output::{print, tell};
use crate::commands::progress::Progress;

/// Stands for standard output in place of a file.
const STANDARD_OUTPUT: &str = "-";

#[derive(Debug, Args)]
pub(in crate::commands) struct Backup {
    /// The file to write, or - for standard output. It appears once it is complete, and only its owner may read it
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// Replaces a file of that name
    #[arg(long)]
    force: bool,
    /// Asks this running server, or that of GATEHOUSE_ADDR where there is no --config. A token that may read sys/backup is taken from
    /// GATEHOUSE_TOKEN, BAO_TOKEN or VAULT_TOKEN
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "spin_store", "seal_key", "spin_records"])]
    address: Option<Url>,
    /// PEM file with certificate authorities to trust for the running server beside those of the system; or GATEHOUSE_CACERT
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "spin_store", "seal_key", "spin_records"])]
    ca_file: Option<PathBuf>,
    /// File with the token for the running server
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "spin_store", "seal_key", "spin_records"])]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    store: StoreSource,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Verify {
    /// The backup
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The key file that its store had when the backup was made
    #[arg(long, value_name = "FILE", conflicts_with = "shares")]
    key_file: Option<PathBuf>,
    /// Reads the shares of its key from standard input, one a line
    #[arg(long)]
    shares: bool,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Restore {
    #[command(flatten)]
    store: StoreSource,
    /// The backup
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The key file that the store had when the backup was made, if that is not seal.key_file or --seal-key; shares are read from standard
    /// input, one a line
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Splits a new key of the store into this many shares, which are printed once
    #[arg(long, value_name = "NUMBER", requires = "key_threshold")]
    key_shares: Option<u32>,
    /// How many of the new shares open the store
    #[arg(long, value_name = "NUMBER", requires = "key_shares")]
    key_threshold: Option<u32>,
    /// Keeps tokens valid that were valid when the backup was made, also those that have been revoked since
    #[arg(long)]
    keep_tokens: bool,
}

/// The destination of the bytes of a backup.
enum Output {
    File(Destination),
    StandardOutput,
}

impl Output {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::File(destination) => destination.write(bytes),
            Self::StandardOutput => {
                let written = std::io::stdout().lock().write_all(bytes);
                written.context("cannot write to standard output")
            }
        }
    }
}

/// The source of a backup.
enum Origin<'a> {
    Store(NamedStore<'a>),
    Server(RemoteServer, Token),
}

impl Backup {
    /// The store where one is named, else the server.
    fn origin(&self) -> Result<Origin<'_>> {
        if let Some(store) = self.store.find()? {
            return Ok(Origin::Store(store));
        }
        let server =
            RemoteServer::or_of_environment(self.address.as_ref(), self.ca_file.as_deref())?;
        let server = server.context(
            "name the store by --config, a running server by --address or GATEHOUSE_ADDR, or an installation under Spin by --spin-runtime or --postgres-url-file",
        )?;
        let whose = "that may read sys/backup, such as a root token";
        let token = Token::find(self.token_file.as_deref(), &TOKEN_VARIABLES, whose)?;
        Ok(Origin::Server(server, token))
    }
}

pub(super) async fn run(command: &Backup) -> Result<()> {
    let origin = command.origin()?;
    let is_file = command.to.as_os_str() != STANDARD_OUTPUT;
    let mut output = match is_file {
        true => Output::File(Destination::create(&command.to, command.force)?),
        false => Output::StandardOutput,
    };
    let progress = Progress::of_unknown_length();
    let made = match origin {
        Origin::Server(server, token) => {
            let mut bytes = 0;
            download::download(&server, &token, |part| {
                bytes += part.len() as u64;
                progress.at(bytes);
                output.write(part)
            })
            .await?;
            None
        }
        Origin::Store(store) => {
            let mut made = match store {
                NamedStore::Server(settings) => begin_offline(&settings, read_share).await?,
                NamedStore::UnderSpin(spin) => spin.begin_backup().await?,
            };
            while let Some(part) = made.next().await? {
                output.write(&part)?;
                progress.at(made.bytes());
            }
            made.inventory().cloned()
        }
    };
    progress.finish();
    match output {
        Output::StandardOutput => {
            std::io::stdout().flush()?;
            if let Some(inventory) = made {
                tell(describe(&inventory));
            }
        }
        Output::File(destination) => {
            // Read back and verified from the disk: a server may have been cut off, and a disk may lie.
            let written = BufReader::new(destination.reopen()?);
            let inventory = verify_backup(written, None, |_| {})?;
            destination.finish()?;
            tell(format_args!(
                "{}: {}",
                command.to.display(),
                describe(&inventory)
            ));
        }
    }
    Ok(())
}

pub(super) fn verify(command: &Verify) -> Result<()> {
    let mut file = open(&command.file)?;
    let key = key_to_verify(command, &file)?;
    file.rewind()?;
    let length = file.metadata()?.len();
    let progress = Progress::of_length(length);
    let reader = BufReader::new(&file);
    let inventory = verify_backup(reader, key.as_ref(), |bytes| progress.at(bytes))?;
    progress.finish();
    print(format_args!(
        "{}: {}",
        command.file.display(),
        describe(&inventory)
    ))?;
    for (label, count) in counts(&inventory) {
        print(format_args!("  {label}: {count}"))?;
    }
    print(match key {
        Some(_) => "It is complete, and was made by a holder of the key of its store.",
        None => "It is complete. To check that it is genuine too, add --key-file or --shares.",
    })
}

/// The key by which the backup is to be proven genuine, if that is wanted.
fn key_to_verify(command: &Verify, file: &File) -> Result<Option<RootKey>> {
    let manifest = read_manifest(file)?;
    if command.key_file.is_none() && !command.shares {
        return Ok(None);
    }
    match (manifest.seal, &command.key_file) {
        (SealKind::KeyFile, None) => {
            bail!("the key of this backup is in a file: name it by --key-file")
        }
        (SealKind::Shares { .. }, Some(_)) => {
            bail!("the key of this backup is in shares: give them after --shares")
        }
        (seal, key_file) => {
            let source = KeySource {
                key_file: key_file.as_deref(),
                share: read_share,
            };
            backup::root_key(seal, source).map(Some)
        }
    }
}

pub(super) async fn restore(command: &Restore) -> Result<()> {
    let sharing = match (command.key_shares, command.key_threshold) {
        (Some(shares), Some(threshold)) => Some(Sharing::new(shares, threshold)?),
        _ => None,
    };
    let length = open(&command.file)?.metadata()?.len();
    let progress = Progress::of_length(length.saturating_mul(2));
    let options = RestoreOptions {
        file: &command.file,
        key_file: command.key_file.as_deref(),
        sharing,
        keep_tokens: command.keep_tokens,
    };
    let at = |bytes| progress.at(bytes);
    let (restored, way_in) = match command.store.load()? {
        NamedStore::Server(settings) => {
            let restored = backup::restore(&settings, options, read_share, print_shares, at);
            let restored = restored.await?;
            let way_in = way_in(restored.inventory.manifest.seal, sharing);
            (restored, way_in)
        }
        NamedStore::UnderSpin(spin) => (spin.restore(options, at)?, WAY_IN_UNDER_SPIN),
    };
    progress.finish();
    tell(format_args!(
        "{} is restored: {}",
        command.file.display(),
        describe(&restored.inventory)
    ));
    if restored.has_new_key {
        tell(
            "The store has another key than the backup: keep the key of the backup as long as the backup.",
        );
    }
    if command.keep_tokens {
        tell(
            "Tokens that were valid when the backup was made are valid now. Those that were revoked since are valid again: revoke them once more.",
        );
    } else {
        tell(format_args!(
            "All tokens have ended, API tokens of users, teams and organizations too: everyone has to log in again. {way_in}",
        ));
    }
    Ok(())
}

/// How an operator gets a root token for a store that was restored for Spin.
const WAY_IN_UNDER_SPIN: &str =
    "`gatehouse operator generate-root` with the same options for the store makes a root token.";

/// How an operator gets a root token for the restored store.
fn way_in(was: SealKind, sharing: Option<Sharing>) -> &'static str {
    match (was, sharing) {
        (SealKind::KeyFile, None) => {
            "`gatehouse operator generate-root` makes a root token before the server starts."
        }
        _ => {
            "With a key file `gatehouse operator generate-root` makes a root token before the server starts; with shares `bao operator \
             generate-root` does once it is unsealed."
        }
    }
}

fn open(file: &Path) -> Result<File> {
    File::open(file).with_context(|| format!("cannot read {}", file.display()))
}

/// The backup in one line.
fn describe(inventory: &Inventory) -> String {
    let Inventory {
        manifest,
        summary,
        bytes,
        digest,
    } = inventory;
    let made = i64::try_from(manifest.created_at).ok();
    let made = made.and_then(|made| Timestamp::from_millisecond(made).ok());
    let made = made.map_or_else(|| "an unknown time".to_owned(), |made| made.to_string());
    let installation = match &manifest.installation {
        Some(id) => format!("of installation {id}"),
        None => "of an installation that is not initialized".to_owned(),
    };
    format!(
        "{} records, {bytes} bytes, {installation}, at {made}, digest {}",
        summary.total(),
        base16ct::lower::encode_string(digest)
    )
}

/// How many records there are of each part of the store.
fn counts(inventory: &Inventory) -> impl Iterator<Item = (&str, u64)> {
    let labels = inventory.manifest.namespaces.iter().map(String::as_str);
    labels.zip(inventory.summary.records.iter().copied())
}

#[cfg(test)]
mod tests;
