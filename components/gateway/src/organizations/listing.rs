//! The list of organizations: filters, pages, links (contract section 3).

use std::borrow::Cow;

use gatehouse_access::{Access, Operation};
use gatehouse_orgs::{
    Filter, MAXIMUM_BATCH, MAXIMUM_PAGE_SIZE, Organization, Organizations, Standing,
};
use serde_json::{Value, json};

use super::Api;
use super::caller::Caller;
use super::document::{Document, OrganizationResource, entitlement_set};
use super::include::Includes;
use super::plan_facts::PlanFacts;
use super::problem::Problem;
use super::transport::{json_api, origin};
use crate::http::Response;
use crate::query;

const PATH: &str = "/api/v2/organizations";
const DEFAULT_PAGE_SIZE: u32 = 20;
const PAGE_NUMBER: &str = "page[number]";
const PAGE_SIZE: &str = "page[size]";

/// Which page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PageRequest {
    /// From 1 on.
    number: u32,
    /// 1 to [`MAXIMUM_PAGE_SIZE`].
    size: u32,
}

impl PageRequest {
    /// `None` where the query mentions no page: everything is wanted then.
    fn of(query: &str) -> Option<Self> {
        let number = query::first(query, PAGE_NUMBER);
        let size = query::first(query, PAGE_SIZE);
        if number.is_none() && size.is_none() {
            return None;
        }
        let positive = |text: Option<&str>| text.and_then(positive_integer);
        Some(Self {
            number: positive(number.as_deref()).unwrap_or(1),
            size: positive(size.as_deref())
                .unwrap_or(DEFAULT_PAGE_SIZE)
                .min(MAXIMUM_PAGE_SIZE),
        })
    }
}

/// One part of the list, or all of it.
#[derive(Default)]
struct Selection {
    organizations: Vec<(Organization, Standing)>,
    total: u64,
}

impl<C: Access, O: Organizations> Api<'_, C, O> {
    /// Answers with the organizations that the caller may see.
    pub(super) fn list(&self) -> Result<Response, Problem> {
        // Everybody with a valid token has a list; what it holds is decided for each organization.
        let caller = self.ask(Operation::List, None)?.caller;
        let query = self.request.query.as_str();
        let includes = Includes::of_list(query)?;
        let page = PageRequest::of(query);
        let selection = self.select(caller, &filter(query), page)?;

        let mut facts = PlanFacts::new(self.organizations);
        for (organization, standing) in &selection.organizations {
            facts.prepare(organization.plan, *standing);
        }
        let included = includes.any.then(|| {
            let organizations = selection.organizations.iter();
            let wanted = organizations.filter(|_| includes.entitlement_set);
            wanted
                .map(|(found, _)| entitlement_set(found, facts.entitlements(found.plan)))
                .collect()
        });
        let resources: Vec<_> = selection
            .organizations
            .iter()
            .map(|(found, standing)| {
                OrganizationResource::new(found, facts.permissions(found.plan, *standing))
            })
            .collect();
        let mut document = Document::of(resources);
        document.included = included;
        if let Some(page) = page {
            let numbers = PageNumbers::new(page, selection.total);
            document.links =
                Some(numbers.links(&format!("{}{}", origin(self.request), PATH), query));
            document.meta = Some(json!({"pagination": numbers.meta()}));
        }
        Ok(json_api(200, &document))
    }

    fn select(
        &self,
        caller: Caller<'_>,
        filter: &Filter,
        page: Option<PageRequest>,
    ) -> Result<Selection, Problem> {
        match page {
            Some(page) if caller.is_site_administrator => {
                let found = self.organizations.page_at(
                    self.settings.edition,
                    filter,
                    page.number,
                    page.size,
                )?;
                let organizations = found.organizations.into_iter();
                Ok(Selection {
                    organizations: organizations
                        .map(|organization| (organization, Standing::SiteAdministrator))
                        .collect(),
                    total: found.total,
                })
            }
            page => self.select_visible(caller, filter, page),
        }
    }

    /// Goes through all organizations, for policies do not tell which ones they open.
    fn select_visible(
        &self,
        caller: Caller<'_>,
        filter: &Filter,
        page: Option<PageRequest>,
    ) -> Result<Selection, Problem> {
        let wanted = page.map_or(0..u64::MAX, |page| {
            let size = u64::from(page.size);
            let first = u64::from(page.number - 1) * size;
            first..first + size
        });
        let mut selection = Selection::default();
        let mut after: Option<String> = None;
        loop {
            let edition = self.settings.edition;
            let batch =
                self.organizations
                    .list(edition, filter, after.as_deref(), MAXIMUM_BATCH)?;
            let standings = self.standings(caller, &batch.organizations)?;
            for (organization, standing) in batch.organizations.into_iter().zip(standings) {
                let Some(standing) = standing else { continue };
                if wanted.contains(&selection.total) {
                    selection.organizations.push((organization, standing));
                }
                selection.total += 1;
            }
            after = batch.next;
            if after.is_none() {
                return Ok(selection);
            }
        }
    }

    /// What the caller is to each organization; `None` for those that the caller may not see.
    fn standings(
        &self,
        caller: Caller<'_>,
        organizations: &[Organization],
    ) -> Result<Vec<Option<Standing>>, Problem> {
        if caller.is_site_administrator {
            return Ok(vec![Some(Standing::SiteAdministrator); organizations.len()]);
        }
        if organizations.is_empty() {
            return Ok(Vec::new());
        }
        let names = organizations.iter().map(|found| found.name.as_str());
        let rights = self.rights(caller, names)?;
        let standing = |owns| {
            if owns {
                Standing::Owner
            } else {
                Standing::Member
            }
        };
        Ok(rights
            .into_iter()
            .map(|rights| rights.read.then(|| standing(rights.update)))
            .collect())
    }
}

