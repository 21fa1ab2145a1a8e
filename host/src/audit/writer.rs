//! The writer of a sink: it takes all records that wait, flushes them together, and answers for all (SEC-L1).

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};

use super::chain::{self, Chain, Torn};
use super::log_file::{Content, CutOff, LogFile, LogFileError, write_counted};

/// Bytes of records that are written at one time, if more wait.
const LARGEST_BATCH: usize = 1 << 20;

/// An order to a writer.
pub(super) enum Order {
    /// To write a record with these members.
    Write {
        members: String,
        /// Receives true once the record is in the sink, and false when it failed.
        answer: oneshot::Sender<bool>,
    },
    /// To go on with the file that is now at the path.
    Reopen,
}

/// Where lines go.
pub(super) enum Output {
    /// A file of this machine.
    File(LogFile),
    /// A stream that has a reader.
    Stream(File),
}

/// Why a batch of lines is not in the sink.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteError {
    /// The file is gone, and another one cannot be opened.
    #[error(transparent)]
    Gone(#[from] LogFileError),
    /// Another file with a chain of its own is at the path.
    #[error("the log was removed, and another one with records is in its place")]
    Replaced,
    /// The operating system did not take all lines.
    #[error("{0}")]
    CutOff(#[source] std::io::Error),
}

/// The line about the log itself that comes before the next record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    None,
    /// A file begins.
    Begins,
    /// A file is continued.
    Resumes,
}

/// Appends to the chain of one sink.
pub(super) struct Writer {
    output: Output,
    chain: Chain,
    pending: Pending,
    /// The rest behind the last line.
    torn: Option<Torn>,
}

/// The lines of one batch, and where the chain is after each of them.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    ends: Vec<(usize, Chain)>,
}

impl Batch {
    fn add(&mut self, chain: &mut Chain, members: &str) {
        chain.add(members, &mut self.bytes);
        self.ends.push((self.bytes.len(), *chain));
    }
}

impl Writer {
    /// A writer to a file.
    pub(super) fn of_file(file: LogFile, content: Content) -> Self {
        let (chain, pending, torn) = match content {
            Content::Nothing(torn) => (Chain::EMPTY, Pending::Begins, torn),
            Content::Lines(chain, torn) => (chain, Pending::Resumes, torn),
        };
        Self {
            output: Output::File(file),
            chain,
            pending,
            torn,
        }
    }

    /// A writer to a stream, which begins with it.
    pub(super) const fn of_stream(stream: File) -> Self {
        Self {
            output: Output::Stream(stream),
            chain: Chain::EMPTY,
            pending: Pending::Begins,
            torn: None,
        }
    }

    /// The chain as it is after the last line.
    pub(super) const fn chain(&self) -> Chain {
        self.chain
    }

    /// Writes the pending line about the log, if there is one, and then a line for each of `records`, which hold members of objects.
    ///
    /// # Errors
    ///
    /// When the sink does not have all of them. Those that it has stay a part of the chain: a log may hold more than was done, not less.
    pub(super) fn write(&mut self, records: &[String]) -> Result<(), WriteError> {
        if matches!(&self.output, Output::File(file) if file.is_gone()) {
            self.follow()?;
        }
        let mut chain = self.chain;
        let mut batch = Batch::default();
        if self.torn.is_some() {
            batch.bytes.push(b'\n');
        }
        match self.pending {
            Pending::None => {}
            Pending::Begins => {
                let members = chain::begins(&now(), chain.head, self.torn.as_ref());
                batch.add(&mut chain, &members);
            }
            Pending::Resumes => {
                let members = chain::resumes(&now(), self.torn.as_ref());
                batch.add(&mut chain, &members);
            }
        }
        for members in records {
            batch.add(&mut chain, members);
        }
        match self.append(&batch.bytes) {
            Ok(()) => {
                self.chain = chain;
                self.pending = Pending::None;
                self.torn = None;
                Ok(())
            }
            Err(CutOff { written, source }) => {
                self.settle(written, &batch);
                Err(WriteError::CutOff(source))
            }
        }
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), CutOff> {
        match &mut self.output {
            Output::File(file) => file.append(bytes),
            Output::Stream(stream) => write_counted(stream, bytes),
        }
    }

