//! The members of organizations, and their invitations (contract 4.11).
//!
//! People are invited by their email addresses. Workloads can be members too: the attribute `entity-id` names the entity that their service tokens
//! represent.

use std::borrow::Cow;

use gatehouse_access_api::{Access, IdentityReference};
use gatehouse_orgs_api::{
    Action, Attribute, AttributeIssue, Capability, Invitation, Membership, MembershipError,
    MembershipFilter, MembershipStatus, OrganizationTarget, Principal, Related, RelatedMembership,
    Relations, Right,
};
use serde_json::{Value, json};

use super::api::Api;
use super::api_error::ApiError;
use super::attribute_error::AttributeError;
use super::caller::Caller;
use super::document::{Document, identifiers};
use super::document_type::{DocumentType, Target, choice, related, text, time};
use super::entry::{Arrival, Entry, Question};
use super::include::is_named;
use super::input::{Input, Kinds, Resource};
use super::pagination::{PageRequest, paged};
use super::parameter::Parameter;
use super::route::Data::{Many, One};
use super::routes::routes;
use super::transport::{json_api, no_content};
use super::{fields, timestamp, users};
use crate::http::Response;

const RESOURCE_TYPE: &str = "organization-memberships";

/// The status of a member.
const ACTIVE: &str = "active";

/// The status of an invitation that has not been accepted yet.
const INVITED: &str = "invited";

/// The name of the members' users in `include`.
const USER: &str = "user";

/// The name of the members' teams in `include`, and of their collection in policy paths.
const TEAMS: &str = "teams";

const STATUS: Parameter = Parameter::texts(
    "filter[status]",
    "Statuses; inactive means invited as well.",
);
const EMAIL: Parameter = Parameter::texts("filter[email]", "E-mail addresses.");
const SEARCH: Parameter = Parameter::text("q", "A part of the name or email address.");

/// The related resources of memberships.
const INCLUDES: &[&str] = &[USER, "teams"];

