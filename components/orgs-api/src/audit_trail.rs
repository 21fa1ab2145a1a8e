//! The interface `audit-trail`: its functions, and what the wire calls its cases.

use crate::{Event, EventPage, Operation, Resource, ServiceError};

/// Most records that one call answers.
pub const MAXIMUM_EVENTS: u32 = 1000;

/// Most records from one moment on that are counted, and that pages reach.
pub const MAXIMUM_EVENTS_COUNTED: u64 = 20_000;

impl Resource {
    /// The name of the resource on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Organization => "organization",
            Self::AuthenticationToken => "authentication_token",
            Self::OrganizationUser => "organization_user",
            Self::Team => "team",
            Self::AgentPool => "agent_pool",
            Self::DataRetentionPolicy => "data_retention_policy",
            Self::TokenLifetimes => "token_ttl_policy",
            Self::Subscription => "subscription",
            Self::User => "user",
            Self::GeneralSettings => "general_settings",
        }
    }
}

impl Operation {
    /// The name of the operation on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Destroy => "destroy",
            Self::Show => "show",
        }
    }
}

/// Reading what has been done. Records stay for 14 days. The WIT interface is the specification.
pub trait AuditTrail {
    /// The page `number` (from 1 on) of what was done with an organization at `since` (milliseconds since 1970) or later, `size` (1 to
    /// [`MAXIMUM_EVENTS`]) to a page.
    fn events(
        &self,
        organization: &str,
        since: u64,
        number: u32,
        size: u32,
    ) -> Result<EventPage, ServiceError>;

    /// Up to [`MAXIMUM_EVENTS`] records that are only for the operator, in no order: all in the self-hosted edition, and those of the
    /// installation in the hosted one.
    fn waiting_events(&self) -> Result<Vec<Event>, ServiceError>;

    /// Removes records that are kept elsewhere.
    fn forget_events(&self, events: &[Event]) -> Result<(), ServiceError>;
}
