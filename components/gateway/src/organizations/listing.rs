//! The list of organizations: the organizations that each caller sees, the filters and the pages (contract section 3).

use std::borrow::Cow;
use std::rc::Rc;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Batch, Capability, Entitlement, FeatureSet, Filter, ListedOrganization, MAXIMUM_BATCH,
    MembershipSummaries, Organization, Plan, PlanEntitlements, Principal, Reach, Viewer,
};

use super::api::Api;
use super::api_error::ApiError;
use super::caller::Caller;
use super::document::{Document, OrganizationResource};
use super::include::{Includes, resources_of_plans};
use super::list_cursor::{ListCursor, Member};
use super::organization::shown_permissions;
use super::pagination::{PageRequest, paged};
use super::parameter::Parameter;
use super::policy_paths::Rights;
use super::reach::Opened;
use super::transport::{json_api, json_api_of};
use crate::continuation::Continuation;
use crate::http::Response;
use crate::json_writer::Written;
use crate::parts::Part;

pub(super) const EITHER: Parameter = Parameter::text(
    "q",
    "A part of the name or email address, in any case. The two others are ignored beside it.",
);
pub(super) const NAME: Parameter = Parameter::text("q[name]", "A part of the name, in any case.");
pub(super) const EMAIL: Parameter =
    Parameter::text("q[email]", "A part of the email address, in any case.");

/// The number of organizations that is enough for a part of a list. A part ends with the batch that reaches it.
const ENOUGH_FOR_A_PART: usize = 400;

/// The maximum number of batches in a part of a list without pages. Batches that a filter or the caller's rights leave empty count too.
const BATCHES_PER_PART: usize = 8;

/// A page of the list.
#[derive(Default)]
struct Selection {
    organizations: Vec<Seen>,
    total: u64,
}

/// An organization that the caller sees, the entitlements of its plan, and the caller's permissions in it.
struct Seen {
    organization: Organization,
    entitlements: Rc<[Entitlement]>,
    permissions: Rc<Written>,
}

/// The organizations that a list can contain. `is_exact` is true if the caller sees all of them.
struct Sight {
    viewer: Viewer,
    is_exact: bool,
}

/// The next organizations of a list without pages.
struct Stretch {
    organizations: Vec<Seen>,
    /// The organization to continue after; `None` at the end.
    next: Option<String>,
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    /// Answers with the organizations that the caller may see.
    pub(super) fn list(&self) -> Result<Response, ApiError> {
        // Every caller with a valid token may list; the content is decided for each organization.
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
        let feature_sets = self.feature_sets_for(includes);
        let included =
            includes.resources_of(organizations(&selection.organizations), &feature_sets);
        let resources = selection.organizations.iter().map(Seen::resource).collect();
        let mut document =
            paged::<OrganizationResource<'_>>(resources, selection.total, page, self.request);
        document.included = included;
        json_api(200, &document)
    }

    /// The list without pages: complete if it is short, else its first part.
    fn whole_list(
        &self,
        caller: &Caller<'_>,
        sight: &Sight,
        includes: Includes,
    ) -> Result<Response, ApiError> {
        let filter = filter(&self.request.query);
        let stretch = self.stretch(caller, sight, &filter, None)?;
        let feature_sets = self.feature_sets_for(includes);
        if stretch.next.is_none() {
            let included =
                includes.resources_of(organizations(&stretch.organizations), &feature_sets);
            let resources: Vec<_> = stretch.organizations.iter().map(Seen::resource).collect();
            let mut document = Document::new(resources);
            document.included = included;
            return Ok(json_api(200, &document));
        }
        let mut body = br#"{"data":["#.to_vec();
        let cursor = ListCursor::beginning_of(Member::Data);
        let rest = part_of_list(&mut body, cursor, stretch, includes, &feature_sets);
        let mut response = json_api_of(200, body);
        response.rest = rest.map(|cursor| Continuation::Organizations(cursor).rest());
        Ok(response)
    }

    /// The part of a list that begins at `cursor`. The caller and their rights are checked again.
    pub(super) fn resume_list(&self, cursor: ListCursor) -> Result<Part, ApiError> {
        let caller = self.authenticate_again()?;
        let query = self.request.query.as_str();
        let includes = self.includes()?;
        let sight = self.sight(&caller)?;
        let stretch = self.stretch(&caller, &sight, &filter(query), cursor.after.as_deref())?;
        let feature_sets = self.feature_sets_for(includes);
        let mut body = Vec::new();
        let rest = part_of_list(&mut body, cursor, stretch, includes, &feature_sets);
        Ok(Part {
            body,
            rest: rest.map(|cursor| Continuation::Organizations(cursor).rest()),
        })
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
        let found = self
            .organizations
            .page_at(&sight.viewer, filter, page.number, page.size)?;
        Ok(Selection {
            organizations: self.seen(caller, found.organizations, &found.entitlements, true)?,
            total: found.total,
        })
    }

