//! Subscriptions, and the feature sets that there are (contract 4.2).

pub(super) mod document;
mod terms;

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Action, AttributeIssue, Capability, Edition, FeatureSet, Organization, SubscriptionError,
};

use self::document::{feature_set_resource, subscription_resource};
use super::Api;
use super::attribute_fault::AttributeFault;
use super::document::Document;
use super::fields;
use super::include::{Includes, offered};
use super::input::{Input, Kinds};
use super::pagination::{PageRequest, paged};
use super::problem::Problem;
use super::transport::json_api;
use crate::http::{Method, Response};
use crate::query;

/// Requests about subscriptions and feature sets. Organizations are told by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route<'a> {
    /// The subscription of an organization.
    ShowOf(&'a str),
    /// What its owners want to know about it.
    Update(&'a str),
    /// The subscription with this id.
    Show(&'a str),
    /// New terms, by a site administrator.
    SetTerms(&'a str),
    /// Everything that is offered.
    FeatureSets,
    /// What is offered to an organization, which is everything.
    FeatureSetsOf(&'a str),
    /// What is offered, searched by a site administrator.
    SearchFeatureSets,
}

impl<'a> Route<'a> {
    /// The route of a request.
    pub(super) fn of(method: Method, segments: &[&'a str]) -> Option<Self> {
        match (method, segments) {
            (Method::Get, ["organizations", name, "subscription"]) => Some(Self::ShowOf(name)),
            (Method::Patch, ["organizations", name, "subscription"]) => Some(Self::Update(name)),
            (Method::Get, ["subscriptions", id]) => Some(Self::Show(id)),
            (Method::Post, ["admin", "organizations", name, "subscription"]) => {
                Some(Self::SetTerms(name))
            }
            (Method::Get, ["feature-sets"]) => Some(Self::FeatureSets),
            (Method::Get, ["organizations", name, "feature-sets"]) => {
                Some(Self::FeatureSetsOf(name))
            }
            (Method::Get, ["admin", "feature-sets"]) => Some(Self::SearchFeatureSets),
            _ => None,
        }
    }
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    pub(super) fn answer_about_subscriptions(&self, route: Route<'_>) -> Result<Response, Problem> {
        // What is for site administrators is there in both editions.
        if !matches!(route, Route::SetTerms(_) | Route::SearchFeatureSets) {
            self.exists_only_in(Edition::Hosted)?;
        }
        match route {
            Route::ShowOf(name) => self.subscription_of(name),
            Route::Update(name) => self.update_subscription(name),
            Route::Show(id) => self.subscription(id),
            Route::SetTerms(name) => self.set_subscription_terms(name),
            Route::FeatureSets => self.feature_sets(),
            Route::FeatureSetsOf(name) => self.feature_sets_of(name),
            Route::SearchFeatureSets => self.search_feature_sets(),
        }
    }

    fn subscription_of(&self, name: &str) -> Result<Response, Problem> {
        let entry = self.enter(name, Action::Show, None)?;
        Ok(self.shown_subscription(&entry.position.organization))
    }

    fn subscription(&self, id: &str) -> Result<Response, Problem> {
        let entry = self.enter_by_its_own(id, Action::Show, |organization| {
            &organization.subscription.id
        })?;
        Ok(self.shown_subscription(&entry.position.organization))
    }

    /// Changes what owners may: the threshold. All else is ignored.
    fn update_subscription(&self, name: &str) -> Result<Response, Problem> {
        let entry = self.enter(name, Action::Update, None)?;
        let input = Input::read(&self.request.body)?;
        let resource = input.resource(Kinds::Any)?;
        let organization = self.organizations.set_rum_alert_threshold(
            self.settings.edition,
            &entry.position.organization.external_id,
            &resource.attributes.integer("rum-alert-threshold"),
            &self.recorded_as(&entry.caller),
        )?;
        Ok(self.shown_subscription(&organization))
    }

    fn set_subscription_terms(&self, name: &str) -> Result<Response, Problem> {
        let caller = self.administer()?;
        let edition = self.settings.edition;
        let organization = self.organizations.read(edition, name)?;
        let organization = organization.ok_or(Problem::NotFound)?;
        let input = Input::read(&self.request.body)?;
        let terms = terms::of(&input.resource(Kinds::Any)?);
        let organization = self.organizations.set_subscription_terms(
            edition,
            &organization.external_id,
            &terms,
            &self.recorded_as(&caller),
        )?;
        Ok(self.shown_subscription(&organization))
    }

    /// Everything that is offered, to anybody with a valid token.
    fn feature_sets(&self) -> Result<Response, Problem> {
        let caller = self.authenticate(None)?;
        self.decided(&caller, true)?;
        Ok(self.listed_feature_sets("", PageRequest::of(&self.request.query)))
    }

    fn feature_sets_of(&self, name: &str) -> Result<Response, Problem> {
        self.enter(name, Action::Show, None)?;
        Ok(self.listed_feature_sets("", PageRequest::of(&self.request.query)))
    }

    fn search_feature_sets(&self) -> Result<Response, Problem> {
        self.administer()?;
        let query = self.request.query.as_str();
        let text = query::first(query, "q").unwrap_or_default();
        Ok(self.listed_feature_sets(&text, Some(PageRequest::always(query))))
    }

    fn shown_subscription(&self, organization: &Organization) -> Response {
        let all = self.organizations.feature_sets("");
        let set = offered(organization.subscription.plan, &all);
        let mut document = Document::of(subscription_resource(organization, set));
        document.included = Some(set.into_iter().map(feature_set_resource).collect());
        json_api(200, &document)
    }

    /// All feature sets, if what is to be included needs them.
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
            None => Document::of(found.collect()),
        };
        json_api(200, &document)
    }
}

impl From<SubscriptionError> for Problem {
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

/// The feature set is a relationship, all else are attributes.
fn fault_of(issue: &AttributeIssue) -> AttributeFault {
    if issue.attribute == terms::FEATURE_SET {
        fields::of_related(issue)
    } else {
        fields::of_issue(issue)
    }
}
