//! The interface `rights`.

use super::{Component, access, rights_wit, types_wit};
use crate::{Access, Capability, LookupError, PathRights, ResultantAcl};

impl rights_wit::Guest for Component {
    fn has_rights_below(
        token: types_wit::TokenReference,
        paths: Vec<String>,
    ) -> Result<Vec<bool>, rights_wit::RightsError> {
        Ok(access(|it| it.has_rights_below((&token).into(), &paths))?)
    }

    fn unconditional_capabilities(
        token: types_wit::TokenReference,
        paths: Vec<String>,
    ) -> Result<Vec<Vec<types_wit::Capability>>, rights_wit::RightsError> {
        let found = access(|it| it.unconditional_capabilities((&token).into(), &paths))?;
        let list = |list: Vec<Capability>| list.into_iter().map(Into::into).collect();
        Ok(found.into_iter().map(list).collect())
    }

    fn resultant(
        token: types_wit::TokenReference,
    ) -> Result<rights_wit::ResultantAcl, rights_wit::RightsError> {
        Ok(access(|it| it.resultant_acl((&token).into()))?.into())
    }
}

impl From<ResultantAcl> for rights_wit::ResultantAcl {
    fn from(acl: ResultantAcl) -> Self {
        let list = |rules: Vec<PathRights>| rules.into_iter().map(Into::into).collect();
        match acl {
            ResultantAcl::Root => Self::Root,
            ResultantAcl::Rules {
                exact,
                prefixes,
                wildcards,
            } => Self::Rules(rights_wit::RuleSet {
                exact: list(exact),
                prefixes: list(prefixes),
                wildcards: list(wildcards),
            }),
        }
    }
}

impl From<PathRights> for rights_wit::PathRights {
    fn from(rights: PathRights) -> Self {
        Self {
            path: rights.path,
            capabilities: rights.capabilities.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<LookupError> for rights_wit::RightsError {
    fn from(error: LookupError) -> Self {
        match error {
            LookupError::UnknownToken => Self::UnknownToken,
            LookupError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}
