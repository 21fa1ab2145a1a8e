//! Instance groups: which exist, and whether an instance is in one of them (contract 4.6/G11, D9).

use std::collections::{BTreeMap, BTreeSet};

use gatehouse_ports::{Clock, Http, Random};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::api_error::ApiError;
use super::call_error::CallError;
use super::compute::{instance_path, region_of};
use super::exchange::Question;
use super::strict::Object;
use super::{Api, Google, Instance};
use crate::{GceRules, GroupLocations};

/// Pages of one list that are read before the list counts as endless.
const MAXIMUM_PAGES: usize = 50;
/// Longest page, in bytes.
const MAXIMUM_PAGE_BYTES: usize = 8 * 1024 * 1024;
/// Entries of a page of members, the most that the API gives.
const MEMBERS_PER_PAGE: &str = "500";

/// Google's word about an instance and the groups of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Membership {
    /// It is in one of them.
    Member,
    /// None of the groups exists in the role's locations; holds the first one's name and where it was looked for.
    NoSuchGroup(String, GroupLocations),
    /// It is in none of those that exist.
    Outsider,
}

/// The collections of the API that groups are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    Zones,
    Regions,
}

impl Scope {
    const fn segment(self) -> &'static str {
        match self {
            Self::Zones => "zones",
            Self::Regions => "regions",
        }
    }
}

/// A group that exists and that a role names, in a place where the role looks for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    scope: Scope,
    location: String,
    name: String,
}

/// One page of a list, which the API leaves out when it is empty.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<T> {
    items: Option<T>,
    #[serde(default)]
    next_page_token: String,
}

/// The groups of one place.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Groups {
    #[serde(default)]
    instance_groups: Vec<Object<Group>>,
}

#[derive(Deserialize)]
struct Group {
    name: String,
}

#[derive(Deserialize)]
struct Member {
    /// A link.
    instance: String,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// True if `instance` of `project` is in one of the groups that `rules` name. Never from memory.
    pub(crate) fn group_membership(
        &self,
        project: &str,
        instance: &Instance,
        rules: &GceRules,
    ) -> Result<Membership, ApiError> {
        let mut candidates = self.candidates(project, rules)?;
        if candidates.is_empty() {
            let first = rules.bound_instance_groups.first().cloned();
            return Ok(Membership::NoSuchGroup(
                first.unwrap_or_default(),
                locations(rules),
            ));
        }
        // The group is most likely where the instance itself is.
        let here = [instance.zone.as_str(), region_of(&instance.zone)];
        candidates.sort_by_key(|candidate| !here.contains(&candidate.location.as_str()));
        for candidate in &candidates {
            if self.has_member(project, candidate, &instance.link)? {
                return Ok(Membership::Member);
            }
        }
        Ok(Membership::Outsider)
    }

    /// Every group of the role, in every place where the role looks for it.
    fn candidates(&self, project: &str, rules: &GceRules) -> Result<Vec<Candidate>, ApiError> {
        let segments = ["projects", project, "aggregated", "instanceGroups"];
        let fields = ("fields", "items/*/instanceGroups/name,nextPageToken");
        let question =
            |page: &str| Question::get(Api::Compute, self.page_url(&segments, fields, page));
        let mut candidates = BTreeSet::new();
        self.any_page(question, |places: BTreeMap<String, Object<Groups>>| {
            for (place, Object(groups)) in places {
                let Some((scope, location)) = place_of_groups(&place, rules) else {
                    continue;
                };
                let names = groups
                    .instance_groups
                    .into_iter()
                    .map(|Object(group)| group.name);
                let wanted = names.filter(|name| rules.bound_instance_groups.contains(name));
                candidates.extend(wanted.map(|name| Candidate {
                    scope,
                    location: location.to_owned(),
                    name,
                }));
            }
            false
        })?;
        Ok(candidates.into_iter().collect())
    }

