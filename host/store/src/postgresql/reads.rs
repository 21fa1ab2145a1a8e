//! Reads: scans, and those that share a statement.

use std::mem::take;
use std::sync::Arc;
use std::time::Instant;

use gatehouse_ports::rules::{PAGE_BYTES, PageBuilder};
use gatehouse_ports::{Difference, Entry, Page, StoreError};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_postgres::Row;

use super::error::{Failure, unavailable, unreadable};
use super::gathering::{Found, Waiting, Wanted};
use super::session::Parameters;
use super::shared::{CALL_TIME, STATEMENT_TIME, Shared};
use super::statements::{GET_CHANGED, SCAN};
use super::values::{from_database, number};
use crate::Namespace;

impl Shared {
    pub(super) async fn scan(
        &self,
        namespace: Namespace,
        start: &str,
        left_out: &str,
        end: &str,
        limit: u32,
    ) -> Result<Page, StoreError> {
        let (now, bytes) = (self.now(), i64::try_from(PAGE_BYTES).unwrap_or(i64::MAX));
        let rows = i64::from(limit).saturating_add(1);
        let namespace = number(namespace);
        let parameters: Parameters<'_> =
            &[&namespace, &start, &left_out, &end, &now, &rows, &bytes];
        let mut page = PageBuilder::new(limit);
        for row in self.read(SCAN, parameters).await? {
            let key: String = row.try_get(0).map_err(unreadable)?;
            let version = from_database(row.try_get(1).map_err(unreadable)?);
            let value: Vec<u8> = row.try_get(2).map_err(unreadable)?;
            if !page.has_room(key.len() + value.len()) {
                break;
            }
            page.push(key, Entry { value, version });
        }
        Ok(page.finish())
    }

    /// Reads entries together with others that are asked for at this time.
    pub(super) async fn get_changed(self: Arc<Self>, wanted: Wanted) -> Found {
        if wanted.keys.is_empty() {
            return Ok(Vec::new());
        }
        let (answer, found) = oneshot::channel();
        if self.gathered.add(Waiting { wanted, answer }) {
            tokio::spawn(Arc::clone(&self).read_gathered());
        }
        match timeout(CALL_TIME, found).await {
            Ok(Ok(found)) => found,
            Ok(Err(_)) => Err(unavailable("the server is stopping")),
            Err(_) => Err(self.failed(Failure::Unknown("no answer in time".to_owned()))),
        }
    }

    /// Reads what waits, until nothing does.
    async fn read_gathered(self: Arc<Self>) {
        while let Some(mut reads) = self.gathered.next() {
            let lengths: Vec<usize> = reads.iter().map(|read| read.wanted.keys.len()).collect();
            let mut wanted = Wanted::default();
            for read in &mut reads {
                wanted.append(take(&mut read.wanted));
            }
            let found = self.read_all(&wanted).await;
            let mut found = found.map(Vec::into_iter);
            for (read, length) in reads.into_iter().zip(lengths) {
                let part = found.as_mut().map(|found| found.take(length).collect());
                // A caller that has gone needs no answer.
                let _ = read.answer.send(part.map_err(|error| error.clone()));
            }
        }
    }

    async fn read_all(&self, wanted: &Wanted) -> Found {
        let mut found: Vec<Difference> = wanted.keys.iter().map(|_| Difference::Absent).collect();
        let now = self.now();
        let parameters: Parameters<'_> =
            &[&wanted.namespaces, &wanted.keys, &wanted.versions, &now];
        for row in self.read(GET_CHANGED, parameters).await? {
            let index: i64 = row.try_get(0).map_err(unreadable)?;
            let version = from_database(row.try_get(1).map_err(unreadable)?);
            let value: Option<Vec<u8>> = row.try_get(2).map_err(unreadable)?;
            let index = usize::try_from(index)
                .ok()
                .and_then(|index| index.checked_sub(1));
            let place = index.and_then(|index| found.get_mut(index));
            let place = place.ok_or_else(|| unavailable("an answer that was not asked for"))?;
            *place = match value {
                Some(value) => Difference::Changed(Entry { value, version }),
                None => Difference::Unchanged,
            };
        }
        Ok(found)
    }

    /// Asks until there is an answer. A read may be asked again, however it went.
    async fn read(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let deadline = Instant::now() + CALL_TIME;
        let mut times = self.attempts_made();
        loop {
            self.check_standing()?;
            let by = deadline.min(Instant::now() + STATEMENT_TIME);
            match self.connections.query(statement, parameters, by).await {
                Ok(rows) => return Ok(rows),
                Err(failure @ (Failure::Busy(_) | Failure::Refused(_))) => {
                    return Err(self.failed(failure));
                }
                Err(failure) => self.wait(&mut times, deadline, failure).await?,
            }
        }
    }
}
