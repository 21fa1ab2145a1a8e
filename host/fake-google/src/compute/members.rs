//! The instances of a group (contract 4.6, G11).

use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Outcome;
use crate::call::Call;
use crate::compute::filter::MemberFilter;
use crate::compute::groups::group_path;
use crate::compute::{LINK_BASE, Location, invalid_field, not_found, pages};
use crate::instance::{Instance, InstanceStatus};
use crate::state::State;

const GET: &str = "compute.instanceGroups.get";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MemberOrder {
    instance_state: Option<String>,
}

impl State {
    /// Answers `instanceGroups.listInstances` and `regionInstanceGroups.listInstances`.
    pub(super) fn group_members(
        &self,
        project: &str,
        location: &Location,
        name: &str,
        call: &Call<'_>,
    ) -> Outcome {
        let path = group_path(project, location, name);
        self.authorize_compute(project, GET, &path, call)?;
        let group = self
            .instance_groups
            .iter()
            .find(|group| group.path() == path)
            .ok_or_else(|| not_found(&path))?;
        let filter = MemberFilter::parse(&call.parameter("filter").unwrap_or_default())?;
        let only_running = match call.json::<MemberOrder>()?.instance_state.as_deref() {
            None | Some("ALL") => false,
            Some("RUNNING") => true,
            Some(other) => return Err(invalid_field("instanceState", other)),
        };

        // A member that was deleted and not yet replaced is no longer listed.
        let members = group
            .member_paths()
            .filter_map(|member| self.instances.iter().find(|found| found.path() == member))
            .filter(|member| filter.admits(&member.path()))
            .filter(|member| !only_running || member.status == InstanceStatus::Running);
        let page = pages::page(members, &path, self.page_sizes.members, call)?;
        let items: Vec<Value> = page
            .elements
            .into_iter()
            .map(|member| self.member_resource(member))
            .collect();
        let mut body = json!({
            "kind": "compute#instanceGroupsListInstances",
            "id": format!("{path}/listInstances"),
            "selfLink": format!("{LINK_BASE}{path}/listInstances"),
        });
        if let Some(fields) = body.as_object_mut() {
            // Google writes no empty list.
            if !items.is_empty() {
                fields.insert("items".to_owned(), items.into());
            }
            if let Some(token) = page.next_token {
                fields.insert("nextPageToken".to_owned(), token.into());
            }
        }
        Ok(body)
    }

    fn member_resource(&self, member: &Instance) -> Value {
        json!({
            "instance": format!("{}{}", self.member_link_base, member.path()),
            "status": member.status,
        })
    }
}
