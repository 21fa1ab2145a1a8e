//! Teams and their members (contract 4.10).

use std::borrow::Cow;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Action, Attribute, AttributeIssue, Capability, Edition, Fault, MAXIMUM_MEMBERS_AT_ONCE,
    MemberNames, OrganizationTarget, Related, Relations, Right, RightChange, Team, TeamChanges,
    TeamError, TeamFilter, Visibility,
};
use serde_json::{Map, Value, json};

use super::api::Api;
use super::api_error::ApiError;
use super::attribute_error::AttributeError;
use super::document::{Document, identifiers};
use super::document_type::{DocumentType, Target, boolean, choice, flags, integer, related, text};
use super::entry::{Entry, Question};
use super::include::is_named;
use super::input::{Input, Kinds, Members};
use super::memberships::MEMBERSHIP;
use super::pagination::{PageRequest, paged};
use super::parameter::{Parameter, Q};
use super::route::Data::{Identifiers, Many, One};
use super::routes::routes;
use super::transport::{json_api, no_content};
use super::users::USER;
use super::{fields, memberships, users};
use crate::http::Response;

const RESOURCE_TYPE: &str = "teams";

/// The way in which a request names members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// By the names of users.
    Usernames,
    /// By the ids of memberships.
    Memberships,
}

/// A change of the members of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Join,
    Leave,
}

const NAMES: Parameter = Parameter::texts("filter[names]", "Names of teams.");

/// The related resources of teams.
const INCLUDES: &[&str] = &["users", MEMBERSHIPS];

/// The name of memberships in `include`, and of their collection in policy paths.
const MEMBERSHIPS: &str = "organization-memberships";

