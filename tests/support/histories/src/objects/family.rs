//! A token and its children (SEC-T5, contract 5.4, 5.6).

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::RwLock;

use fastrand::Rng;
use serde_json::json;

use super::after;
use crate::checker::{Model, Violation};
use crate::driver::Object;
use crate::recorder::Recorder;
use crate::server::{Answer, Issued, Request, Server};

/// The members of a family.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Members {
    /// True if the parent is valid.
    pub parent: bool,
    /// The children that were not revoked by themselves.
    pub children: BTreeMap<usize, Child>,
}

impl Members {
    /// Ends the parent; the children that are attached to it become `apart`.
    fn part(&mut self, apart: Child) {
        self.parent = false;
        let attached = |child: &&mut Child| **child == Child::Attached;
        let children = self.children.values_mut().filter(attached);
        children.for_each(|child| *child = apart);
    }
}

/// The relation of a child to its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Child {
    /// Valid, and ends with its parent.
    Attached,
    /// Valid, and left by its parent.
    Left,
    /// Ended with its parent. Until it is cleared away, its revocation may be told from that of a token that never was.
    Ended,
}

/// An operation on a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithFamily {
    /// The parent makes a child.
    Create,
    /// The parent looks itself up.
    UseParent,
    /// This child looks itself up.
    Use(usize),
    /// The operator looks at this child.
    Look(usize),
    /// This child renews itself.
    Renew(usize),
    /// This child revokes itself.
    RevokeSelf(usize),
    /// The operator revokes this child by its accessor.
    Revoke(usize),
    /// The operator revokes the parent, with the children that are attached to it.
    RevokeParent,
    /// The operator revokes the parent, and leaves its children as orphans.
    RevokeParentAlone,
}

/// The outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FamilyOutcome {
    /// A child of this number.
    Made(usize),
    /// It was valid.
    Done,
    /// It was not valid any more.
    Gone,
}

/// A valid parent, at first without children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family;

impl Model for Family {
    type State = Members;
    type Operation = WithFamily;
    type Outcome = FamilyOutcome;

    fn initial(&self) -> Members {
        Members {
            parent: true,
            children: BTreeMap::new(),
        }
    }

    fn step(
        &self,
        members: &Members,
        operation: &WithFamily,
        outcome: Option<&FamilyOutcome>,
    ) -> Option<Members> {
        let child = match operation {
            WithFamily::Use(child)
            | WithFamily::Look(child)
            | WithFamily::Renew(child)
            | WithFamily::RevokeSelf(child)
            | WithFamily::Revoke(child) => Some(members.children.get(child)),
            WithFamily::Create
            | WithFamily::UseParent
            | WithFamily::RevokeParent
            | WithFamily::RevokeParentAlone => None,
        };
        let valid = match child {
            Some(child) => matches!(child, Some(Child::Attached | Child::Left)),
            None => members.parent,
        };
        let possible = match (operation, outcome) {
            (_, None) => true,
            (_, Some(FamilyOutcome::Made(_))) => valid && *operation == WithFamily::Create,
            // A token that was let in to revoke itself is told that it is revoked, whichever client was faster.
            (WithFamily::RevokeSelf(_), Some(FamilyOutcome::Done)) => true,
            (WithFamily::Revoke(_), Some(FamilyOutcome::Done)) => child.flatten().is_some(),
            (_, Some(FamilyOutcome::Done)) => valid,
            (_, Some(FamilyOutcome::Gone)) => !valid,
        };
        if !possible {
            return None;
        }
        let mut after = members.clone();
        match operation {
            // A token that is not let in changes nothing.
            WithFamily::RevokeSelf(_) if outcome == Some(&FamilyOutcome::Gone) => {}
            WithFamily::Create => {
                // A child that no client was told of changes nothing that a client sees.
                if let Some(&FamilyOutcome::Made(child)) = outcome {
                    after.children.insert(child, Child::Attached);
                }
            }
            WithFamily::RevokeSelf(child) | WithFamily::Revoke(child) => {
                after.children.remove(child);
            }
            WithFamily::RevokeParent => after.part(Child::Ended),
            WithFamily::RevokeParentAlone => after.part(Child::Left),
            WithFamily::UseParent
            | WithFamily::Use(_)
            | WithFamily::Look(_)
            | WithFamily::Renew(_) => {}
        }
        Some(after)
    }

    fn only_observes(&self, operation: &WithFamily, outcome: &FamilyOutcome) -> bool {
        match operation {
            WithFamily::UseParent
            | WithFamily::Use(_)
            | WithFamily::Look(_)
            | WithFamily::Renew(_) => true,
            // A revocation that finds no token shows that the token was cleared away.
            WithFamily::Revoke(_) => false,
            WithFamily::Create
            | WithFamily::RevokeSelf(_)
            | WithFamily::RevokeParent
            | WithFamily::RevokeParentAlone => *outcome == FamilyOutcome::Gone,
        }
    }
}

