//! `gatehouse operator generate-root`, `rekey` and `seal migrate`: work on the store of a stopped server.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Error, Result, bail};
use clap::{Args, Subcommand};
use gatehouse::blocking_store::BlockingStore;
use gatehouse::seal::{SealedStore, migration};
use gatehouse::settings::{SealType, Settings};
use gatehouse_access::{AccessService, Revocation as _, System as _, TokenReference};
use gatehouse_ports::{OsRandom, Store, SystemClock};
use gatehouse_store::{Namespace, PrivateStore, SharedClock, Sharing};

use super::shares::{print_shares, read_share};
use super::store_source::{NamedStore, StoreSource};
use crate::commands::configuration::Source;
use crate::commands::output::{print, tell};
use crate::commands::runtime::on_runtime;

#[derive(Debug, Subcommand)]
pub(in crate::commands) enum Command {
    /// Moves the store of a stopped server to the other kind of seal. Change seal.type and seal.key_file afterwards
    Migrate(Migration),
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Migration {
    #[command(flatten)]
    source: Source,
    /// Splits the key into this many shares, which are printed once
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "key_threshold",
        conflicts_with = "to_key_file"
    )]
    key_shares: Option<u32>,
    /// How many shares open the store
    #[arg(long, value_name = "NUMBER", requires = "key_shares")]
    key_threshold: Option<u32>,
    /// Keeps the key in this file from now on; the shares are read from standard input, one a line
    #[arg(long, value_name = "FILE", required_unless_present = "key_shares")]
    to_key_file: Option<PathBuf>,
}

/// Prints a new root token, which is not shown again.
pub(super) fn generate_root(source: &StoreSource) -> Result<()> {
    let give = |token: &str| print(token);
    match source.load()? {
        NamedStore::Server(settings) => give_root_token_of_server(&settings, give)?,
        NamedStore::UnderSpin(spin) => spin.change_access(|store| give_root_token(store, give))?,
    }
    tell("This root token never expires: revoke it once it is not needed any more.");
    Ok(())
}

/// Makes a root token in the store of a stopped server and hands it to `give`.
fn give_root_token_of_server(
    settings: &Settings,
    give: impl FnOnce(&str) -> Result<()>,
) -> Result<()> {
    if settings.seal.kind == SealType::Shamir {
        bail!(
            "seal.type is \"shamir\": start the server, unseal it, and let the holders of shares run `bao operator generate-root`"
        );
    }
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let clock: SharedClock = Arc::new(SystemClock);
    let opened = runtime.block_on(SealedStore::open_stopped(settings, &clock))?;
    let store = PrivateStore::new(Arc::clone(&opened.store), Namespace::Access);
    give_root_token(&BlockingStore::new(store), give)
}

/// Makes a root token and hands it to `give`. One that could not be given is revoked, since no operator would know of it.
fn give_root_token(store: &dyn Store, give: impl FnOnce(&str) -> Result<()>) -> Result<()> {
    let access = AccessService::new(store, SystemClock, OsRandom);
    let token = access.generate_root();
    let token = token.context("no root token was made")?;
    give(token.expose()).map_err(|error| {
        let lost = TokenReference::Id(token.expose().to_owned());
        let is_revoked = access.revoke_token(&lost).unwrap_or_default();
        not_given(&error, is_revoked)
    })
}

/// The error for a root token that was made and could not be given, with the steps that the operator has to take.
fn not_given(error: &Error, is_revoked: bool) -> Error {
    let what = match is_revoked {
        true => "The root token that was made is revoked",
        false => {
            "A root token is made that could not be shown and never expires: revoke it by its accessor, which auth/token/accessors lists"
        }
    };
    anyhow::anyhow!("{error:#}. {what}; run the command again for another")
}