/// The filter that a query asks for. A text for name or e-mail rules the two others out.
fn filter(query: &str) -> Filter {
    let text = |name| {
        query::first(query, name)
            .filter(|text| !text.is_empty())
            .map(Cow::into_owned)
    };
    match text("q") {
        Some(either) => Filter {
            name_or_email: Some(either),
            ..Filter::default()
        },
        None => Filter {
            name_or_email: None,
            name: text("q[name]"),
            email: text("q[email]"),
        },
    }
}

/// A number from 1 on; one beyond 32 bits is the greatest.
fn positive_integer(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse().unwrap_or(u32::MAX));
    number.filter(|number| *number > 0)
}

/// Where a page stands among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PageNumbers {
    current: u64,
    size: u64,
    previous: Option<u64>,
    next: Option<u64>,
    pages: u64,
    total: u64,
}

impl PageNumbers {
    fn new(page: PageRequest, total: u64) -> Self {
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

    /// Links to pages of the list at `address`, which keep what else the query says.
    fn links(&self, address: &str, query: &str) -> Value {
        let link = |number: u64| {
            let others =
                query::pairs(query).filter(|(name, _)| name != PAGE_NUMBER && name != PAGE_SIZE);
            let query = form_urlencoded::Serializer::new(String::new())
                .extend_pairs(others)
                .append_pair(PAGE_NUMBER, &number.to_string())
                .append_pair(PAGE_SIZE, &self.size.to_string())
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

    fn page(query: &str) -> Option<(u32, u32)> {
        PageRequest::of(query).map(|page| (page.number, page.size))
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
    fn contract_3_1_a_text_for_either_rules_the_others_out() {
        let either = filter("q=a&q[name]=b&q[email]=c");
        assert_eq!(either.name_or_email.as_deref(), Some("a"));
        assert_eq!((either.name, either.email), (None, None));
        let both = filter("q=&q%5Bname%5D=b&q[email]=c%40d");
        assert_eq!(both.name_or_email, None);
        assert_eq!(both.name.as_deref(), Some("b"));
        assert_eq!(both.email.as_deref(), Some("c@d"));
        assert_eq!(filter("q[name]=&q[email]="), Filter::default());
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
