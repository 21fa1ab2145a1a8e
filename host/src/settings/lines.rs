//! Where settings stand in a configuration file.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

/// The lines of a file's sections and settings.
#[derive(Debug, Default)]
pub(super) struct Lines(BTreeMap<String, usize>);

impl Lines {
    /// Those of the file with this text; none where it is not valid.
    pub(super) fn parse(text: &str) -> Self {
        let mut lines = Self::default();
        if let Ok(file) = DeTable::parse(text) {
            lines.add("", file.get_ref(), text);
        }
        lines
    }

    /// The line of a section or a setting, such as `listener.address`, counted from 1.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }

    fn add(&mut self, prefix: &str, table: &DeTable<'_>, text: &str) {
        for (key, value) in table {
            let name = format!("{prefix}{}", key.get_ref());
            if let DeValue::Table(table) = value.get_ref() {
                self.add(&format!("{name}."), table, text);
            }
            let before = text.as_bytes().get(..key.span().start).unwrap_or_default();
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            self.0.insert(name, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_sections_are_found_however_they_are_written() {
        let text = "# head\n[listener]\naddress = \"a\" # here\n\n[audit.main]\npath = \"\"\"\n\n\"\"\"\nsync = true\n\
                    [limits]\nlogin = { burst = 1,\n  rate = 2 }\n";
        let lines = Lines::parse(text);
        for (name, line) in [
            ("listener", 2),
            ("listener.address", 3),
            ("audit.main", 5),
            ("audit.main.path", 6),
            ("audit.main.sync", 9),
            ("limits.login.rate", 12),
        ] {
            assert_eq!(lines.find(name), Some(line), "{name}");
        }
        assert_eq!(lines.find("limits.none"), None);
        let dotted = Lines::parse("\r\nlistener.address = 1\r\nlistener.body_limit = 2\r\n");
        assert_eq!(dotted.find("listener.address"), Some(2));
        assert_eq!(dotted.find("listener.body_limit"), Some(3));
        assert_eq!(Lines::parse("[").find("a"), None);
    }
}
