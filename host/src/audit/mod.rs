//! The audit log: where the host keeps what was asked and what was answered (contract 6.5, SEC-L1 to L4).
//!
//! - The front says what happened and which texts stay readable; a sink shows every other text as a hash under its own key.
//! - Each sink has one writer, which takes all records that wait, writes them with one call, brings them to the disk with another, and
//!   only then answers for all of them. So requests that come at the same time share the price of the disk.
//! - Each line is chained to the one before ([`verify`] looks whether that holds), also over restarts and rotation.
//! - A record is taken when at least one sink has it. A sink that cannot write, or takes longer than its timeout, has failed; the
//!   front then fails the request. What a failed write has left in a sink stays: a log may hold more than was done, never less.

mod chain;
mod hashing;
mod key;
mod log_file;
mod verify;
mod writer;

#[cfg(test)]
mod tests;

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

pub use chain::{Link, NotALink};
pub use log_file::LogFileError;
pub use verify::{Break, Expectations, Verified, VerifyError, verify};

use self::hashing::{Document, TextHasher};
use self::log_file::LogFile;
use self::writer::{Order, WriteError, Writer};
use crate::runtime::services::{Answer, AuditEntry, AuditError, AuditLog, AuditSink, Side};
use crate::settings::{AuditSinkSettings, AuditSinkType};

/// Records that may wait for one writer. No more requests are served at one time than there are instances, so only a sink that is
/// stuck ever has so many.
const QUEUE: usize = 1024;

/// The members of a record as a sink with this key shows them, on one line, without a sink; `None` for a document that no sink takes. For
/// tests that make up documents (SEC-V1).
#[must_use]
pub fn encoded(document: &str, clear: &[String], key: &str) -> Option<String> {
    let hasher = TextHasher::new(&zeroize::Zeroizing::new(key.to_owned()));
    Document::new(document, clear).ok()?.members(&hasher).ok()
}

/// Why there is no audit log.
#[derive(Debug, thiserror::Error)]
#[error("{section}: {why}")]
pub struct OpenSinkError {
    /// The sink, as `audit.NAME`.
    section: String,
    why: Reason,
}