/// Gives the store of a stopped server a new key, in a new key file.
pub(super) fn rekey(source: &Source) -> Result<()> {
    let settings = source.load()?;
    let former = on_runtime(async move { migration::replace_key_file(&settings).await })?;
    tell(format_args!(
        "The store has a new key; keep a copy of the key file in a safe place. Earlier backups open only with the old key, which is in {}: remove it when they are gone.",
        former.display()
    ));
    Ok(())
}

pub(super) fn migrate(Command::Migrate(migration): Command) -> Result<()> {
    let settings = migration.source.load()?;
    if let Some(key_file) = migration.to_key_file {
        let shown = key_file.clone();
        let moved = async move { migration::to_key_file(&settings, &key_file, read_share).await };
        on_runtime(moved)?;
        tell(format_args!(
            "The key of the store is in {} now: keep a copy of it, and set seal.key_file in place of seal.type.",
            shown.display()
        ));
        return Ok(());
    }
    let numbers = (migration.key_shares, migration.key_threshold);
    let (Some(shares), Some(threshold)) = numbers else {
        bail!("either --key-shares and --key-threshold, or --to-key-file");
    };
    let sharing = Sharing::new(shares, threshold)?;
    on_runtime(async move { migration::to_shares(&settings, sharing, print_shares).await })?;
    tell(format_args!(
        "{threshold} of these shares open the store from now on: set seal.type = \"shamir\" in place of seal.key_file. The key file opens only earlier backups."
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_access::{Capability, Requests as _};
    use gatehouse_store::{Backend, create_key_file};

    fn access(store: Arc<dyn Backend>) -> impl gatehouse_access::Access {
        let store = PrivateStore::new(store, Namespace::Access);
        AccessService::new(BlockingStore::new(store), SystemClock, OsRandom)
    }

    fn root_token(settings: &Settings) -> Result<String> {
        let mut given = String::new();
        give_root_token_of_server(settings, |token| {
            token.clone_into(&mut given);
            Ok(())
        })?;
        Ok(given)
    }

    fn open(settings: &Settings) -> SealedStore {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let clock: SharedClock = Arc::new(SystemClock);
        runtime
            .block_on(SealedStore::open(settings, &clock))
            .unwrap()
    }

    #[test]
    fn k2_a_lost_root_token_is_made_anew_on_the_machine() {
        let place = tempfile::tempdir().unwrap();
        let (folder, key_file) = (place.path().join("store"), place.path().join("key"));
        create_key_file(&key_file).unwrap();
        let text = format!("[storage]\npath = {folder:?}\n[seal]\nkey_file = {key_file:?}\n");
        let settings = Settings::from_text(&text, [], []).unwrap();
        let early = root_token(&settings).err().unwrap();
        assert!(format!("{early:#}").contains("initialize"), "{early:#}");
        assert!(!folder.exists(), "an empty store stays one");

        let opened = open(&settings);
        access(opened.store).initialize(None).ok().unwrap();
        drop((opened.seal, opened.upkeep, opened.backups));
        let token = root_token(&settings).unwrap();
        let mut lost = String::new();
        let error = give_root_token_of_server(&settings, |token| {
            token.clone_into(&mut lost);
            bail!("the disk is full")
        });
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("the disk is full. "), "{error}");
        assert!(error.contains("is revoked"), "{error}");
        assert!(!error.contains(&lost), "{error}");
        let opened = open(&settings);
        let access = access(opened.store);
        let path = ["sys/seal".to_owned()];
        let may = access.capabilities(&TokenReference::Id(token), &path);
        assert_eq!(may.ok().unwrap(), [[Capability::Root]]);
        assert!(
            access
                .capabilities(&TokenReference::Id(lost), &path)
                .is_err()
        );
    }

    #[test]
    fn shares_have_a_way_of_their_own_to_a_root_token() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        let text = format!("[storage]\npath = {folder:?}\n[seal]\ntype = \"shamir\"\n");
        let settings = Settings::from_text(&text, [], []).unwrap();
        let refused = root_token(&settings).err().unwrap();
        assert!(refused.to_string().contains("bao operator generate-root"));
    }
}
