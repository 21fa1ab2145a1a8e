//! The list of servers in a database.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gatehouse_ports::StoreError;
use tokio::sync::Mutex;
use tokio::time::{timeout, timeout_at};
use tokio_postgres::Row;

use super::address::Address;
use super::error::{Failure, PostgresError, unreadable};
use super::session::{Parameters, Session, ask, too_long};
use super::shared::{CALL_TIME, Shared};
use super::statements::{BEAT, CONFIRM, LEAVE, TAKE_LEASE};
use crate::roster::{FORGOTTEN_AFTER, LIVE_FOR};
use crate::{Answer, LiveNode, Node, Roll, Roster};

/// The list of the servers that share a database, over a connection of its own: a server whose requests use up all other connections can
/// still show that it runs.
pub struct PostgresRoster {
    address: Address,
    session: Mutex<Option<Session>>,
    shared: Arc<Shared>,
}

impl PostgresRoster {
    pub(super) fn new(address: Address, shared: Arc<Shared>) -> Self {
        Self {
            address,
            session: Mutex::default(),
            shared,
        }
    }

    /// Asks once, over a new connection where the last one failed.
    async fn ask(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
        deadline: Instant,
    ) -> Result<Vec<Row>, Failure> {
        let asked = self.ask_alone(statement, parameters, deadline).await;
        asked.unwrap_or_else(Err)
    }

    /// The same. The outer error is that of a connection which did not come about, so that nothing was sent.
    async fn ask_alone(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
        deadline: Instant,
    ) -> Result<Result<Vec<Row>, Failure>, Failure> {
        let late = |_| Failure::Unknown("no answer in time".to_owned());
        let asking = async {
            let mut held = self.session.lock().await;
            // Kept again only after an answer, whatever happens to this call.
            let session = match held.take() {
                Some(session) if !session.client.is_closed() => session,
                _ => {
                    // No longer than a request waits for one, so that time is left for another way.
                    let opening = Session::open(&self.address);
                    let opened = timeout(self.address.connect_time(), opening).await;
                    let opened = opened.map_err(|_| Failure::NotSent(too_long()))?;
                    opened.map_err(not_opened)?.0
                }
            };
            let rows = session.client.query(statement, parameters).await;
            let rows = rows.map_err(|error| Failure::of_statement(&error));
            if !matches!(rows, Err(Failure::Unknown(_))) {
                *held = Some(session);
            }
            Ok(rows)
        };
        let asked = timeout_at(deadline.into(), asking).await;
        asked.map_err(late).unwrap_or_else(|late| Ok(Err(late)))
    }

    /// The same, over one of the connections that reads use where there is no other: a primary that was replaced may take no new connection
    /// and still answer over those.
    async fn ask_over_any(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
        deadline: Instant,
    ) -> Result<Vec<Row>, Failure> {
        let not_opened = match self.ask_alone(statement, parameters, deadline).await {
            Ok(answer) => return answer,
            Err(not_opened) => not_opened,
        };
        // `Busy` means here that no connection was free, and below that the database gave the statement up.
        let client = match self.shared.connections.connection(deadline).await {
            Ok(client) => client,
            Err(Failure::NotSent(_) | Failure::Busy(_)) => return Err(not_opened),
            Err(refused) => return Err(refused),
        };
        match ask(client, statement, parameters, deadline).await {
            Ok((_, rows)) => Ok(rows),
            Err(Failure::NotSent(_)) => Err(not_opened),
            Err(failure) => Err(failure),
        }
    }

    /// The start time of the database server that confirmed the write of a beat. Where the database refused that write, another one,
    /// which needs no room, has to be confirmed.
    async fn confirmed_by(
        &self,
        beat: &Result<Vec<Row>, Failure>,
        deadline: Instant,
    ) -> Result<i64, Failure> {
        match beat {
            Ok(rows) => started_at(rows, 8),
            Err(Failure::Refused(refusal)) => {
                let confirmed = self.ask_over_any(CONFIRM, &[], deadline).await;
                // A host that was made read-only is left: the next beat connects to one that accepts writes.
                self.session.lock().await.take();
                let confirmed = confirmed.and_then(|rows| started_at(&rows, 0));
                // The database refused the beat, so the beat was sent, although the other write may not have been.
                confirmed.map_err(|failure| {
                    let why = failure.to_string();
                    Failure::Unknown(match why == *refusal {
                        true => why,
                        false => format!("{refusal}; then {why}"),
                    })
                })
            }
            Err(failure) => Err(failure.clone()),
        }
    }