const TEAM: DocumentType = DocumentType::new(
    "Team",
    RESOURCE_TYPE,
    "A team of an organization.",
    &[
        text("name", "Unique in the organization, in any case."),
        choice(
            "visibility",
            &["secret", "organization"],
            "Who sees the team: its members, or all members of the organization.",
        )
        .defaulting_to(r#""secret""#),
        text("sso-team-id", "The team of the identity provider.")
            .nullable()
            .defaulting_to("null"),
        boolean(
            "allow-member-token-management",
            "True if members manage the tokens of the team.",
        )
        .defaulting_to("true"),
        flags(
            "organization-access",
            "The rights of the team in the organization.",
        ),
        integer("users-count", "The number of members.").read_only(),
        flags("permissions", "The rights of the caller.").read_only(),
        boolean("is-unified", "Always false.")
            .read_only()
            .only_in(Edition::Hosted),
    ],
)
.relating(&[
    related("organization", Target::One("organizations")),
    related("users", Target::Many("users")),
    related(
        "organization-memberships",
        Target::Many("organization-memberships"),
    ),
    related("authentication-token", Target::Link),
    related("authentication-tokens", Target::Link),
]);

routes! { TEAMS:
    Get "organizations/:name/teams", Organization, "list-teams", "Lists the teams that the caller sees.",
        including(INCLUDES), querying(&[Q, NAMES]), paged, answering(Many(&TEAM))
        => |api, name| api.list_teams(name);
    Post "organizations/:name/teams", Organization, "create-team", "Makes a team.",
        taking(One(&TEAM)), making(One(&TEAM))
        => |api, name| api.create_team(name);
    Get "teams/:id", Organization, "show-team", "Shows a team.", including(INCLUDES), answering(One(&TEAM))
        => |api, id| api.show_team(id);
    Patch "teams/:id", Organization, "update-team", "Changes a team.", taking(One(&TEAM)), answering(One(&TEAM))
        => |api, id| api.update_team(id);
    Delete "teams/:id", Organization, "delete-team", "Removes a team. The owners' team cannot be removed."
        => |api, id| api.delete_team(id);
    Get "teams/:id/relationships/users", Organization, "list-users-of-team", "Lists the members of a team as users.",
        paged, answering(Many(&USER))
        => |api, id| api.list_members(id, Naming::Usernames);
    Post "teams/:id/relationships/users", Organization, "add-users-to-team", "Adds members by their usernames.",
        taking(Identifiers("users"))
        => |api, id| api.change_members(id, Naming::Usernames, Change::Join);
    Delete "teams/:id/relationships/users", Organization, "remove-users-from-team", "Removes members by their usernames.",
        taking(Identifiers("users"))
        => |api, id| api.change_members(id, Naming::Usernames, Change::Leave);
    Get "teams/:id/relationships/organization-memberships", Organization, "list-memberships-of-team",
        "Lists the members of a team as memberships.",
        paged, answering(Many(&MEMBERSHIP))
        => |api, id| api.list_members(id, Naming::Memberships);
    Post "teams/:id/relationships/organization-memberships", Organization, "add-memberships-to-team",
        "Adds members by the ids of their memberships.",
        taking(Identifiers("organization-memberships"))
        => |api, id| api.change_members(id, Naming::Memberships, Change::Join);
    Delete "teams/:id/relationships/organization-memberships", Organization, "remove-memberships-from-team",
        "Removes members by the ids of their memberships.",
        taking(Identifiers("organization-memberships"))
        => |api, id| api.change_members(id, Naming::Memberships, Change::Leave);
}

impl Naming {
    const fn relationship(self) -> &'static str {
        match self {
            Self::Usernames => "users",
            Self::Memberships => "organization-memberships",
        }
    }
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    fn list_teams(&self, name: &str) -> Result<Response, ApiError> {
        let includes = self.wanted_includes();
        let question = Question::named(name, Action::ReadTeams).below(RESOURCE_TYPE);
        let entry = self.enter(question.also(Action::ReadMemberships, MEMBERSHIPS, &includes))?;
        let scope = self.delegation_scope(&entry, Some(Right::AccessSecretTeams))?;
        let includes = includes?;
        let query = &self.request.query;
        let page = PageRequest::always(query);
        let filter = TeamFilter {
            names: NAMES.items(query).collect(),
            text: Q.first(query).map(Cow::into_owned),
        };
        let organization = &entry.position.organization;
        let found = self.organizations.list_teams(
            &organization.external_id,
            &filter,
            relations(includes.as_deref(), &entry),
            &scope,
            page.number,
            page.size,
        )?;
        let resources = found
            .teams
            .iter()
            .map(|team| self.team_resource(team, &organization.name));
        let mut document = paged(resources.collect(), found.total, page, self.request);
        document.included = includes.map(|_| included(&found.related, &organization.name));
        Ok(json_api(200, &document))
    }

    fn create_team(&self, name: &str) -> Result<Response, ApiError> {
        let entry = self.enter_named(name, Action::ManageTeams, Some(RESOURCE_TYPE))?;
        let scope = self.delegation_scope(&entry, Some(Right::ManageTeams))?;
        let input = Input::read(&self.request.body)?;
        let changes = changes(&input.resource(Kinds::Any)?.attributes);
        let organization = &entry.position.organization;
        let by = self.recorded_as(&entry.caller);
        let team =
            self.organizations
                .create_team(&organization.external_id, &changes, &scope, &by)?;
        let resource = self.team_resource(&team, &organization.name);
        Ok(json_api(201, &Document::new(resource)))
    }

    fn show_team(&self, id: &str) -> Result<Response, ApiError> {
        let includes = self.wanted_includes();
        let target = OrganizationTarget::OwnerOf(id.to_owned());
        let question = self.question_about(id, target, Action::ReadTeams)?;
        let question = question.below(&format!("{RESOURCE_TYPE}/{id}"));
        let entry = self.enter(question.also(Action::ReadMemberships, MEMBERSHIPS, &includes))?;
        let scope = self.delegation_scope(&entry, Some(Right::AccessSecretTeams))?;
        let includes = includes?;
        let organization = &entry.position.organization;
        let external_id = &organization.external_id;
        let wanted = relations(includes.as_deref(), &entry);
        let found = self
            .organizations
            .read_team(external_id, id, wanted, &scope)?;
        let found = found.ok_or(ApiError::NotFound)?;
        let mut document = Document::new(self.team_resource(&found.team, &organization.name));
        document.included = includes.map(|_| included(&found.related, &organization.name));
        Ok(json_api(200, &document))
    }

    fn update_team(&self, id: &str) -> Result<Response, ApiError> {
        let entry = self.enter_by_id(id, Action::ManageTeams, RESOURCE_TYPE)?;
        let scope = self.delegation_scope(&entry, Some(Right::ManageTeams))?;
        let input = Input::read(&self.request.body)?;
        let changes = changes(&input.resource(Kinds::Any)?.attributes);
        let organization = &entry.position.organization;
        let by = self.recorded_as(&entry.caller);
        let external_id = &organization.external_id;
        let team = self
            .organizations
            .update_team(external_id, id, &changes, &scope, &by)?;
        let resource = self.team_resource(&team, &organization.name);
        Ok(json_api(200, &Document::new(resource)))
    }

    /// Removes a team. The body is ignored.
    fn delete_team(&self, id: &str) -> Result<Response, ApiError> {
        let entry = self.enter_by_id(id, Action::ManageTeams, RESOURCE_TYPE)?;
        let scope = self.delegation_scope(&entry, Some(Right::ManageTeams))?;
        let by = self.recorded_as(&entry.caller);
        let external_id = &entry.position.organization.external_id;
        self.organizations
            .delete_team(external_id, id, &scope, &by)?;
        Ok(no_content())
    }

    fn list_members(&self, id: &str, naming: Naming) -> Result<Response, ApiError> {
        let below = format!(
            "{RESOURCE_TYPE}/{id}/relationships/{}",
            naming.relationship()
        );
        let target = OrganizationTarget::OwnerOf(id.to_owned());
        let question = self.question_about(id, target, Action::ReadTeams)?;
        let entry = self.enter(question.below(&below))?;
        let scope = self.delegation_scope(&entry, Some(Right::AccessSecretTeams))?;
        let page = PageRequest::always(&self.request.query);
        let organization = &entry.position.organization;
        let wanted = match naming {
            Naming::Usernames => Relations {
                users: true,
                ..Relations::default()
            },
            Naming::Memberships => Relations {
                memberships: true,
                ..Relations::default()
            },
        };
        let found = self.organizations.list_team_members(
            &organization.external_id,
            id,
            wanted,
            &scope,
            page.number,
            page.size,
        )?;
        let found = found.ok_or(ApiError::NotFound)?;
        let members = included(&found.members, &organization.name);
        Ok(json_api(
            200,
            &paged(members, found.total, page, self.request),
        ))
    }

    fn change_members(
        &self,
        id: &str,
        naming: Naming,
        change: Change,
    ) -> Result<Response, ApiError> {
        let below = format!(
            "{RESOURCE_TYPE}/{id}/relationships/{}",
            naming.relationship()
        );
        let target = OrganizationTarget::OwnerOf(id.to_owned());
        let question = self.question_about(id, target, Action::ManageTeamMembers)?;
        let entry = self.enter(question.below(&below))?;
        let scope = self.delegation_scope(&entry, Some(Right::ManageTeams))?;
        let input = Input::read(&self.request.body)?;
        let named = input.resources(Kinds::Any)?;
        let named = named.iter().map(|member| member.id.unwrap_or_default());
        let named = named.map(str::to_owned).collect();
        let names = match naming {
            Naming::Usernames => MemberNames::Usernames(named),
            Naming::Memberships => MemberNames::Memberships(named),
        };
        let by = self.recorded_as(&entry.caller);
        let external_id = &entry.position.organization.external_id;
        match change {
            Change::Join => self
                .organizations
                .add_to_team(external_id, id, &names, &scope, &by),
            Change::Leave => {
                self.organizations
                    .remove_from_team(external_id, id, &names, &scope, &by)
            }
        }
        .map_err(|error| match error {
            TeamError::UnknownMembers(places) => unknown_members(&places, input.is_list()),
            error => error.into(),
        })?;
        Ok(no_content())
    }

    /// A team of the organization of this name.
    pub(super) fn team_resource(&self, team: &Team, organization: &str) -> Value {
        let path = format!("/api/v2/teams/{}", team.id);
        let mut attributes = json!({
            "name": team.name,
            "users-count": team.users_count,
            "visibility": match team.visibility {
                Visibility::Secret => "secret",
                Visibility::Organization => "organization",
            },
            "sso-team-id": team.sso_team_id,
            "allow-member-token-management": team.allow_member_token_management,
            "permissions": team.permissions,
            "organization-access": organization_access(&team.rights),
        });
        if self.settings.edition == Edition::Hosted
            && let Value::Object(attributes) = &mut attributes
        {
            attributes.insert("is-unified".to_owned(), json!(false));
        }
        let members = |kind: &str, ids: &[String]| {
            let mut relationship = Map::new();
            if team.members_told {
                relationship.insert("data".to_owned(), identifiers(ids, kind));
            } else {
                // There are too many members for a list of teams; the team's own document lists them.
                relationship.insert("links".to_owned(), json!({"related": path}));
            }
            Value::Object(relationship)
        };
        json!({
            "id": team.id,
            "type": RESOURCE_TYPE,
            "attributes": attributes,
            "relationships": {
                "organization": {"data": {"id": organization, "type": "organizations"}},
                "users": members("users", &team.users),
                "organization-memberships":
                    members("organization-memberships", &team.memberships),
                "authentication-token":
                    {"links": {"related": format!("{path}/authentication-token")}},
                "authentication-tokens":
                    {"links": {"related": format!("{path}/authentication-tokens")}},
            },
            "links": {"self": path},
        })
    }
}

