//! The parsers of the input of callers of the organizations protocol, one pure function per kind of input: for tests that feed generated input
//! (SEC-V1).

use std::ops::Range;

use gatehouse_orgs_api::{Filter, OrganizationChanges};

use super::pagination::PageRequest;
use super::{listing, organization};

/// The changes in the document that creates or updates an organization; `None` where the document is refused.
#[must_use]
pub fn organization(body: &[u8]) -> Option<OrganizationChanges> {
    organization::changes_in(body).ok()
}

/// The positions in a whole list that `query` asks for, counted from 0.
#[must_use]
pub fn page(query: &str) -> Range<u64> {
    PageRequest::always(query).range()
}

/// The organizations that `query` asks for.
#[must_use]
pub fn filter(query: &str) -> Filter {
    listing::filter(query)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_orgs_api::Attribute;

    #[test]
    fn v1_documents_and_queries_are_read_as_requests_read_them() {
        let document = br#"{"data":{"type":"organizations","attributes":{"name":"acme"}}}"#;
        let changes = organization(document).unwrap();
        assert_eq!(changes.name, Attribute::Value("acme".to_owned()));
        assert_eq!(organization(br#"{"data":{"type":"teams"}}"#), None);
        assert_eq!(page("page[number]=3&page[size]=5"), 10..15);
        assert_eq!(filter("q=a").name_or_email.as_deref(), Some("a"));
    }
}
