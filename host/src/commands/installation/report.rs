//! The report of a run, written line by line during the run.

use std::io::{self, Write};

use gatehouse::one_line::escaped;
use serde_json::Value;

use super::comparison::Difference;
use crate::commands::progress::Progress;

/// Most characters of a value on a line.
const LONGEST_VALUE: usize = 200;

/// Most lines that are shown for each side of a long text.
const MOST_LINES: usize = 40;

/// The place of a secret.
const SECRET: &str = "(secret)";

/// A foreign text, escaped as part of a line.
pub(in crate::commands) fn shown(text: &str) -> String {
    escaped(text)
}

/// The numbers of objects at the end.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) struct Summary {
    /// Objects that were not there.
    pub(in crate::commands) added: usize,
    /// Objects of which a field differed.
    pub(in crate::commands) changed: usize,
    /// Objects that are as described.
    pub(in crate::commands) unchanged: usize,
    /// Objects that could not be read or written.
    pub(in crate::commands) failed: usize,
}

impl Summary {
    /// Tells whether anything differed.
    pub(in crate::commands) fn has_differences(self) -> bool {
        self.added > 0 || self.changed > 0
    }
}

/// Writes the findings, and counts them.
pub(in crate::commands) struct Report<'a> {
    output: &'a mut (dyn Write + Send + Sync),
    /// Told of each object, where a person may be waiting.
    progress: Option<&'a Progress>,
    summary: Summary,
}

impl<'a> Report<'a> {
    /// A report that goes to `output`.
    pub(in crate::commands) fn to(output: &'a mut (dyn Write + Send + Sync)) -> Self {
        Self {
            output,
            progress: None,
            summary: Summary::default(),
        }
    }

    /// The same, which tells `progress` of each object too.
    pub(in crate::commands) fn with_progress(self, progress: &'a Progress) -> Self {
        Self {
            progress: Some(progress),
            ..self
        }
    }

    /// The counts so far.
    pub(in crate::commands) fn summary(&self) -> Summary {
        self.summary
    }

    /// Reports an object that is not there yet, or differs in these fields.
    pub(super) fn differing(
        &mut self,
        object: &str,
        is_new: bool,
        differences: &[Difference],
        secrets: &[&str],
    ) -> io::Result<()> {
        let mark = if is_new { '+' } else { '~' };
        writeln!(self.output, "{mark} {}", shown(object))?;
        for difference in differences {
            self.field(difference, secrets.contains(&difference.field.as_str()))?;
        }
        self.output.flush()
    }

    fn field(&mut self, difference: &Difference, is_secret: bool) -> io::Result<()> {
        let field = shown(&difference.field);
        let wanted = match is_secret {
            true => SECRET.to_owned(),
            false => value(&difference.wanted),
        };
        match (&difference.present, &difference.wanted) {
            (Some(Value::String(present)), Value::String(wanted))
                if !is_secret && (present.contains('\n') || wanted.contains('\n')) =>
            {
                writeln!(self.output, "    ~ {field}:")?;
                let (gone, come) = changed_lines(present, wanted);
                for (mark, lines) in [('-', gone), ('+', come)] {
                    for line in lines.iter().take(MOST_LINES) {
                        writeln!(self.output, "        {mark} {}", shown(line))?;
                    }
                    if let Some(more) = lines.len().checked_sub(MOST_LINES).filter(|more| *more > 0)
                    {
                        writeln!(self.output, "        {mark} ... {more} more lines")?;
                    }
                }
                Ok(())
            }
            (Some(present), _) if !is_secret => {
                writeln!(self.output, "    ~ {field}: {} -> {wanted}", value(present))
            }
            _ => writeln!(self.output, "    + {field}: {wanted}"),
        }
    }

    /// Counts an object that differed, once it has been written or, in a dry run, reported.
    pub(super) fn settled(&mut self, is_new: bool) {
        let count = match is_new {
            true => &mut self.summary.added,
            false => &mut self.summary.changed,
        };
        *count = count.saturating_add(1);
        self.go_on();
    }

    /// Counts an object that is as described.
    pub(super) fn unchanged(&mut self) {
        self.summary.unchanged = self.summary.unchanged.saturating_add(1);
        self.go_on();
    }

