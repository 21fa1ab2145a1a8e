//! Organizations and what belongs to them.
//!
//! The trait [`Capability`] is everything that it offers, the same as the WIT package `gatehouse:orgs`; [`Orgs`] is the
//! capability over a store, a clock and randomness. It knows the rules of organizations: which names and values are good, what
//! depends on what, what a plan includes, who belongs to whom and may do what by it, and the tokens that it issues itself. It
//! knows neither HTTP nor policies: what a service token may do elsewhere has been decided before it is called.

mod agent_pools;
mod api;
mod audit_trail;
mod authority;
mod belonging;
mod bounds;
mod by_external_id;
mod caller;
mod changes;
mod crossings;
mod directory;
mod founding;
mod identifier;
mod issues;
mod listing;
mod memberships;
mod name;
mod organization;
mod orgs;
mod paging;
mod plans;
mod record;
mod removal;
mod retention;
mod right;
mod rounds;
mod rules;
mod search;
mod sharing;
mod site;
mod team;
mod teams;
mod tokens;
mod upkeep;
mod users;

#[cfg(all(target_family = "wasm", feature = "component"))]
mod component;
#[cfg(test)]
mod tests;

pub use agent_pools::{
    AgentPool, AgentPoolChanges, AgentPoolError, AgentPoolFilter, AgentPoolOrder, AgentPoolPage,
    AgentPools,
};
pub use api::{
    Batch, Capability, CreateError, Failure, Filter, MAXIMUM_BATCH, MAXIMUM_PAGE_SIZE,
    Organizations, Page, Reach, UpdateError, Viewer,
};
pub use audit_trail::{
    AuditTrail, Event, EventPage, MAXIMUM_EVENTS, MAXIMUM_EVENTS_COUNTED, Operation, Resource,
};
pub use authority::{
    Action, Authority, Credential, Decision, Identity, Mandate, OwningOrganization, Position,
    Principal, Tie,
};
pub use bounds::Bounds;
pub use caller::Caller;
pub use changes::{
    Attribute, AttributeIssue, ChangeError, Fault, Field, FieldFault, OrganizationChanges,
};
pub use memberships::{
    Invitation, MAXIMUM_INVITATIONS, MAXIMUM_OWNERS_TOLD, MAXIMUM_TEAMS_TOLD, Membership,
    MembershipError, MembershipFilter, MembershipPage, Memberships, OwnMembership,
};
pub use name::folded_name;
pub use organization::{
    Administration, CollaboratorAuthPolicy, DEFAULT_SESSION_MINUTES, Edition, Entitlement,
    EntitlementValue, ExecutionMode, Organization, Permission, Plan, Settings, Standing,
};
pub use orgs::Orgs;
pub use plans::{FeatureSet, Subscription, SubscriptionError, SubscriptionTerms, Subscriptions};
pub use retention::{
    Retention, RetentionDetail, RetentionDetailChange, RetentionKind, RetentionPolicy,
    RetentionRequest, RetentionRule,
};
pub use right::{Right, Rights};
pub use sharing::{
    ConsumerChanges, MAXIMUM_CONSUMERS, OrganizationReference, Partnership, ShareError, Shared,
    Sharing,
};
pub use site::{
    AdministrationChanges, ApiRate, Census, GeneralSettings, GeneralSettingsChanges, Site,
};
pub use team::{MembershipStatus, OWNERS, TeamReference, Visibility};
pub use teams::{
    MAXIMUM_MEMBERS_AT_ONCE, MAXIMUM_MEMBERS_TOLD, MemberNames, RightChange, Team, TeamChanges,
    TeamError, TeamFilter, TeamPage, Teams,
};
pub use tokens::{
    AgentPoolReference, ApiToken, IssueError, IssuedToken, LifetimeChange, LifetimeError,
    LifetimePolicy, MAXIMUM_DESCRIPTION, MAXIMUM_TOKENS, MAXIMUM_TOKENS_OF_ORGANIZATION,
    MAXIMUM_TOKENS_READ, TeamToken, TokenCreator, TokenKind, TokenOwner, TokenRequest, Tokens,
};
pub use users::{CreateUserError, Subject, User, UserDescription, Users};
