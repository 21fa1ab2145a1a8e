//! Subscriptions and feature sets (contract 4.2).

pub(super) mod document;
mod terms;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Action, AttributeIssue, Capability, Description, Edition, FeatureSet, Organization,
    SubscriptionError,
};

use self::document::{
    FEATURE_SET, RUM_ALERT_THRESHOLD, SUBSCRIPTION, feature_set_resource, subscription_resource,
};
use self::terms::SUBSCRIPTION_TERMS;
use super::api::Api;
use super::api_error::ApiError;
use super::attribute_error::AttributeError;
use super::document::Document;
use super::fields;
use super::include::{Includes, offered};
use super::input::{Input, Kinds};
use super::pagination::{PageRequest, paged};
use super::parameter::Q;
use super::route::Data::{Many, One};
use super::routes::routes;
use super::transport::json_api;
use crate::http::Response;

routes! { SUBSCRIPTIONS:
    Get "organizations/:name/subscription", Organization, "show-subscription-of-organization",
        "Shows the subscription of an organization.",
        only_in(Edition::Hosted), answering(One(&SUBSCRIPTION))
        => |api, name| api.subscription_of(name);
    Patch "organizations/:name/subscription", Organization, "update-subscription",
        "Changes the attributes of the subscription that owners may set.",
        only_in(Edition::Hosted), taking(One(&SUBSCRIPTION)), answering(One(&SUBSCRIPTION))
        => |api, name| api.update_subscription(name);
    Get "subscriptions/:id", Organization, "show-subscription", "Shows a subscription by its id.",
        only_in(Edition::Hosted), answering(One(&SUBSCRIPTION))
        => |api, id| api.subscription(id);
    Post "admin/organizations/:name/subscription", Administrators, "set-subscription-terms",
        "Sets plan and terms of the subscription.",
        taking(One(&SUBSCRIPTION_TERMS)), answering(One(&SUBSCRIPTION))
        => |api, name| api.set_subscription_terms(name);
    Get "feature-sets", Bearers, "list-feature-sets",
        "Lists all feature sets. Without page parameters the list is complete.",
        only_in(Edition::Hosted), paged, answering(Many(&FEATURE_SET))
        => |api, _| api.feature_sets();
    Get "organizations/:name/feature-sets", Organization, "list-feature-sets-of-organization",
        "Lists the feature sets that an organization can have. Without page parameters the list is complete.",
        only_in(Edition::Hosted), paged, answering(Many(&FEATURE_SET))
        => |api, name| api.feature_sets_of(name);
    Get "admin/feature-sets", Administrators, "search-feature-sets", "Lists feature sets, the best match first.",
        querying(&[Q]), paged, answering(Many(&FEATURE_SET))
        => |api, _| api.search_feature_sets();
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    fn subscription_of(&self, name: &str) -> Result<Response, ApiError> {
        let entry = self.enter_named(name, Action::Show, None)?;
        Ok(self.shown_subscription(&entry.position.organization))
    }

    fn subscription(&self, id: &str) -> Result<Response, ApiError> {
        let entry =
            self.enter_by_its_own(id, Action::Show, Description::NOTHING, |organization| {
                &organization.subscription.id
            })?;
        Ok(self.shown_subscription(&entry.position.organization))
    }

    /// Changes the threshold, which is all that owners may change. Other attributes are ignored.
    fn update_subscription(&self, name: &str) -> Result<Response, ApiError> {
        let entry = self.enter_named(name, Action::Update, None)?;
        let input = Input::read(&self.request.body)?;
        let resource = input.resource(Kinds::Any)?;
        let organization = self.organizations.set_rum_alert_threshold(
            &entry.position.organization.external_id,
            &resource.attributes.integer(RUM_ALERT_THRESHOLD),
            &self.recorded_as(&entry.caller),
        )?;
        Ok(self.shown_subscription(&organization))
    }

    fn set_subscription_terms(&self, name: &str) -> Result<Response, ApiError> {
        let (caller, organization) = self.administer_named(name)?;
        let input = Input::read(&self.request.body)?;
        let terms = terms::subscription_terms(&input.resource(Kinds::Any)?);
        let organization = self.organizations.set_subscription_terms(
            &organization.external_id,
            &terms,
            &self.recorded_as(&caller),
        )?;
        Ok(self.shown_subscription(&organization))
    }

    /// Shows all offered feature sets to any caller with a valid token.
    fn feature_sets(&self) -> Result<Response, ApiError> {
        let caller = self.authenticate(None)?;
        self.decided(&caller, true)?;
        Ok(self.listed_feature_sets("", PageRequest::if_mentioned(&self.request.query)))
    }

    fn feature_sets_of(&self, name: &str) -> Result<Response, ApiError> {
        self.enter_named(name, Action::Show, None)?;
        Ok(self.listed_feature_sets("", PageRequest::if_mentioned(&self.request.query)))
    }

    fn search_feature_sets(&self) -> Result<Response, ApiError> {
        self.administer()?;
        let query = self.request.query.as_str();
        let text = Q.first(query).unwrap_or_default();
        Ok(self.listed_feature_sets(&text, Some(PageRequest::always(query))))
    }

    fn shown_subscription(&self, organization: &Organization) -> Response {
        let all = self.organizations.feature_sets("");
        let set = offered(organization.subscription.plan, &all);
        let mut document = Document::new(subscription_resource(organization, set));
        document.included = Some(set.into_iter().map(feature_set_resource).collect());
        json_api(200, &document)
    }

    /// All feature sets, if the included resources need them; otherwise none.
    pub(super) fn feature_sets_for(&self, includes: Includes) -> Vec<FeatureSet> {
        if includes.needs_feature_sets() {
            self.organizations.feature_sets("")
        } else {
            Vec::new()
        }
    }

    fn listed_feature_sets(&self, text: &str, page: Option<PageRequest>) -> Response {
        let found = self.organizations.feature_sets(text);
        let found = found.iter().map(feature_set_resource);
        let document = match page {
            Some(page) => {
                let (items, total) = page.of_all(found);
                paged(items, total, page, self.request)
            }
            None => Document::new(found.collect()),
        };
        json_api(200, &document)
    }
}

impl From<SubscriptionError> for ApiError {
    fn from(error: SubscriptionError) -> Self {
        match error {
            SubscriptionError::NotFound => Self::NotFound,
            SubscriptionError::Invalid(issues) => {
                Self::Invalid(issues.iter().map(fault_of).collect())
            }
            SubscriptionError::Failed(failure) => failure.into(),
        }
    }
}

/// The pointer and the text of a fault. The feature set is a relationship, and everything else an attribute.
fn fault_of(issue: &AttributeIssue) -> AttributeError {
    if issue.attribute == terms::FEATURE_SET {
        fields::relationship_fault(issue)
    } else {
        fields::attribute_error(issue)
    }
}
