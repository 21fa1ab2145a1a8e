//! Users (contract 1.6, 1.11).

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Attribute, AttributeIssue, Capability, CreateUserError, Fault, User, UserDescription,
};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::account::{ACCOUNT, RESOURCE_TYPE, with_attributes};
use super::api::Api;
use super::api_error::ApiError;
use super::document::Document;
use super::document_type::{DocumentType, boolean, text};
use super::fields;
use super::input::{Input, Kinds, Members};
use super::route::Data::{One, WithToken};
use super::routes::routes;
use super::transport::json_api;
use crate::http::Response;

pub(super) const USER: DocumentType = DocumentType::new(
    "User",
    RESOURCE_TYPE,
    "A user.",
    &[
        text("username", "The name. Unique in the installation."),
        text("email", "The address. Unique in the installation."),
        boolean(
            "is-site-admin",
            "True if the user administers the installation. Shown to site administrators.",
        )
        .defaulting_to("false"),
    ],
)
.type_checked();

routes! { USERS:
    Get "users/:id", User, "show-user",
        "Shows a user to the same user, to members of the same organizations, and to site administrators.",
        answering(One(&ACCOUNT))
        => |api, id| api.show_user(id);
    Post "admin/users", Administrators, "create-user", "Makes a user, and shows the first token in meta.token.",
        taking(One(&USER)), making(WithToken(&USER))
        => |api, _| api.create_user();
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    /// Shows a user to that user, to the members of a common organization, and to site administrators.
    fn show_user(&self, id: &str) -> Result<Response, ApiError> {
        let caller = self.authenticate(None)?;
        let own = self.organizations.account_of(&caller.identity)?;
        if own.user.id == id {
            return self.shown_account(&caller, &own);
        }
        let user = self.organizations.find_user(&caller.identity, id)?;
        self.decided(&caller, user.is_some())?;
        let user = user.ok_or(ApiError::NotFound)?;
        let resource = if caller.is_site_administrator() {
            resource_of(&user)
        } else {
            seen_by_members(&user)
        };
        Ok(json_api(200, &Document::new(resource)))
    }

    /// Creates a user, and shows the user's first token.
    fn create_user(&self) -> Result<Response, ApiError> {
        let caller = self.administer()?;
        let input = Input::read(&self.request.body)?;
        let resource = input.resource(Kinds::Only(&[RESOURCE_TYPE]))?;
        let (description, faults) = description(&resource.attributes);
        if !faults.is_empty() {
            return Err(ApiError::Invalid(
                faults.iter().map(fields::attribute_error).collect(),
            ));
        }
        let by = self.recorded_as(&caller);
        let (user, issued) = self.organizations.create_user(&description, &by)?;
        let issued = Zeroizing::new(issued);
        self.hands_out(&issued, &by);
        let mut document = Document::new(resource_of(&user));
        document.meta = Some(json!({"token": issued.secret.as_str()}));
        Ok(json_api(201, &document))
    }
}

/// The description of a new user, and the faults that are found before the capability is asked.
fn description(attributes: &Members<'_>) -> (UserDescription, Vec<AttributeIssue>) {
    let mut faults = Vec::new();
    let mut string = |name| match attributes.text(name) {
        Attribute::Value(text) => text,
        Attribute::Absent | Attribute::Null => String::new(),
        Attribute::WrongType => {
            faults.push(AttributeIssue::new(name, Fault::NotText));
            String::new()
        }
    };
    let username = string("username");
    let email = string("email");
    let site_administrator = match attributes.boolean("is-site-admin") {
        Attribute::Value(flag) => flag,
        Attribute::Absent | Attribute::Null => false,
        Attribute::WrongType => {
            faults.push(AttributeIssue::new("is-site-admin", Fault::NotBoolean));
            false
        }
    };
    let description = UserDescription {
        username,
        email,
        site_administrator,
    };
    (description, faults)
}

/// A user as members of organizations see them.
pub(super) fn seen_by_members(user: &User) -> Value {
    let attributes = json!({"username": user.username, "email": user.email});
    with_attributes(&user.id, attributes)
}

/// The user with this id whom an invitation to this address invites, as members of organizations see them. The user has no name yet.
pub(super) fn invited(id: &str, email: &str) -> Value {
    with_attributes(id, json!({"username": "", "email": email}))
}

/// A user as site administrators see them.
pub(super) fn resource_of(user: &User) -> Value {
    with_attributes(
        &user.id,
        json!({
            "username": user.username,
            "email": user.email,
            "is-site-admin": user.site_administrator,
        }),
    )
}

impl From<CreateUserError> for ApiError {
    fn from(error: CreateUserError) -> Self {
        match error {
            CreateUserError::Invalid(issues) => {
                Self::Invalid(issues.iter().map(fields::attribute_error).collect())
            }
            CreateUserError::Failed(failure) => failure.into(),
        }
    }
}
