//! The audit log, and exchanges whose end it still lacks.

use std::sync::Arc;

use super::bindings::gatehouse::host::audit as wit;

/// The outcome of a service that may have to wait.
pub type Answer<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub use wit::{AuditError, Entry as AuditEntry, Side, Sink as AuditSink};

/// An audit log. The WIT interface is the specification.
pub trait AuditLog: Send + Sync {
    /// True if there is any sink.
    fn is_on(&self) -> bool;

    /// Writes a record, durably in at least one sink.
    fn write(&self, entry: AuditEntry) -> Answer<'_, Result<(), AuditError>>;

    /// All sinks, sorted by name.
    fn sinks(&self) -> Vec<AuditSink>;

    /// The text that the records of a sink show in place of `text`; `None` where there is no such sink.
    fn hash(&self, sink: &str, text: &str) -> Option<String>;
}

/// No audit log at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAudit;

impl AuditLog for NoAudit {
    fn is_on(&self) -> bool {
        false
    }

    fn write(&self, _: AuditEntry) -> Answer<'_, Result<(), AuditError>> {
        Box::pin(async { Ok(()) })
    }

    fn sinks(&self) -> Vec<AuditSink> {
        Vec::new()
    }

    fn hash(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

/// The exchange of which one instance has recorded the request and not the answer yet.
///
/// An instance that traps or runs out of time is dropped; what it began to record is ended here then, so that no request looks as if
/// it were still under way.
#[derive(Default)]
pub struct OpenExchange(Option<Unanswered>);

struct Unanswered {
    log: Arc<dyn AuditLog>,
    /// The document of the request.
    document: String,
    clear: Vec<String>,
}

impl OpenExchange {
    pub(super) fn note(&mut self, log: &Arc<dyn AuditLog>, entry: &AuditEntry) {
        self.0 = match entry.side {
            Side::Request => Some(Unanswered {
                log: Arc::clone(log),
                document: entry.document.clone(),
                clear: entry.clear.clone(),
            }),
            Side::Response => None,
        };
    }

    /// Forgets the exchange: its end is not this instance's business any more.
    pub(in crate::runtime) fn forget(&mut self) {
        self.0 = None;
    }
}

impl Drop for OpenExchange {
    fn drop(&mut self) {
        let Some(unanswered) = self.0.take() else {
            return;
        };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            tracing::error!("a request was cut off after it was recorded, and its end is not");
            return;
        };
        runtime.spawn(async move {
            let Unanswered {
                log,
                document,
                clear,
            } = unanswered;
            let entry = AuditEntry {
                side: Side::Response,
                document: cut_off(&document),
                clear,
            };
            if log.write(entry).await.is_err() {
                tracing::error!("a request was cut off after it was recorded, and its end is not");
            }
        });
    }
}

/// The document of a request with the word that nothing was answered to it.
fn cut_off(document: &str) -> String {
    match document.strip_prefix('{') {
        Some(members) if members.contains(':') => format!(r#"{{"cut_off":true,{members}"#),
        _ => r#"{"cut_off":true}"#.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Recording(Mutex<Vec<(Side, String)>>);

    impl AuditLog for Recording {
        fn is_on(&self) -> bool {
            true
        }

        fn write(&self, entry: AuditEntry) -> Answer<'_, Result<(), AuditError>> {
            self.0.lock().unwrap().push((entry.side, entry.document));
            Box::pin(async { Ok(()) })
        }

        fn sinks(&self) -> Vec<AuditSink> {
            Vec::new()
        }

        fn hash(&self, _: &str, _: &str) -> Option<String> {
            None
        }
    }

    fn entry(side: Side) -> AuditEntry {
        AuditEntry {
            side,
            document: r#"{"request":{"id":"1"}}"#.to_owned(),
            clear: Vec::new(),
        }
    }

    #[tokio::test]
    async fn l1_a_request_that_is_cut_off_has_an_end_in_the_log() {
        let recording = Arc::new(Recording::default());
        let log: Arc<dyn AuditLog> = recording.clone();
        let mut open = OpenExchange::default();
        open.note(&log, &entry(Side::Request));
        drop(open);
        tokio::task::yield_now().await;
        let written = std::mem::take(&mut *recording.0.lock().unwrap());
        let [(Side::Response, document)] = &written[..] else {
            panic!("{written:?}")
        };
        assert_eq!(document, r#"{"cut_off":true,"request":{"id":"1"}}"#);

        let mut answered = OpenExchange::default();
        answered.note(&log, &entry(Side::Request));
        answered.note(&log, &entry(Side::Response));
        drop(answered);
        let mut forgotten = OpenExchange::default();
        forgotten.note(&log, &entry(Side::Request));
        forgotten.forget();
        drop(forgotten);
        tokio::task::yield_now().await;
        assert!(recording.0.lock().unwrap().is_empty());
    }
}