pub(super) const MEMBERSHIP: DocumentType = DocumentType::new(
    "Membership",
    RESOURCE_TYPE,
    "The membership of a person or a workload in an organization, or an invitation.",
    &[
        text("email", "The address of the person."),
        text(
            "entity-id",
            "The entity of a workload that becomes a member, in place of a person.",
        )
        .write_only(),
        choice(
            "status",
            &[ACTIVE, INVITED],
            "Site administrators may set active, which makes a member without an invitation.",
        )
        .defaulting_to(r#""invited""#),
        time("created-at", "The time of the invitation.").read_only(),
    ],
)
.relating(&[
    related("teams", Target::Many("teams")).writable(),
    related("user", Target::One("users")),
    related("organization", Target::One("organizations")),
]);

routes! { MEMBERSHIPS:
    Get "organizations/:name/organization-memberships", Organization, "list-memberships",
        "Lists the memberships of an organization.",
        including(INCLUDES), querying(&[SEARCH, EMAIL, STATUS]), paged, answering(Many(&MEMBERSHIP))
        => |api, name| api.list_memberships(name);
    Post "organizations/:name/organization-memberships", Organization, "invite-member",
        "Invites a person, or makes a workload a member.",
        including(INCLUDES), taking(One(&MEMBERSHIP)), making(One(&MEMBERSHIP))
        => |api, name| api.invite(name);
    Get "organization-memberships", Bearers, "list-own-memberships", "Lists the memberships and invitations of the caller.",
        including(&[USER]), paged, answering(Many(&MEMBERSHIP))
        => |api, _| api.list_own_memberships();
    Get "organization-memberships/:id", Organization, "show-membership", "Shows a membership.",
        including(INCLUDES), answering(One(&MEMBERSHIP))
        => |api, id| api.show_membership(id);
    Delete "organization-memberships/:id", Organization, "remove-membership",
        "Removes a membership. Members may remove their own."
        => |api, id| api.remove_membership(id);
    Post "organization-memberships/:id/actions/accept", User, "accept-invitation", "Accepts an invitation of the caller.",
        answering(One(&MEMBERSHIP))
        => |api, id| api.accept_invitation(id);
    Post "organization-memberships/:id/actions/decline", User, "decline-invitation", "Declines an invitation of the caller."
        => |api, id| api.decline_invitation(id);
}

impl<'a, C: Access, O: Capability> Api<'a, C, O> {
    fn list_memberships(&self, name: &str) -> Result<Response, ApiError> {
        let includes = self.wanted_includes();
        let question = Question::named(name, Action::ReadMemberships).below(RESOURCE_TYPE);
        let entry = self.enter(question.also(Action::ReadTeams, TEAMS, &includes))?;
        let scope = self.delegation_scope(&entry, None)?;
        let includes = includes?;
        let page = PageRequest::always(&self.request.query);
        let organization = &entry.position.organization;
        let found = self.organizations.list_memberships(
            &organization.external_id,
            &filter(&self.request.query),
            relations(includes.as_deref(), &entry),
            &scope,
            page.number,
            page.size,
        )?;
        let memberships = found.memberships.iter();
        let resources = memberships.map(|membership| resource_of(membership, &organization.name));
        let mut document = paged(resources.collect(), found.total, page, self.request);
        if let Some(Value::Object(meta)) = &mut document.meta {
            let counts = json!({
                "total": found.active + found.invited,
                "active": found.active,
                "invited": found.invited,
                "inactive": 0,
            });
            meta.insert("status-counts".to_owned(), counts);
        }
        document.included = includes.map(|includes| {
            let memberships = &found.memberships;
            self.included(&includes, memberships, &found.related, &organization.name)
        });
        Ok(json_api(200, &document))
    }

    fn invite(&self, name: &str) -> Result<Response, ApiError> {
        let includes = self.wanted_includes();
        let question = Question::named(name, Action::ManageMemberships).below(RESOURCE_TYPE);
        let entry = self.enter(question.also(Action::ReadTeams, TEAMS, &includes))?;
        let scope = self.delegation_scope(&entry, Some(Right::ManageMembership))?;
        let mut includes = includes?.unwrap_or_default();
        // The client expects the user even if it does not ask for it.
        includes.push(USER.to_owned());
        let input = Input::read(&self.request.body)?;
        let invitation = self.invitation(&input.resource(Kinds::Any)?)?;
        let organization = &entry.position.organization;
        let by = self.recorded_as(&entry.caller);
        let made = self.organizations.invite(
            &organization.external_id,
            &invitation,
            relations(Some(&includes), &entry),
            &scope,
            &by,
        )?;
        let document = self.membership_document(&made, Some(&includes), &organization.name);
        Ok(json_api(201, &document))
    }

    fn show_membership(&self, id: &str) -> Result<Response, ApiError> {
        let includes = self.wanted_includes();
        let target = OrganizationTarget::OwnerOf(id.to_owned());
        let question = self.question_about(id, target, Action::ReadMemberships)?;
        let question = question.below(&format!("{RESOURCE_TYPE}/{id}"));
        let entry = self.enter(question.also(Action::ReadTeams, TEAMS, &includes))?;
        let scope = self.delegation_scope(&entry, None)?;
        let includes = includes?;
        let organization = &entry.position.organization;
        let external_id = &organization.external_id;
        let wanted = relations(includes.as_deref(), &entry);
        let found = self
            .organizations
            .read_membership(external_id, id, wanted, &scope)?;
        let found = found.ok_or(ApiError::NotFound)?;
        let document = self.membership_document(&found, includes.as_deref(), &organization.name);
        Ok(json_api(200, &document))
    }

    /// Ends a membership. Members may end their own. The body is ignored.
    fn remove_membership(&self, id: &str) -> Result<Response, ApiError> {
        let arrival = self.arrive_at_membership(id, "")?;
        if own_membership(&arrival).is_some() {
            self.decided(&arrival.caller, true)?;
            let by = self.recorded_as(&arrival.caller);
            self.organizations.leave(id, &by)?;
            return Ok(no_content());
        }
        let entry = self.enter_arrived(arrival)?;
        let scope = self.delegation_scope(&entry, Some(Right::ManageMembership))?;
        let by = self.recorded_as(&entry.caller);
        let external_id = &entry.position.organization.external_id;
        self.organizations
            .remove_membership(external_id, id, &scope, &by)?;
        Ok(no_content())
    }

    /// Makes the invited user a member. The body is ignored.
    fn accept_invitation(&self, id: &str) -> Result<Response, ApiError> {
        let caller = self.invited(id, "accept")?;
        let by = self.recorded_as(&caller);
        let own = self.organizations.accept_invitation(id, &by)?;
        let mut document = Document::new(resource_of(&own.membership, &own.organization));
        document.included = Some(own_user(&caller).into_iter().collect());
        Ok(json_api(200, &document))
    }

    /// Declines an invitation on behalf of the invited user. The body is ignored.
    fn decline_invitation(&self, id: &str) -> Result<Response, ApiError> {
        let caller = self.invited(id, "decline")?;
        let by = self.recorded_as(&caller);
        self.organizations.decline_invitation(id, &by)?;
        Ok(no_content())
    }

    /// Identifies the caller of a request about the membership with this id, and finds out whether it is their own. `below` is an action in the
    /// policy path.
    fn arrive_at_membership(&self, id: &str, below: &str) -> Result<Arrival<'a>, ApiError> {
        let target = OrganizationTarget::Membership(id.to_owned());
        let question = self.question_about(id, target, Action::ManageMemberships)?;
        self.arrive(question.below(&format!("{RESOURCE_TYPE}/{id}{below}")))
    }

    /// Admits only the user whom the membership with this id invites. For all other callers it does not exist.
    fn invited(&self, id: &str, action: &str) -> Result<Caller<'a>, ApiError> {
        let arrival = self.arrive_at_membership(id, &format!("/actions/{action}"))?;
        let own = own_membership(&arrival);
        self.decided(&arrival.caller, own.is_some())?;
        if own == Some(MembershipStatus::Invited) {
            Ok(arrival.caller)
        } else {
            Err(ApiError::NotFound)
        }
    }

    /// Shows the memberships of the caller. Callers that are not users have none.
    fn list_own_memberships(&self) -> Result<Response, ApiError> {
        let caller = self.authenticate(None)?;
        self.decided(&caller, true)?;
        let wanted = self.wanted_includes()?;
        let page = PageRequest::always(&self.request.query);
        let own = self.organizations.own_memberships(&caller.identity)?;
        let (own, total) = page.of_all(own);
        let resources = own
            .iter()
            .map(|own| resource_of(&own.membership, &own.organization));
        let mut document = paged(resources.collect(), total, page, self.request);
        if wanted.is_some() {
            let memberships: Vec<Membership> = own.into_iter().map(|own| own.membership).collect();
            let belongs = |found: &Membership| found.status == MembershipStatus::Active;
            let users = own_user(&caller).filter(|_| memberships.iter().any(belongs));
            let mut included: Vec<Value> = users.into_iter().collect();
            included.extend(invited_users(&memberships));
            document.included = Some(included);
        }
        Ok(json_api(200, &document))
    }

    /// The invitation that a request asks for. The id of an unknown entity becomes the empty id, which no caller has.
    fn invitation(&self, resource: &Resource<'_>) -> Result<Invitation, ApiError> {
        let entity_id = match resource.attributes.text("entity-id") {
            Attribute::Value(id) => {
                let entity = self
                    .access
                    .read_entity(&IdentityReference::Id(id.clone()))?;
                Attribute::Value(entity.map(|entity| entity.id).unwrap_or_default())
            }
            otherwise => otherwise,
        };
        Ok(Invitation {
            email: resource.attributes.text("email"),
            entity_id,
            teams: resource.relationships.to_many("teams"),
            active: resource.attributes.text("status") == Attribute::Value(ACTIVE.to_owned()),
        })
    }

    /// A membership of the organization of this name, with the resources that the request includes.
    fn membership_document(
        &self,
        found: &RelatedMembership,
        includes: Option<&[String]>,
        organization: &str,
    ) -> Document<Value> {
        let mut document = Document::new(resource_of(&found.membership, organization));
        document.included = includes.map(|includes| {
            let memberships = std::slice::from_ref(&found.membership);
            self.included(includes, memberships, &found.related, organization)
        });
        document
    }

    /// The resources that are related to memberships of the organization of this name: the users of members, then those of invitations, of whom only
    /// the address is shown, and then the teams.
    fn included(
        &self,
        includes: &[String],
        memberships: &[Membership],
        related: &Related,
        organization: &str,
    ) -> Vec<Value> {
        let mut included: Vec<Value> = related.users.iter().map(users::seen_by_members).collect();
        if is_named(Some(includes), USER) {
            included.extend(invited_users(memberships));
        }
        let resource = |team| self.team_resource(team, organization);
        included.extend(related.teams.iter().map(resource));
        included
    }
}

