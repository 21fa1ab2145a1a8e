//! How far a command is, for a person at a terminal.

use std::io::{self, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often it is drawn while nothing happens.
const TICK: Duration = Duration::from_millis(200);

/// A line on standard error that tells how much is done. Where that is no terminal it draws nothing.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Of objects that are `done`, such as `read`, one after the other.
    pub(super) fn of_objects(done: &'static str) -> Self {
        let bar = ProgressBar::new_spinner().with_message(done);
        Self::drawn(bar, "{spinner} {pos} {msg} ({elapsed})")
    }

    /// Of bytes whose number is not known.
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

    /// One more is done.
    pub(super) fn one_more(&self) {
        self.0.inc(1);
    }

    /// How much is done.
    #[cfg(test)]
    pub(super) fn position(&self) -> u64 {
        self.0.position()
    }

    /// `output`, which may be the same terminal: the line makes way for what is written to it.
    pub(super) fn above<W: Write>(&self, output: W) -> Above<W> {
        Above {
            bar: self.0.clone(),
            output,
        }
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

/// An output beside which a [`Progress`] is drawn.
pub(super) struct Above<W> {
    bar: ProgressBar,
    output: W,
}

impl<W: Write> Write for Above<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bar.suspend(|| self.output.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.bar.suspend(|| self.output.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_above_a_progress_arrives_unchanged() {
        let progress = Progress::of_objects("compared");
        let mut written = Vec::new();
        let mut output = progress.above(&mut written);
        output.write_all(b"+ role gcp/dev\n").unwrap();
        progress.one_more();
        output.write_all(b"= 1 unchanged\n").unwrap();
        output.flush().unwrap();
        assert_eq!(written, b"+ role gcp/dev\n= 1 unchanged\n");
        assert_eq!(progress.position(), 1);
    }
}
