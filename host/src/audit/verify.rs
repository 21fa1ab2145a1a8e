//! Verification of the chain of a log (SEC-L3).
//!
//! This can show that a line was changed, inserted, moved or removed, the last ones excepted. By itself it cannot show that the end of a
//! log was cut off, or that an intruder wrote the whole chain anew from some line on: for that the number and the hash of a line must be
//! remembered elsewhere, which is what [`Expectations`] are for.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::chain::{Chain, Event, Line, Link, Note, Torn};

/// Bytes beyond which a line is none.
const LONGEST_LINE: u64 = 64 << 20;

/// The head of a log that an auditor remembers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Expectations {
    /// The hash of the line before the first one.
    pub from: Option<Link>,
    /// Number and hash of a line that must be there.
    pub line: Option<(u64, Link)>,
}

/// A log whose chain holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// How many lines there are, those about the log itself included.
    pub lines: u64,
    /// Number and hash of the first line; `None` of an empty log.
    pub first: Option<(u64, Link)>,
    /// Number and hash of the last line.
    pub last: Option<(u64, Link)>,
    /// The lines that were cut off while they were written, as the log says so.
    pub remarks: Vec<String>,
}

/// Why a log is not verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The message of the operating system.
        source: io::Error,
    },
    /// The chain breaks.
    #[error("{}, line {line}: {why}", file.display())]
    Broken {
        /// The file.
        file: PathBuf,
        /// The first line that does not follow, counted from 1.
        line: u64,
        /// The flaw.
        why: Break,
    },
    /// A line that an auditor remembers is not there: the end of the log was cut off, or it is another log.
    #[error("record {0} is not there: the log ends before it, or begins after it")]
    Missing(u64),
    /// A line that an auditor remembers is another one.
    #[error("record {sequence} has the hash {found}: this is not the log that was remembered")]
    Different {
        /// Its number.
        sequence: u64,
        /// The hash that it has.
        found: Link,
    },
}

/// A flaw of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Break {
    /// Its content does not have its hash.
    #[error("the record was changed, or the one before it")]
    Changed,
    /// Its number is not the next one.
    #[error(
        "record {found} stands where record {expected} belongs: records were removed, inserted or moved"
    )]
    OutOfOrder {
        /// The number that it should have.
        expected: u64,
        /// The number that it has.
        found: u64,
    },
    /// It is not a record, and the next one does not say that it was cut off.
    #[error("this is no record")]
    NoRecord,
    /// The file does not end with a record. No client was given an answer for what was written there.
    #[error(
        "no record ends here: the server is writing it, was stopped while it wrote, or the end was cut off"
    )]
    Unfinished,
    /// The first line does not say what it follows.
    #[error("the beginning is missing; --from HASH names the hash of the record before")]
    NoBeginning,
    /// A file follows another one than the one before.
    #[error("the file follows a record with the hash {0}, which is not the last one before it")]
    OtherPredecessor(Link),
}

/// Goes through the files of one log in their order.
///
/// # Errors
///
/// The first thing that is wrong.
pub fn verify(files: &[PathBuf], expectations: Expectations) -> Result<Verified, VerifyError> {
    let mut walk = Walk {
        chain: expectations.from.map(|head| Chain { next: 0, head }),
        is_number_known: false,
        expected: expectations.line,
        verified: Verified {
            lines: 0,
            first: None,
            last: None,
            remarks: Vec::new(),
        },
    };
    for file in files {
        walk.file(file)?;
    }
    match walk.expected {
        Some((sequence, _)) => Err(VerifyError::Missing(sequence)),
        None => Ok(walk.verified),
    }
}

struct Walk {
    /// Where the chain is; `None` where nothing is known about what came before.
    chain: Option<Chain>,
    is_number_known: bool,
    /// The heads that have not been met yet.
    expected: Option<(u64, Link)>,
    verified: Verified,
}

/// The bytes behind a line that are none.
#[derive(Default)]
struct Garbage {
    /// Where it begins.
    line: u64,
    torn: Option<Torn>,
}

