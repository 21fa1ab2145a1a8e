//! The rights of a token on all paths, for user interfaces (contract 6.4).

use std::collections::BTreeMap;

use gatehouse_ports::{Clock, Random, Store};

use crate::api::{
    Capability, LookupError, PathRights, ResultantAcl, Rights, RuleSet, TokenReference,
};
use crate::policy::{
    AskedPath, CapabilitySet, Filled, Identity, first_wildcard, grants_below, shown_pattern,
};
use crate::service::AccessService;
use crate::token_store::{LiveToken, ReadScope};

/// Lists mounts, to callers without a token too.
const UI_MOUNTS: &str = "sys/internal/ui/mounts";

/// True if `path` answers callers without a token; one that is presented counts (SEC-H13).
pub(crate) fn needs_no_token(path: &str) -> bool {
    path == UI_MOUNTS
}

/// True if `path` answers every valid token, and sees by itself what each may know.
pub(crate) fn needs_no_policy(path: &str) -> bool {
    path.strip_prefix(UI_MOUNTS)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl<S: Store, C: Clock, R: Random> Rights for AccessService<S, C, R> {
    fn has_rights_below(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<bool>, LookupError> {
        let token = self.token_with_rules(reference)?;
        if token.record.is_root() {
            return Ok(vec![true; paths.len()]);
        }
        let identity = self.identity_of(&token, |_| true)?;
        let identity = identity.as_ref().map(|identity| identity as &dyn Identity);
        let any = |path: &String| {
            let path = path.trim_matches('/');
            token.rules().any(|rule| grants_below(rule, identity, path))
        };
        Ok(paths.iter().map(any).collect())
    }

    fn unconditional_capabilities(
        &self,
        reference: &TokenReference,
        paths: &[String],
    ) -> Result<Vec<Vec<Capability>>, LookupError> {
        self.capabilities_on(reference, paths, |verdict| {
            verdict.unconditional_capabilities()
        })
    }

    fn read_resultant_acl(&self, reference: &TokenReference) -> Result<ResultantAcl, LookupError> {
        let token = self.token_with_rules(reference)?;
        if token.record.is_root() {
            return Ok(ResultantAcl::Root);
        }
        let identity = self.identity_of(&token, |_| true)?;
        let identity = identity.as_ref().map(|identity| identity as &dyn Identity);
        let mut exact: BTreeMap<String, CapabilitySet> = BTreeMap::new();
        let mut prefixes: BTreeMap<String, CapabilitySet> = BTreeMap::new();
        let mut wildcards: BTreeMap<String, CapabilitySet> = BTreeMap::new();
        let mut denied_beginnings: Vec<String> = Vec::new();
        for rule in token.rules() {
            let pattern = match rule.filled_for(identity) {
                Filled::Pattern(pattern) => pattern,
                Filled::DenialBelow(beginning) => {
                    denied_beginnings.push(AskedPath::new(beginning).as_str().to_owned());
                    continue;
                }
                Filled::NoRule => continue,
            };
            let mut pattern = AskedPath::new(&pattern).as_str().to_owned();
            let rules = if first_wildcard(&pattern).is_some() {
                if rule.prefix {
                    pattern.push('*');
                }
                &mut wildcards
            } else if rule.prefix {
                &mut prefixes
            } else {
                &mut exact
            };
            let granted = rules.entry(shown_pattern(&pattern)).or_default();
            *granted = granted.union(rule.capabilities);
        }
        // Nothing more specific opens what such a denial shuts.
        let denial: CapabilitySet = [Capability::Deny].into_iter().collect();
        for beginning in denied_beginnings {
            for (path, granted) in exact.iter_mut().chain(&mut prefixes) {
                if path.starts_with(&beginning) {
                    *granted = denial;
                }
            }
            prefixes.insert(beginning, denial);
        }
        Ok(ResultantAcl::Rules(RuleSet {
            exact: path_rights(exact),
            prefixes: path_rights(prefixes),
            wildcards: path_rights(wildcards),
        }))
    }
}

impl<S: Store, C: Clock, R: Random> AccessService<S, C, R> {
    fn token_with_rules(&self, reference: &TokenReference) -> Result<LiveToken, LookupError> {
        self.find_with(reference, ReadScope::LivenessAndRules)?
            .filter(|token| !token.has_unusable_entity())
            .ok_or(LookupError::UnknownToken)
    }
}

fn path_rights(rules: BTreeMap<String, CapabilitySet>) -> Vec<PathRights> {
    let rights = |(path, granted): (String, CapabilitySet)| PathRights {
        path,
        capabilities: granted.to_list(),
    };
    rules.into_iter().map(rights).collect()
}
