//! The hold on the installation: any number of servers have it together, or one command for stopped servers has it alone.
//!
//! The holder of the installation has a lock of a session, shared or exclusive. The lock ends with the session, so another holder can follow
//! at once. A server may lose that session and continue, unaware that a command has had the installation alone meanwhile. So a holder that
//! has it alone begins an epoch, the servers that share it belong to the epoch that they find, and a commit of an earlier epoch is never
//! applied (SEC-S13).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::address::Address;
use super::error::PostgresError;
use super::session::{Session, refused};
use super::statements::{
    BEGIN_EPOCH, LOCK_INSTALLATION, SHARE_INSTALLATION, SHOW_EPOCH, SHOW_HOLDER,
};

/// How often the lock is tried before another server is said to have it: one that has just ended may take a moment to let go.
const ATTEMPTS: u32 = 10;
/// The pause between two attempts, and between two looks at the epoch.
const PAUSE: Duration = Duration::from_millis(250);
/// How long a look at the epoch may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Stands for no epoch: no other server has to be kept away.
const NONE: i64 = -1;

/// The kinds of hold on the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// With no other.
    Alone,
    /// With other servers.
    Shared,
}

/// The epoch of a server, which its commits name.
#[derive(Debug)]
pub struct Epoch {
    number: AtomicI64,
    has_ended: AtomicBool,
}

impl Default for Epoch {
    fn default() -> Self {
        Self {
            number: AtomicI64::new(NONE),
            has_ended: AtomicBool::default(),
        }
    }
}

impl Epoch {
    /// The number that commits name; `None` where no other server has to be kept away.
    pub fn number(&self) -> Option<i64> {
        Some(self.number.load(Ordering::Acquire)).filter(|number| *number != NONE)
    }

    /// Notes that another holder has had the installation alone since.
    pub fn end(&self) {
        self.has_ended.store(true, Ordering::Release);
    }

    /// Tells whether another holder has had the installation alone since.
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }
}

/// Holds the installation until it is dropped.
#[derive(Debug)]
pub struct Holder(JoinHandle<()>);

impl Drop for Holder {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Holder {
    /// Takes the installation. A holder that has it alone begins an epoch.
    ///
    /// # Errors
    ///
    /// When the hold of others excludes this one, or the database does not answer.
    pub async fn take(
        hold: Hold,
        address: Address,
        epoch: Arc<Epoch>,
    ) -> Result<Self, PostgresError> {
        let (session, _) = Session::open(&address).await?;
        let mut attempts = 0;
        while !lock(&session, hold).await? {
            attempts += 1;
            if attempts == ATTEMPTS {
                return Err(in_use(&session, hold).await);
            }
            sleep(PAUSE).await;
        }
        let statement = match hold {
            Hold::Alone => BEGIN_EPOCH,
            Hold::Shared => SHOW_EPOCH,
        };
        let row = session.client.query_one(statement, &[]).await;
        let row = row.map_err(|error| refused(&error))?;
        let number = row.try_get(0).map_err(|error| refused(&error))?;
        epoch.number.store(number, Ordering::Release);
        let keeping = keep(session, hold, address, epoch, number);
        Ok(Self(tokio::spawn(keeping)))
    }
}

/// Keeps the lock held for as long as the epoch lasts. Commits are safe without the lock, too: they name the epoch.
async fn keep(session: Session, hold: Hold, address: Address, epoch: Arc<Epoch>, number: i64) {
    let mut held = Some((session, true));
    loop {
        sleep(4 * PAUSE).await;
        held = match held {
            Some((session, true)) => Some((session, true)),
            Some((session, false)) => try_again(session, hold).await,
            None => match Session::open(&address).await {
                Ok((session, _)) => try_again(session, hold).await,
                Err(_) => None,
            },
        };
        let Some((session, _)) = &held else { continue };
        match timeout(PATIENCE, session.client.query_one(SHOW_EPOCH, &[])).await {
            Ok(Ok(row)) => {
                if row.try_get::<_, i64>(0).is_ok_and(|found| found != number) {
                    epoch.end();
                    return;
                }
            }
            _ => held = None,
        }
    }
}

/// The session, and whether it has the lock.
async fn try_again(session: Session, hold: Hold) -> Option<(Session, bool)> {
    let locked = timeout(PATIENCE, lock(&session, hold)).await.ok()?.ok()?;
    Some((session, locked))
}

async fn lock(session: &Session, hold: Hold) -> Result<bool, PostgresError> {
    let statement = match hold {
        Hold::Alone => LOCK_INSTALLATION,
        Hold::Shared => SHARE_INSTALLATION,
    };
    let row = session.client.query_one(statement, &[]).await;
    let locked = row.and_then(|row| row.try_get(0));
    locked.map_err(|error| refused(&error))
}

async fn in_use(session: &Session, hold: Hold) -> PostgresError {
    let unknown = || "an unknown address".to_owned();
    let row = session.client.query_opt(SHOW_HOLDER, &[]).await;
    let row = row.ok().flatten();
    let column = |at: usize| {
        row.as_ref()?
            .try_get::<_, Option<String>>(at)
            .ok()
            .flatten()
    };
    let address = column(0).unwrap_or_else(unknown);
    let since = column(1).unwrap_or_else(|| "an unknown time".to_owned());
    match hold {
        Hold::Alone => PostgresError::InUse { address, since },
        Hold::Shared => PostgresError::HeldAlone { address, since },
    }
}
