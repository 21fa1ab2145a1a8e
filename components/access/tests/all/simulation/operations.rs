//! Operations of the holders of tokens, each judged against the model.

use std::collections::BTreeMap;
use std::fmt::Display;

use gatehouse_access::{
    AdmissionError, CreateError, CreateRequest, LeaseTree as _, Lifetime, LoginError, LoginGrant,
    Logins as _, Parent, PrefixError, RenewError, Renewal as _, Requests as _, Revalidated,
    Revocation as _, RevokeError, TokenCreation as _, TokenParameters, TokenReference,
};

use super::model::{Origin, Token};
use super::world::{ROOT, World, is_weather};
use crate::server::{login_request, lookup_self};

/// Most tokens above one.
const DEPTH: usize = 6;

/// How a request ended that nothing forbids to end so.
enum Outcome<T> {
    Done(T),
    /// The token was not accepted.
    Refused,
    /// The store failed.
    Failed,
}

fn unexpected<T>(what: &str, error: impl Display) -> Result<Outcome<T>, String> {
    Err(format!("{what}: {error}"))
}

impl World<'_> {
    pub fn log_in(&mut self) -> Result<String, String> {
        let (ttl, longest) = (20 + self.dice.below(300), 400 + self.dice.below(600));
        let num_uses = self.uses();
        let alias = self.dice.below(4);
        let instance = self.instance();
        let unanswered = self.store.unanswered();
        let request = login_request();
        let mount = match self.instances[instance].admit(&request) {
            Ok(admission) => admission.mount.ok_or("a login without a mount")?,
            Err(AdmissionError::Failure(failure)) if is_weather(&failure) => {
                return Ok(format!("login: failed {failure}"));
            }
            Err(refusal) => return Err(format!("login: {refusal}")),
        };
        let grant = LoginGrant {
            mount_id: mount.id,
            mount_path: mount.path,
            role: "dev".to_owned(),
            alias_name: alias.to_string(),
            metadata: BTreeMap::new().into_iter().collect(),
            display_name: "dev".to_owned(),
            group_aliases: None,
            parameters: TokenParameters {
                lifetime: Lifetime {
                    ttl,
                    max_ttl: longest,
                    ..Lifetime::default()
                },
                num_uses,
                ..TokenParameters::default()
            },
            renewal_state: vec![1],
            source_address: None,
        };
        match self.instances[instance].issue_login(&grant) {
            Ok(issued) => {
                let longest = self.now() + longest;
                self.keep(&issued, Origin::Login, None, longest);
                let made = self.model.tokens.len() - 1;
                let accessor = &self.model.tokens[made].accessor;
                Ok(format!("login: made {made} by {instance}: {accessor}"))
            }
            Err(LoginError::Failure(failure)) if is_weather(&failure) => {
                self.ghosts += usize::from(self.store.unanswered() != unanswered);
                Ok(format!("login: failed {failure}"))
            }
            Err(error) => Err(format!("login: {error}")),
        }
    }

    pub fn create(&mut self) -> Result<String, String> {
        let parent = self.any();
        let is_limited = self.model.tokens[parent].uses.is_some();
        let by_root = self.dice.chance(25) || is_limited || self.model.chain(parent).len() > DEPTH;
        let orphan = self.dice.chance(15);
        let (ttl, longest) = (10 + self.dice.below(300), 200 + self.dice.below(800));
        let num_uses = self.uses();
        let instance = self.instance();
        // Such a token has its record elsewhere than one that was generated.
        let id = self.dice.chance(20).then(|| {
            self.chosen += 1;
            format!("chosen-{}", self.chosen)
        });
        let request = CreateRequest {
            id,
            policies: Some(vec!["default".to_owned()]),
            no_parent: orphan,
            ttl: Some(ttl.cast_signed()),
            explicit_max_ttl: Some(longest.cast_signed()),
            num_uses: Some(num_uses.cast_signed()),
            ..CreateRequest::default()
        };
        let text = if by_root {
            ROOT.to_owned()
        } else {
            self.model.tokens[parent].text.clone()
        };
        let by = Parent {
            token: text.clone(),
            sudo: true,
            limited_uses: false,
            orphan_path: false,
        };
        let unanswered = self.store.unanswered();
        let from = self.now();
        let outcome = match self.instances[instance].create_token(&by, &request) {
            Ok(issued) => Outcome::Done(issued),
            Err(CreateError::InvalidToken) => Outcome::Refused,
            Err(CreateError::Failure(failure)) if is_weather(&failure) => Outcome::Failed,
            Err(error) => unexpected("child", error)?,
        };
        match outcome {
            Outcome::Done(issued) => {
                if !by_root {
                    self.learn(parent, true, from)?;
                }
                let longest = self.now() + longest;
                let above = Some(parent).filter(|_| !by_root && !orphan);
                self.keep(&issued, Origin::Creation, above, longest);
                let made = self.model.tokens.len() - 1;
                Ok(format!("child: made {made} of {above:?} by {instance}"))
            }
            Outcome::Refused if by_root => Err("the root token was refused".to_owned()),
            Outcome::Refused => {
                self.learn(parent, false, from)?;
                Ok(format!("child: refused to {parent} by {instance}"))
            }
            Outcome::Failed => {
                self.ghosts += usize::from(self.store.unanswered() != unanswered);
                Ok(format!("child: failed by {instance}"))
            }
        }
    }

    pub fn use_once(&mut self) -> Result<String, String> {
        let token = self.any();
        let instance = self.instance();
        let text = self.model.tokens[token].text.clone();
        let request = lookup_self(&text);
        let from = self.now();
        let accepted = match self.instances[instance].admit(&request) {
            Ok(_) => true,
            Err(AdmissionError::InvalidToken) => false,
            Err(AdmissionError::Failure(failure)) if is_weather(&failure) => {
                if let Some((fewest, _)) = &mut self.model.tokens[token].uses {
                    *fewest = fewest.saturating_sub(1);
                }
                return Ok(format!("use: failed of {token} by {instance}: {failure}"));
            }
            Err(refusal) => return Err(format!("use of {token}: {refusal}")),
        };
        self.learn(token, accepted, from)?;
        if accepted && let Some((fewest, most)) = &mut self.model.tokens[token].uses {
            (*fewest, *most) = (fewest.saturating_sub(1), *most - 1);
        }
        let said = if accepted { "accepted" } else { "refused" };
        Ok(format!("use: {said} of {token} by {instance}"))
    }

    pub fn renew(&mut self) -> Result<String, String> {
        let token = self.any();
        let instance = self.instance();
        let increment = 10 + self.dice.below(400);
        let Token { text, origin, .. } = &self.model.tokens[token];
        let (text, origin) = (text.clone(), *origin);
        // A login's longest life comes from its role at every renewal.
        let fresh = Revalidated {
            lifetime: Lifetime {
                max_ttl: 400,
                ..Lifetime::default()
            },
            group_aliases: None,
        };
        let fresh = Some(&fresh).filter(|_| origin == Origin::Login);
        let from = self.now();
        let renewed = self.instances[instance].renew_token(
            &TokenReference::Id(text.clone()),
            increment,
            fresh,
        );
        match renewed {
            Ok(grant) => {
                self.learn(token, true, from)?;
                let end = self.now() + grant.lease_duration;
                let token_record = &mut self.model.tokens[token];
                if end > token_record.longest {
                    return Err(format!("token {token} was renewed beyond its longest life"));
                }
                token_record.ends = (end.saturating_sub(1), end);
                Ok(format!("renew: accepted of {token} by {instance} to {end}"))
            }
            Err(RenewError::UnknownToken) => {
                self.learn(token, false, from)?;
                Ok(format!("renew: refused of {token} by {instance}"))
            }
            Err(RenewError::PastMaxTtl) => {
                self.learn(token, true, from)?;
                Ok(format!("renew: past the end of {token} by {instance}"))
            }
            Err(RenewError::Failure(failure)) if is_weather(&failure) => {
                let longest = self.model.tokens[token].longest;
                self.model.tokens[token].ends = (0, longest);
                Ok(format!("renew: failed of {token} by {instance}: {failure}"))
            }
            Err(error) => Err(format!("renewing {token}: {error}")),
        }
    }

    pub fn revoke(&mut self) -> Result<String, String> {
        let token = self.any();
        let instance = self.instance();
        let by_accessor = self.dice.chance(50);
        let Token { text, accessor, .. } = &self.model.tokens[token];
        let reference = if by_accessor {
            &TokenReference::Accessor(accessor.into())
        } else {
            &TokenReference::Id(text.into())
        };
        let ended = self.instances[instance].revoke_token(reference);
        let now = self.now();
        match ended {
            Ok(true) => {
                self.model.end(true, |place, _| place == token);
                Ok(format!("revoke: ended {token} by {instance}"))
            }
            // One whose time is over is no token, and is not touched.
            Ok(false) => {
                self.learn(token, false, now)?;
                Ok(format!("revoke: nothing of {token} by {instance}"))
            }
            Err(RevokeError::Failure(failure)) if is_weather(&failure) => {
                self.model.end(false, |place, _| place == token);
                Ok(format!(
                    "revoke: failed of {token} by {instance}: {failure}"
                ))
            }
            Err(error) => Err(format!("revoking {token}: {error}")),
        }
    }

    pub fn revoke_alone(&mut self) -> Result<String, String> {
        let token = self.any();
        let instance = self.instance();
        let text = self.model.tokens[token].text.clone();
        let from = self.now();
        match self.instances[instance].revoke_token_alone(&TokenReference::Id(text.clone())) {
            Ok(true) => {
                self.learn(token, true, from)?;
                self.model.leave_children(token, true);
                self.model.end(true, |place, _| place == token);
                Ok(format!("alone: ended {token} by {instance}"))
            }
            Ok(false) => {
                self.learn(token, false, from)?;
                Ok(format!("alone: nothing of {token} by {instance}"))
            }
            Err(RevokeError::Failure(failure)) if is_weather(&failure) => {
                self.model.leave_children(token, false);
                self.model.end(false, |place, _| place == token);
                Ok(format!("alone: failed of {token} by {instance}: {failure}"))
            }
            Err(error) => Err(format!("revoking {token} alone: {error}")),
        }
    }

    pub fn revoke_prefix(&mut self) -> Result<String, String> {
        let instance = self.instance();
        let (prefix, origin) = match self.dice.below(3) {
            0 => ("auth/gcp", Origin::Login),
            1 => ("auth/gcp/login", Origin::Login),
            _ => ("auth/token/create", Origin::Creation),
        };
        match self.instances[instance].revoke_prefix(prefix) {
            Ok(()) => {
                self.model.end(true, |_, token| token.origin == origin);
                Ok(format!("prefix: ended {prefix} by {instance}"))
            }
            Err(PrefixError::Failure(failure)) if is_weather(&failure) => {
                self.model.end(false, |_, token| token.origin == origin);
                Ok(format!("prefix: failed {prefix} by {instance}: {failure}"))
            }
            Err(error) => Err(format!("revoking below {prefix}: {error}")),
        }
    }
}