    /// Finds out where the chain is after a batch of which only the first bytes are in the sink.
    fn settle(&mut self, written: usize, batch: &Batch) {
        if let Output::File(file) = &mut self.output {
            if file.take_back() {
                return;
            }
            file.keep(written);
        }
        // A line counts as written when at most its end of line is missing.
        let complete = batch.ends.iter().rfind(|(end, _)| *end <= written + 1);
        let mut begin = 0;
        if let Some((end, chain)) = complete {
            self.chain = *chain;
            self.pending = Pending::None;
            self.torn = (*end > written).then(Torn::new);
            begin = *end;
        } else if self.torn.as_ref().is_some_and(Torn::is_empty) {
            // The end of line that was missing is not a part of what is torn.
            begin = 1;
        }
        let rest = batch.bytes.get(begin..written).unwrap_or_default();
        if !rest.is_empty() {
            self.torn.get_or_insert_with(Torn::new).add(rest);
        }
        if self.torn.is_some() && self.pending == Pending::None {
            self.pending = Pending::Resumes;
        }
    }

    /// Switches to the file that is at the path now, if it is another one.
    pub(super) fn follow(&mut self) -> Result<(), WriteError> {
        let Output::File(file) = &mut self.output else {
            return Ok(());
        };
        match file.successor()? {
            None => Ok(()),
            // A file that has a line already has a chain of its own.
            Some((_, Content::Lines(..) | Content::Nothing(Some(_)))) => Err(WriteError::Replaced),
            Some((successor, Content::Nothing(None))) => {
                *file = successor;
                self.pending = Pending::Begins;
                self.torn = None;
                Ok(())
            }
        }
    }

    /// Carries out orders until no sender of them is left. `is_stalled` is cleared whenever something is done.
    pub(super) fn run(
        mut self,
        sink: &str,
        mut orders: mpsc::Receiver<Order>,
        is_stalled: &AtomicBool,
    ) {
        let mut failures: u64 = 0;
        let mut next = orders.blocking_recv();
        while let Some(order) = next.take() {
            let Order::Write { members, answer } = order else {
                self.reopen(sink);
                is_stalled.store(false, Ordering::Release);
                next = orders.blocking_recv();
                continue;
            };
            let mut bytes = members.len();
            let (mut records, mut answers) = (vec![members], vec![answer]);
            while bytes < LARGEST_BATCH {
                match orders.try_recv() {
                    Ok(Order::Write { members, answer }) => {
                        bytes += members.len();
                        records.push(members);
                        answers.push(answer);
                    }
                    Ok(Order::Reopen) => {
                        next = Some(Order::Reopen);
                        break;
                    }
                    Err(_) => break,
                }
            }
            let outcome = self.write(&records);
            match &outcome {
                Err(error) if failures == 0 => {
                    tracing::error!(sink, %error, "an audit sink takes no records");
                }
                Ok(()) if failures > 0 => {
                    tracing::info!(sink, failures, "an audit sink takes records again");
                }
                _ => {}
            }
            failures = if outcome.is_err() {
                failures.saturating_add(1)
            } else {
                0
            };
            is_stalled.store(false, Ordering::Release);
            for answer in answers {
                // A request that does not wait any more has been told that its record failed.
                let _ = answer.send(outcome.is_ok());
            }
            // Once more: a request that ran out of time just before the answer may have set it.
            is_stalled.store(false, Ordering::Release);
            if next.is_none() {
                next = orders.blocking_recv();
            }
        }
    }

    fn reopen(&mut self, sink: &str) {
        let Chain { next, head } = self.chain;
        // Written at once, so that an empty file does not stand where the last one ended.
        match self.follow().and_then(|()| self.write(&[])) {
            Ok(()) => tracing::info!(sink, next, %head, "the audit log was reopened"),
            Err(error) => {
                tracing::error!(sink, %error, "the audit log cannot be reopened; the old one goes on");
            }
        }
    }
}

fn now() -> String {
    format!("{:.9}", Timestamp::now())
}
