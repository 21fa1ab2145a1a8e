//! The account behind a token, shown to the holder of the token (contract 1.11).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatehouse_access_api::Access;
use gatehouse_orgs_api::{Account, Capability, Decision, Principal};
use serde_json::{Value, json};

use super::api::Api;
use super::api_error::ApiError;
use super::caller::Caller;
use super::document::Document;
use super::document_type::{DocumentType, Target, boolean, choice, flags, related, text};
use super::route::Data::One;
use super::routes::routes;
use super::transport::json_api;
use crate::Edition;
use crate::http::Response;

/// The resource type of users.
pub(super) const RESOURCE_TYPE: &str = "users";

/// The names of the editions in accounts.
const HOSTED: &str = "tfc";
const SELF_HOSTED: &str = "tfe";

routes! { ACCOUNT:
    Get "account/details", Bearers, "show-account", "Shows the user that the caller's token belongs to or represents.", answering(One(&ACCOUNT))
        => |api, _| api.account_details();
}

/// The account of the caller, with all its attributes. Other callers see only some of them.
pub(super) const ACCOUNT: DocumentType = DocumentType::new(
    "Account",
    RESOURCE_TYPE,
    "The user that a token belongs to or represents.",
    &[
        text("username", "The name.").read_only(),
        text("email", "The address.").read_only(),
        text("unconfirmed-email", "Always null.")
            .nullable()
            .read_only(),
        boolean(
            "is-service-account",
            "True if the user represents a team, an organization or a workload.",
        )
        .read_only(),
        choice("auth-method", &[HOSTED, SELF_HOSTED], "The edition.").read_only(),
        text("avatar-url", "A picture, as a data URL.").read_only(),
        text("password", "Always null.").nullable().read_only(),
        boolean("v2-only", "Always true.").read_only(),
        boolean(
            "is-site-admin",
            "True if the caller administers the installation.",
        )
        .read_only(),
        boolean("is-admin", "The same.").read_only(),
        boolean("is-sso-login", "Always false.").read_only(),
        flags("two-factor", "Always disabled.").read_only(),
        flags("permissions", "The rights of the caller.").read_only(),
    ],
)
.relating(&[
    related("authentication-tokens", Target::Link),
    related("authenticated-resource", Target::One(RESOURCE_TYPE)),
]);

impl<C: Access, O: Capability> Api<'_, C, O> {
    fn account_details(&self) -> Result<Response, ApiError> {
        let caller = self.authenticate(None)?;
        let account = self.organizations.account_of(&caller.identity)?;
        self.shown_account(&caller, &account)
    }

    /// Shows a caller the user that they are, or the user that represents them.
    pub(super) fn shown_account(
        &self,
        caller: &Caller<'_>,
        account: &Account,
    ) -> Result<Response, ApiError> {
        self.decided(caller, true)?;
        let user = &account.user;
        let creation = self
            .organizations
            .creation(&caller.identity, self.has_rights_somewhere(caller)?)?;
        let is_person = is_person(caller);
        let is_administrator = caller.is_site_administrator();
        let method = match self.settings.edition {
            Edition::Hosted => HOSTED,
            Edition::SelfHosted => SELF_HOSTED,
        };
        let id = &user.id;
        let attributes = json!({
            "username": user.username,
            "email": user.email,
            "unconfirmed-email": null,
            "is-service-account": !is_person,
            "auth-method": method,
            "avatar-url": avatar(&user.username),
            "password": null,
            "v2-only": true,
            "is-site-admin": is_administrator,
            "is-admin": is_administrator,
            "is-sso-login": false,
            "two-factor": {"enabled": false, "verified": false},
            "permissions": {
                "can-create-organizations": creation == Decision::Allowed,
                "can-change-email": false,
                "can-change-username": false,
                "can-manage-user-tokens": is_person,
            },
        });
        let mut resource = with_attributes(id, attributes);
        if let Value::Object(resource) = &mut resource {
            let tokens = format!("/api/v2/users/{id}/authentication-tokens");
            let relationships = json!({
                "authentication-tokens": {"links": {"related": tokens}},
                "authenticated-resource": {"data": owner_of_token(&caller.identity.principal, account)},
            });
            resource.insert("relationships".to_owned(), relationships);
        }
        Ok(json_api(200, &Document::new(resource)))
    }
}

/// The owner of the token: the user, or the team or organization that the user represents.
fn owner_of_token(principal: &Principal, account: &Account) -> Value {
    match principal {
        Principal::Team(team) => json!({"id": team.id, "type": "teams"}),
        Principal::Organization(id) | Principal::AuditReader(id) => {
            let name = account.organization.as_ref().unwrap_or(id);
            json!({"id": name, "type": "organizations"})
        }
        Principal::User(_) | Principal::Installation | Principal::Workload(_) => {
            json!({"id": account.user.id, "type": RESOURCE_TYPE})
        }
    }
}

/// A user resource with these attributes.
pub(super) fn with_attributes(id: &str, attributes: Value) -> Value {
    json!({
        "id": id,
        "type": RESOURCE_TYPE,
        "attributes": attributes,
        "links": {"self": format!("/api/v2/users/{id}")},
    })
}

/// A picture with the first letter of a name, embedded as a data URL, so that no third party learns whose it is (contract 1.11).
fn avatar(username: &str) -> String {
    let first = username.chars().find(char::is_ascii_alphanumeric);
    let letter = first.unwrap_or('-').to_ascii_uppercase();
    let picture = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" fill="#5b6770"/><text x="32" y="43" font-family="sans-serif" font-size="32" text-anchor="middle" fill="#fff">{letter}</text></svg>"##
    );
    format!("data:image/svg+xml;base64,{}", STANDARD.encode(picture))
}

/// True if the caller is a person with an API token.
fn is_person(caller: &Caller<'_>) -> bool {
    matches!(&caller.identity.principal, Principal::User(user) if user.subject.is_none())
}
