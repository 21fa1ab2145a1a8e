//! `gatehouse operator clock`: the latest time that the store of a stopped server remembers.
//!
//! A server never goes back behind that time (SEC-T6). After a clock that was wrong it can lie in the future; an operator who knows the right time
//! puts it right here. The time is sealed like every record: where the key is in shares, they are read from standard input.

use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use gatehouse::clock::{remember, remembered};
use gatehouse::seal::{SealedStore, migration};
use gatehouse::settings::{SealType, Settings};
use gatehouse_ports::{Clock as _, SystemClock};
use gatehouse_store::{Backend, SharedClock};
use jiff::Timestamp;
use zeroize::Zeroizing;

use crate::commands::configuration::Source;
use crate::commands::output::print;
use crate::commands::runtime::on_runtime;

use super::shares::read_share;

#[derive(Debug, Args)]
pub(in crate::commands) struct Command {
    #[command(flatten)]
    source: Source,
    /// Sets the time in the store to that of this machine. Tokens that expired between the two are valid again until this clock reaches their end
    #[arg(long)]
    reset: bool,
}

pub(super) fn run(command: &Command) -> Result<()> {
    let settings = command.source.load()?;
    let now = SystemClock.now_milliseconds();
    let reset = command.reset.then_some(now);
    let before = on_runtime(async move { look(&settings, reset, read_share).await })?;
    let lines = report(before, now, command.reset);
    print(lines.join("\n")).map_err(|error| match command.reset {
        true => error.context("the store remembers the time of this machine now"),
        false => error,
    })
}

fn report(before: Option<u64>, now: u64, is_reset: bool) -> Vec<String> {
    let remembered = before.map_or_else(|| "nothing".to_owned(), shown);
    let mut lines = vec![
        format!("remembered: {remembered}"),
        format!("this machine: {}", shown(now)),
    ];
    if is_reset {
        lines.push("The store remembers the time of this machine now.".to_owned());
    } else if before.is_some_and(|before| before > now) {
        let text = "The store is ahead: the server goes on from its time. If this machine is right, add --reset.";
        lines.push(text.to_owned());
    }
    lines
}

/// The time that the store remembers, before it is made to remember `reset`.
async fn look(
    settings: &Settings,
    reset: Option<u64>,
    share: impl FnMut(usize, u8) -> Result<Zeroizing<Vec<u8>>> + Send,
) -> Result<Option<u64>> {
    let store: Arc<dyn Backend> = match settings.seal.kind {
        SealType::Shamir => migration::unsealed_by_shares(settings, share).await?,
        SealType::KeyFile => {
            let clock: SharedClock = Arc::new(SystemClock);
            SealedStore::open_stopped(settings, &clock).await?.store
        }
    };
    let before = remembered(store.as_ref()).await?;
    if let Some(now) = reset {
        remember(store.as_ref(), now).await?;
    }
    Ok(before)
}

fn shown(milliseconds: u64) -> String {
    let instant = i64::try_from(milliseconds).ok();
    let instant = instant.and_then(|it| Timestamp::from_millisecond(it).ok());
    instant.map_or_else(|| "beyond the year 9999".to_owned(), |it| it.to_string())
}

#[cfg(test)]
mod tests {
    use anyhow::{Context as _, bail};
    use gatehouse_store::{Sharing, create_key_file};

    use super::*;

    fn no_share(_: usize, _: u8) -> Result<Zeroizing<Vec<u8>>> {
        bail!("no share is given")
    }

    /// Makes the store, as a first start does.
    async fn start_once(settings: &Settings) {
        let clock: SharedClock = Arc::new(SystemClock);
        SealedStore::open(settings, &clock).await.unwrap();
    }

    #[tokio::test]
    async fn t6_the_remembered_time_of_a_store_in_shares_is_shown_to_who_gives_them() {
        let place = tempfile::tempdir().unwrap();
        let (folder, key_file) = (place.path().join("store"), place.path().join("key"));
        create_key_file(&key_file).unwrap();
        let storage = format!("[storage]\npath = {folder:?}\n");
        let settings =
            |seal: &str| Settings::from_text(&format!("{storage}{seal}"), [], []).unwrap();
        let by_file = settings(&format!("[seal]\nkey_file = {key_file:?}\n"));
        start_once(&by_file).await;
        let year_ahead = 1_826_791_200_000;
        look(&by_file, Some(year_ahead), no_share).await.unwrap();

        let mut shares = Vec::new();
        let keep = |made: &[gatehouse_store::KeyShare]| {
            let bytes = made.iter().map(|share| share.as_bytes().to_vec());
            shares = bytes.map(Zeroizing::new).collect();
            Ok(())
        };
        let sharing = Sharing::new(3, 2).unwrap();
        migration::to_shares(&by_file, sharing, keep).await.unwrap();
        let by_shares = settings("[seal]\ntype = \"shamir\"\n");
        let share = |given: usize, _| shares.get(given).cloned().context("no more shares");
        assert!(look(&by_shares, None, no_share).await.is_err());
        let now = 1_795_255_200_000;
        let before = look(&by_shares, Some(now), share).await.unwrap();
        assert_eq!(before, Some(year_ahead));
        let after = look(&by_shares, None, share).await.unwrap();
        assert_eq!(after, Some(now));
    }

    #[tokio::test]
    async fn t6_the_remembered_time_is_shown_and_put_right() {
        let place = tempfile::tempdir().unwrap();
        let (folder, key_file) = (place.path().join("store"), place.path().join("key"));
        create_key_file(&key_file).unwrap();
        let text = format!("[storage]\npath = {folder:?}\n[seal]\nkey_file = {key_file:?}\n");
        let settings = Settings::from_text(&text, [], []).unwrap();
        let year_ahead = 1_826_791_200_000;
        let refused = look(&settings, Some(year_ahead), no_share).await;
        assert!(refused.unwrap_err().to_string().contains("no store"));
        assert!(!folder.exists(), "no store is made by a look at it");
        start_once(&settings).await;
        assert_eq!(
            look(&settings, Some(year_ahead), no_share).await.unwrap(),
            None
        );
        let now = 1_795_255_200_000;
        assert_eq!(
            look(&settings, Some(now), no_share).await.unwrap(),
            Some(year_ahead)
        );
        assert_eq!(look(&settings, None, no_share).await.unwrap(), Some(now));
        assert_eq!(shown(now), "2026-11-21T10:00:00Z");
        assert_eq!(shown(u64::MAX), "beyond the year 9999");
    }
}
