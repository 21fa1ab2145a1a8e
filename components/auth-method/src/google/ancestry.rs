//! The folders and the organization above a project (contract 7.3, 8.3; SEC-G6, G14).

use std::sync::Arc;

use gatehouse_ports::{Clock, Http, Random};
use serde::Deserialize;

use super::ancestor::{Ancestor, Ancestry};
use super::api_error::ApiError;
use super::call_error::CallError;
use super::exchange::Question;
use super::single_flight::SharedQuestion;
use super::strict::Object;
use super::{Api, Google};
use crate::jwt::is_project;

/// Milliseconds that an ancestry is believed without asking again.
const BELIEVED_FOR: u64 = 60_000;
/// Most rows of an answer. Google allows ten folders above each other.
const MAXIMUM_ROWS: usize = 64;

#[derive(Deserialize)]
struct AncestryAnswer {
    #[serde(default)]
    ancestor: Vec<Object<Row>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    resource_id: Object<Ancestor>,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The project itself and what is above it, nearest first.
    pub(crate) fn ancestry(&self, project: &str) -> Result<Arc<Ancestry>, ApiError> {
        let question = SharedQuestion {
            api: Api::Crm,
            kind: "ancestry",
            name: project,
            slot: &self.memory.ancestries,
            stale_for: 0,
        };
        let ask = || Ok((self.ask_for_ancestry(project)?, BELIEVED_FOR));
        Ok(self.consult(&question, |_| true, ask)?.value)
    }

    fn ask_for_ancestry(&self, project: &str) -> Result<Ancestry, ApiError> {
        let unusable = ApiError::Call(CallError::Unusable(Api::Crm));
        // It may come from another answer of Google's, and becomes part of a URL.
        if !is_project(project) {
            return Err(unusable);
        }
        let method = format!("{project}:getAncestry");
        let url = self.endpoints.url(Api::Crm, &["v1", "projects", &method]);
        let question = Question::post(Api::Crm, url, "application/json", b"{}".to_vec());
        let answer: AncestryAnswer = self.ask_authorized(&question)?;
        ancestry_of(project, answer).ok_or(unusable)
    }
}

/// `None` when the answer is not about `project`, or is of another shape.
fn ancestry_of(project: &str, answer: AncestryAnswer) -> Option<Ancestry> {
    if answer.ancestor.len() > MAXIMUM_ROWS {
        return None;
    }
    let rows = answer
        .ancestor
        .into_iter()
        .map(|Object(row)| row.resource_id.0);
    let ancestry: Ancestry = rows.filter(Ancestor::is_known).collect();
    let (first, above) = ancestry.split_first()?;
    let fits = first.is_project(project) && above.iter().all(Ancestor::is_above_projects);
    fits.then_some(ancestry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::google::strict::object_in;

    fn read(body: &str) -> Option<Ancestry> {
        ancestry_of("p1", object_in(body.as_bytes()).ok()?)
    }

    fn row(kind: &str, id: &str) -> String {
        format!(r#"{{"resourceId":{{"type":"{kind}","id":"{id}"}}}}"#)
    }

    fn rows(rows: &[String]) -> String {
        format!(r#"{{"ancestor":[{}]}}"#, rows.join(","))
    }

    #[test]
    fn contract_8_3_the_project_comes_first_and_what_is_above_it_follows() {
        let body = rows(&[
            row("project", "p1"),
            row("folder", "12"),
            row("kind-to-come", "?"),
            row("organization", "3"),
        ]);
        let ancestry = read(&body).unwrap();
        let ids: Vec<&str> = ancestry
            .iter()
            .map(|ancestor| ancestor.id.as_str())
            .collect();
        assert_eq!(ids, ["p1", "12", "3"]);
        assert_eq!(read(&rows(&[row("project", "p1")])).unwrap().len(), 1);
    }

    #[test]
    fn g6_an_answer_about_something_else_is_none() {
        let own = row("project", "p1");
        for body in [
            "{}".to_owned(),
            rows(&[]),
            r#"[[{"resourceId":{"type":"project","id":"p1"}}]]"#.to_owned(),
            rows(&[r#"[{"type":"project","id":"p1"}]"#.to_owned()]),
            rows(&[r#"{"resourceId":["project","p1"]}"#.to_owned()]),
            r#"{"ancestor":[{}]}"#.to_owned(),
            r#"{"ancestor":[{"resourceId":{"type":"project"}}]}"#.to_owned(),
            rows(&[row("project", "p2")]),
            rows(&[row("folder", "12"), own.clone()]),
            rows(&[row("folder", "p1")]),
            rows(&[own.clone(), row("project", "p2")]),
            rows(&[own.clone(), row("folder", "a")]),
            rows(&[own.clone(), row("folder", "")]),
            rows(&[own.clone(), row("folder", "-1")]),
            rows(&[own.clone(), row("organization", "1/2")]),
            rows(&[own.clone(), row("organization", &"1".repeat(33))]),
        ] {
            assert_eq!(read(&body), None, "{body}");
        }
        let of = |folders: usize| {
            let mut all = vec![own.clone()];
            all.extend(std::iter::repeat_n(row("folder", "1"), folders));
            read(&rows(&all))
        };
        assert!(of(63).is_some());
        assert!(of(64).is_none());
    }
}