/// The relations of teams that the request asks for, as far as the caller may read them.
fn relations(includes: Option<&[String]>, entry: &Entry<'_>) -> Relations {
    Relations {
        users: is_named(includes, "users"),
        teams: false,
        memberships: is_named(includes, MEMBERSHIPS) && entry.position.also_allowed,
    }
}

/// The users and memberships that are related to teams of the organization of this name.
fn included(related: &Related, organization: &str) -> Vec<Value> {
    let users = related.users.iter().map(users::seen_by_members);
    let memberships = related.memberships.iter();
    let memberships =
        memberships.map(|membership| memberships::resource_of(membership, organization));
    users.chain(memberships).collect()
}

/// The changes of a team that a request asks for.
fn changes(attributes: &Members<'_>) -> TeamChanges {
    let organization_access = match attributes.object("organization-access") {
        Attribute::Absent => Attribute::Absent,
        Attribute::Null => Attribute::Null,
        Attribute::WrongType => Attribute::WrongType,
        Attribute::Value(access) => Attribute::Value(
            Right::ALL
                .into_iter()
                .map(|right| RightChange {
                    right,
                    granted: access.boolean(right.as_str()),
                })
                .filter(|change| change.granted != Attribute::Absent)
                .collect(),
        ),
    };
    TeamChanges {
        name: attributes.text("name"),
        visibility: attributes.text("visibility"),
        organization_access,
        sso_team_id: attributes.text("sso-team-id"),
        allow_member_token_management: attributes.boolean("allow-member-token-management"),
    }
}

