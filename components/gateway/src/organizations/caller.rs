//! Who asks, and what they may do.
//!
//! An organization stands for policies at the path `organizations/<name>`, with the name in lower case: `read` shows it,
//! `update` changes it, `delete` removes it, `create` makes it. A root token administers the whole site. What is not allowed
//! does not exist, as far as the caller can tell.

use gatehouse_access::{self as access, Access, Capability, Operation, Refusal, TokenReference};
use gatehouse_orgs::{Organization, Organizations, Standing, folded_name};

use super::Api;
use super::problem::Problem;

const ORGANIZATIONS_PATH: &str = "organizations";
const ROOT_POLICY: &str = "root";

/// Somebody with a valid token.
#[derive(Clone, Copy)]
pub(super) struct Caller<'a> {
    token: &'a str,
    /// Holds a root token: may do everything.
    pub(super) is_site_administrator: bool,
}

/// What access says about a request.
pub(super) struct Verdict<'a> {
    /// Who asks.
    pub(super) caller: Caller<'a>,
    /// Whether the operation is allowed; for [`Operation::CreateOrUpdate`], whether something new may be made.
    pub(super) allowed: bool,
}

/// What a caller may do with one organization.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Rights {
    pub(super) read: bool,
    pub(super) update: bool,
    pub(super) create: bool,
}

impl Rights {
    fn of(capabilities: &[Capability]) -> Self {
        let has = |wanted| {
            let grants = |found: &Capability| *found == wanted || *found == Capability::Root;
            capabilities.iter().any(grants)
        };
        Self {
            read: has(Capability::Read),
            update: has(Capability::Update),
            create: has(Capability::Create),
        }
    }
}

impl<'a, C: Access, O: Organizations> Api<'a, C, O> {
    /// Authenticates the caller, and authorizes the operation on the organization of this name; once for each request. Without
    /// a name that an organization can have, the path is that of all organizations.
    ///
    /// # Errors
    ///
    /// [`Problem::Unauthorized`] without a valid token.
    pub(super) fn ask(
        &self,
        operation: Operation,
        name: Option<&str>,
    ) -> Result<Verdict<'a>, Problem> {
        let token = self.request.bearer_token();
        let path = name
            .and_then(path_of)
            .unwrap_or_else(|| ORGANIZATIONS_PATH.to_owned());
        let admitted = self.access.admit(&access::Request {
            token,
            operation,
            path: &path,
            source_address: self.request.peer,
            wrap_ttl: None,
            parameters: None,
        });
        let mut trail = self.trail.borrow_mut();
        trail.does(operation);
        match &admitted {
            Ok(admission) => trail.admitted(token, admission)?,
            Err(_) => trail.refused(token, self.access),
        }
        drop(trail);
        let token = token.ok_or(Problem::Unauthorized)?;
        let (is_site_administrator, allowed) = match admitted {
            Ok(admission) => {
                let policies = admission.caller.map(|caller| caller.policies);
                let is_root = policies.is_some_and(|all| all.iter().any(|one| one == ROOT_POLICY));
                let may_write = operation != Operation::CreateOrUpdate || admission.write.create;
                (is_root, may_write)
            }
            // The documents of this protocol have no parameters for a rule to look at, so one that does is not met.
            Err(
                Refusal::Denied
                | Refusal::ParametersNeeded
                | Refusal::NoMount
                | Refusal::MalformedPath,
            ) => (false, false),
            Err(
                Refusal::NoToken
                | Refusal::InvalidToken
                | Refusal::AddressDenied
                | Refusal::EntityUnusable,
            ) => return Err(Problem::Unauthorized),
            Err(Refusal::Failure(failure)) => return Err(failure.into()),
        };
        Ok(Verdict {
            caller: Caller {
                token,
                is_site_administrator,
            },
            allowed,
        })
    }

    /// What the caller may do with the organizations of these names, in their order. A token whose last use this request took
    /// may do nothing more.
    ///
    /// # Errors
    ///
    /// When access cannot answer.
    pub(super) fn rights<'n>(
        &self,
        caller: Caller<'_>,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Vec<Rights>, Problem> {
        let names = names.into_iter();
        let paths: Vec<String> = names
            .map(|name| path_of(name).unwrap_or_default())
            .collect();
        let reference = TokenReference::Id(caller.token);
        match self.access.capabilities(reference, &paths) {
            Ok(capabilities) => Ok(capabilities.iter().map(|all| Rights::of(all)).collect()),
            Err(access::LookupError::UnknownToken) => Ok(vec![Rights::default(); paths.len()]),
            Err(access::LookupError::Failure(failure)) => Err(failure.into()),
        }
    }

    /// What the caller is to an organization that they may see.
    ///
    /// # Errors
    ///
    /// When access cannot answer.
    pub(super) fn standing(
        &self,
        caller: Caller<'_>,
        organization: &Organization,
    ) -> Result<Standing, Problem> {
        if caller.is_site_administrator {
            return Ok(Standing::SiteAdministrator);
        }
        let rights = self.rights(caller, [organization.name.as_str()])?;
        let owns = rights.iter().any(|rights| rights.update);
        Ok(if owns {
            Standing::Owner
        } else {
            Standing::Member
        })
    }
}

/// The path under which policies know the organization of this name, if there can be one.
fn path_of(name: &str) -> Option<String> {
    folded_name(name).map(|folded| format!("{ORGANIZATIONS_PATH}/{folded}"))
}
