//! `gatehouse operator clock`: the latest time that the store of a stopped server remembers.
//!
//! A server never goes back behind that time (SEC-T6). After a clock that was wrong it can lie in the future; whoever knows the right time
//! puts it right here.

use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use gatehouse::clock::{remember, remembered};
use gatehouse::seal::SealedStore;
use gatehouse::settings::{SealType, Settings};
use gatehouse_ports::{Clock as _, SystemClock};
use gatehouse_store::SharedClock;
use jiff::Timestamp;

use crate::commands::configuration::Source;
use crate::commands::on_runtime;

#[derive(Debug, Args)]
pub(in crate::commands) struct Command {
    #[command(flatten)]
    source: Source,
    /// Has the store remember the time that this machine has now. Tokens that expired in between are valid again until their end
    #[arg(long)]
    reset: bool,
}

pub(super) fn run(command: &Command) -> Result<()> {
    let settings = command.source.load()?;
    if settings.seal.kind == SealType::Shamir {
        bail!(
            "seal.type is \"shamir\": the time is sealed like every record, and only the unsealed server can read it"
        );
    }
    let now = SystemClock.now_milliseconds();
    let reset = command.reset.then_some(now);
    let before = on_runtime(async move { look(&settings, reset).await })?;
    match before {
        Some(before) => println!("remembered: {}", shown(before)),
        None => println!("remembered: nothing"),
    }
    println!("this machine: {}", shown(now));
    match (before, command.reset) {
        (_, true) => println!("The store remembers the time of this machine now."),
        (Some(before), false) if before > now => println!(
            "The store is ahead: the server goes on from its time. If this machine is right, add --reset."
        ),
        _ => {}
    }
    Ok(())
}

/// What the store remembers, before it is made to remember `reset`.
async fn look(settings: &Settings, reset: Option<u64>) -> Result<Option<u64>> {
    let clock: SharedClock = Arc::new(SystemClock);
    let opened = SealedStore::open(settings, &clock).await?;
    let before = remembered(opened.store.as_ref()).await?;
    if let Some(now) = reset {
        remember(opened.store.as_ref(), now).await?;
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
    use gatehouse_store::create_key_file;

    use super::*;

    #[tokio::test]
    async fn t6_the_remembered_time_is_shown_and_put_right() {
        let place = tempfile::tempdir().unwrap();
        let (folder, key_file) = (place.path().join("store"), place.path().join("key"));
        create_key_file(&key_file).unwrap();
        let text = format!("[storage]\npath = {folder:?}\n[seal]\nkey_file = {key_file:?}\n");
        let settings = Settings::from_text(&text, [], []).unwrap();
        let year_ahead = 1_826_791_200_000;
        assert_eq!(look(&settings, Some(year_ahead)).await.unwrap(), None);
        let now = 1_795_255_200_000;
        assert_eq!(look(&settings, Some(now)).await.unwrap(), Some(year_ahead));
        assert_eq!(look(&settings, None).await.unwrap(), Some(now));
        assert_eq!(shown(now), "2026-11-21T10:00:00Z");
        assert_eq!(shown(u64::MAX), "beyond the year 9999");
    }
}
