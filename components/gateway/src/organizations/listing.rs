//! The list of organizations: who sees which, filters, pages (contract section 3).

use std::borrow::Cow;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Batch, Capability, Filter, MAXIMUM_BATCH, Organization, Plan, Principal, Reach, Right,
    Standing, Viewer,
};
use serde::{Deserialize, Serialize};

use super::Api;
use super::api_error::ApiError;
use super::caller::Caller;
use super::document::{Document, OrganizationResource};
use super::include::{Includes, feature_sets};
use super::pagination::{PageRequest, paged};
use super::parameter::Parameter;
use super::plan_facts::PlanFacts;
use super::policy_rights::greater;
use super::reach::Opened;
use super::transport::{json_api, json_api_of};
use crate::continuation::Continuation;
use crate::http::Response;
use crate::parts::Part;

pub(super) const EITHER: Parameter = Parameter::text(
    "q",
    "A part of name or e-mail address, in any case. It rules the two others out.",
);
pub(super) const NAME: Parameter = Parameter::text("q[name]", "A part of the name, in any case.");
pub(super) const EMAIL: Parameter =
    Parameter::text("q[email]", "A part of the e-mail address, in any case.");

/// A part of a list ends with the batch that brings it to this many organizations.
const ENOUGH_FOR_A_PART: usize = 400;

/// How many batches a part of a list without pages is made of at most: of those that a filter or the caller's rights leave empty too.
const BATCHES_PER_PART: usize = 8;

/// A page of the list.
#[derive(Default)]
struct Selection {
    organizations: Vec<Seen>,
    total: u64,
}

/// An organization that the caller sees, and what the caller is to it.
struct Seen {
    organization: Organization,
    standing: Standing,
    rights: Vec<Right>,
}

/// The organizations that a list can have, and whether it has all of them.
struct Sight {
    viewer: Viewer,
    is_exact: bool,
}

/// The next organizations of a list without pages.
struct Stretch {
    organizations: Vec<Seen>,
    /// Where to go on; `None` at the end.
    next: Option<String>,
}

/// How far a list without pages has been answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    member: Member,
    /// The organization that was reached; `None` at the beginning of the member.
    after: Option<String>,
    /// True once an item stands in the member.
    begun: bool,
    /// The plans whose feature sets come last.
    plans: Vec<Plan>,
}

/// The member of a document that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Member {
    /// The organizations.
    Data,
    /// The related resources, for which the list is read once more.
    Included,
}

impl Place {
    const fn beginning_of(member: Member) -> Self {
        Self {
            member,
            after: None,
            begun: false,
            plans: Vec::new(),
        }
    }

    /// Adds an item to the member.
    fn push(&mut self, body: &mut Vec<u8>, item: &impl Serialize) {
        if self.begun {
            body.push(b',');
        }
        self.begun = true;
        // Made of text, numbers and lists of them, which always serialize; bytes take any number of them.
        let _ = serde_json::to_writer(body, item);
    }
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    /// Answers with the organizations that the caller may see.
    pub(super) fn list(&self) -> Result<Response, ApiError> {
        // Every caller with a valid token has a list; what it holds is decided for each organization.
        let caller = self.authenticate(None)?;
        self.decided(&caller, true)?;
        let query = self.request.query.as_str();
        let includes = self.includes()?;
        let sight = self.sight(&caller)?;
        match PageRequest::if_mentioned(query) {
            Some(page) => {
                let selection = self.select(&caller, &sight, &filter(query), page)?;
                Ok(self.paged_list(&selection, includes, page))
            }
            None => self.whole_list(&caller, &sight, includes),
        }
    }

    fn paged_list(&self, selection: &Selection, includes: Includes, page: PageRequest) -> Response {
        let mut facts = self.facts_about(&selection.organizations);
        let included = includes.resources_of(organizations(&selection.organizations), &mut facts);
        let resources = selection.organizations.iter();
        let resources: Vec<_> = resources.map(|seen| seen.resource(&facts)).collect();
        let mut document = paged(resources, selection.total, page, self.request);
        document.included = included;
        json_api(200, &document)
    }

    /// The list without pages: at once where it is short, else its first part.
    fn whole_list(
        &self,
        caller: &Caller<'_>,
        sight: &Sight,
        includes: Includes,
    ) -> Result<Response, ApiError> {
        let filter = filter(&self.request.query);
        let stretch = self.stretch(caller, sight, &filter, None)?;
        let mut facts = self.facts_about(&stretch.organizations);
        if stretch.next.is_none() {
            let included = includes.resources_of(organizations(&stretch.organizations), &mut facts);
            let resources = stretch.organizations.iter();
            let resources: Vec<_> = resources.map(|seen| seen.resource(&facts)).collect();
            let mut document = Document::new(resources);
            document.included = included;
            return Ok(json_api(200, &document));
        }
        let mut body = br#"{"data":["#.to_vec();
        let place = Place::beginning_of(Member::Data);
        let rest = part_of_list(&mut body, place, stretch, includes, &mut facts);
        let mut response = json_api_of(200, body);
        response.rest = rest.map(|place| Continuation::Organizations(place).rest());
        Ok(response)
    }

