//! The names of requests in the lines that are written.

use std::fmt;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Json, Writer};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::listener::RequestId;

/// Writes lines as `F` does, and each that is written during a request as in a span called `request` with the name of the request as its field
/// `id`. There is no such span: opening one and formatting its field takes microseconds of each request, and most requests write no line.
#[derive(Debug, Clone)]
pub struct Naming<F>(F);

impl<F> Naming<F> {
    /// Writes lines as `format` does.
    pub const fn new(format: F) -> Self {
        Self(format)
    }
}

impl<S, N, T> FormatEvent<S, N> for Naming<Format<Full, T>>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    N: for<'w> FormatFields<'w> + 'static,
    T: FormatTime + Clone,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(id) = RequestId::current() else {
            return self.0.format_event(context, writer, event);
        };
        let is_colored = writer.has_ansi_escapes();
        let format = self.0.clone().with_ansi(is_colored);
        let mut line = String::new();
        format.format_event(context, Writer::new(&mut line), event)?;
        let (head, rest) = line.split_at(end_of_level(&line, event.metadata().level()));
        writer.write_str(head)?;
        let id = id.as_str();
        if is_colored {
            const SPAN: &str =
                "\x1b[1mrequest\x1b[0m\x1b[1m{\x1b[0m\x1b[3mid\x1b[0m\x1b[2m=\x1b[0m";
            write!(writer, "{SPAN}\"{id}\"\x1b[1m}}\x1b[0m\x1b[2m:\x1b[0m")?;
        } else {
            write!(writer, "request{{id=\"{id}\"}}:")?;
        }
        // Spans within this one follow it at once.
        if !is_in_span(context) {
            writer.write_char(' ')?;
        }
        writer.write_str(rest)
    }
}

impl<S, N, T> FormatEvent<S, N> for Naming<Format<Json, T>>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    N: for<'w> FormatFields<'w> + 'static,
    T: FormatTime,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        /// The beginning of the list of spans. No text of a field holds it: the quotes in a text are escaped.
        const SPANS: &str = "\"spans\":[";
        let Some(id) = RequestId::current() else {
            return self.0.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.0
            .format_event(context, Writer::new(&mut line), event)?;
        let span = format!(r#"{{"id":"{}","name":"request"}}"#, id.as_str());
        match line.split_once(SPANS) {
            Some((head, rest)) => write!(writer, "{head}{SPANS}{span},{rest}"),
            None => {
                let head = line.strip_suffix("}\n").unwrap_or(&line);
                writeln!(writer, "{head},\"span\":{span},{SPANS}{span}]}}")
            }
        }
    }
}

/// Where the spans of a line are shown, or what comes after them: behind its level. The time before that has no letters of a level and no spaces.
fn end_of_level(line: &str, level: &Level) -> usize {
    let of_level = line.find(level.as_str()).unwrap_or_default();
    let after = line.get(of_level..).unwrap_or_default();
    of_level + after.find(' ').map_or(0, |space| space + 1)
}

/// True if the line is written in a span that it shows.
fn is_in_span<S, N>(context: &FmtContext<'_, S, N>) -> bool
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    N: for<'w> FormatFields<'w> + 'static,
{
    let spans = context.event_scope();
    spans.is_some_and(|mut spans| spans.next().is_some())
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::fmt::layer;
    use tracing_subscriber::layer::{Layer, SubscriberExt};
    use tracing_subscriber::registry;

    use super::*;
    use crate::listener::in_request;

    #[derive(Clone, Copy)]
    struct SameTime;

    impl FormatTime for SameTime {
        fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
            writer.write_str("2026-11-29T20:00:00.000000Z")
        }
    }

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    type Log = Box<dyn Layer<registry::Registry> + Send + Sync>;

    /// The layers that write text, text in colors and JSON, and those that do so without naming a request.
    fn layers(written: &Written) -> [[Log; 2]; 3] {
        let writer = written.clone();
        let text = move |colored| {
            let writer = writer.clone();
            layer()
                .with_ansi(colored)
                .with_timer(SameTime)
                .with_writer(move || writer.clone())
        };
        [
            [
                text(false).map_event_format(Naming::new).boxed(),
                text(false).boxed(),
            ],
            [
                text(true).map_event_format(Naming::new).boxed(),
                text(true).boxed(),
            ],
            [
                text(false).json().map_event_format(Naming::new).boxed(),
                text(false).json().boxed(),
            ],
        ]
    }

    /// The text of `work` in the log.
    fn logged(written: &Written, log: Log, work: impl FnOnce()) -> String {
        tracing::subscriber::with_default(registry().with(log), work);
        String::from_utf8(std::mem::take(&mut *written.0.lock().unwrap())).unwrap()
    }

    fn write_lines() {
        tracing::warn!(field = "\"spans\":[ ERROR", "ERROR and INFO");
        tracing::info!("no field");
        let outer = tracing::info_span!("outer", number = 1, text = "a b");
        let _outer = outer.enter();
        tracing::debug!(field = 2, "in a span");
        let _inner = tracing::info_span!("inner").entered();
        tracing::trace!("in two");
    }

    #[tokio::test]
    async fn a_line_is_that_of_a_span_which_names_the_request() {
        let id = RequestId::fresh().unwrap();
        let written = Written::default();
        for [naming, plain] in layers(&written) {
            let named = in_request(Some(id), async { logged(&written, naming, write_lines) });
            let in_span = logged(&written, plain, || {
                tracing::error_span!("request", id = id.as_str()).in_scope(write_lines);
            });
            let named = named.await;
            assert_eq!(named, in_span);
            assert_eq!(named.lines().count(), 4);
            assert!(
                named.lines().all(|line| line.contains(id.as_str())),
                "{named}"
            );
        }
    }

    #[test]
    fn a_line_outside_of_requests_names_none() {
        let written = Written::default();
        for [naming, plain] in layers(&written) {
            let outside = logged(&written, naming, write_lines);
            assert_eq!(outside, logged(&written, plain, write_lines));
        }
    }
}