impl Garbage {
    fn add(&mut self, text: &[u8], number: u64) {
        match &mut self.torn {
            Some(torn) => torn.add(b"\n"),
            None => self.line = number,
        }
        self.torn.get_or_insert_with(Torn::new).add(text);
    }

    /// True if a line says that exactly this was cut off.
    fn is_explained_by(&self, note: Option<&Note>) -> bool {
        let said = note.and_then(|note| Some((note.torn_bytes?, note.torn_sha256.as_deref()?)));
        let empty = Torn::new();
        match (self.torn.as_ref(), said) {
            (None, None) => true,
            (torn, Some((bytes, hash))) => {
                let torn = torn.unwrap_or(&empty);
                torn.bytes == bytes && torn.hash().to_string() == hash
            }
            (Some(_), None) => false,
        }
    }
}

impl Walk {
    fn file(&mut self, path: &Path) -> Result<(), VerifyError> {
        let unreadable = |source| VerifyError::Unreadable {
            file: path.to_owned(),
            source,
        };
        let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
        let mut garbage = Garbage::default();
        let mut text = Vec::new();
        for number in 1.. {
            text.clear();
            let mut limited = reader.by_ref().take(LONGEST_LINE);
            if limited.read_until(b'\n', &mut text).map_err(unreadable)? == 0 {
                break;
            }
            let broken = |line, why| VerifyError::Broken {
                file: path.to_owned(),
                line,
                why,
            };
            let text = text.strip_suffix(b"\n").unwrap_or(&text);
            let Some(line) = Line::read(text) else {
                garbage.add(text, number);
                continue;
            };
            let note = line.note();
            if !garbage.is_explained_by(note.as_ref()) {
                let (line, why) = match garbage.torn {
                    Some(_) => (garbage.line, Break::NoRecord),
                    None => (number, Break::Changed),
                };
                return Err(broken(line, why));
            }
            self.line(&line, note.as_ref())
                .map_err(|why| broken(number, why))?;
            if let Some(torn) = std::mem::take(&mut garbage).torn {
                self.verified.remarks.push(format!(
                    "{}, before line {number}: {} bytes were cut off while they were written, as record {} says",
                    path.display(),
                    torn.bytes,
                    line.sequence
                ));
            }
            self.meet(&line)?;
        }
        match garbage.torn {
            Some(_) => Err(VerifyError::Broken {
                file: path.to_owned(),
                line: garbage.line,
                why: Break::Unfinished,
            }),
            None => Ok(()),
        }
    }

    fn line(&mut self, line: &Line<'_>, note: Option<&Note>) -> Result<(), Break> {
        let begins = note.filter(|note| note.event == Event::Begins);
        let previous = begins
            .and_then(|note| note.previous.as_deref())
            .map(|previous| previous.parse().map_err(|_| Break::Changed))
            .transpose()?;
        let mut chain = match (self.chain, previous) {
            (Some(chain), Some(previous)) if chain.head != previous => {
                return Err(Break::OtherPredecessor(previous));
            }
            (Some(chain), _) => chain,
            (None, Some(head)) => Chain { next: 0, head },
            (None, None) => return Err(Break::NoBeginning),
        };
        if !self.is_number_known {
            chain.next = line.sequence;
            self.is_number_known = true;
        }
        if !chain.follows(line) {
            return Err(if line.sequence == chain.next {
                Break::Changed
            } else {
                Break::OutOfOrder {
                    expected: chain.next,
                    found: line.sequence,
                }
            });
        }
        self.chain = Some(Chain::after(line));
        Ok(())
    }

    fn meet(&mut self, line: &Line<'_>) -> Result<(), VerifyError> {
        let met = (line.sequence, line.link);
        self.verified.lines += 1;
        self.verified.first.get_or_insert(met);
        self.verified.last = Some(met);
        match self.expected {
            Some((sequence, link)) if sequence == line.sequence => {
                if link != line.link {
                    return Err(VerifyError::Different {
                        sequence,
                        found: line.link,
                    });
                }
                self.expected = None;
            }
            _ => {}
        }
        Ok(())
    }
}
