//! The list of organizations: who sees which, filters, pages (contract section 3).

use std::borrow::Cow;

use gatehouse_access::Access;
use gatehouse_orgs::{Capability, Filter, MAXIMUM_BATCH, Organization, Standing, Viewer};

use super::Api;
use super::caller::Caller;
use super::document::{Document, OrganizationResource};
use super::include::Includes;
use super::pagination::{PageRequest, paged};
use super::plan_facts::PlanFacts;
use super::problem::Problem;
use super::transport::json_api;
use crate::http::Response;
use crate::query;

/// One part of the list, or all of it.
#[derive(Default)]
struct Selection {
    organizations: Vec<(Organization, Standing)>,
    total: u64,
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    /// Answers with the organizations that the caller may see.
    pub(super) fn list(&self) -> Result<Response, Problem> {
        // Everybody with a valid token has a list; what it holds is decided for each organization.
        let caller = self.authenticate(None)?;
        self.decided(&caller, true)?;
        let query = self.request.query.as_str();
        let includes = Includes::of_list(query)?;
        let page = PageRequest::of(query);
        let selection = self.select(&caller, &filter(query), page)?;

        let organizations = selection.organizations.iter();
        let ids: Vec<String> = organizations
            .map(|(found, _)| found.external_id.clone())
            .collect();
        let ties = self.organizations.ties(&caller.identity, &ids)?;
        let mut facts = PlanFacts::new(self.organizations);
        for ((organization, standing), tie) in selection.organizations.iter().zip(&ties) {
            facts.prepare(organization.plan, *standing, &tie.rights);
        }
        let organizations = selection.organizations.iter().map(|(found, _)| found);
        let included = includes.of(organizations, &mut facts);
        let resources: Vec<_> = selection
            .organizations
            .iter()
            .zip(&ties)
            .map(|((found, standing), tie)| {
                let permissions = facts.permissions(found.plan, *standing, &tie.rights);
                OrganizationResource::new(found, permissions)
            })
            .collect();
        let mut document = match page {
            Some(page) => paged(resources, selection.total, page, self.request),
            None => Document::of(resources),
        };
        document.included = included;
        Ok(json_api(200, &document))
    }

    fn select(
        &self,
        caller: &Caller<'_>,
        filter: &Filter,
        page: Option<PageRequest>,
    ) -> Result<Selection, Problem> {
        match page {
            Some(page) if caller.is_site_administrator() => {
                let found = self.organizations.page_at(
                    self.settings.edition,
                    &Viewer::Everything,
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
        caller: &Caller<'_>,
        filter: &Filter,
        page: Option<PageRequest>,
    ) -> Result<Selection, Problem> {
        let wanted = page.map_or(0..u64::MAX, PageRequest::range);
        let mut selection = Selection::default();
        let mut after: Option<String> = None;
        loop {
            let edition = self.settings.edition;
            let batch = self.organizations.list(
                edition,
                &Viewer::Everything,
                filter,
                after.as_deref(),
                MAXIMUM_BATCH,
            )?;
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
        caller: &Caller<'_>,
        organizations: &[Organization],
    ) -> Result<Vec<Option<Standing>>, Problem> {
        if caller.is_site_administrator() {
            return Ok(vec![Some(Standing::SiteAdministrator); organizations.len()]);
        }
        if organizations.is_empty() {
            return Ok(Vec::new());
        }
        let names = organizations.iter().map(|found| found.name.as_str());
        let rights = self.rights(caller, names)?;
        Ok(rights
            .into_iter()
            .map(|rights| rights.standing().filter(|_| rights.read))
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
