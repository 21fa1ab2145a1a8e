//! Teams, and who is in them (contract 4.10).

use std::borrow::Cow;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Action, Attribute, Capability, DelegationScope, MAXIMUM_MEMBERS_AT_ONCE, MemberNames, Right,
    RightChange, Team, TeamChanges, TeamError, TeamFilter, User, Visibility,
};
use serde_json::{Map, Value, json};

use super::Api;
use super::attribute_fault::AttributeFault;
use super::caller::Entry;
use super::document::{Document, identifiers};
use super::input::{Input, Kinds, Members};
use super::pagination::{PageRequest, paged};
use super::problem::Problem;
use super::transport::{json_api, no_content};
use super::{fields, include, memberships, users};
use crate::http::{Method, Response};
use crate::query;

const RESOURCE_TYPE: &str = "teams";

/// Requests about teams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route<'a> {
    /// The teams of the organization of this name.
    List(&'a str),
    /// A new team there.
    Create(&'a str),
    /// The team with this id.
    Show(&'a str),
    /// Changes to it.
    Update(&'a str),
    /// Its end.
    Delete(&'a str),
    /// The members of the team with this id.
    ListMembers(&'a str, Naming),
    /// Members join the team with this id, or leave it.
    Members(&'a str, Naming, Change),
}

/// How a request names members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// By the names of users.
    Usernames,
    /// By the ids of memberships.
    Memberships,
}

/// What becomes of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Join,
    Leave,
}

impl<'a> Route<'a> {
    /// The route of a request.
    pub(super) fn of(method: Method, segments: &[&'a str]) -> Option<Self> {
        match (method, segments) {
            (Method::Get, ["organizations", name, "teams"]) => Some(Self::List(name)),
            (Method::Post, ["organizations", name, "teams"]) => Some(Self::Create(name)),
            (Method::Get, ["teams", id]) => Some(Self::Show(id)),
            (Method::Patch, ["teams", id]) => Some(Self::Update(id)),
            (Method::Delete, ["teams", id]) => Some(Self::Delete(id)),
            (Method::Get, ["teams", id, "relationships", named]) => {
                Naming::of(named).map(|naming| Self::ListMembers(id, naming))
            }
            (method, ["teams", id, "relationships", named]) => {
                let change = match method {
                    Method::Post => Change::Join,
                    Method::Delete => Change::Leave,
                    _ => return None,
                };
                Naming::of(named).map(|naming| Self::Members(id, naming, change))
            }
            _ => None,
        }
    }
}

impl Naming {
    fn of(relationship: &str) -> Option<Self> {
        [Self::Usernames, Self::Memberships]
            .into_iter()
            .find(|naming| naming.relationship() == relationship)
    }

    const fn relationship(self) -> &'static str {
        match self {
            Self::Usernames => "users",
            Self::Memberships => "organization-memberships",
        }
    }
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    pub(super) fn answer_about_teams(&self, route: Route<'_>) -> Result<Response, Problem> {
        match route {
            Route::List(name) => self.list_teams(name),
            Route::Create(name) => self.create_team(name),
            Route::Show(id) => self.show_team(id),
            Route::Update(id) => self.update_team(id),
            Route::Delete(id) => self.delete_team(id),
            Route::ListMembers(id, naming) => self.list_members(id, naming),
            Route::Members(id, naming, change) => self.change_members(id, naming, change),
        }
    }

    fn list_teams(&self, name: &str) -> Result<Response, Problem> {
        let entry = self.enter(name, Action::ReadTeams, Some(RESOURCE_TYPE))?;
        let scope = self.delegation_scope(&entry, Right::AccessSecretTeams)?;
        let includes = self.wanted_with_teams()?;
        let query = &self.request.query;
        let page = PageRequest::always(query);
        let filter = TeamFilter {
            names: query::list(query, "filter[names]")
                .filter(|name| !name.is_empty())
                .collect(),
            text: query::first(query, "q").map(Cow::into_owned),
        };
        let organization = &entry.position.organization;
        let found = self.organizations.list_teams(
            &organization.external_id,
            &filter,
            &scope,
            page.number,
            page.size,
        )?;
        let resources = found
            .teams
            .iter()
            .map(|team| self.team_resource(team, &organization.name));
        let mut document = paged(resources.collect(), found.total, page, self.request);
        document.included = self.included_with_teams(includes, &entry, &scope, &found.teams)?;
        Ok(json_api(200, &document))
    }

    fn create_team(&self, name: &str) -> Result<Response, Problem> {
        let entry = self.enter(name, Action::ManageTeams, Some(RESOURCE_TYPE))?;
        let scope = self.delegation_scope(&entry, Right::ManageTeams)?;
        let input = Input::read(&self.request.body)?;
        let changes = changes(&input.resource(Kinds::Any)?.attributes);
        let organization = &entry.position.organization;
        let by = self.recorded_as(&entry.caller);
        let team =
            self.organizations
                .create_team(&organization.external_id, &changes, &scope, &by)?;
        let resource = self.team_resource(&team, &organization.name);
        Ok(json_api(201, &Document::of(resource)))
    }

    fn show_team(&self, id: &str) -> Result<Response, Problem> {
        let entry = self.enter_by_id(id, Action::ReadTeams, RESOURCE_TYPE)?;
        let scope = self.delegation_scope(&entry, Right::AccessSecretTeams)?;
        let includes = self.wanted_with_teams()?;
        let organization = &entry.position.organization;
        let external_id = &organization.external_id;
        let team = self.organizations.read_team(external_id, id, &scope)?;
        let team = team.ok_or(Problem::NotFound)?;
        let mut document = Document::of(self.team_resource(&team, &organization.name));
        document.included = self.included_with_teams(includes, &entry, &scope, &[team])?;
        Ok(json_api(200, &document))
    }

    fn update_team(&self, id: &str) -> Result<Response, Problem> {
        let entry = self.enter_by_id(id, Action::ManageTeams, RESOURCE_TYPE)?;
        let scope = self.delegation_scope(&entry, Right::ManageTeams)?;
        let input = Input::read(&self.request.body)?;
        let changes = changes(&input.resource(Kinds::Any)?.attributes);
        let organization = &entry.position.organization;
        let by = self.recorded_as(&entry.caller);
        let external_id = &organization.external_id;
        let team = self
            .organizations
            .update_team(external_id, id, &changes, &scope, &by)?;
        let resource = self.team_resource(&team, &organization.name);
        Ok(json_api(200, &Document::of(resource)))
    }

    /// Removes a team. What the body says does not matter.
    fn delete_team(&self, id: &str) -> Result<Response, Problem> {
        let entry = self.enter_by_id(id, Action::ManageTeams, RESOURCE_TYPE)?;
        let scope = self.delegation_scope(&entry, Right::ManageTeams)?;
        let by = self.recorded_as(&entry.caller);
        let external_id = &entry.position.organization.external_id;
        self.organizations
            .delete_team(external_id, id, &scope, &by)?;
        Ok(no_content())
    }

    fn list_members(&self, id: &str, naming: Naming) -> Result<Response, Problem> {
        let below = format!(
            "{RESOURCE_TYPE}/{id}/relationships/{}",
            naming.relationship()
        );
        let entry = self.enter_below(id, Action::ReadTeams, &below)?;
        let scope = self.delegation_scope(&entry, Right::AccessSecretTeams)?;
        let page = PageRequest::always(&self.request.query);
        let organization = &entry.position.organization;
        let external_id = &organization.external_id;
        let team = self.organizations.read_team(external_id, id, &scope)?;
        let team = team.ok_or(Problem::NotFound)?;
        let (resources, total) = match naming {
            Naming::Usernames => {
                let (ids, total) = page.of_all(team.users);
                (self.user_resources(ids.iter())?, total)
            }
            Naming::Memberships => {
                let (ids, total) = page.of_all(team.memberships);
                let found = self
                    .organizations
                    .memberships_with_ids(external_id, &ids, &scope)?;
                let resource =
                    |membership| memberships::resource_of(membership, &organization.name);
                (found.iter().map(resource).collect(), total)
            }
        };
        Ok(json_api(200, &paged(resources, total, page, self.request)))
    }

    fn change_members(
        &self,
        id: &str,
        naming: Naming,
        change: Change,
    ) -> Result<Response, Problem> {
        let below = format!(
            "{RESOURCE_TYPE}/{id}/relationships/{}",
            naming.relationship()
        );
        let entry = self.enter_below(id, Action::ManageTeamMembers, &below)?;
        let scope = self.delegation_scope(&entry, Right::ManageTeams)?;
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

    fn wanted_with_teams(&self) -> Result<Option<Vec<String>>, Problem> {
        include::wanted(&self.request.query, &["users", "organization-memberships"])
    }

    /// What is asked for beside teams, each once.
    fn included_with_teams(
        &self,
        wanted: Option<Vec<String>>,
        entry: &Entry<'_>,
        scope: &DelegationScope,
        teams: &[Team],
    ) -> Result<Option<Vec<Value>>, Problem> {
        let Some(wanted) = wanted else {
            return Ok(None);
        };
        let organization = &entry.position.organization;
        let mut included = Vec::new();
        if wanted.iter().any(|name| name == "users") {
            included.extend(self.user_resources(teams.iter().flat_map(|team| &team.users))?);
        }
        // A token that may read teams need not be one that may read memberships.
        let collection = "organization-memberships";
        if wanted.iter().any(|name| name == collection)
            && self.may_also(entry, Action::ReadMemberships, collection)?
        {
            let ids: Vec<String> = teams
                .iter()
                .flat_map(|team| team.memberships.iter().cloned())
                .collect();
            let found =
                self.organizations
                    .memberships_with_ids(&organization.external_id, &ids, scope)?;
            let resource = |membership| memberships::resource_of(membership, &organization.name);
            included.extend(found.iter().map(resource));
        }
        Ok(Some(included))
    }

    /// The users with these ids, each once, by their ids.
    pub(super) fn user_resources<'i>(
        &self,
        ids: impl Iterator<Item = &'i String>,
    ) -> Result<Vec<Value>, Problem> {
        let mut ids: Vec<String> = ids.cloned().collect();
        ids.sort();
        ids.dedup();
        let users = self.organizations.users(&ids)?;
        let seen = |user: &User| users::seen_by_members(&user.id, &user.username, &user.email);
        Ok(users.iter().flatten().map(seen).collect())
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
            "permissions": permissions(team),
            "organization-access": organization_access(&team.rights),
        });
        if self.settings.edition == gatehouse_orgs_api::Edition::Hosted
            && let Value::Object(attributes) = &mut attributes
        {
            attributes.insert("is-unified".to_owned(), json!(false));
        }
        let members = |kind: &str, ids: &[String]| {
            let mut relationship = Map::new();
            if team.members_told {
                relationship.insert("data".to_owned(), identifiers(ids, kind));
            } else {
                // Too many for a list; of the team alone they are told.
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

/// What a request says about a team.
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

fn permissions(team: &Team) -> Map<String, Value> {
    let permissions = team.permissions.iter();
    permissions
        .map(|permission| (permission.key.clone(), json!(permission.granted)))
        .collect()
}

fn organization_access(rights: &[Right]) -> Map<String, Value> {
    let access = Right::ALL.into_iter();
    access
        .map(|right| (right.as_str().to_owned(), json!(rights.contains(&right))))
        .collect()
}

/// What is said of names that are no members': where they are in a list, or that the one that is given is none.
fn unknown_members(places: &[u32], in_list: bool) -> Problem {
    let fault = |place: &u32| AttributeFault {
        pointer: if in_list {
            format!("/data/{place}/id")
        } else {
            "/data/id".to_owned()
        },
        detail: "Id must be of a member of the organization".to_owned(),
    };
    Problem::Unprocessable(places.iter().map(fault).collect())
}

impl From<TeamError> for Problem {
    fn from(error: TeamError) -> Self {
        match error {
            TeamError::NotFound | TeamError::NotAllowed => Self::NotFound,
            TeamError::Invalid(issues) => {
                Self::Invalid(issues.iter().map(fields::of_issue).collect())
            }
            TeamError::Protected => {
                Problem::unprocessable("/data", "The team of the owners cannot be deleted")
            }
            TeamError::LastOwner => Self::last_owner(),
            TeamError::UnknownMembers(places) => unknown_members(&places, true),
            TeamError::TooManyMembers => Problem::unprocessable(
                "/data",
                &format!("There can be at most {MAXIMUM_MEMBERS_AT_ONCE} members in one request"),
            ),
            TeamError::TooManyTeams(most) => Self::too_many("teams in an organization", most),
            TeamError::TooManyTeamsOfMember(most) => Self::too_many("teams of a membership", most),
            TeamError::Failed(failure) => failure.into(),
        }
    }
}