    /// The organizations that the caller's list can contain.
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

    /// Goes through the organizations that the list can contain, batch by batch.
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
            let mut batch = self.batch(sight, filter, after.as_deref())?;
            let seen = self.seen_of(caller, sight, &mut batch)?;
            for seen in seen {
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

    /// The organizations of the list that follow `after`, as many as fit into one part of an answer.
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
            let mut batch = self.batch(sight, filter, stretch.next.as_deref())?;
            let seen = self.seen_of(caller, sight, &mut batch)?;
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
        Ok(self
            .organizations
            .list(&sight.viewer, filter, after, MAXIMUM_BATCH)?)
    }

    /// The organizations of a batch that the caller sees.
    fn seen_of(
        &self,
        caller: &Caller<'_>,
        sight: &Sight,
        batch: &mut Batch,
    ) -> Result<Vec<Seen>, ApiError> {
        let organizations = std::mem::take(&mut batch.organizations);
        self.seen(caller, organizations, &batch.entitlements, sight.is_exact)
    }

    /// The organizations that the caller sees: all of them if the list is exact. `entitlements` are those of their plans.
    fn seen(
        &self,
        caller: &Caller<'_>,
        organizations: Vec<Organization>,
        entitlements: &[PlanEntitlements],
        is_exact: bool,
    ) -> Result<Vec<Seen>, ApiError> {
        let by_policies = if caller.is_site_administrator() {
            // No role that policies give is greater than theirs.
            vec![Rights::default(); organizations.len()]
        } else {
            let names = organizations.iter().map(|found| found.name.as_str());
            self.rights(caller, names)?
        };
        let listed: Vec<ListedOrganization> = organizations
            .iter()
            .zip(&by_policies)
            .map(|(organization, by_policies)| ListedOrganization {
                external_id: organization.external_id.clone(),
                plan: organization.plan,
                role_by_policies: by_policies.role(),
            })
            .collect();
        let MembershipSummaries {
            memberships,
            permissions,
        } = self
            .organizations
            .summarize_memberships(&caller.identity, &listed)?;
        let permissions: Vec<Rc<Written>> = permissions
            .iter()
            .map(|all| shown_permissions(all).into())
            .collect();
        let entitlements: Vec<(Plan, Rc<[Entitlement]>)> = entitlements
            .iter()
            .map(|of_plan| (of_plan.plan, Rc::from(of_plan.entitlements.as_slice())))
            .collect();
        let of_plan = |plan: Plan| {
            let found = entitlements.iter().find(|(known, _)| *known == plan);
            found.map(|(_, all)| Rc::clone(all)).unwrap_or_default()
        };
        let all = organizations.into_iter().zip(memberships).zip(by_policies);
        let seen = all.filter_map(|((organization, membership), by_policies)| {
            let sees = is_exact || membership.role.is_some() || by_policies.read;
            let permissions = permissions.get(membership.permissions as usize);
            sees.then(|| Seen {
                entitlements: of_plan(organization.plan),
                permissions: permissions.map_or_else(|| shown_permissions(&[]).into(), Rc::clone),
                organization,
            })
        });
        Ok(seen.collect())
    }
}

impl Seen {
    fn resource(&self) -> OrganizationResource<'_> {
        OrganizationResource::for_caller(&self.organization, &self.permissions)
    }
}

fn organizations(seen: &[Seen]) -> impl Iterator<Item = (&Organization, &[Entitlement])> {
    seen.iter()
        .map(|seen| (&seen.organization, &*seen.entitlements))
}

/// Writes the part of the list's document for `stretch`, and returns the cursor of the next part; `None` where the document is complete.
fn part_of_list(
    body: &mut Vec<u8>,
    mut cursor: ListCursor,
    stretch: Stretch,
    includes: Includes,
    feature_sets: &[FeatureSet],
) -> Option<ListCursor> {
    match cursor.member {
        Member::Data => {
            for seen in &stretch.organizations {
                cursor.push(body, &seen.resource());
            }
        }
        Member::Included => {
            let found = organizations(&stretch.organizations);
            for resource in includes.beside(found, feature_sets, &mut cursor.plans) {
                cursor.push(body, &resource);
            }
        }
    }
    cursor.after = stretch.next;
    match cursor.member {
        _ if cursor.after.is_some() => Some(cursor),
        Member::Data if includes.any() => {
            body.extend_from_slice(br#"],"included":["#);
            Some(ListCursor::beginning_of(Member::Included))
        }
        Member::Data => {
            body.extend_from_slice(b"]}");
            None
        }
        Member::Included => {
            for set in resources_of_plans(&std::mem::take(&mut cursor.plans), feature_sets) {
                cursor.push(body, &set);
            }
            body.extend_from_slice(b"]}");
            None
        }
    }
}

/// The filter that a query asks for. A text for name or email overrides the two other filters.
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
