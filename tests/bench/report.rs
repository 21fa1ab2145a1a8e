//! The rows of a run: printed as they are measured, and compared at the end.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::load::Measured;

/// The program whose rows are compared with [`PEER`]'s.
pub const GATEHOUSE: &str = "gatehouse";
/// The program that does the same work beside it.
pub const PEER: &str = "OpenBao";
/// The work whose rate other rows are compared with.
pub const LOOKUP: &str = "lookup-self, in memory";

const BEGIN: &str = "<!-- written by: GATEHOUSE_WRITE=1 cargo bench -p gatehouse-tests -- ";
const END: &str = "<!-- end of what is written -->\n";

/// The measurements of one run.
#[derive(Debug, Default)]
pub struct Report {
    rows: Vec<Row>,
    notes: Vec<String>,
}

#[derive(Debug)]
struct Row {
    program: String,
    work: String,
    measured: Measured,
}

impl Report {
    /// Prints the head of the table of [`Self::row`].
    pub fn head() {
        println!("| what | requests/s | p50 ms | p99 ms | CPU us of the server |");
        println!("|---|---|---|---|---|");
    }

    /// Keeps and prints one row.
    pub fn row(&mut self, program: &str, work: &str, measured: Measured) {
        println!("{}", line(&format!("{program}: {work}"), &measured));
        self.rows.push(Row {
            program: program.to_owned(),
            work: work.to_owned(),
            measured,
        });
    }

    /// Keeps and prints a text that is not a row, such as a sentence.
    pub fn note(&mut self, note: String) {
        println!("\n{note}");
        self.notes.push(note);
    }

    /// Every row once more, beside the peer's and as a share of a lookup's rate, in Markdown, and the notes.
    pub fn compared(&self) -> String {
        let mut text = String::new();
        if !self.rows.is_empty() {
            text.push_str(
                "| what | requests/s | p50 ms | p99 ms | CPU us | OpenBao: requests/s, p99 ms | times OpenBao | of lookup-self |\n\
                 |---|---|---|---|---|---|---|---|\n",
            );
        }
        let lookup = self.find(GATEHOUSE, LOOKUP);
        for row in &self.rows {
            if row.program == PEER {
                continue;
            }
            let what = match row.program.as_str() {
                GATEHOUSE => row.work.clone(),
                program => format!("{program}: {}", row.work),
            };
            let peer = self
                .find(PEER, &row.work)
                .filter(|_| row.program == GATEHOUSE);
            let (theirs, times) = peer.map_or_else(Default::default, |peer| {
                (
                    format!("{:.0}, {:.2}", peer.rate, peer.percentile_99),
                    format!("{:.1}", row.measured.rate / peer.rate),
                )
            });
            let share = lookup.map_or_else(String::new, |lookup| {
                format!("{:.2}", row.measured.rate / lookup.rate)
            });
            let _ = writeln!(
                text,
                "{} {theirs} | {times} | {share} |",
                line(&what, &row.measured)
            );
        }
        for note in &self.notes {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{note}");
        }
        text
    }

    /// The row of this program and work.
    pub fn find(&self, program: &str, work: &str) -> Option<Measured> {
        self.rows
            .iter()
            .find(|row| row.program == program && row.work == work)
            .map(|row| row.measured)
    }
}

fn line(what: &str, measured: &Measured) -> String {
    let cpu = measured
        .cpu_micros
        .map_or_else(String::new, |micros| format!("{micros:.0}"));
    format!(
        "| {what} | {:.0} | {:.2} | {:.2} | {cpu} |",
        measured.rate, measured.median, measured.percentile_99
    )
}

/// Puts the rows and notes of these parts where the document keeps what a run of them writes, in place of what the last one wrote.
///
/// # Errors
///
/// When the document has no such place or cannot be written.
pub fn write_into(document: &Path, parts: &[&str], text: &str) -> Result<()> {
    let begin = format!("{BEGIN}{} -->\n", parts.join(" "));
    let old = std::fs::read_to_string(document)?;
    let (before, rest) = old
        .split_once(&begin)
        .with_context(|| format!("the document has no place for {}", parts.join(" ")))?;
    let (_, after) = rest.split_once(END).context("the place has no end")?;
    ensure!(!text.contains(END), "the table would end the place");
    std::fs::write(document, format!("{before}{begin}\n{text}\n{END}{after}"))?;
    Ok(())
}