    fn failed(&self, failure: Failure) -> StoreError {
        self.shared.failed(failure)
    }
}

impl Roster for PostgresRoster {
    fn beat<'a>(&'a self, node: &'a Node, clock: u64) -> Answer<'a, Result<Roll, StoreError>> {
        Box::pin(async move {
            let clock = i64::try_from(clock).unwrap_or(i64::MAX);
            let (live_for, forgotten_after) =
                (milliseconds(LIVE_FOR), milliseconds(FORGOTTEN_AFTER));
            let parameters: Parameters<'_> = &[
                &node.id,
                &node.name,
                &node.address,
                &node.version,
                &clock,
                &live_for,
                &forgotten_after,
            ];
            let began = Instant::now();
            let deadline = began + CALL_TIME;
            let answer = self.ask_over_any(BEAT, parameters, deadline).await;
            let confirmed_by = self.confirmed_by(&answer, deadline).await;
            self.shared.confirmation.note(&confirmed_by, began);
            let failed = |failure| self.failed(failure);
            confirmed_by.map_err(failed)?;
            let rows = answer.map_err(failed)?;
            let live: Result<Vec<LiveNode>, _> = rows.iter().map(live_node).collect();
            let now = rows.first().map(|row| time(row, 7)).transpose();
            Ok(Roll {
                now: now.map_err(unreadable)?.unwrap_or_default(),
                live: live.map_err(unreadable)?,
            })
        })
    }

    fn take_lease<'a>(
        &'a self,
        work: &'a str,
        node: &'a Node,
        time: Duration,
    ) -> Answer<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let time = milliseconds(time);
            let parameters: Parameters<'_> = &[&work, &node.id, &time];
            let deadline = Instant::now() + CALL_TIME;
            let rows = self.ask(TAKE_LEASE, parameters, deadline).await;
            let rows = rows.map_err(|failure| self.failed(failure))?;
            Ok(!rows.is_empty())
        })
    }

    fn leave<'a>(&'a self, node: &'a Node) -> Answer<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let deadline = Instant::now() + CALL_TIME;
            let left = self.ask(LEAVE, &[&node.id], deadline).await;
            left.map_err(|failure| self.failed(failure))?;
            Ok(())
        })
    }

    fn is_away(&self) -> bool {
        self.shared.reach.is_away() || self.shared.check_standing().is_err()
    }
}

/// The failure of a statement whose connection did not come about. It is a refusal where a database that this server must not use answered.
fn not_opened(error: PostgresError) -> Failure {
    let text = error.to_string();
    match error {
        PostgresError::Unreachable(_) => Failure::NotSent(text),
        _ => Failure::Refused(text),
    }
}

/// The start time of the database server that gave these rows.
fn started_at(rows: &[Row], column: usize) -> Result<i64, Failure> {
    let started_at = rows.first().and_then(|row| row.try_get(column).ok());
    started_at.ok_or_else(|| Failure::Unknown("an answer that was not asked for".to_owned()))
}

fn live_node(row: &Row) -> Result<LiveNode, tokio_postgres::Error> {
    Ok(LiveNode {
        node: Node {
            id: row.try_get(0)?,
            name: row.try_get(1)?,
            address: row.try_get(2)?,
            version: row.try_get(3)?,
        },
        started_at: time(row, 4)?,
        seen_at: time(row, 5)?,
        clock: time(row, 6)?,
    })
}

/// Milliseconds since 1970; 0 for an earlier time.
fn time(row: &Row, column: usize) -> Result<u64, tokio_postgres::Error> {
    let time: i64 = row.try_get(column)?;
    Ok(u64::try_from(time).unwrap_or_default())
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
