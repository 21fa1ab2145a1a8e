//! The latest lines of the log, kept for operators who follow it by the API.
//!
//! The log belongs to the process, and so do these lines: [`layer`] is put beside the layer that writes the log, and [`Followed`] reads what
//! it keeps. A level below `info` costs something at each line, so it is on only while a reader follows it.

use std::collections::VecDeque;
use std::fmt::{self, Write};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::reload;

use crate::listener::{ACCESS_LOG, RequestId};
use crate::one_line::escaped;
use crate::runtime::services::{Log, LogLevel, LogLine, LogLines};
use crate::traces::TRACES;

/// How many lines are kept.
const KEPT_LINES: usize = 1_024;
/// Bytes of a line beyond which the rest of it is left out.
const LONGEST_LINE: usize = 8 << 10;
/// Bytes of lines after which the rest is left to the next call.
const BYTES_AT_ONCE: usize = 100 << 10;
/// How long a level stays on that no reader has asked for since.
const LEVEL_LASTS: Duration = Duration::from_secs(10);
/// The prefix of the targets of the server's own parts. Libraries below it stay at `info`: in detail they log what clients send.
const OWN_TARGETS: &str = "gatehouse";

/// The lines of this process.
static KEPT: Kept = Kept {
    lines: Mutex::new(Ring {
        lines: VecDeque::new(),
        next: 0,
    }),
    detail: Mutex::new(Detail {
        debug: None,
        trace: None,
        on: LevelFilter::INFO,
    }),
    set_level: OnceLock::new(),
};

type SetLevel = Box<dyn Fn(LevelFilter) + Send + Sync>;

struct Kept {
    lines: Mutex<Ring>,
    detail: Mutex<Detail>,
    /// Set once a layer keeps lines.
    set_level: OnceLock<SetLevel>,
}

/// When the levels below `info` were last asked for, and the level that is on.
struct Detail {
    debug: Option<Instant>,
    trace: Option<Instant>,
    on: LevelFilter,
}

struct Ring {
    lines: VecDeque<LogLine>,
    /// The position of the line that comes next.
    next: u64,
}

/// The layer that keeps lines; one for a process.
pub fn layer<S>() -> impl Layer<S>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
{
    let (filter, handle) = reload::Layer::new(targets(LevelFilter::INFO));
    let _ = KEPT.set_level.set(Box::new(move |level| {
        // An error says that the subscriber is gone, and its log with it.
        let _ = handle.reload(targets(level));
    }));
    Keeper.with_filter(filter)
}

fn targets(own: LevelFilter) -> Targets {
    Targets::new()
        .with_default(LevelFilter::INFO)
        .with_target(OWN_TARGETS, own)
        .with_target(ACCESS_LOG, LevelFilter::OFF)
        .with_target(TRACES, LevelFilter::OFF)
}

struct Keeper;

impl<S> Layer<S> for Keeper
where
    S: Subscriber + for<'s> LookupSpan<'s>,
{
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        if let Some(id) = RequestId::current() {
            // Writing to a text never fails.
            let _ = write!(text.fields, " request_id={}", id.as_str());
        }
        let metadata = event.metadata();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
        KEPT.lines().push(LogLine {
            time: now,
            level: level_of(*metadata.level()),
            target: metadata.target().to_owned(),
            text: text.finished(),
        });
    }
}

impl Kept {
    // Nothing panics while they are held.
    fn lines(&self) -> MutexGuard<'_, Ring> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn detail(&self) -> MutexGuard<'_, Detail> {
        self.detail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps `level` on for some time.
    fn ask_for(&'static self, level: LevelFilter, set_level: &'static SetLevel) {
        if level <= LevelFilter::INFO {
            return;
        }
        let mut detail = self.detail();
        let was_off = detail.on == LevelFilter::INFO;
        detail.ask_for(level, Instant::now());
        detail.switch(set_level);
        if was_off && let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(self.end_detail(set_level));
        }
    }