#[derive(Debug, thiserror::Error)]
enum Reason {
    #[error(transparent)]
    Key(#[from] gatehouse_store::KeyFileError),
    #[error(transparent)]
    File(#[from] LogFileError),
    #[error("no record can be written: {0}")]
    Write(#[from] WriteError),
    #[error("standard output cannot be used: {0}")]
    Stream(std::io::Error),
    #[error("path is missing")]
    NoPath,
    #[error("its thread cannot be started: {0}")]
    Thread(std::io::Error),
}

/// All sinks of a server.
pub struct Sinks {
    sinks: Vec<Sink>,
    /// The member of each record that says which server wrote it, with a comma before it; empty where there is one server.
    node: String,
}

impl Sinks {
    /// Opens the sinks, and writes to each that its log begins or resumes.
    ///
    /// # Errors
    ///
    /// When one of them cannot be used: a server does not start with less than it was told to have.
    pub fn open(settings: &[AuditSinkSettings]) -> Result<Self, OpenSinkError> {
        let open = |settings: &AuditSinkSettings| {
            Sink::open(settings).map_err(|why| OpenSinkError {
                section: settings.section(),
                why,
            })
        };
        Ok(Self {
            sinks: settings.iter().map(open).collect::<Result<_, _>>()?,
            node: String::new(),
        })
    }

    /// The same with the name of this server in each record, for servers whose records are gathered in one place. A name has letters, digits,
    /// `.`, `_` and `-` alone; others are left out.
    #[must_use]
    pub fn of_node(mut self, name: &str) -> Self {
        let plain = |character: &char| {
            character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-')
        };
        let name: String = name.chars().filter(plain).collect();
        self.node = format!(r#","node":"{name}""#);
        self
    }

    /// Lets every sink go on with the file that is now at its path, after the operator has renamed the old one. The new file begins
    /// with a line that names the last one of the old.
    pub fn reopen(&self) {
        for sink in &self.sinks {
            if sink.orders.try_send(Order::Reopen).is_err() {
                tracing::error!(
                    sink = sink.shown.name,
                    "the audit sink is stuck and cannot be reopened"
                );
            }
        }
    }

    async fn record(&self, entry: AuditEntry) -> Result<(), AuditError> {
        let begin = Instant::now();
        let document = Document::new(&entry.document, &entry.clear);
        let document = document.map_err(|_| AuditError::Invalid)?;
        let side = match entry.side {
            Side::Request => "request",
            Side::Response => "response",
        };
        let head = format!(
            r#""time":"{:.9}","type":"{side}"{}"#,
            Timestamp::now(),
            self.node
        );
        let mut answers = Vec::with_capacity(self.sinks.len());
        for sink in &self.sinks {
            let members = document.members(&sink.hasher);
            let members = members.map_err(|_| AuditError::Invalid)?;
            let comma = if members.is_empty() { "" } else { "," };
            answers.push((sink, sink.submit(format!("{head}{comma}{members}"))));
        }
        let mut is_taken = false;
        for (sink, answer) in answers {
            is_taken |= sink.answered(answer, begin).await;
        }
        if is_taken {
            Ok(())
        } else {
            Err(AuditError::NoSink)
        }
    }
}

impl AuditLog for Sinks {
    fn is_on(&self) -> bool {
        !self.sinks.is_empty()
    }

    fn write(&self, entry: AuditEntry) -> Answer<'_, Result<(), AuditError>> {
        Box::pin(self.record(entry))
    }

    fn sinks(&self) -> Vec<AuditSink> {
        self.sinks.iter().map(|sink| sink.shown.clone()).collect()
    }

    fn hash(&self, sink: &str, text: &str) -> Option<String> {
        let sink = self.sinks.iter().find(|found| found.shown.name == sink)?;
        Some(sink.hasher.hash(text))
    }
}

/// The problems that would keep the sinks from being opened, each with the name of its setting, as far as they can be found without creating
/// or changing anything.
#[must_use]
pub fn problems(settings: &[AuditSinkSettings]) -> Vec<(String, String)> {
    let of_sink = |sink: &AuditSinkSettings| {
        let file = sink.path.as_deref().map(log_file::check);
        let file = file.and_then(Result::err).map(|error| error.to_string());
        let key = sink.key_path().and_then(|path| key::problem(&path));
        let section = sink.section();
        let file = file.map(|problem| ("path", problem));
        let key = key.map(|problem| ("key_file", problem));
        file.into_iter()
            .chain(key)
            .map(move |(name, problem)| (format!("{section}.{name}"), problem))
    };
    settings.iter().flat_map(of_sink).collect()
}

/// A sink, as seen by the requests that hand it records.
struct Sink {
    shown: AuditSink,
    hasher: TextHasher,
    timeout: Duration,
    orders: mpsc::Sender<Order>,
    /// True if the writer exceeded its timeout the last time and has not answered since. No request waits for it then.
    is_stalled: Arc<AtomicBool>,
}

impl Sink {
    fn open(settings: &AuditSinkSettings) -> Result<Self, Reason> {
        let hasher = key::hasher(settings.key_path().as_deref())?;
        let writer = match settings.kind {
            AuditSinkType::File => {
                let path = settings.path.as_deref().ok_or(Reason::NoPath)?;
                let (file, content) = LogFile::open(path, settings.sync)?;
                Writer::of_file(file, content)
            }
            AuditSinkType::Stdout => {
                let stream = std::io::stdout().as_fd().try_clone_to_owned();
                Writer::of_stream(stream.map_err(Reason::Stream)?.into())
            }
        };
        Self::start(settings, hasher, writer)
    }

    /// Starts a writer's thread, once it has written its first line.
    fn start(
        settings: &AuditSinkSettings,
        hasher: TextHasher,
        mut writer: Writer,
    ) -> Result<Self, Reason> {
        writer.write(&[])?;
        let chain = writer.chain();
        tracing::info!(
            sink = settings.name,
            next = chain.next,
            head = %chain.head,
            "the audit log is open"
        );
        let (orders, taken) = mpsc::channel(QUEUE);
        let is_stalled = Arc::new(AtomicBool::new(false));
        let name = settings.name.clone();
        let stalled = Arc::clone(&is_stalled);
        std::thread::Builder::new()
            .name(format!("audit-{name}"))
            .spawn(move || writer.run(&name, taken, &stalled))
            .map_err(Reason::Thread)?;
        Ok(Self {
            shown: shown(settings),
            hasher,
            timeout: settings.timeout,
            orders,
            is_stalled,
        })
    }

    /// Hands a record to the writer; `None` when the writer cannot take it.
    fn submit(&self, members: String) -> Option<oneshot::Receiver<bool>> {
        if self.is_stalled.load(Ordering::Acquire) {
            return None;
        }
        let (answer, answered) = oneshot::channel();
        let order = Order::Write { members, answer };
        self.orders.try_send(order).is_ok().then_some(answered)
    }

    /// True if the record that was handed over at `begin` is in the sink.
    async fn answered(&self, answer: Option<oneshot::Receiver<bool>>, begin: Instant) -> bool {
        let Some(mut answer) = answer else {
            return false;
        };
        if let Ok(answer) = timeout_at(begin + self.timeout, &mut answer).await {
            return answer.unwrap_or(false);
        }
        let was_stalled = self.is_stalled.swap(true, Ordering::AcqRel);
        // The writer may have answered at this very moment. It clears the flag after it has answered, and not again before its next record,
        // which it would never be given while the flag is set.
        if let Ok(is_taken) = answer.try_recv() {
            self.is_stalled.store(false, Ordering::Release);
            return is_taken;
        }
        if !was_stalled {
            let sink = &self.shown.name;
            tracing::error!(sink, "an audit sink took longer than its timeout");
        }
        false
    }
}

fn shown(settings: &AuditSinkSettings) -> AuditSink {
    let path = settings.path.as_ref();
    let path = path.map(|path| ("file_path".to_owned(), path.display().to_string()));
    AuditSink {
        name: settings.name.clone(),
        kind: settings.kind.name().to_owned(),
        description: String::new(),
        options: path.into_iter().collect(),
    }
}
