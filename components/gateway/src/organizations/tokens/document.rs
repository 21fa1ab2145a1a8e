//! The resource `authentication-tokens` (contract 4.6).

use gatehouse_orgs_api::{ApiToken, IssuedToken, TokenCreator, TokenOwner};

use crate::json_writer::{ObjectWriter, WriteMembers};
use crate::organizations::document_type::{DocumentType, Target, related, text, time};
use crate::organizations::organization::ORGANIZATIONS;
use crate::organizations::resource::{ShownRelationship, ShownResource};
use crate::organizations::timestamp;

const RESOURCE_TYPE: &str = "authentication-tokens";

pub(super) const TOKEN: DocumentType = DocumentType::new(
    "Token",
    RESOURCE_TYPE,
    "A token of this API.",
    &[
        text(
            "description",
            "A description. Unique among the tokens of a team.",
        )
        .nullable(),
        time(
            "expired-at",
            "When the token expires. Default: two years after it was made.",
        )
        .nullable(),
        time("created-at", "The time of its making.").read_only(),
        time("last-used-at", "The time of its last use, to the minute.")
            .nullable()
            .read_only(),
        text(
            "token",
            "The text, in the answer to the request that made it; null in all others.",
        )
        .nullable()
        .read_only(),
    ],
)
.relating(&[
    related("created-by", Target::One("users")),
    related("team", Target::One("teams")),
]);

/// A token as it is shown.
pub(in crate::organizations) type TokenResource<'a> =
    ShownResource<'a, Attributes<'a>, Relationships<'a>>;

/// The attributes, and no others: clients refuse attributes that they do not know.
pub(in crate::organizations) struct Attributes<'a> {
    token: &'a ApiToken,
    /// The text, only in the answer that creates the token.
    secret: Option<&'a str>,
}

impl WriteMembers for Attributes<'_> {
    fn write_members(&self, object: &mut ObjectWriter<'_>) {
        let Self { token, secret } = *self;
        let last_used_at = token.last_used_at.map(timestamp::formatted);
        let expired_at = token.expires_at.map(timestamp::formatted);
        object.member(
            "created-at",
            timestamp::formatted(token.created_at).as_str(),
        );
        object.member("last-used-at", &last_used_at.as_deref());
        object.member("description", &token.description.as_deref());
        object.member("token", &secret);
        object.member("expired-at", &expired_at.as_deref());
    }
}

/// The relationships of a token. `organization` is the name of the organization to which it belongs, if any.
pub(in crate::organizations) struct Relationships<'a> {
    token: &'a ApiToken,
    organization: Option<&'a str>,
}

impl WriteMembers for Relationships<'_> {
    fn write_members(&self, object: &mut ObjectWriter<'_>) {
        creator(self.token, self.organization).write(object, "created-by");
        // Clients find the token of a team by its team.
        if let TokenOwner::Team(team) | TokenOwner::TeamNamed(team) = &self.token.owner {
            ShownRelationship::one("teams", &team.id).write(object, "team");
        }
    }
}

impl<'a> TokenResource<'a> {
    /// A token without its text. `organization` is the name of the organization to which it belongs, if any.
    pub(in crate::organizations) fn without_text(
        token: &'a ApiToken,
        organization: Option<&'a str>,
    ) -> Self {
        Self::shown(token, None, organization)
    }

    /// A new token, with its text.
    pub(in crate::organizations) fn with_text(
        issued: &'a IssuedToken,
        organization: Option<&'a str>,
    ) -> Self {
        Self::shown(&issued.token, Some(&issued.secret), organization)
    }

    fn shown(token: &'a ApiToken, secret: Option<&'a str>, organization: Option<&'a str>) -> Self {
        let attributes = Attributes { token, secret };
        let relationships = Relationships {
            token,
            organization,
        };
        Self::new(RESOURCE_TYPE, &token.id, attributes, relationships)
    }
}

/// The creator of the token: a user, a team or an organization. Clients need one of these. If the creator is none of them, but a service token, the
/// owner of the token takes its place.
fn creator<'a>(token: &'a ApiToken, organization: Option<&'a str>) -> ShownRelationship<'a> {
    match (&token.created_by, &token.owner) {
        (TokenCreator::User(id), _)
        | (TokenCreator::Organization(_) | TokenCreator::Workload, TokenOwner::User(id)) => {
            ShownRelationship::one("users", id)
        }
        (TokenCreator::Team(id), _) => ShownRelationship::one("teams", id),
        (TokenCreator::Organization(_) | TokenCreator::Workload, owner) => {
            let external_id = owner.organization().unwrap_or_default();
            ShownRelationship::one(ORGANIZATIONS, organization.unwrap_or(external_id))
        }
    }
}
