//! A store with very many organizations, made once and kept for later runs.
//!
//! It lies in the target folder, named by the number of the organizations and by a fingerprint of the rows that such organizations have:
//! one whose rows are of another format is not used. Servers run over copies of it, so no run changes it.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use gatehouse_orgs::{
    Attribute, Caller, Edition, Identity, OrganizationChanges, Organizations as _, Orgs, Principal,
};
use gatehouse_ports::doubles::{ManualClock, SeededRandom, name_in_no_order};
use gatehouse_ports::{Change, Put};
use gatehouse_store::Namespace;
use gatehouse_tests::{Installation, Storage, target_folder};

use super::held_rows::HeldRows;
use crate::cores::Cores;
use crate::stopped_store::StoppedStore;

/// Makes the store anew, when it is set.
const REBUILD_VARIABLE: &str = "GATEHOUSE_BENCH_REBUILD";

/// The folder of the kept stores, in the target folder.
const FOLDER: &str = "kept-organizations";

/// How many organizations the fingerprint is of: more than enough that every kind of row is among theirs.
const FINGERPRINTED: usize = 1_000;

/// The time at which the organizations are made, in seconds since 1970.
const MADE_AT: u64 = 1_770_000_000;

/// How much longer than usual the rows stay that expire: a later run must not meet organizations that lack some, nor remove those while it
/// measures.
const STAYS_LONGER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Rounds of upkeep at the end, as many as have something left to do.
const ROUNDS_OF_UPKEEP: usize = 5;

/// The kept store of so many organizations.
pub struct Kept {
    count: usize,
    folder: PathBuf,
}

impl Kept {
    /// The store that is kept, or else one that is made now.
    ///
    /// # Errors
    ///
    /// When it cannot be made or kept.
    pub fn open(cores: &Cores, count: usize) -> Result<Self> {
        let all = target_folder().join(FOLDER);
        let name = format!("{count}-{:016x}", fingerprint()?);
        let folder = all.join(name);
        let kept = Self { count, folder };
        if std::env::var_os(REBUILD_VARIABLE).is_some() || !kept.folder.exists() {
            kept.make(cores, &all)?;
        } else {
            println!(
                "Reuses the store with {count} organizations in {}; {REBUILD_VARIABLE}=1 makes it anew.",
                kept.folder.display()
            );
        }
        Ok(kept)
    }

    /// Starts a server over a copy.
    ///
    /// # Errors
    ///
    /// When it does not start, or does not have as many organizations as it should.
    pub fn start_server(&self, cores: &Cores) -> Result<Installation> {
        cores.enter_server_core()?;
        let started = Installation::over_kept_store(&self.folder);
        cores.enter_load_core()?;
        let again = || {
            format!(
                "{} is of no use; {REBUILD_VARIABLE}=1 makes it anew",
                self.folder.display()
            )
        };
        let installation = started.with_context(again)?;
        let answer = installation.as_root("GET", "/api/v2/organizations?page%5Bsize%5D=1", None);
        let total = &answer.json()["meta"]["pagination"]["total-count"];
        let count = u64::try_from(self.count)?;
        ensure!(
            total.as_u64() == Some(count),
            "{}: {total} organizations in place of {count}",
            again()
        );
        Ok(installation)
    }

    fn make(&self, cores: &Cores, all: &Path) -> Result<()> {
        cores.enter_all()?;
        let begun = Instant::now();
        let mut installation = Installation::start(Storage::Durable, "")?;
        let code = installation.server().terminate()?;
        ensure!(code == Some(0), "the server ended with {code:?}");
        let stopped = StoppedStore::open(installation.folder(), Namespace::Orgs)?;
        stopped.fill(made(self.count)?.into_changes().map(staying_longer))?;
        // Closes the file.
        drop(stopped);
        self.remove_others(all)?;
        // A run that is ended here leaves nothing that looks whole.
        let unfinished = self.folder.with_extension("unfinished");
        installation.keep(&unfinished)?;
        fs::rename(&unfinished, &self.folder)?;
        println!(
            "Made {} organizations in {:.0?}; their store is kept for later runs in {}.",
            self.count,
            begun.elapsed(),
            self.folder.display()
        );
        Ok(())
    }

    /// Removes what is kept of as many organizations: of other formats, this one, and what was not finished.
    fn remove_others(&self, all: &Path) -> Result<()> {
        fs::create_dir_all(all)?;
        let of_as_many = format!("{}-", self.count);
        for entry in fs::read_dir(all)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(&of_as_many) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }
}

/// A number that is another one for rows of another format.
fn fingerprint() -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    for change in made(FINGERPRINTED)?.into_changes() {
        match change {
            Change::Put(Put {
                key,
                value,
                expires_at,
            }) => (key, value, expires_at).hash(&mut hasher),
            Change::Delete(key) => key.hash(&mut hasher),
        }
    }
    Ok(hasher.finish())
}

/// The rows of so many organizations, the same in every run, made by the capability itself and without a request for each.
fn made(count: usize) -> Result<HeldRows> {
    let rows = HeldRows::default();
    let orgs = Orgs::new(
        &rows,
        ManualClock::at_seconds(MADE_AT),
        SeededRandom::new(1),
    )
    .with_edition(Edition::Hosted);
    let by = Caller {
        identity: Identity {
            principal: Principal::Installation,
            token_id: None,
        },
        request_id: "request".to_owned(),
        client_request_id: None,
    };
    for number in 0..count {
        let changes = OrganizationChanges {
            name: Attribute::Value(name_in_no_order(number)),
            email: Attribute::Value(super::email(number)),
            ..OrganizationChanges::default()
        };
        let created = orgs.create(&changes, None, &by);
        created.map_err(|error| anyhow!("organization {number}: {error:?}"))?;
    }
    for _ in 0..ROUNDS_OF_UPKEEP {
        let kept_up = orgs.maintain();
        kept_up.map_err(|failure| anyhow!("upkeep: {failure:?}"))?;
    }
    drop(orgs);
    Ok(rows)
}

fn staying_longer(mut change: Change) -> Change {
    if let Change::Put(Put {
        expires_at: Some(end),
        ..
    }) = &mut change
    {
        let longer = u64::try_from(STAYS_LONGER.as_millis()).unwrap_or(u64::MAX);
        *end = end.saturating_add(longer);
    }
    change
}
