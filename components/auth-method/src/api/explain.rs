//! Every check of a login, with what it looked at (the extension `login/explain`).

use std::borrow::Cow;

use super::LoginError;

/// A check of a login, in the order in which logins make them. Which of them apply depends on the role and on whose token it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The role exists.
    Role,
    /// The caller's address is in the role's networks.
    SourceAddress,
    /// The token is well-formed.
    Form,
    /// The token has not expired, and not too late an end.
    Expiry,
    /// The token has begun.
    Beginning,
    /// The token has a subject of a shape that Google has.
    Subject,
    /// The token was made for the role.
    Audience,
    /// There is a key for the token.
    Key,
    /// The signature is by that key.
    Signature,
    /// The issuer is whose key it is.
    Issuer,
    /// The role takes tokens that Google has signed.
    Inference,
    /// The token does not live longer than the role allows.
    Lifetime,
    /// The token has the claims of an instance.
    InstanceClaims,
    /// The project is one of the role's.
    Project,
    /// The instance exists, is the one claimed, and runs.
    Instance,
    /// The instance is not too old.
    InstanceAge,
    /// The instance has the role's labels.
    Labels,
    /// The instance is in one of the role's zones, or regions.
    Location,
    /// The instance is in one of the role's instance groups.
    InstanceGroups,
    /// The service account exists, and is enabled.
    Account,
    /// The service account is one of the role's.
    BoundAccount,
    /// The project is below one of the role's folders.
    Folder,
    /// The project is below one of the role's organizations.
    Organization,
    /// The groups of the project's ancestors are known.
    GroupAliases,
    /// The token has not logged in before.
    Replay,
}

/// What became of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Passed,
    /// It does not hold, and a login ends with this.
    Failed(LoginError),
    /// It could not be made, because an earlier one did not hold.
    NotRun,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// Which.
    pub check: Check,
    /// Names and values of what it compared, never the token or a part of its signature.
    pub inputs: Vec<(Cow<'static, str>, String)>,
    /// What became of it.
    pub verdict: Verdict,
}