    fn go_on(&self) {
        if let Some(progress) = self.progress {
            progress.one_more();
        }
    }

    /// Reports an object that could not be read or written.
    pub(super) fn failed(&mut self, object: &str, error: &anyhow::Error) -> io::Result<()> {
        self.summary.failed = self.summary.failed.saturating_add(1);
        self.go_on();
        writeln!(
            self.output,
            "! {}: {}",
            shown(object),
            shown(&format!("{error:#}"))
        )?;
        self.output.flush()
    }

    /// Says something about an object that is no difference.
    pub(super) fn remark(&mut self, object: &str, text: &str) -> io::Result<()> {
        writeln!(self.output, "    {}: {}", shown(object), shown(text))
    }

    /// Writes the numbers; `dry` says that nothing was written to the server.
    pub(in crate::commands) fn finish(&mut self, dry: bool) -> io::Result<()> {
        let Summary {
            added,
            changed,
            unchanged,
            failed,
        } = self.summary;
        let (add, change) = match dry {
            true => ("to add", "to change"),
            false => ("added", "changed"),
        };
        writeln!(
            self.output,
            "= {unchanged} unchanged; {added} {add}, {changed} {change}, {failed} failed"
        )?;
        self.output.flush()
    }
}

/// A value on one line.
fn value(value: &Value) -> String {
    let text = shown(&value.to_string());
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// The lines between the common beginning and the common end of two texts.
fn changed_lines<'t>(present: &'t str, wanted: &'t str) -> (Vec<&'t str>, Vec<&'t str>) {
    let (mut gone, mut come): (Vec<&str>, Vec<&str>) = (
        present.trim().lines().collect(),
        wanted.trim().lines().collect(),
    );
    let common = gone.iter().zip(&come).take_while(|(a, b)| a == b).count();
    gone.drain(..common);
    come.drain(..common);
    while gone.last().is_some() && gone.last() == come.last() {
        gone.pop();
        come.pop();
    }
    (gone, come)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn difference(field: &str, present: Option<Value>, wanted: Value) -> Difference {
        Difference {
            field: field.to_owned(),
            present,
            wanted,
        }
    }

    #[test]
    fn differences_stand_field_by_field_and_secrets_are_never_shown() {
        let mut output = Vec::new();
        let progress = Progress::of_objects("compared");
        let mut report = Report::to(&mut output).with_progress(&progress);
        let fields = [
            difference("token_ttl", Some(json!(3600)), json!("2h")),
            difference("description", None, json!("a\u{1b}[2J")),
        ];
        report
            .differing("role gcp/dev", false, &fields, &[])
            .unwrap();
        let secrets = [
            difference("credentials", None, json!("SECRET")),
            difference("credentials", Some(json!("SECRET")), json!("SECRET\nx")),
        ];
        report
            .differing("config of auth/gcp", true, &secrets, &["credentials"])
            .unwrap();
        report.settled(false);
        report.settled(true);
        report.unchanged();
        report
            .failed("policy x", &anyhow::anyhow!("no\nway"))
            .unwrap();
        report.finish(true).unwrap();
        assert!(report.summary().has_differences());
        assert_eq!(progress.position(), 4);
        let text = String::from_utf8(output).unwrap();
        assert_eq!(
            text,
            "~ role gcp/dev\n    ~ token_ttl: 3600 -> \"2h\"\n    + description: \"a\\u001b[2J\"\n\
             + config of auth/gcp\n    + credentials: (secret)\n    + credentials: (secret)\n\
             ! policy x: no\\nway\n= 1 unchanged; 1 to add, 1 to change, 1 failed\n"
        );
    }

    #[test]
    fn texts_of_many_lines_show_the_lines_that_change() {
        let (gone, come) = changed_lines("a\nb\nc\n", "a\nx\ny\nc");
        assert_eq!((gone, come), (vec!["b"], vec!["x", "y"]));
        let (gone, come) = changed_lines("a\na", "a");
        assert_eq!((gone, come), (vec!["a"], vec![]));
        let long = json!("x".repeat(1000));
        assert!(value(&long).len() < LONGEST_VALUE + 10);
    }
}