    /// Lowers the level to what has been asked for lately, until that is nothing.
    async fn end_detail(&'static self, set_level: &'static SetLevel) {
        loop {
            tokio::time::sleep(LEVEL_LASTS).await;
            let mut detail = self.detail();
            detail.switch(set_level);
            if detail.on == LevelFilter::INFO {
                return;
            }
        }
    }
}

impl Detail {
    fn ask_for(&mut self, level: LevelFilter, now: Instant) {
        if level == LevelFilter::TRACE {
            self.trace = Some(now);
        } else {
            self.debug = Some(now);
        }
    }

    /// The level that a reader has asked for lately. Who reads in more detail does not keep that on for others.
    fn wanted(&self, now: Instant) -> LevelFilter {
        let lasts = |asked: Option<Instant>| {
            asked.is_some_and(|asked| now.duration_since(asked) < LEVEL_LASTS)
        };
        if lasts(self.trace) {
            LevelFilter::TRACE
        } else if lasts(self.debug) {
            LevelFilter::DEBUG
        } else {
            LevelFilter::INFO
        }
    }

    /// Switches to what is wanted. Done while this is held, so that of two calls the later one counts.
    fn switch(&mut self, set_level: &SetLevel) {
        let wanted = self.wanted(Instant::now());
        if wanted != self.on {
            self.on = wanted;
            set_level(wanted);
        }
    }
}

impl Ring {
    fn push(&mut self, line: LogLine) {
        if self.lines.len() >= KEPT_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
        self.next += 1;
    }

    fn after(&self, position: u64, level: LogLevel) -> LogLines {
        let first = self.next.saturating_sub(self.lines.len() as u64);
        let from = position.clamp(first, self.next);
        let mut found = LogLines {
            lines: Vec::new(),
            position: from,
            lost: first.saturating_sub(position),
        };
        let passed = usize::try_from(from - first).unwrap_or(usize::MAX);
        let mut bytes = 0;
        for line in self.lines.iter().skip(passed) {
            if bytes >= BYTES_AT_ONCE {
                break;
            }
            found.position += 1;
            if line.level <= level {
                bytes += line.text.len() + line.target.len();
                found.lines.push(line.clone());
            }
        }
        found
    }
}

/// The part of the log of this process that components may read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Followed;

impl Log for Followed {
    fn follow(&self, after: Option<u64>, level: LogLevel) -> Option<LogLines> {
        let set_level = KEPT.set_level.get()?;
        KEPT.ask_for(filter_of(level), set_level);
        let lines = KEPT.lines();
        let position = after.unwrap_or(lines.next);
        Some(lines.after(position, level))
    }
}

const fn level_of(level: Level) -> LogLevel {
    match level {
        Level::ERROR => LogLevel::Error,
        Level::WARN => LogLevel::Warn,
        Level::INFO => LogLevel::Info,
        Level::DEBUG => LogLevel::Debug,
        Level::TRACE => LogLevel::Trace,
    }
}

const fn filter_of(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}

/// The text of a line: the message, and the other fields behind it.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Text {
    fn finished(mut self) -> String {
        self.message.push_str(&self.fields);
        cut(&mut self.message);
        // One line stays one line, whatever a field holds.
        let mut line = escaped(&self.message);
        cut(&mut line);
        line
    }
}

