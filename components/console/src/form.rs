//! The fields of a form or a query.

use zeroize::Zeroizing;

/// The maximum number of fields: more than twice as many as the longest form has.
const MAXIMUM_FIELDS: usize = 100;

/// Fields with their values, in the order sent. Wiped when dropped, since some are secrets.
#[derive(Default)]
pub struct Fields(Vec<(String, Zeroizing<String>)>);

impl Fields {
    /// The fields in `text`, which is URL-encoded. `None` where there are more than any form has.
    pub fn read(text: &[u8]) -> Option<Self> {
        let mut fields = Vec::new();
        for (name, value) in form_urlencoded::parse(text) {
            if fields.len() == MAXIMUM_FIELDS {
                return None;
            }
            fields.push((name.into_owned(), Zeroizing::new(value.into_owned())));
        }
        Some(Self(fields))
    }

    /// The value of the first field called `name`, without white space around it; empty where it is missing.
    pub fn text(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(field, _)| field == name);
        found.map_or("", |(_, value)| value.trim())
    }

    /// The value of the first field called `name`, as sent.
    pub fn raw(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(field, _)| field == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// True if a checkbox of that name was ticked.
    pub fn is_ticked(&self, name: &str) -> bool {
        self.0.iter().any(|(field, _)| field == name)
    }

    /// The lines of the field `name`, which has one entry on each line. Empty lines are left out.
    pub fn lines(&self, name: &str) -> Vec<String> {
        lines(self.text(name))
    }
}

/// The lines of `text`, without white space around them, and without empty lines. Only line ends separate entries: some entries contain commas.
pub fn lines(text: &str) -> Vec<String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}
