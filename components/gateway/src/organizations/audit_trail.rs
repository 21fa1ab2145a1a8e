//! The events of an organization (contract 4.15). The hosted edition shows them to the organization, the self-hosted one reports them to the
//! operator.

use gatehouse_access_api::Access;
use gatehouse_orgs_api::{
    Action, Capability, Description, Event, MAXIMUM_EVENTS, OrganizationTarget, ServiceError,
};
use serde_json::{Value, json};

use super::api::Api;
use super::api_error::ApiError;
use super::attribute_error::AttributeError;
use super::document_type::Kind;
use super::entry::Question;
use super::pagination::{PageNumbers, PageRequest};
use super::parameter::Parameter;
use super::routes::routes;
use super::timestamp;
use super::tokens::includes_audit_logging;
use crate::http::Response;
use crate::{Edition, Gateway};

/// The maximum number of times that one round of upkeep asks for events that have not been reported.
const ROUNDS: usize = 20;

const SINCE: Parameter = Parameter {
    name: "since",
    kind: Kind::Timestamp,
    about: "The time from which records are listed.",
};

routes! { AUDIT_TRAIL:
    Get "organization/audit-trail", Auditors, "show-audit-trail",
        "Shows the records of the caller's organization, in pages of 1000.",
        only_in(Edition::Hosted), querying(&[SINCE]), paged, answering_json
        => |api, _| api.audit_trail();
}

impl<C: Access, O: Capability> Api<'_, C, O> {
    /// Shows the audit trail of the organization that owns the caller's token.
    fn audit_trail(&self) -> Result<Response, ApiError> {
        let target = OrganizationTarget::OfToken;
        let question = Question::new(target, Action::ReadAuditTrail, None);
        let mut arrival = self.arrive(question.describing(Description::ENTITLEMENTS))?;
        arrival.position = arrival.position.filter(includes_audit_logging);
        let organization = self.enter_arrived(arrival)?.position.organization;
        let since = match SINCE.first(&self.request.query) {
            Some(text) if !text.is_empty() => timestamp::parsed(&text).ok_or_else(no_timestamp)?,
            _ => 0,
        };
        let since = u64::try_from(since).unwrap_or(0);
        let page = PageRequest::sized(&self.request.query, MAXIMUM_EVENTS, MAXIMUM_EVENTS);
        let found =
            self.organizations
                .events(&organization.external_id, since, page.number, page.size)?;
        let events: Vec<Value> = found.events.iter().map(described).collect();
        let pagination = PageNumbers::new(page, found.total).underscored();
        let body = json!({"data": events, "pagination": pagination}).to_string();
        Ok(Response::new(200, "application/json", body.into_bytes()))
    }
}

fn no_timestamp() -> ApiError {
    ApiError::Unprocessable(vec![AttributeError {
        pointer: SINCE.name.to_owned(),
        detail: "Since is not a valid timestamp".to_owned(),
    }])
}

/// An event as clients of the audit trail read it.
fn described(event: &Event) -> Value {
    let mut request = json!({"id": event.request_id});
    // The client of this exchange sent a name for it.
    if let (Some(name), Value::Object(request)) = (&event.client_request_id, &mut request) {
        request.insert("client-request-id".to_owned(), name.as_str().into());
    }
    json!({
        "id": event.id,
        "version": "0",
        "type": "Resource",
        "timestamp": timestamp::formatted(event.occurred_at),
        "auth": {
            "accessor_id": event.actor_id,
            "description": event.actor_name,
            "type": "Client",
            "impersonator_id": null,
            "organization_id": event.organization,
        },
        "request": request,
        "resource": {
            "id": event.resource_id,
            "type": event.resource.as_str(),
            "action": event.operation.as_str(),
            "meta": null,
        },
    })
}

impl<A, C, O: Capability> Gateway<A, C, O> {
    /// Reports to the operator the events that no caller can read: all of them in the self-hosted edition, and those of the installation in the
    /// hosted one. An event whose report was interrupted is reported again, under the same id.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(crate) fn tell_events(&self) -> Result<(), ServiceError> {
        for _ in 0..ROUNDS {
            let events = self.organizations.waiting_events()?;
            for event in &events {
                self.tell_operator(&format!("audit trail: {}", described(event)));
            }
            self.organizations.forget_events(&events)?;
            if events.len() < MAXIMUM_EVENTS as usize {
                break;
            }
        }
        Ok(())
    }
}