/// The relations of memberships that the request asks for, as far as the caller may read them.
fn relations(includes: Option<&[String]>, entry: &Entry<'_>) -> Relations {
    Relations {
        users: is_named(includes, USER),
        teams: is_named(includes, TEAMS) && entry.position.also_allowed,
        memberships: false,
    }
}

/// The status of the membership that a request is about, if it is the caller's own.
fn own_membership(arrival: &Arrival<'_>) -> Option<MembershipStatus> {
    let position = arrival.position.as_ref()?;
    position.own_membership
}

/// The users whom these memberships invite. Only their addresses are shown.
fn invited_users(memberships: &[Membership]) -> impl Iterator<Item = Value> {
    let is_invited = |found: &&Membership| found.status == MembershipStatus::Invited;
    let invited = memberships.iter().filter(is_invited);
    invited.map(|found| users::invited(&found.user, &found.email))
}

/// The caller as members see them, if the caller is a user.
fn own_user(caller: &Caller<'_>) -> Option<Value> {
    match &caller.identity.principal {
        Principal::User(user) => Some(users::seen_by_members(user)),
        _ => None,
    }
}

/// A membership in the organization of this name.
pub(super) fn resource_of(membership: &Membership, organization: &str) -> Value {
    let teams = if membership.teams_told {
        json!({"data": identifiers(&membership.teams, "teams")})
    } else {
        // There are too many teams for a list of memberships; the membership's own document lists them.
        json!({"links": {"related": format!("/api/v2/{RESOURCE_TYPE}/{}", membership.id)}})
    };
    json!({
        "id": membership.id,
        "type": RESOURCE_TYPE,
        "attributes": {
            "status": match membership.status {
                MembershipStatus::Active => ACTIVE,
                MembershipStatus::Invited => INVITED,
            },
            "email": membership.email,
            "created-at": timestamp::formatted(membership.created_at),
        },
        "relationships": {
            "user": {"data": {"id": membership.user, "type": "users"}},
            "organization": {"data": {"id": organization, "type": "organizations"}},
            "teams": teams,
        },
        "links": {"self": format!("/api/v2/{RESOURCE_TYPE}/{}", membership.id)},
    })
}

