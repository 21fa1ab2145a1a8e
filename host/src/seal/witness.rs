//! The witness: a file beside the store's key that records the store's counter, so that an old copy of the store is detected (SEC-K9).
//!
//! The counter is raised at every start, every minute and at the stop, in commits of its own. So a copy is detected that is older than the
//! count before the last one, a minute or two; the loss of what was written since the last count is not. Anyone who can write both files
//! can roll back both: keep the witness where the store's backups do not go.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use gatehouse_store::Generation;

/// Begins the only line of the file; the name of the store in hexadecimal and the count follow.
const MARK: &str = "gatehouse-witness-1";

/// Bytes after which a file is certainly no witness.
const LONGEST_FILE: u64 = 256;

/// The witness of a store.
#[derive(Debug, Clone)]
pub struct Witness {
    path: PathBuf,
}

impl Witness {
    /// The witness in this file, which need not be there yet.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Compares what the store says with what was seen.
    ///
    /// # Errors
    ///
    /// When the store is an older copy than the one that was seen last, or another store, or the file cannot be read.
    pub fn check(&self, store: Option<Generation>) -> Result<()> {
        let path = self.path.display();
        let Some(seen) = self.seen()? else {
            if store.is_some() {
                tracing::warn!(
                    "there is no witness {path} yet: this start cannot tell whether the store is the newest copy"
                );
            }
            return Ok(());
        };
        let cure = "restore the newest copy, or start once with --accept-rollback to go on with this one; what was revoked since may be valid again";
        match store {
            Some(store) if store.store != seen.store => bail!(
                "the witness {path} belongs to another store: set seal.witness to the file of this one, or {cure}"
            ),
            Some(store) if store.count < seen.count => bail!(
                "the store is an old copy: its counter is {}, and the witness {path} has seen {}; {cure}",
                store.count,
                seen.count
            ),
            None => bail!(
                "the store is an old copy, or a new one: it has no counter, and the witness {path} has seen {}; {cure}",
                seen.count
            ),
            Some(_) => Ok(()),
        }
    }

    /// Remembers a count, durably and as a whole.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write(&self, generation: Generation) -> Result<()> {
        let Generation { store, count } = generation;
        let name = base16ct::lower::encode_string(&store);
        let line = format!("{MARK} {name} {count}\n");
        let mut beside = self.path.clone().into_os_string();
        beside.push(".part");
        let beside = PathBuf::from(beside);
        let write = || {
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&beside)?;
            file.write_all(line.as_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, &self.path)?;
            sync_folder_of(&self.path)
        };
        write().with_context(|| format!("cannot write the witness {}", self.path.display()))
    }

    /// Forgets what was seen: the next start believes the store that it finds.
    ///
    /// # Errors
    ///
    /// When the file cannot be removed.
    pub fn forget(&self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error)
                .with_context(|| format!("cannot remove the witness {}", self.path.display())),
            _ => Ok(()),
        }
    }

    /// The count that was seen last; `None` before the first.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or is no witness.
    pub(crate) fn seen(&self) -> Result<Option<Generation>> {
        let path = self.path.display();
        let text = match fs::metadata(&self.path) {
            Ok(metadata) if metadata.len() > LONGEST_FILE => bail!("{path} is not a witness file"),
            Ok(_) => fs::read_to_string(&self.path),
            Err(error) => Err(error),
        };
        match text {
            Ok(text) => match parse(&text) {
                Some(seen) => Ok(Some(seen)),
                None => {
                    bail!(
                        "{path} is not a witness file: restore it, or start once with --accept-rollback"
                    )
                }
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read the witness {path}")),
        }
    }
}

fn parse(text: &str) -> Option<Generation> {
    let mut words = text.split_ascii_whitespace();
    let (mark, name, count) = (words.next()?, words.next()?, words.next()?);
    if mark != MARK || words.next().is_some() {
        return None;
    }
    let mut store = [0; 16];
    let decoded = base16ct::mixed::decode(name, &mut store).ok()?;
    if decoded.len() != 16 {
        return None;
    }
    Some(Generation {
        store,
        count: count.parse().ok()?,
    })
}

/// Waits until the name of a file is on disk.
pub(crate) fn sync_folder_of(path: &Path) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::File::open(folder)?.sync_all()
}
