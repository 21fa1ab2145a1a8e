//! Instance groups, zonal and regional, and a project's list of them (contract 4.6, G11).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::answer::{self, Outcome};
use crate::call::Call;
use crate::compute::{LINK_BASE, pages, region_of};
use crate::instance::instance_path;
use crate::state::State;

const LIST: &str = "compute.instanceGroups.list";

/// Where a group lives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// A zone, such as `europe-west1-b`.
    Zone(String),
    /// A region, such as `europe-west1`.
    Region(String),
}

impl Location {
    /// True if the instances of this zone may belong to its groups.
    pub(crate) fn covers(&self, zone: &str) -> bool {
        match self {
            Self::Zone(name) => name == zone,
            Self::Region(name) => name == region_of(zone),
        }
    }
}

impl fmt::Display for Location {
    /// `zones/<zone>` or `regions/<region>`, as it stands in paths.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zone(name) => write!(formatter, "zones/{name}"),
            Self::Region(name) => write!(formatter, "regions/{name}"),
        }
    }
}

/// A group of instances of one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstanceGroup {
    /// Project that the group belongs to.
    pub project_id: String,
    /// Its zone or region.
    pub location: Location,
    /// Name, unique within its location and project.
    pub name: String,
    /// Zone and name of each member, in the order of their joining.
    pub members: Vec<(String, String)>,
}

impl InstanceGroup {
    /// A group of one zone, without members.
    #[must_use]
    pub fn zonal(project_id: &str, zone: &str, name: &str) -> Self {
        Self::at(project_id, Location::Zone(zone.to_owned()), name)
    }

    /// A group of all zones of a region, without members.
    #[must_use]
    pub fn regional(project_id: &str, region: &str, name: &str) -> Self {
        Self::at(project_id, Location::Region(region.to_owned()), name)
    }

    /// The same group with one more member.
    #[must_use]
    pub fn with_member(mut self, zone: &str, instance: &str) -> Self {
        self.members.push((zone.to_owned(), instance.to_owned()));
        self
    }

    fn at(project_id: &str, location: Location, name: &str) -> Self {
        Self {
            project_id: project_id.to_owned(),
            location,
            name: name.to_owned(),
            members: Vec::new(),
        }
    }

    /// The group's path: `projects/p/zones/z/instanceGroups/g`.
    #[must_use]
    pub fn path(&self) -> String {
        group_path(&self.project_id, &self.location, &self.name)
    }

    /// Paths of the members, in the order of their joining.
    pub(super) fn member_paths(&self) -> impl Iterator<Item = String> {
        self.members
            .iter()
            .map(|(zone, name)| instance_path(&self.project_id, zone, name))
    }
}

/// The path of a group.
pub(super) fn group_path(project: &str, location: &Location, name: &str) -> String {
    format!("projects/{project}/{location}/instanceGroups/{name}")
}

impl State {
    /// Answers `instanceGroups.aggregatedList`.
    pub(super) fn aggregated_groups(&self, project: &str, call: &Call<'_>) -> Outcome {
        let resource = format!("projects/{project}");
        self.authorize_compute(project, LIST, &resource, call)?;
        if !self.has_project(project) {
            let message = format!("Failed to find project {project}");
            return Err(answer::refusal(StatusCode::NOT_FOUND, &message));
        }

        let list = format!("{resource}/aggregated/instanceGroups");
        let groups: BTreeMap<_, _> = self
            .instance_groups
            .iter()
            .filter(|group| group.project_id == project)
            .map(|group| ((&group.location, &group.name), group))
            .collect();
        let page = pages::page(groups.into_values(), &list, self.page_sizes.groups, call)?;
        let mut body = json!({
            "kind": "compute#instanceGroupAggregatedList",
            "id": list,
            "items": self.scopes_with(project, &page.elements),
            "selfLink": format!("{LINK_BASE}{list}"),
        });
        if let (Some(token), Some(fields)) = (page.next_token, body.as_object_mut()) {
            fields.insert("nextPageToken".to_owned(), token.into());
        }
        Ok(body)
    }

    /// Every scope of a project, with the groups of one page that lie in it.
    fn scopes_with(&self, project: &str, page: &[&InstanceGroup]) -> Map<String, Value> {
        let mut scopes = Map::new();
        for scope in self.scopes_of(project) {
            let groups: Vec<Value> = page
                .iter()
                .filter(|group| group.location.to_string() == scope)
                .map(|group| resource_of(group))
                .collect();
            let content = if groups.is_empty() {
                nothing_in(&scope)
            } else {
                json!({ "instanceGroups": groups })
            };
            scopes.insert(scope, content);
        }
        scopes
    }

    fn scopes_of(&self, project: &str) -> BTreeSet<String> {
        let mut scopes = BTreeSet::from(["global".to_owned()]);
        let mut zones = BTreeSet::new();
        for group in &self.instance_groups {
            if group.project_id == project {
                scopes.insert(group.location.to_string());
                if let Location::Zone(zone) = &group.location {
                    zones.insert(zone.as_str());
                }
            }
        }
        let instances = self.instances.iter();
        zones.extend(
            instances
                .filter(|instance| instance.project_id == project)
                .map(|instance| instance.zone.as_str()),
        );
        for zone in zones {
            scopes.insert(format!("zones/{zone}"));
            scopes.insert(format!("regions/{}", region_of(zone)));
        }
        scopes
    }
}

fn nothing_in(scope: &str) -> Value {
    json!({
        "warning": {
            "code": "NO_RESULTS_ON_PAGE",
            "message": format!("There are no results for scope '{scope}' on this page."),
            "data": [{ "key": "scope", "value": scope }],
        },
    })
}

fn resource_of(group: &InstanceGroup) -> Value {
    let location = format!(
        "{LINK_BASE}projects/{}/{}",
        group.project_id, group.location
    );
    let kind = match group.location {
        Location::Zone(_) => "zone",
        Location::Region(_) => "region",
    };
    json!({
        "kind": "compute#instanceGroup",
        "name": group.name,
        kind: location,
        "selfLink": format!("{LINK_BASE}{}", group.path()),
        "size": group.members.len(),
    })
}