fn cut(text: &mut String) {
    text.truncate(text.floor_char_boundary(LONGEST_LINE));
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a text never fails.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(lines: usize) -> Ring {
        let mut ring = Ring {
            lines: VecDeque::new(),
            next: 0,
        };
        for number in 0..lines {
            ring.push(LogLine {
                time: 0,
                level: if number % 2 == 0 {
                    LogLevel::Info
                } else {
                    LogLevel::Debug
                },
                target: "gatehouse".to_owned(),
                text: format!("line {number}"),
            });
        }
        ring
    }

    fn texts(found: &LogLines) -> Vec<&str> {
        found.lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn lines_are_told_once_in_their_order_and_by_their_level() {
        let mut ring = ring(4);
        let found = ring.after(1, LogLevel::Info);
        assert_eq!((texts(&found), found.lost), (vec!["line 2"], 0));
        assert_eq!(ring.after(found.position, LogLevel::Trace).lines, []);
        let line = ring.lines[0].clone();
        ring.push(line);
        assert_eq!(
            texts(&ring.after(found.position, LogLevel::Info)),
            ["line 0"]
        );
        assert_eq!(ring.after(0, LogLevel::Debug).lines.len(), 5);
        assert_eq!(ring.after(99, LogLevel::Debug).position, 5);
    }

    #[test]
    fn what_was_dropped_is_counted() {
        let ring = ring(KEPT_LINES + 10);
        let found = ring.after(4, LogLevel::Debug);
        assert_eq!((found.lost, found.lines.len()), (6, KEPT_LINES));
        assert_eq!(found.position, KEPT_LINES as u64 + 10);
    }

    #[test]
    fn one_call_tells_a_bounded_part() {
        let mut ring = ring(0);
        for _ in 0..100 {
            ring.push(LogLine {
                time: 0,
                level: LogLevel::Info,
                target: String::new(),
                text: "x".repeat(LONGEST_LINE),
            });
        }
        let mut position = 0;
        let mut told = 0;
        while position < 100 {
            let found = ring.after(position, LogLevel::Info);
            assert!(found.lines.len() * LONGEST_LINE <= BYTES_AT_ONCE + LONGEST_LINE);
            told += found.lines.len();
            position = found.position;
        }
        assert_eq!(told, 100);
    }

    #[test]
    fn a_line_stays_one_line_and_is_cut() {
        let text = Text {
            message: "a\nb\u{1b}[31m\u{202e}".to_owned(),
            fields: " field=1".to_owned(),
        };
        assert_eq!(text.finished(), r"a\nb\u{1b}[31m\u{202e} field=1");
        for (longest, length) in [
            ("ü", LONGEST_LINE),
            ("aü", LONGEST_LINE - 1),
            ("\n", LONGEST_LINE),
        ] {
            let long = Text {
                message: longest.repeat(LONGEST_LINE),
                fields: String::new(),
            };
            assert!(
                (length..=LONGEST_LINE).contains(&long.finished().len()),
                "{longest:?}"
            );
        }
    }

    #[test]
    fn a_level_stays_on_for_those_alone_who_ask_for_it() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut detail = Detail {
            debug: None,
            trace: None,
            on: LevelFilter::INFO,
        };
        assert_eq!(detail.wanted(start), LevelFilter::INFO);
        detail.ask_for(LevelFilter::TRACE, start);
        detail.ask_for(LevelFilter::DEBUG, after(8));
        assert_eq!(detail.wanted(after(9)), LevelFilter::TRACE);
        assert_eq!(detail.wanted(after(11)), LevelFilter::DEBUG);
        assert_eq!(detail.wanted(after(18)), LevelFilter::INFO);
    }

    #[test]
    fn the_level_is_switched_when_another_one_is_wanted_and_not_before() {
        let switched = std::sync::Arc::new(Mutex::new(Vec::new()));
        let told = std::sync::Arc::clone(&switched);
        let set_level: SetLevel = Box::new(move |level| told.lock().unwrap().push(level));
        let now = Instant::now();
        let mut detail = Detail {
            debug: Some(now),
            trace: now.checked_sub(LEVEL_LASTS),
            on: LevelFilter::TRACE,
        };
        detail.switch(&set_level);
        detail.switch(&set_level);
        detail.debug = None;
        detail.switch(&set_level);
        let switched = switched.lock().unwrap();
        assert_eq!(*switched, [LevelFilter::DEBUG, LevelFilter::INFO]);
    }
}