fn organization_access(rights: &[Right]) -> Map<String, Value> {
    let access = Right::ALL.into_iter();
    access
        .map(|right| (right.as_str().to_owned(), json!(rights.contains(&right))))
        .collect()
}

/// The error about names that are not those of members. It points to their positions in a list, or to the single name.
fn unknown_members(places: &[u32], in_list: bool) -> ApiError {
    let fault = |place: &u32| AttributeError {
        pointer: if in_list {
            format!("/data/{place}/id")
        } else {
            "/data/id".to_owned()
        },
        detail: "Id must be of a member of the organization".to_owned(),
    };
    ApiError::Unprocessable(places.iter().map(fault).collect())
}

/// The pointer and the text of a fault of a team. Its name may contain more characters than other names.
fn attribute_error(issue: &AttributeIssue) -> AttributeError {
    match issue.fault {
        Fault::ForbiddenCharacter => AttributeError::attribute(
            &issue.attribute,
            "can only include letters, numbers, -, _, ., / and, inside, blanks.",
        ),
        _ => fields::attribute_error(issue),
    }
}

impl From<TeamError> for ApiError {
    fn from(error: TeamError) -> Self {
        match error {
            TeamError::NotFound | TeamError::NotAllowed => Self::NotFound,
            TeamError::Invalid(issues) => {
                Self::Invalid(issues.iter().map(attribute_error).collect())
            }
            TeamError::Protected => {
                ApiError::unprocessable("The team of the owners cannot be deleted")
            }
            TeamError::LastOwner => Self::last_owner(),
            TeamError::UnknownMembers(places) => unknown_members(&places, true),
            TeamError::TooManyMembers => ApiError::unprocessable(&format!(
                "There can be at most {MAXIMUM_MEMBERS_AT_ONCE} members in one request"
            )),
            TeamError::TooManyTeams(most) => Self::too_many("teams in an organization", most),
            TeamError::TooManyTeamsOfMember(most) => Self::too_many("teams of a membership", most),
            TeamError::Failed(failure) => failure.into(),
        }
    }
}
