//! What a token may do anywhere.

use gatehouse_access::{PathRights, ResultantAcl};

use super::rights_wit as wit;

impl From<wit::ResultantAcl> for ResultantAcl {
    fn from(from: wit::ResultantAcl) -> Self {
        let list = |rules: Vec<wit::PathRights>| rules.into_iter().map(Into::into).collect();
        match from {
            wit::ResultantAcl::Root => Self::Root,
            wit::ResultantAcl::Rules(rules) => Self::Rules {
                exact: list(rules.exact),
                prefixes: list(rules.prefixes),
                wildcards: list(rules.wildcards),
            },
        }
    }
}

impl From<wit::PathRights> for PathRights {
    fn from(from: wit::PathRights) -> Self {
        Self {
            path: from.path,
            capabilities: from.capabilities.into_iter().map(Into::into).collect(),
        }
    }
}
