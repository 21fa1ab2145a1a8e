//! The interface `sharing`: its functions, and its error texts.

use gatehouse_storage::wraps_failure;

use crate::{
    Caller, ConsumerChanges, Filter, OrganizationReference, Page, Partnership, ServiceError, Shared,
};

/// The most consumers that an organization names, of its modules and of its providers each: as many as one commit can replace.
pub const MAXIMUM_CONSUMERS: u32 = 250;

impl OrganizationReference {
    /// The text as the request has it.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Name(text) | Self::ExternalId(text) => text,
        }
    }
}

/// Why consumers were not replaced. Nothing is changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// There is no such producer.
    #[error("there is no such organization")]
    NotFound,
    /// The organizations that do not exist, as the request names them.
    #[error("{} of the consumers do not exist", .0.len())]
    UnknownOrganizations(Vec<String>),
    /// More consumers than this many: [`MAXIMUM_CONSUMERS`].
    #[error("an organization names at most {0} consumers: share with all organizations instead")]
    TooMany(u32),
    /// A failure that is not about the request.
    #[error(transparent)]
    Failed(#[from] ServiceError),
}

/// Sharing between organizations. Lists are by name without case; their numbers and sizes are clamped as those of
/// [`crate::Organizations::page_at`]. The WIT interface is the specification.
pub trait Sharing {
    /// Replaces the consumers of an organization in one commit.
    fn replace_consumers(
        &self,
        external_id: &str,
        changes: &ConsumerChanges,
        by: &Caller,
    ) -> Result<(), ShareError>;

    /// The organizations with which an organization shares its modules by name.
    fn module_partnerships(&self, external_id: &str) -> Result<Vec<Partnership>, ServiceError>;

    /// A page of the organizations with which an organization shares by name.
    fn consumers(
        &self,
        external_id: &str,
        shared: Shared,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError>;

    /// A page of the organizations that share with an organization, by name or with all, except itself and those that are disabled.
    fn producers(
        &self,
        external_id: &str,
        shared: Shared,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError>;

    /// A page of the organizations that match `filter` and share all of `shared` with any other.
    fn all_producers(
        &self,
        shared: &[Shared],
        filter: &Filter,
        number: u32,
        size: u32,
    ) -> Result<Page, ServiceError>;
}

wraps_failure!(ServiceError: ShareError);
