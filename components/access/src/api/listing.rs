//! Lists that may be too long for one answer.

/// A part of a list of things with identifiers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListPage<T> {
    /// Sorted by identifier.
    pub items: Vec<T>,
    /// After which identifier the list goes on; `None` at its end.
    pub next: Option<String>,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyPage {
    /// In the order of the list.
    pub keys: Vec<String>,
    /// After which key the list goes on; `None` at its end. It need not be among `keys`.
    pub next: Option<String>,
}