/// Such a family of a server.
pub struct TokenFamily {
    parent: Issued,
    children: RwLock<Vec<Issued>>,
    recorder: Recorder<Family>,
}

impl TokenFamily {
    /// Creates the parent.
    pub fn create(server: &dyn Server) -> Self {
        let policy =
            json!({"policy": "path \"auth/token/create\" { capabilities = [\"update\"] }"});
        let path = "sys/policies/acl/parents";
        server.must(&Request::post(path, server.root_token(), policy));
        Self {
            parent: server.create_orphan(json!({"policies": ["parents"], "ttl": "1h"})),
            children: RwLock::default(),
            recorder: Recorder::new(Family),
        }
    }

    /// The state so far.
    pub const fn recorder(&self) -> &Recorder<Family> {
        &self.recorder
    }

    /// Uses every member once more, and checks the history.
    ///
    /// # Errors
    ///
    /// When it is not linearizable.
    pub fn settle(&self, server: &dyn Server) -> Result<(), Violation> {
        self.perform(server, WithFamily::UseParent);
        for child in 0..self.count() {
            self.perform(server, WithFamily::Use(child));
        }
        self.recorder.check()
    }

    fn count(&self) -> usize {
        self.children.read().expect("no client panics").len()
    }

    /// Performs an operation on it.
    pub fn perform(&self, server: &dyn Server, operation: WithFamily) -> Option<FamilyOutcome> {
        let root = server.root_token();
        let child = |number: usize| self.children.read().expect("no client panics")[number].clone();
        let parent = &self.parent;
        let member = match operation {
            WithFamily::Use(number)
            | WithFamily::Look(number)
            | WithFamily::Renew(number)
            | WithFamily::RevokeSelf(number)
            | WithFamily::Revoke(number) => child(number),
            _ => parent.clone(),
        };
        let (own, token) = (&*member.token, member.naming_token());
        let accessor = member.naming_accessor();
        let request = match operation {
            WithFamily::Create => Request::post("auth/token/create", own, json!({})),
            WithFamily::UseParent | WithFamily::Use(_) => {
                Request::get("auth/token/lookup-self", own)
            }
            WithFamily::Look(_) => Request::post("auth/token/lookup", root, token),
            WithFamily::Renew(_) => Request::post("auth/token/renew-self", own, json!({})),
            WithFamily::RevokeSelf(_) => Request::post("auth/token/revoke-self", own, json!({})),
            WithFamily::Revoke(_) | WithFamily::RevokeParent => {
                Request::post("auth/token/revoke-accessor", root, accessor)
            }
            WithFamily::RevokeParentAlone => Request::post("auth/token/revoke-orphan", root, token),
        };
        let send = || server.send(&request);
        self.recorder
            .call(operation, send, |answer| self.outcome(operation, answer))
    }

    fn outcome(&self, operation: WithFamily, answer: &Answer) -> FamilyOutcome {
        match (operation, answer.status) {
            (WithFamily::Create, 200) => {
                let mut children = self.children.write().expect("no client panics");
                children.push(Issued::read(&answer.body["auth"]));
                FamilyOutcome::Made(children.len() - 1)
            }
            // A warning says that there is no such token.
            (WithFamily::Revoke(_) | WithFamily::RevokeParent, 200) => FamilyOutcome::Gone,
            (_, 200 | 204) => FamilyOutcome::Done,
            // The token ended after its owner was let in.
            (WithFamily::Renew(_) | WithFamily::RevokeParentAlone, 400) | (_, 403) => {
                FamilyOutcome::Gone
            }
            _ => panic!("{operation:?}: {answer:?}"),
        }
    }
}

impl Object for TokenFamily {
    fn act(&self, server: &dyn Server, choice: &mut Rng) -> ControlFlow<()> {
        let count = self.count();
        let operation = match choice.u8(..60) {
            0 => WithFamily::RevokeParent,
            1 => WithFamily::RevokeParentAlone,
            2..10 => WithFamily::UseParent,
            10..20 => WithFamily::Create,
            _ if count == 0 => WithFamily::Create,
            other => {
                let child = choice.usize(..count);
                match other {
                    20..35 => WithFamily::Use(child),
                    35..45 => WithFamily::Look(child),
                    45..54 => WithFamily::Renew(child),
                    54..57 => WithFamily::RevokeSelf(child),
                    _ => WithFamily::Revoke(child),
                }
            }
        };
        after(self.perform(server, operation).as_ref())
    }
}
