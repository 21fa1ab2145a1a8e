//! How far a command is, for a person at a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often it is drawn while nothing happens.
const TICK: Duration = Duration::from_millis(200);

/// A line on standard error that tells the bytes so far. Where that is no terminal it draws nothing.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Of something whose end is not known.
    pub(super) fn of_unknown_length() -> Self {
        Self::drawn(
            ProgressBar::new_spinner(),
            "{spinner} {bytes} ({bytes_per_sec})",
        )
    }

    /// Of so many bytes.
    pub(super) fn of_length(bytes: u64) -> Self {
        Self::drawn(
            ProgressBar::new(bytes),
            "{wide_bar} {percent} % ({bytes_per_sec}, {eta})",
        )
    }

    fn drawn(bar: ProgressBar, template: &str) -> Self {
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    /// So many bytes are done.
    pub(super) fn at(&self, bytes: u64) {
        self.0.set_position(bytes);
    }

    /// Takes the line away.
    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
