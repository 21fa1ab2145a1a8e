//! Shares of a root key, at the terminal.

use std::io::{BufRead as _, Write as _};

use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use crate::commands::output::tell;

/// Most that a line with a share may hold.
const LONGEST_LINE: u64 = 1024;

/// Prints new shares, one a line.
pub(super) fn print_shares(shares: &[gatehouse_store::KeyShare]) -> Result<()> {
    let mut output = std::io::stdout().lock();
    for (number, share) in (1..).zip(shares) {
        let text = Zeroizing::new(STANDARD.encode(share.as_bytes()));
        writeln!(output, "Unseal Key {number}: {}", *text)?;
    }
    output.flush()?;
    Ok(())
}

/// The next share from standard input, one a line.
pub(super) fn read_share(given: usize, needed: u8) -> Result<Zeroizing<Vec<u8>>> {
    tell(format_args!("Unseal key {} of {needed}:", given + 1));
    // Room for all at once: a string that grows would leave copies of the share behind.
    let mut line = Zeroizing::new(String::with_capacity(1024));
    let input = std::io::stdin().lock();
    let _hidden = HiddenTyping::begin();
    let read = std::io::Read::take(input, LONGEST_LINE).read_line(&mut line)?;
    if read == 0 {
        bail!("there are too few shares");
    }
    let share = line.trim_ascii();
    let bytes = STANDARD.decode(share);
    let bytes = bytes.context("a share is one line of base64, as it was printed")?;
    Ok(Zeroizing::new(bytes))
}

/// The terminal at standard input while it does not show what is typed. Dropping it has it shown again.
struct HiddenTyping(Termios);

impl HiddenTyping {
    /// `None` where standard input is no terminal.
    fn begin() -> Option<Self> {
        let input = std::io::stdin();
        let before = tcgetattr(&input).ok()?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        hidden.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(&input, OptionalActions::Now, &hidden).ok()?;
        Some(Self(before))
    }
}

impl Drop for HiddenTyping {
    fn drop(&mut self) {
        let _shown = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}
