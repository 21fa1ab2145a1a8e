//! The one connection of a command, for the adapter, which waits for its answers.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use gatehouse_storage_adapter::postgres::{Database, DatabaseError, Host, Parameter, Row, native};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::SpinDatabaseError;
use crate::RootKey;
use crate::postgresql::{Address, Session};
use crate::spin::SpinError;

/// The longest wait for an answer: longer than the database works at one, so that it mostly says why there is none.
const ANSWER_TIME: Duration = Duration::from_mins(1);

/// Gives the session the timeouts of a command, which is in no hurry and writes a file between two statements. The wait for a lock is longer
/// than a commit of its holder may take.
const SET_TIMES: &str = "
    select set_config('statement_timeout', '30s', false), set_config('lock_timeout', '10s', false),
        set_config('idle_in_transaction_session_timeout', '5min', false)";

/// A connection to a database. Clones are the same connection; it is closed with the last one, which undoes a transaction that is open.
#[derive(Clone)]
pub struct Link {
    session: Arc<Session>,
    driver: Arc<Driver>,
}

/// The thread that drives the connection, for callers that are on a runtime of their own or on none.
struct Driver(Option<Runtime>);

impl Drop for Driver {
    fn drop(&mut self) {
        // A runtime that is dropped on another one may not wait for its threads.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Driver {
    fn start() -> Result<Self, SpinError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        let runtime = runtime.map_err(SpinDatabaseError::Runtime)?;
        Ok(Self(Some(runtime)))
    }

    /// The outcome of `work`; `None` if there is none, because it was given up.
    fn wait<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let runtime: &Handle = self.0.as_ref()?.handle();
        let (sender, receiver) = mpsc::channel();
        runtime.spawn(async move {
            // The caller waits for it.
            let _ = sender.send(work.await);
        });
        receiver.recv().ok()
    }
}

impl Link {
    /// Connects, and makes sure that the server can be relied upon.
    pub fn open(address: &Address) -> Result<Self, SpinError> {
        let driver = Driver::start()?;
        let address = address.clone();
        let opened = driver.wait(async move { Session::open(&address).await });
        let (session, _) = opened.ok_or(DatabaseError::Lost)??;
        let link = Self {
            session: Arc::new(session),
            driver: Arc::new(driver),
        };
        link.execute(SET_TIMES, &[])?;
        Ok(link)
    }
}

impl Database for Link {
    fn query(&self, statement: &str, parameters: &[Parameter]) -> Result<Vec<Row>, DatabaseError> {
        let session = Arc::clone(&self.session);
        let (statement, parameters) = (statement.to_owned(), parameters.to_vec());
        let answer = async move {
            let answer = native::query(&session.client, &statement, &parameters);
            timeout(ANSWER_TIME, answer).await
        };
        match self.driver.wait(answer) {
            Some(Ok(answer)) => answer,
            Some(Err(_)) | None => Err(DatabaseError::Lost),
        }
    }

    fn execute(&self, statement: &str, parameters: &[Parameter]) -> Result<(), DatabaseError> {
        self.query(statement, parameters).map(drop)
    }
}

/// The host that the adapter gets in place of Spin: one connection, and the variable `seal_key`.
pub struct LinkHost {
    link: Link,
    seal_key: Zeroizing<String>,
}

impl LinkHost {
    pub fn new(link: Link, seal_key: &RootKey) -> Self {
        Self {
            link,
            seal_key: seal_key.to_text(),
        }
    }
}

impl Host for LinkHost {
    type Database = Link;

    fn connect(&self) -> Result<Link, DatabaseError> {
        Ok(self.link.clone())
    }

    fn seal_key(&self) -> Result<Option<Zeroizing<String>>, String> {
        Ok(Some(self.seal_key.clone()))
    }
}
