//! `login/explain`: why a login goes as it does, for operators. It makes no token.

use std::collections::BTreeMap;

use gatehouse_access_api::Operation;
use gatehouse_auth_method_api::{AuthMethod, Check, CheckReport, LoginError, Mount, Verdict};
use serde::Serialize;
use zeroize::Zeroizing;

use super::login;
use super::login::text;
use crate::vault::call::{Answer, Call};
use crate::vault::envelope::Reply;
use crate::vault::errors::Fault;

#[derive(Serialize)]
struct Explanation {
    /// Whether the token would log in now.
    allowed: bool,
    checks: Vec<Explained>,
}

#[derive(Serialize)]
struct Explained {
    check: &'static str,
    inputs: BTreeMap<String, String>,
    /// What a login would be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    verdict: &'static str,
}

/// Answers a request for `login/explain`.
pub(super) fn handle(
    auth_method: &dyn AuthMethod,
    call: &Call<'_>,
    operation: Operation,
    mount: &Mount,
) -> Answer {
    if operation != Operation::Update {
        return Err(Fault::unsupported_operation());
    }
    let reports = auth_method.explain(mount, &Zeroizing::new(login::request(call)?));
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
/// When the store failed: then nothing is known about the login.
fn explained(report: CheckReport) -> Result<Explained, Fault> {
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
