//! Lists in pages: the page that a query asks for, and the information about a page in the answer (contract 3.1, 3.3).
//!
//! The list of organizations has pages only if its query mentions them; every other list always has pages.

use std::ops::Range;

use gatehouse_orgs_api::MAXIMUM_PAGE_SIZE;
use serde_json::{Value, json};

use super::document::Document;
use super::document_type::Kind;
use super::parameter::Parameter;
use super::transport::origin;
use crate::http::Request;
use crate::query;

const DEFAULT_PAGE_SIZE: u32 = 20;

/// The parameters of lists with pages.
pub(super) const PAGE_NUMBER: Parameter = Parameter {
    name: "page[number]",
    kind: Kind::Integer,
    about: "The page, from 1 on.",
};
pub(super) const PAGE_SIZE: Parameter = Parameter {
    name: "page[size]",
    kind: Kind::Integer,
    about: "The number of items in a page.",
};

/// The requested page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageRequest {
    /// The number of the page, from 1 on.
    pub(super) number: u32,
    /// The number of items in a page: at least 1, and at most the maximum of the list, which is usually [`MAXIMUM_PAGE_SIZE`].
    pub(super) size: u32,
}

impl PageRequest {
    /// The page that a query asks for; `None` where it mentions none.
    pub(super) fn if_mentioned(query: &str) -> Option<Self> {
        Self::mentioned(query, DEFAULT_PAGE_SIZE, MAXIMUM_PAGE_SIZE)
    }

    /// The requested page of a list that always has pages, with its own usual and maximum sizes; the first page where the query mentions none.
    pub(super) fn sized(query: &str, usual: u32, maximum: u32) -> Self {
        let first = Self {
            number: 1,
            size: usual,
        };
        Self::mentioned(query, usual, maximum).unwrap_or(first)
    }

    fn mentioned(query: &str, usual: u32, maximum: u32) -> Option<Self> {
        let number = PAGE_NUMBER.first(query);
        let size = PAGE_SIZE.first(query);
        if number.is_none() && size.is_none() {
            return None;
        }
        let positive = |text: Option<&str>| text.and_then(positive_integer);
        Some(Self {
            number: positive(number.as_deref()).unwrap_or(1),
            size: positive(size.as_deref()).unwrap_or(usual).min(maximum),
        })
    }

    /// The requested page of a list that always has pages; the first page where the query mentions none.
    pub(super) fn always(query: &str) -> Self {
        Self::sized(query, DEFAULT_PAGE_SIZE, MAXIMUM_PAGE_SIZE)
    }

    /// The positions of the page's items in the whole list, counted from 0.
    pub(super) fn range(self) -> Range<u64> {
        let size = u64::from(self.size);
        let first = u64::from(self.number.saturating_sub(1)) * size;
        first..first + size
    }

    /// The items of the page, and the length of the whole list `all`.
    pub(super) fn of_all<T>(self, all: impl IntoIterator<Item = T>) -> (Vec<T>, u64) {
        let wanted = self.range();
        let mut total = 0;
        let mut items = Vec::new();
        for item in all {
            if wanted.contains(&total) {
                items.push(item);
            }
            total += 1;
        }
        (items, total)
    }
}

/// The document of a page of a list of `total` items, with links to the other pages at the address of the request, and with the numbers of pages and
/// items.
pub(super) fn paged<T>(
    items: Vec<T>,
    total: u64,
    page: PageRequest,
    request: &Request,
) -> Document<Vec<T>> {
    let numbers = PageNumbers::new(page, total);
    let path = request.path.trim_end_matches('/');
    let address = format!("{}{path}", origin(request));
    let mut document = Document::new(items);
    document.links = Some(numbers.links(&address, &request.query));
    document.meta = Some(json!({"pagination": numbers.meta()}));
    document
}

/// A positive integer; one beyond 32 bits becomes the maximum.
fn positive_integer(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse().unwrap_or(u32::MAX));
    number.filter(|number| *number > 0)
}

/// The position of a page among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageNumbers {
    current: u64,
    size: u64,
    previous: Option<u64>,
    next: Option<u64>,
    pages: u64,
    total: u64,
}

impl PageNumbers {
    /// The position of the requested page in a list of `total` items.
    pub(super) fn new(page: PageRequest, total: u64) -> Self {
        let size = u64::from(page.size);
        let pages = total.div_ceil(size).max(1);
        let current = if total == 0 {
            1
        } else {
            u64::from(page.number)
        };
        let exists = current <= pages;
        Self {
            current,
            size,
            previous: (exists && current > 1).then(|| current - 1),
            next: (current < pages).then(|| current + 1),
            pages,
            total,
        }
    }

    /// The numbers in the form of documents other than JSON:API (contract 4.15).
    pub(super) fn underscored(&self) -> Value {
        json!({
            "current_page": self.current,
            "prev_page": self.previous,
            "next_page": self.next,
            "total_pages": self.pages,
            "total_count": self.total,
        })
    }

    fn meta(&self) -> Value {
        json!({
            "current-page": self.current,
            "page-size": self.size,
            "prev-page": self.previous,
            "next-page": self.next,
            "total-pages": self.pages,
            "total-count": self.total,
        })
    }

