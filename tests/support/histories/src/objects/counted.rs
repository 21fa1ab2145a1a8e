//! A token with a number of uses (SEC-T4, contract 5.5).

use std::ops::ControlFlow;

use fastrand::Rng;
use serde_json::json;

use super::after;
use crate::checker::{Call, Ending, Model, Violation};
use crate::driver::Object;
use crate::recorder::Recorder;
use crate::server::{Answer, Issued, Request, Server};

/// A token that may be used this often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted(pub u64);

/// An operation on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseOf {
    /// Its owner uses it up by one, and is told how many uses remain.
    Use,
    /// The operator looks at it.
    Look,
    /// The operator renews it, which takes no use and gives none back.
    Renew,
    /// The operator revokes it.
    Revoke,
}

/// The outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsesLeft {
    /// It is valid, and this many uses remain.
    Left(u64),
    /// It was valid.
    Done,
    /// It was not valid any more.
    Gone,
}

impl Model for Counted {
    /// Uses that remain; 0 once it is gone.
    type State = u64;
    type Operation = UseOf;
    type Outcome = UsesLeft;

    fn initial(&self) -> u64 {
        self.0
    }

    fn step(&self, &left: &u64, operation: &UseOf, outcome: Option<&UsesLeft>) -> Option<u64> {
        let valid = left > 0;
        let after = match operation {
            UseOf::Use => left.saturating_sub(1),
            UseOf::Look | UseOf::Renew => left,
            UseOf::Revoke => 0,
        };
        let possible = match (operation, outcome) {
            (_, None) => true,
            (_, Some(UsesLeft::Gone)) => !valid,
            (UseOf::Use | UseOf::Look, Some(&UsesLeft::Left(shown))) => valid && shown == after,
            (UseOf::Renew | UseOf::Revoke, Some(UsesLeft::Done)) => valid,
            _ => false,
        };
        possible.then_some(after)
    }

    fn only_observes(&self, operation: &UseOf, outcome: &UsesLeft) -> bool {
        matches!(operation, UseOf::Look | UseOf::Renew) || *outcome == UsesLeft::Gone
    }
}

/// Such a token of a server.
pub struct CountedToken {
    token: Issued,
    uses: u64,
    /// One in this many calls revokes it; 0 means none.
    revocations: u32,
    recorder: Recorder<Counted>,
}

impl CountedToken {
    /// Creates it. One call in `revocations` will revoke it; 0 means none.
    pub fn create(server: &dyn Server, uses: u64, revocations: u32) -> Self {
        let parameters = json!({"policies": ["default"], "num_uses": uses, "ttl": "1h"});
        Self {
            token: server.create_orphan(parameters),
            uses,
            revocations,
            recorder: Recorder::new(Counted(uses)),
        }
    }

    /// The state so far.
    pub const fn recorder(&self) -> &Recorder<Counted> {
        &self.recorder
    }

    /// The number of uses that were answered, and of uses whose outcome is not known.
    pub fn used(&self) -> (u64, u64) {
        let calls = self.recorder.calls();
        let uses = calls.iter().filter(|call| call.operation == UseOf::Use);
        uses.fold((0, 0), |(answered, unknown), call| match call.ending {
            Ending::Returned(_, UsesLeft::Left(_)) => (answered + 1, unknown),
            Ending::Returned(..) => (answered, unknown),
            Ending::Unknown => (answered, unknown + 1),
        })
    }

    /// Uses it until it is gone, checks the history, and that all of its uses were used and no more.
    ///
    /// # Errors
    ///
    /// When the history is not linearizable.
    ///
    /// # Panics
    ///
    /// When it could be used more or less often than it should.
    pub fn settle(&self, server: &dyn Server) -> Result<(), Violation> {
        for _ in 0..=self.uses {
            self.perform(server, UseOf::Use);
        }
        self.recorder.check()?;
        let (answered, unknown) = self.used();
        assert!(answered <= self.uses, "{answered} of {} uses", self.uses);
        let revoked = |call: &Call<_, _>| call.operation == UseOf::Revoke;
        if !self.recorder.calls().iter().any(revoked) {
            let used = answered + unknown;
            assert!(used >= self.uses, "only {used} of {} uses", self.uses);
        }
        Ok(())
    }

    /// Performs an operation on it.
    pub fn perform(&self, server: &dyn Server, operation: UseOf) -> Option<UsesLeft> {
        let root = server.root_token();
        let token = &self.token;
        let request = match operation {
            UseOf::Use => Request::get("auth/token/lookup-self", &token.token),
            UseOf::Look => Request::post("auth/token/lookup", root, token.naming_token()),
            UseOf::Renew => Request::post("auth/token/renew", root, token.naming_token()),
            UseOf::Revoke => {
                Request::post("auth/token/revoke-accessor", root, token.naming_accessor())
            }
        };
        let read = |answer: &Answer| outcome(operation, answer);
        let send = || server.send(&request);
        self.recorder.call(operation, send, read)
    }
}

fn outcome(operation: UseOf, answer: &Answer) -> UsesLeft {
    match (operation, answer.status) {
        (UseOf::Use | UseOf::Look, 200) => {
            let left = answer.body["data"]["num_uses"].as_u64();
            UsesLeft::Left(left.expect("a number of uses"))
        }
        (UseOf::Use | UseOf::Look, 403) | (UseOf::Renew, 400 | 403) => UsesLeft::Gone,
        (UseOf::Renew, 200) | (UseOf::Revoke, 204) => UsesLeft::Done,
        // A warning says that there is no such token.
        (UseOf::Revoke, 200) => UsesLeft::Gone,
        _ => panic!("{operation:?}: {answer:?}"),
    }
}

impl Object for CountedToken {
    fn act(&self, server: &dyn Server, choice: &mut Rng) -> ControlFlow<()> {
        let operation = if self.revocations > 0 && choice.u32(..self.revocations) == 0 {
            UseOf::Revoke
        } else {
            match choice.u8(..6) {
                0 => UseOf::Look,
                1 => UseOf::Renew,
                _ => UseOf::Use,
            }
        };
        after(self.perform(server, operation).as_ref())
    }
}