/// The memberships that a query asks for. No membership is inactive, so `inactive` counts as invited.
fn filter(query: &str) -> MembershipFilter {
    let statuses: Vec<String> = STATUS.items(query).collect();
    let status = |name: &String| match name.as_str() {
        ACTIVE => Some(MembershipStatus::Active),
        INVITED | "inactive" => Some(MembershipStatus::Invited),
        _ => None,
    };
    MembershipFilter {
        text: SEARCH.first(query).map(Cow::into_owned),
        emails: EMAIL.items(query).collect(),
        statuses: (!statuses.is_empty()).then(|| statuses.iter().filter_map(status).collect()),
    }
}

/// The pointer and the text of a fault of an invitation. Teams are a relationship.
fn fault(issue: &AttributeIssue) -> AttributeError {
    if issue.attribute == "teams" {
        fields::relationship_fault(issue)
    } else {
        fields::attribute_error(issue)
    }
}

impl From<MembershipError> for ApiError {
    fn from(error: MembershipError) -> Self {
        match error {
            MembershipError::NotFound | MembershipError::NotAllowed => Self::NotFound,
            MembershipError::Invalid(issues) => Self::Invalid(issues.iter().map(fault).collect()),
            MembershipError::LastOwner => Self::last_owner(),
            MembershipError::TooMany(most) => {
                Self::too_many("memberships in an organization", most)
            }
            MembershipError::TooManyTeams(most) => Self::too_many("teams of a membership", most),
            MembershipError::Failed(failure) => failure.into(),
        }
    }
}