    /// The part of a list that begins at `place`. Who asks, and what they see, is found out anew.
    pub(super) fn resume_list(&self, place: Place) -> Result<Part, ApiError> {
        let caller = self.authenticate_again()?;
        let query = self.request.query.as_str();
        let includes = self.includes()?;
        let sight = self.sight(&caller)?;
        let stretch = self.stretch(&caller, &sight, &filter(query), place.after.as_deref())?;
        let mut facts = self.facts_about(&stretch.organizations);
        let mut body = Vec::new();
        let rest = part_of_list(&mut body, place, stretch, includes, &mut facts);
        Ok(Part {
            body,
            rest: rest.map(|place| Continuation::Organizations(place).rest()),
        })
    }

    fn facts_about(&self, organizations: &[Seen]) -> PlanFacts<'_, O> {
        let mut facts = PlanFacts::new(self.organizations);
        for seen in organizations {
            facts.prepare(seen.organization.plan, seen.standing, &seen.rights);
        }
        facts
    }

    fn select(
        &self,
        caller: &Caller<'_>,
        sight: &Sight,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<Selection, ApiError> {
        if !sight.is_exact {
            return self.select_one_by_one(caller, sight, filter, page);
        }
        let edition = self.settings.edition;
        let found =
            self.organizations
                .page_at(edition, &sight.viewer, filter, page.number, page.size)?;
        Ok(Selection {
            organizations: self.seen(caller, found.organizations, true)?,
            total: found.total,
        })
    }

    /// Which organizations the list of the caller can have.
    fn sight(&self, caller: &Caller<'_>) -> Result<Sight, ApiError> {
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
        sight: &Sight,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<Selection, ApiError> {
        let wanted = page.range();
        let mut selection = Selection::default();
        let mut after: Option<String> = None;
        loop {
            let batch = self.batch(sight, filter, after.as_deref())?;
            for seen in self.seen(caller, batch.organizations, sight.is_exact)? {
                if wanted.contains(&selection.total) {
                    selection.organizations.push(seen);
                }
                selection.total += 1;
            }
            after = batch.next;
            if after.is_none() {
                return Ok(selection);
            }
        }
    }

    /// The organizations of the list after `after`, as far as a part of an answer goes.
    fn stretch(
        &self,
        caller: &Caller<'_>,
        sight: &Sight,
        filter: &Filter,
        after: Option<&str>,
    ) -> Result<Stretch, ApiError> {
        let mut stretch = Stretch {
            organizations: Vec::new(),
            next: after.map(str::to_owned),
        };
        for _ in 0..BATCHES_PER_PART {
            let batch = self.batch(sight, filter, stretch.next.as_deref())?;
            let seen = self.seen(caller, batch.organizations, sight.is_exact)?;
            stretch.organizations.extend(seen);
            stretch.next = batch.next;
            if stretch.next.is_none() || stretch.organizations.len() >= ENOUGH_FOR_A_PART {
                break;
            }
        }
        Ok(stretch)
    }

    fn batch(
        &self,
        sight: &Sight,
        filter: &Filter,
        after: Option<&str>,
    ) -> Result<Batch, ApiError> {
        let edition = self.settings.edition;
        Ok(self
            .organizations
            .list(edition, &sight.viewer, filter, after, MAXIMUM_BATCH)?)
    }

    /// Those of the organizations that the caller sees, which are all of them if the list is exact, with what the caller is to each.
    fn seen(
        &self,
        caller: &Caller<'_>,
        organizations: Vec<Organization>,
        is_exact: bool,
    ) -> Result<Vec<Seen>, ApiError> {
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

impl Seen {
    fn resource<'a, O: Capability>(
        &'a self,
        facts: &'a PlanFacts<'_, O>,
    ) -> OrganizationResource<'a> {
        let plan = self.organization.plan;
        let permissions = facts.permissions(plan, self.standing, &self.rights);
        OrganizationResource::new(&self.organization, permissions)
    }
}

fn organizations(seen: &[Seen]) -> impl Iterator<Item = &Organization> {
    seen.iter().map(|seen| &seen.organization)
}

/// Writes what `stretch` adds to the document of a list, and tells where it goes on; `None` where the document is complete.
fn part_of_list<O: Capability>(
    body: &mut Vec<u8>,
    mut place: Place,
    stretch: Stretch,
    includes: Includes,
    facts: &mut PlanFacts<'_, O>,
) -> Option<Place> {
    match place.member {
        Member::Data => {
            for seen in &stretch.organizations {
                place.push(body, &seen.resource(facts));
            }
        }
        Member::Included => {
            let found = organizations(&stretch.organizations);
            for resource in includes.beside(found, facts, &mut place.plans) {
                place.push(body, &resource);
            }
        }
    }
    place.after = stretch.next;
    match place.member {
        _ if place.after.is_some() => Some(place),
        Member::Data if includes.any() => {
            body.extend_from_slice(br#"],"included":["#);
            Some(Place::beginning_of(Member::Included))
        }
        Member::Data => {
            body.extend_from_slice(b"]}");
            None
        }
        Member::Included => {
            for set in feature_sets(&std::mem::take(&mut place.plans), facts) {
                place.push(body, &set);
            }
            body.extend_from_slice(b"]}");
            None
        }
    }
}

/// The filter that a query asks for. A text for name or e-mail rules the two others out.
pub(super) fn filter(query: &str) -> Filter {
    let text = |parameter: Parameter| {
        parameter
            .first(query)
            .filter(|text| !text.is_empty())
            .map(Cow::into_owned)
    };
    match text(EITHER) {
        Some(either) => Filter {
            name_or_email: Some(either),
            ..Filter::default()
        },
        None => Filter {
            name_or_email: None,
            name: text(NAME),
            email: text(EMAIL),
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
