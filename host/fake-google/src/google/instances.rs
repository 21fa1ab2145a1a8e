//! Changing which instances exist, and in which groups.

use std::collections::BTreeMap;

use crate::compute::{InstanceGroup, LARGEST_PAGE};
use crate::error::FakeGoogleError;
use crate::google::FakeGoogle;
use crate::instance::{Instance, InstanceStatus};
use crate::state::State;

/// Instances and their groups. Groups are named by [`InstanceGroup::path`].
impl FakeGoogle {
    /// Creates an instance.
    ///
    /// # Errors
    ///
    /// When its zone has one of that name.
    pub fn add_instance(&self, instance: Instance) -> Result<(), FakeGoogleError> {
        self.state.lock().add_instance(instance)
    }

    /// Deletes the instance with the same project, zone and name, and creates this one, which takes over its groups.
    ///
    /// # Errors
    ///
    /// When there is no such instance.
    pub fn replace_instance(&self, instance: Instance) -> Result<(), FakeGoogleError> {
        let path = instance.path();
        *self.state.lock().require_instance(&path)? = instance;
        Ok(())
    }

    /// Deletes an instance; groups remember its name.
    ///
    /// # Errors
    ///
    /// When there is no such instance.
    pub fn delete_instance(&self, instance: &str) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        let path = state.require_instance(instance)?.path();
        state.instances.retain(|instance| instance.path() != path);
        Ok(())
    }

    /// An instance as it is now.
    ///
    /// # Errors
    ///
    /// When there is no such instance.
    pub fn instance(&self, instance: &str) -> Result<Instance, FakeGoogleError> {
        self.state.lock().require_instance(instance).cloned()
    }

    /// Changes an instance's status.
    ///
    /// # Errors
    ///
    /// When there is no such instance.
    pub fn set_instance_status(
        &self,
        instance: &str,
        status: InstanceStatus,
    ) -> Result<(), FakeGoogleError> {
        self.state.lock().require_instance(instance)?.status = status;
        Ok(())
    }

    /// Puts these labels in the place of all labels of an instance.
    ///
    /// # Errors
    ///
    /// When there is no such instance.
    pub fn set_instance_labels<'a>(
        &self,
        instance: &str,
        labels: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), FakeGoogleError> {
        let labels: BTreeMap<_, _> = labels
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        self.state.lock().require_instance(instance)?.labels = labels;
        Ok(())
    }

    /// Creates an instance group.
    ///
    /// # Errors
    ///
    /// When its location has one of that name, or a member does not exist or lies elsewhere.
    pub fn add_instance_group(&self, group: InstanceGroup) -> Result<(), FakeGoogleError> {
        self.state.lock().add_instance_group(group)
    }

    /// Deletes an instance group, not its members.
    ///
    /// # Errors
    ///
    /// When there is no such group.
    pub fn delete_instance_group(&self, path: &str) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        state.require_group(path)?;
        state.instance_groups.retain(|group| group.path() != path);
        Ok(())
    }

    /// Adds an instance to a group.
    ///
    /// # Errors
    ///
    /// When there is no such group or instance, or the instance lies in another project, zone or region.
    pub fn add_group_member(&self, path: &str, instance: &str) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        let instance = state.require_instance(instance)?.clone();
        let group = state.require_group(path)?;
        if group.project_id != instance.project_id || !group.location.covers(&instance.zone) {
            return Err(FakeGoogleError::MemberOutsideGroup {
                group: path.to_owned(),
                instance: instance.path(),
            });
        }
        group.members.push((instance.zone, instance.instance_name));
        Ok(())
    }

    /// Removes an instance from a group; nothing happens when it is no member.
    ///
    /// # Errors
    ///
    /// When there is no such group or instance.
    pub fn remove_group_member(&self, path: &str, instance: &str) -> Result<(), FakeGoogleError> {
        let mut state = self.state.lock();
        let instance = state.require_instance(instance)?.clone();
        let member = (instance.zone, instance.instance_name);
        state
            .require_group(path)?
            .members
            .retain(|other| *other != member);
        Ok(())
    }

    /// Changes how many groups a page of a project's groups has: 1 to 500, and 500 at the start.
    pub fn set_group_page_size(&self, groups: usize) {
        self.state.lock().page_sizes.groups = groups.clamp(1, LARGEST_PAGE);
    }

    /// Changes how many instances a page of a group's members has: 1 to 500, and 500 at the start.
    pub fn set_member_page_size(&self, instances: usize) {
        self.state.lock().page_sizes.members = instances.clamp(1, LARGEST_PAGE);
    }

    /// Changes where the links to a group's members start, up to and with the slash before `projects`; links to the same
    /// instance need not be spelled alike.
    pub fn set_member_link_base(&self, base: &str) {
        base.clone_into(&mut self.state.lock().member_link_base);
    }
}

impl State {
    fn require_group(&mut self, path: &str) -> Result<&mut InstanceGroup, FakeGoogleError> {
        self.instance_groups
            .iter_mut()
            .find(|group| group.path() == path)
            .ok_or_else(|| FakeGoogleError::UnknownInstanceGroup {
                path: path.to_owned(),
            })
    }
}
