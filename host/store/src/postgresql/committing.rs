//! Commits: each with a version of its own, tried until its outcome is known.

use std::time::Instant;

use gatehouse_ports::{Change, Check, CommitError, StoreError, Version};
use tokio_postgres::types::ToSql;

use super::commit::Commit;
use super::error::{Failure, PostgresError, unavailable};
use super::session::Parameters;
use super::shared::{CALL_TIME, STATEMENT_TIME, Shared, superseded};
use super::statements::{
    ABANDON, COMMIT, COMMIT_UNDER, RESERVE_VERSIONS, SKIP_VERSIONS, WAS_ABANDONED,
};
use super::values::{number, to_database};
use super::versions::VERSIONS_AT_ONCE;
use crate::{Guard, Namespace};

impl Shared {
    pub(super) async fn commit(
        &self,
        guard: Option<&Guard>,
        namespace: Namespace,
        checks: &[Check],
        changes: &[Change],
    ) -> Result<(), CommitError> {
        let deadline = Instant::now() + CALL_TIME;
        let _in_order = match namespace {
            Namespace::Keyring => Some(self.keyring.lock().await),
            _ => None,
        };
        let commit = Commit::new(checks, changes);
        let mut times = self.attempts_made();
        let mut version = self.next_version(deadline).await?;
        loop {
            self.check_standing()?;
            let by = deadline.min(Instant::now() + STATEMENT_TIME);
            let failure = match self.apply(guard, namespace, &commit, version, by).await {
                Ok(outcome) => return outcome,
                Err(failure) => failure,
            };
            match failure {
                Failure::Busy(_) | Failure::Refused(_) => return Err(self.failed(failure).into()),
                Failure::Again(_) | Failure::NotSent(_) => {}
                Failure::Unknown(ref how) if self.was_applied(version, how, deadline).await? => {
                    return Ok(());
                }
                // It never will be, so another attempt needs another version.
                Failure::Unknown(_) => version = self.next_version(deadline).await?,
            }
            self.wait(&mut times, deadline, failure).await?;
        }
    }

    async fn apply(
        &self,
        guard: Option<&Guard>,
        namespace: Namespace,
        commit: &Commit<'_>,
        version: i64,
        deadline: Instant,
    ) -> Result<Result<(), CommitError>, Failure> {
        let namespace = number(namespace);
        let (now, epoch) = (self.now(), self.epoch.number());
        let unguarded: [&(dyn ToSql + Sync); 10] = [
            &namespace,
            &now,
            &commit.checked,
            &commit.required,
            &commit.put,
            &commit.values,
            &commit.ends,
            &commit.deleted,
            &version,
            &epoch,
        ];
        let outcome = match guard {
            None => {
                self.connections
                    .commit(COMMIT, &unguarded, deadline)
                    .await?
            }
            Some(guard) => {
                let place = number(Namespace::Keyring);
                let required = to_database(guard.version);
                let of_guard: [&(dyn ToSql + Sync); 3] = [&place, &guard.key, &required];
                let guarded = [&unguarded[..], &of_guard].concat();
                self.connections
                    .commit(COMMIT_UNDER, &guarded, deadline)
                    .await?
            }
        };
        Ok(match outcome.failed {
            _ if outcome.applied => Ok(()),
            _ if !outcome.guarded => Err(Guard::lost()),
            _ if !outcome.prepared => Err(unavailable(PostgresError::SessionLost).into()),
            Some(key) => Err(CommitError::Conflict(key)),
            None => {
                self.epoch.end();
                Err(superseded().into())
            }
        })
    }

    /// Finds out if the commit of `version`, which ended as `how` says, was applied, and makes sure that it will not be if it was not.
    async fn was_applied(
        &self,
        version: i64,
        how: &str,
        deadline: Instant,
    ) -> Result<bool, StoreError> {
        let unknown = |error: StoreError| {
            unavailable(format!(
                "it is not known if a commit was applied that ended with: {how}; since then {error}"
            ))
        };
        let mut times = 0;
        loop {
            // A session that was cut off may still be at work; this waits for it.
            let parameters: Parameters<'_> = &[&version];
            let abandoned = self.connections.query(ABANDON, parameters, deadline);
            let rows = match abandoned.await {
                Ok(_) => {
                    let rows = self.connections.query(WAS_ABANDONED, parameters, deadline);
                    rows.await
                }
                Err(failure) => Err(failure),
            };
            match rows {
                Ok(rows) => {
                    let row = rows.first();
                    let abandoned = row.and_then(|row| row.try_get::<_, bool>(0).ok());
                    return Ok(abandoned == Some(false));
                }
                Err(failure @ (Failure::Busy(_) | Failure::Refused(_))) => {
                    return Err(unknown(self.failed(failure)));
                }
                Err(failure) => {
                    let waited = self.wait(&mut times, deadline, failure).await;
                    waited.map_err(unknown)?;
                }
            }
        }
    }

    async fn next_version(&self, deadline: Instant) -> Result<i64, StoreError> {
        let mut times = self.attempts_made();
        loop {
            if let Some(version) = self.versions.take() {
                return Ok(version);
            }
            let by = deadline.min(Instant::now() + STATEMENT_TIME);
            let reserved = self
                .connections
                .query(RESERVE_VERSIONS, &[&VERSIONS_AT_ONCE], by);
            match reserved.await {
                Ok(rows) => {
                    let end = rows.first().and_then(|row| row.try_get(0).ok());
                    self.versions
                        .add(end.ok_or_else(|| unavailable("its tables are incomplete"))?);
                }
                Err(failure @ (Failure::Busy(_) | Failure::Refused(_))) => {
                    return Err(self.failed(failure));
                }
                // Versions that were reserved and not told are never given.
                Err(failure) => self.wait(&mut times, deadline, failure).await?,
            }
        }
    }

    /// Has the database give only versions above `version` from now on, to every server.
    pub(super) async fn skip_versions(&self, version: Version) -> Result<(), StoreError> {
        let above = i64::try_from(version);
        let above = above.map_err(|_| unavailable("there are no versions left"))?;
        let deadline = Instant::now() + CALL_TIME;
        let mut times = 0;
        loop {
            self.check_standing()?;
            let by = deadline.min(Instant::now() + STATEMENT_TIME);
            match self.connections.query(SKIP_VERSIONS, &[&above], by).await {
                Ok(_) => break,
                Err(failure @ Failure::Refused(_)) => return Err(failure.into()),
                // Skipping them twice is skipping them once.
                Err(failure) => self.wait(&mut times, deadline, failure).await?,
            }
        }
        self.versions.forget();
        Ok(())
    }
}
