//! The resource `authentication-tokens` (contract 4.6).

use gatehouse_orgs_api::{ApiToken, IssuedToken, TokenCreator, TokenOwner};
use serde::Serialize;
use serde_json::{Value, json};

use crate::organizations::document::ShownResource;
use crate::organizations::document_type::{DocumentType, Target, related, text, time};
use crate::organizations::timestamp;

pub(super) const TOKEN: DocumentType = DocumentType::new(
    "Token",
    "authentication-tokens",
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
pub(in crate::organizations) type TokenResource<'a> = ShownResource<'a, Attributes<'a>>;

/// The attributes, and no others: clients refuse attributes that they do not know.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::organizations) struct Attributes<'a> {
    created_at: String,
    last_used_at: Option<String>,
    description: Option<&'a str>,
    /// The text, only in the answer that creates the token.
    token: Option<&'a str>,
    expired_at: Option<String>,
}

impl<'a> TokenResource<'a> {
    /// A token without its text. `organization` is the name of the organization to which it belongs, if any.
    pub(in crate::organizations) fn without_text(
        token: &'a ApiToken,
        organization: Option<&str>,
    ) -> Self {
        Self::new(token, None, organization)
    }

    /// A new token, with its text.
    pub(in crate::organizations) fn with_text(
        issued: &'a IssuedToken,
        organization: Option<&str>,
    ) -> Self {
        Self::new(&issued.token, Some(&issued.secret), organization)
    }

    fn new(token: &'a ApiToken, secret: Option<&'a str>, organization: Option<&str>) -> Self {
        Self {
            id: &token.id,
            kind: "authentication-tokens",
            attributes: Attributes {
                created_at: timestamp::formatted(token.created_at),
                last_used_at: token.last_used_at.map(timestamp::formatted),
                description: token.description.as_deref(),
                token: secret,
                expired_at: token.expires_at.map(timestamp::formatted),
            },
            relationships: relationships(token, organization),
            links: json!({"self": format!("/api/v2/authentication-tokens/{}", token.id)}),
        }
    }
}

/// The creator of the token. The token of a team also has the team, by which clients find it.
fn relationships(token: &ApiToken, organization: Option<&str>) -> Value {
    let maker = json!({"data": creator(token, organization)});
    match &token.owner {
        TokenOwner::Team(team) | TokenOwner::TeamNamed(team) => json!({
            "created-by": maker,
            "team": {"data": {"id": team.id, "type": "teams"}},
        }),
        _ => json!({"created-by": maker}),
    }
}

/// The creator of the token: a user, a team or an organization. Clients need one of these. If the creator is none of them, but a service token, the
/// owner of the token takes its place.
fn creator(token: &ApiToken, organization: Option<&str>) -> Value {
    let (kind, id) = match (&token.created_by, &token.owner) {
        (TokenCreator::User(id), _) => ("users", id.as_str()),
        (TokenCreator::Team(id), _) => ("teams", id.as_str()),
        (TokenCreator::Organization(_) | TokenCreator::Workload, TokenOwner::User(id)) => {
            ("users", id.as_str())
        }
        (TokenCreator::Organization(_) | TokenCreator::Workload, owner) => {
            let external_id = owner.organization().unwrap_or_default();
            ("organizations", organization.unwrap_or(external_id))
        }
    };
    json!({"id": id, "type": kind})
}
