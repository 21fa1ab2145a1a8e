//! What has been done with organizations, and by whom (contract 4.15).
//!
//! A record stands in the same commit as what it tells of, so that there is one exactly where something was done. The hosted
//! edition shows the records of an organization to the organization; in the self-hosted one they go to the operator's log, as
//! those of the installation do in both.

mod record;
mod store;

use crate::{Edition, Failure};

pub(crate) use record::INSTALLATION;

/// Most records that one call answers.
pub const MAXIMUM_EVENTS: u32 = 1000;

/// Most records from one moment on that are counted, and that pages reach.
pub const MAXIMUM_EVENTS_COUNTED: u64 = 20_000;

/// What something was done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// An organization, by its external id.
    Organization,
    /// A token.
    AuthenticationToken,
    /// A membership.
    OrganizationUser,
    /// A team.
    Team,
    /// An agent pool.
    AgentPool,
    /// A data retention policy.
    DataRetentionPolicy,
    /// How long the tokens of an organization may live, by its external id.
    TokenLifetimes,
    /// A subscription.
    Subscription,
    /// A user.
    User,
    /// What holds for the whole installation.
    GeneralSettings,
}

impl Resource {
    /// What the resource is called on the wire.
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

    /// That the one with this id was made.
    pub(crate) const fn created(self, id: &str) -> Deed<'_> {
        self.done(Operation::Create, id)
    }

    /// That the one with this id was changed.
    pub(crate) const fn updated(self, id: &str) -> Deed<'_> {
        self.done(Operation::Update, id)
    }

    /// That the one with this id was removed.
    pub(crate) const fn destroyed(self, id: &str) -> Deed<'_> {
        self.done(Operation::Destroy, id)
    }

    /// That the one with this id was shown.
    pub(crate) const fn shown(self, id: &str) -> Deed<'_> {
        self.done(Operation::Show, id)
    }

    const fn done(self, operation: Operation, id: &str) -> Deed<'_> {
        Deed {
            resource: self,
            operation,
            id,
        }
    }
}

/// What was done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Made.
    Create,
    /// Changed.
    Update,
    /// Removed.
    Destroy,
    /// Shown.
    Show,
}

impl Operation {
    /// What it is called on the wire.
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

/// Something that is done, in the words of [`Resource::created`] and its like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deed<'a> {
    pub resource: Resource,
    pub operation: Operation,
    pub id: &'a str,
}

/// Something that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// A UUID.
    pub id: String,
    /// Milliseconds since 1970-01-01T00:00Z.
    pub occurred_at: u64,
    /// The external id of the organization that it concerns; `None` for the installation.
    pub organization: Option<String>,
    /// Who did it: the id of a user, team or entity, or an external id.
    pub actor_id: String,
    /// What they are called.
    pub actor_name: String,
    /// The name of the exchange, which the server gave it.
    pub request_id: String,
    /// What the client called the exchange; `None` where it said nothing.
    pub client_request_id: Option<String>,
    /// What it was done with.
    pub resource: Resource,
    /// The identifier of that.
    pub resource_id: String,
    /// What was done.
    pub operation: Operation,
}

/// A part of an audit trail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventPage {
    /// Oldest first, those of one millisecond in no order; empty beyond the last page.
    pub events: Vec<Event>,
    /// How many there are on all pages together, as far as [`MAXIMUM_EVENTS_COUNTED`].
    pub total: u64,
}

/// Reading what has been done. Records stay for 14 days.
pub trait AuditTrail {
    /// The page `number` (from 1 on) of what was done with an organization at `since` (milliseconds since 1970) or later, `size`
    /// (1 to [`MAXIMUM_EVENTS`]) to a page. A number or size outside its range is brought into it. The cost grows with what was
    /// done since, up to [`MAXIMUM_EVENTS_COUNTED`]: what came later is on no page, and is told to who asks from a later moment
    /// on.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn events(
        &self,
        organization: &str,
        since: u64,
        number: u32,
        size: u32,
    ) -> Result<EventPage, Failure>;

    /// Up to [`MAXIMUM_EVENTS`] records that only the operator reads, in no order, which nobody has taken over: all in the
    /// self-hosted edition, and those of the installation in the hosted one. Whoever has put them elsewhere says so by
    /// [`Self::forget_events`]; until then they are told again.
    ///
    /// # Errors
    ///
    /// When the store does not answer, or nothing waits but what is damaged: that is passed over while something else waits.
    fn waiting_events(&self, edition: Edition) -> Result<Vec<Event>, Failure>;

    /// Removes records that are kept elsewhere.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    fn forget_events(&self, events: &[Event]) -> Result<(), Failure>;
}