    /// True if the instance with this link is in the group. A group that has vanished since it was listed has no members.
    fn has_member(
        &self,
        project: &str,
        candidate: &Candidate,
        link: &str,
    ) -> Result<bool, ApiError> {
        let segments = [
            "projects",
            project,
            candidate.scope.segment(),
            &candidate.location,
            "instanceGroups",
            &candidate.name,
            "listInstances",
        ];
        // The API could filter by link, but only by the text of a link, which may name another version of the API.
        let size = ("maxResults", MEMBERS_PER_PAGE);
        let question = |page: &str| {
            let url = self.page_url(&segments, size, page);
            Question::post(Api::Compute, url, "application/json", b"{}".to_vec())
        };
        let found = self.any_page(question, |members: Vec<Object<Member>>| {
            let mut paths = members
                .iter()
                .map(|Object(member)| instance_path(&member.instance));
            paths.any(|path| path.as_deref() == Some(link))
        });
        match found {
            Err(ApiError::Refused(refusal)) if refusal.status == 404 => Ok(false),
            found => found,
        }
    }

    /// Shows page after page to `is_last_needed`, until that says yes, which makes the answer yes, or there are no more.
    fn any_page<T: DeserializeOwned>(
        &self,
        question: impl Fn(&str) -> Question,
        mut is_last_needed: impl FnMut(T) -> bool,
    ) -> Result<bool, ApiError> {
        let mut token = String::new();
        for _ in 0..MAXIMUM_PAGES {
            let question = question(&token).with_maximum_answer(MAXIMUM_PAGE_BYTES);
            let page: Page<T> = self.ask_authorized(&question)?;
            if page.items.is_some_and(&mut is_last_needed) {
                return Ok(true);
            }
            if page.next_page_token.is_empty() {
                return Ok(false);
            }
            token = page.next_page_token;
        }
        Err(CallError::Unusable(Api::Compute).into())
    }

    fn page_url(&self, segments: &[&str], parameter: (&str, &str), page: &str) -> Option<Url> {
        let mut url = self.endpoints.url(Api::Compute, segments)?;
        url.query_pairs_mut().append_pair(parameter.0, parameter.1);
        if !page.is_empty() {
            url.query_pairs_mut().append_pair("pageToken", page);
        }
        Some(url)
    }
}

/// The scope and location of `place`, such as `zones/us-central1-a`, if the role looks for groups there. Regional groups count where
/// the role is bound to regions only: its zones are narrower than they are.
fn place_of_groups<'a>(place: &'a str, rules: &GceRules) -> Option<(Scope, &'a str)> {
    let (scope, location) = match place.split_once('/')? {
        ("zones", zone) => (Scope::Zones, zone),
        ("regions", region) => (Scope::Regions, region),
        _ => return None,
    };
    let has = |bounds: &[String], name: &str| bounds.iter().any(|bound| bound == name);
    let fits = match (scope, rules.bound_zones.is_empty()) {
        (Scope::Zones, false) => has(&rules.bound_zones, location),
        (Scope::Zones, true) => has(&rules.bound_regions, region_of(location)),
        (Scope::Regions, true) => has(&rules.bound_regions, location),
        (Scope::Regions, false) => false,
    };
    fits.then_some((scope, location))
}

fn locations(rules: &GceRules) -> GroupLocations {
    if rules.bound_zones.is_empty() {
        GroupLocations::Regions(rules.bound_regions.clone())
    } else {
        GroupLocations::Zones(rules.bound_zones.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(zones: &[&str], regions: &[&str]) -> GceRules {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        GceRules {
            bound_zones: owned(zones),
            bound_regions: owned(regions),
            ..GceRules::default()
        }
    }

    #[test]
    fn d9_groups_are_looked_for_in_exactly_the_roles_places() {
        let by_region = rules(&[], &["europe-west1"]);
        for (place, found) in [
            ("zones/europe-west1-b", true),
            ("zones/europe-west10-a", false),
            ("regions/europe-west1", true),
            ("regions/europe-west10", false),
            ("regions/europe-west2", false),
            ("global", false),
            ("global/europe-west1", false),
            ("zones/europe-west1", false),
        ] {
            assert_eq!(
                place_of_groups(place, &by_region).is_some(),
                found,
                "{place}"
            );
        }
        let by_zone = rules(&["europe-west1-b"], &["europe-west1"]);
        for (place, found) in [
            ("zones/europe-west1-b", true),
            ("zones/europe-west1-c", false),
            ("regions/europe-west1", false),
        ] {
            assert_eq!(place_of_groups(place, &by_zone).is_some(), found, "{place}");
        }
    }
}
