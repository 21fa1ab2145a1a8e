//! `login/explain`: for operators, the reasons why a login is accepted or refused. It creates no token.

use std::collections::BTreeMap;

use gatehouse_auth_method_api::{Check, CheckReport, LoginError, Verdict};
use serde::Serialize;
use zeroize::Zeroizing;

use super::login::text;
use super::{login, mount};
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::ApiError;

#[derive(Serialize)]
struct Explanation {
    /// True if the token would log in now.
    allowed: bool,
    checks: Vec<Explained>,
}

#[derive(Serialize)]
struct Explained {
    check: &'static str,
    inputs: BTreeMap<String, String>,
    /// The text of the refusal of the login.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    verdict: &'static str,
}

/// `login/explain`
pub(in crate::vault) fn explain(call: &Call<'_>) -> Answer {
    let (auth_method, mount) = (call.server.auth_method, mount(call)?);
    let reports = auth_method.explain(&mount, &Zeroizing::new(login::request(call)?));
    let allowed = !reports.is_empty()
        && reports
            .iter()
            .all(|report| report.verdict == Verdict::Passed);
    let checks = reports
        .into_iter()
        .map(explained)
        .collect::<Result<_, _>>()?;
    Reply::data(&Explanation { allowed, checks }).map(Some)
}

/// A check as it is shown.
///
/// # Errors
///
/// When the store fails: nothing is then known about the login.
fn explained(report: CheckReport) -> Result<Explained, ApiError> {
    let (verdict, reason) = match report.verdict {
        Verdict::Passed => ("passed", None),
        Verdict::NotRun => ("not_run", None),
        Verdict::Failed(LoginError::Storage(error)) => return Err(error.into()),
        Verdict::Failed(error) => ("failed", Some(text::refused(error).text().to_owned())),
    };
    Ok(Explained {
        check: name(report.check),
        inputs: report.inputs.into_iter().collect(),
        reason,
        verdict,
    })
}

const fn name(check: Check) -> &'static str {
    match check {
        Check::Role => "role",
        Check::SourceAddress => "source_address",
        Check::Form => "form",
        Check::Expiry => "expiry",
        Check::Beginning => "beginning",
        Check::Subject => "subject",
        Check::Audience => "audience",
        Check::Key => "key",
        Check::Signature => "signature",
        Check::Issuer => "issuer",
        Check::Inference => "inference",
        Check::Lifetime => "lifetime",
        Check::InstanceClaims => "instance_claims",
        Check::Project => "project",
        Check::Instance => "instance",
        Check::InstanceAge => "instance_age",
        Check::Labels => "labels",
        Check::Location => "location",
        Check::InstanceGroups => "instance_groups",
        Check::Account => "account",
        Check::BoundAccount => "bound_account",
        Check::Folder => "folder",
        Check::Organization => "organization",
        Check::GroupAliases => "group_aliases",
        Check::Replay => "replay",
    }
}
