//! The list of organizations: who sees which, filters, pages (contract section 3).

use std::borrow::Cow;

use gatehouse_access::Access;
use gatehouse_orgs::{
    Capability, Filter, MAXIMUM_BATCH, Organization, Principal, Reach, Rights, Standing, Viewer,
};

use super::Api;
use super::caller::{Caller, greater};
use super::document::{Document, OrganizationResource};
use super::include::Includes;
use super::pagination::{PageRequest, paged};
use super::plan_facts::PlanFacts;
use super::problem::Problem;
use super::reach::Opened;
use super::transport::json_api;
use crate::http::Response;
use crate::query;

/// Most organizations in a list that is not in pages, so that an instance has room for them.
const MAXIMUM_AT_ONCE: usize = 2_000;

/// One part of the list, or all of it.
#[derive(Default)]
struct Selection {
    organizations: Vec<Seen>,
    total: u64,
}

/// An organization that the caller sees, and what the caller is to it.
struct Seen {
    organization: Organization,
    standing: Standing,
    rights: Rights,
}

/// What a list can have, and whether it has all of that.
struct Sight {
    viewer: Viewer,
    is_exact: bool,
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

        let mut facts = PlanFacts::new(self.organizations);
        for seen in &selection.organizations {
            facts.prepare(seen.organization.plan, seen.standing, &seen.rights);
        }
        let organizations = selection
            .organizations
            .iter()
            .map(|seen| &seen.organization);
        let included = includes.of(organizations, &mut facts);
        let resources: Vec<_> = selection
            .organizations
            .iter()
            .map(|seen| {
                let plan = seen.organization.plan;
                let permissions = facts.permissions(plan, seen.standing, &seen.rights);
                OrganizationResource::new(&seen.organization, permissions)
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
        let Sight { viewer, is_exact } = self.sight(caller)?;
        match page {
            Some(page) if is_exact => {
                let edition = self.settings.edition;
                let found =
                    self.organizations
                        .page_at(edition, &viewer, filter, page.number, page.size)?;
                Ok(Selection {
                    organizations: self.seen(caller, found.organizations, is_exact)?,
                    total: found.total,
                })
            }
            page => self.select_one_by_one(caller, &viewer, is_exact, filter, page),
        }
    }

    /// Which organizations the list of the caller can have.
    fn sight(&self, caller: &Caller<'_>) -> Result<Sight, Problem> {
        let exactly = |viewer| Sight {
            viewer,
            is_exact: true,
        };
        if caller.is_site_administrator() {
            return Ok(exactly(Viewer::Everything));
        }
        let user = match &caller.identity.principal {
            Principal::Team(team) => return Ok(exactly(Viewer::Only(team.organization.clone()))),
            Principal::Organization(id) => return Ok(exactly(Viewer::Only(id.clone()))),
            Principal::AuditReader(_) => return Ok(exactly(Viewer::Nothing)),
            Principal::User(user) if caller.identity.token_id.is_some() => {
                return Ok(exactly(Viewer::Member(user.id.clone())));
            }
            Principal::User(user) => Some(user.id.clone()),
            Principal::Installation | Principal::Workload(_) => None,
        };
        let Opened {
            names,
            prefixes,
            is_exact,
        } = self.opened(caller)?;
        let reach = Reach {
            names,
            prefixes,
            user,
        };
        Ok(Sight {
            viewer: Viewer::Workload(reach),
            is_exact,
        })
    }

    /// Goes through the organizations that the list can have, a batch at a time.
    fn select_one_by_one(
        &self,
        caller: &Caller<'_>,
        viewer: &Viewer,
        is_exact: bool,
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
                viewer,
                filter,
                after.as_deref(),
                MAXIMUM_BATCH,
            )?;
            for seen in self.seen(caller, batch.organizations, is_exact)? {
                if wanted.contains(&selection.total) {
                    selection.organizations.push(seen);
                }
                selection.total += 1;
            }
            if selection.organizations.len() > MAXIMUM_AT_ONCE {
                return Err(Problem::TooLong(MAXIMUM_AT_ONCE));
            }
            after = batch.next;
            if after.is_none() {
                return Ok(selection);
            }
        }
    }

    /// Those of the organizations that the caller sees, which are all of them if the list is exact, with what the caller is to each.
    fn seen(
        &self,
        caller: &Caller<'_>,
        organizations: Vec<Organization>,
        is_exact: bool,
    ) -> Result<Vec<Seen>, Problem> {
        let ids: Vec<String> = organizations
            .iter()
            .map(|found| found.external_id.clone())
            .collect();
        let ties = self.organizations.ties(&caller.identity, &ids)?;
        let names = organizations.iter().map(|found| found.name.as_str());
        let by_policies = self.rights(caller, names)?;
        let all = organizations.into_iter().zip(ties).zip(by_policies);
        let seen = all.filter_map(|((organization, tie), by_policies)| {
            let sees = is_exact || tie.standing.is_some() || by_policies.read;
            let standing = greater(tie.standing, by_policies.standing());
            sees.then_some(Seen {
                organization,
                standing,
                rights: tie.rights,
            })
        });
        Ok(seen.collect())
    }
}

/// The filter that a query asks for. A text for name or e-mail rules the two others out.
pub(super) fn filter(query: &str) -> Filter {
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
