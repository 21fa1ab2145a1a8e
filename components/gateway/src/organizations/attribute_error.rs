//! A fault of one member of a document.

/// A fault of one member of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AttributeError {
    /// The place of the member, such as `/data/attributes/name`.
    pub(crate) pointer: String,
    /// A whole sentence.
    pub(crate) detail: String,
}

impl AttributeError {
    /// A fault of the attribute with this dashed name. `predicate` completes the sentence: `is invalid` for `sso-team-id` gives `Sso team is
    /// invalid`.
    pub(crate) fn attribute(name: &str, predicate: &str) -> Self {
        Self::at("attributes", name, predicate)
    }

    /// The same for a relationship.
    pub(crate) fn relationship(name: &str, predicate: &str) -> Self {
        Self::at("relationships", name, predicate)
    }

    fn at(place: &str, name: &str, predicate: &str) -> Self {
        Self {
            pointer: format!("/data/{place}/{name}"),
            detail: format!("{} {predicate}", label(name)),
        }
    }
}

/// A name in words: `default-agent-pool-id` becomes `Default agent pool`.
fn label(name: &str) -> String {
    let words = name.strip_suffix("-id").unwrap_or(name).replace('-', " ");
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}
