//! Organizations, which have an API of their own.

use anyhow::Result;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::Fields;
use super::client::{Answer, below, fixed};
use super::reconciler::{Object, Reconciler};
use super::served::Kind;

impl Reconciler<'_, '_> {
    pub(super) async fn organization(
        &mut self,
        label: &str,
        name: &str,
        attributes: &Fields,
    ) -> Result<()> {
        let attributes = &*self.served_fields(Kind::Organization, label, attributes)?;
        let segments = below("organizations", name);
        let answer = self
            .server
            .organizations(Method::GET, &segments, None)
            .await?;
        let present = attributes_of(answer)?;
        // Some attributes are written and never shown.
        let unseen: Vec<&str> = match &present {
            Some(present) => attributes
                .keys()
                .map(String::as_str)
                .filter(|field| !present.contains_key(*field))
                .collect(),
            None => Vec::new(),
        };
        if !unseen.is_empty() && !self.options.write_secrets {
            let text = format!(
                "not shown by the server, and not compared: {}",
                unseen.join(", ")
            );
            self.report.remark(label, &text)?;
        }
        let object = Object {
            label,
            unseen: &unseen,
            has_unseen: true,
            secret: &[],
        };
        let is_new = present.is_none();
        self.settle(
            &object,
            attributes,
            present.as_ref(),
            async |server, mut fields| {
                let all = fixed("organizations");
                let (method, segments) = match is_new {
                    true => (Method::POST, &all),
                    false => (Method::PATCH, &segments),
                };
                if is_new {
                    fields.insert("name".to_owned(), json!(name));
                }
                let document = json!({"data": {"type": "organizations", "attributes": fields}});
                server
                    .organizations(method, segments, Some(&document))
                    .await
            },
        )
        .await
    }
}

/// The attributes of the one resource in an answer; `None` where there is no such thing.
fn attributes_of(answer: Answer) -> Result<Option<Fields>> {
    if answer.status == StatusCode::NOT_FOUND {
        return Ok(None);
    }
    let mut data = answer.data()?;
    match data.get_mut("attributes").map(Value::take) {
        Some(Value::Object(attributes)) => Ok(Some(attributes)),
        _ => anyhow::bail!("the answer holds no organization"),
    }
}