    /// The links to pages of the list at `address`, which keep the other parameters of the query.
    fn links(&self, address: &str, query: &str) -> Value {
        let link = |number: u64| {
            let others = query::pairs(query)
                .filter(|(name, _)| name != PAGE_NUMBER.name && name != PAGE_SIZE.name);
            let query = form_urlencoded::Serializer::new(String::new())
                .extend_pairs(others)
                .append_pair(PAGE_NUMBER.name, &number.to_string())
                .append_pair(PAGE_SIZE.name, &self.size.to_string())
                .finish();
            format!("{address}?{query}")
        };
        json!({
            "self": link(self.current),
            "first": link(1),
            "prev": self.previous.map(link),
            "next": self.next.map(link),
            "last": link(self.pages),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Method;
    use crate::json_writer::WriteJson as _;

    fn page(query: &str) -> Option<(u32, u32)> {
        PageRequest::if_mentioned(query).map(|page| (page.number, page.size))
    }

    #[test]
    fn contract_3_1_page_parameters() {
        assert_eq!(page(""), None);
        assert_eq!(page("q=x"), None);
        assert_eq!(page("page[number]=3"), Some((3, 20)));
        assert_eq!(page("page%5Bsize%5D=50"), Some((1, 50)));
        assert_eq!(page("page[number]=2&page[size]=500"), Some((2, 100)));
        for odd in ["", "0", "-1", "x", "1.5", "+1", " 1", "1e3"] {
            let query = format!("page[number]={odd}&page[size]={odd}");
            assert_eq!(page(&query), Some((1, 20)), "{odd:?}");
        }
        let huge = "page[number]=99999999999999999999&page[size]=99999999999999999999";
        assert_eq!(page(huge), Some((u32::MAX, 100)));
    }

    #[test]
    fn contract_3_3_other_lists_are_always_in_pages() {
        let page = |query: &str| {
            let page = PageRequest::always(query);
            (page.number, page.size)
        };
        assert_eq!(page(""), (1, 20));
        assert_eq!(page("q=x"), (1, 20));
        assert_eq!(page("page[number]=2&page[size]=7"), (2, 7));
    }

    #[test]
    fn contract_3_1_a_page_of_a_list_at_hand() {
        let page = |number, size| PageRequest { number, size }.of_all(1..=5);
        assert_eq!(page(1, 2), (vec![1, 2], 5));
        assert_eq!(page(3, 2), (vec![5], 5));
        assert_eq!(page(4, 2), (vec![], 5));
        assert_eq!(page(u32::MAX, 100), (vec![], 5));
        assert_eq!(page(1, 100), (vec![1, 2, 3, 4, 5], 5));
    }

    #[test]
    fn contract_3_3_a_page_links_to_where_it_was_asked_for() {
        let mut request = Request::new(Method::Get, "/api/v2/organizations/acme/teams/");
        request.query = "q=a&page[size]=2".to_owned();
        request.headers.push("host", "gatehouse.example");
        let page = PageRequest::always(&request.query);
        let mut written = Vec::new();
        paged(vec!["a", "b"], 3, page, &request).write_json(&mut written);
        let document: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!(document["data"], json!(["a", "b"]));
        let address = "http://gatehouse.example/api/v2/organizations/acme/teams";
        let second = format!("{address}?q=a&page%5Bnumber%5D=2&page%5Bsize%5D=2");
        assert_eq!(document["links"]["next"], second);
        let expected = json!({
            "current-page": 1, "page-size": 2, "prev-page": null, "next-page": 2,
            "total-pages": 2, "total-count": 3,
        });
        assert_eq!(document["meta"]["pagination"], expected);
        assert_eq!(document.get("included"), None);
    }

    fn numbers(number: u32, size: u32, total: u64) -> PageNumbers {
        PageNumbers::new(PageRequest { number, size }, total)
    }

    #[test]
    fn contract_3_3_pages_know_their_neighbours() {
        let second = numbers(2, 20, 25);
        assert_eq!(
            (second.previous, second.next, second.pages),
            (Some(1), None, 2)
        );
        let first = numbers(1, 20, 25);
        assert_eq!((first.previous, first.next), (None, Some(2)));
        assert_eq!(numbers(1, 25, 25).next, None);
        let beyond = numbers(7, 20, 25);
        assert_eq!((beyond.previous, beyond.next), (None, None));
        assert_eq!((beyond.current, beyond.pages, beyond.total), (7, 2, 25));
        let nothing = numbers(7, 20, 0);
        assert_eq!((nothing.current, nothing.pages, nothing.total), (1, 1, 0));
    }

    #[test]
    fn contract_3_3_links_keep_the_query_and_encode_brackets() {
        let query = "q=a b&page[size]=20&include=entitlement_set&page[number]=2";
        let links = numbers(2, 20, 25).links("https://host/api/v2/organizations", query);
        assert_eq!(
            links["first"],
            "https://host/api/v2/organizations?q=a+b&include=entitlement_set&page%5Bnumber%5D=1&page%5Bsize%5D=20"
        );
        assert_eq!(links["self"], links["last"]);
        assert_eq!(links["next"], Value::Null);
    }
}
