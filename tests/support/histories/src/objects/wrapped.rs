//! A wrapped response (contract 1.8, 6.6).

use std::ops::ControlFlow;
use std::sync::RwLock;

use fastrand::Rng;
use serde_json::json;

use super::after;
use crate::checker::{Ending, Model, Violation};
use crate::driver::Object;
use crate::recorder::Recorder;
use crate::server::{Answer, Request, Server};

const CONTENT: &str = "given out once";

/// The holder of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Holder {
    /// The wrapping token of this number, from 0.
    Token(usize),
    /// The client that unwrapped it, or a token that no client was told of.
    Nobody,
}

/// An operation on the wrapping token of this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithWrapped {
    /// Takes the response out.
    Unwrap(usize),
    /// Asks for its terms.
    Look(usize),
    /// Moves the response to a new token.
    Rewrap(usize),
}

/// The outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrappedOutcome {
    /// The response, or its terms.
    Done,
    /// A new token, of this number.
    Moved(usize),
    /// The token holds nothing any more.
    Gone,
}

/// A response wrapped by token 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrapped;

impl Model for Wrapped {
    type State = Holder;
    type Operation = WithWrapped;
    type Outcome = WrappedOutcome;

    fn initial(&self) -> Holder {
        Holder::Token(0)
    }

    fn step(
        &self,
        &holder: &Holder,
        operation: &WithWrapped,
        outcome: Option<&WrappedOutcome>,
    ) -> Option<Holder> {
        let (WithWrapped::Unwrap(token) | WithWrapped::Look(token) | WithWrapped::Rewrap(token)) =
            *operation;
        let holds = holder == Holder::Token(token);
        match (operation, outcome) {
            (_, Some(WrappedOutcome::Gone)) => (!holds).then_some(holder),
            (WithWrapped::Look(_), Some(WrappedOutcome::Done)) => holds.then_some(holder),
            (WithWrapped::Unwrap(_), Some(WrappedOutcome::Done)) => holds.then_some(Holder::Nobody),
            (WithWrapped::Rewrap(_), Some(&WrappedOutcome::Moved(to))) => {
                holds.then_some(Holder::Token(to))
            }
            (WithWrapped::Unwrap(_) | WithWrapped::Rewrap(_), None) if holds => {
                Some(Holder::Nobody)
            }
            (_, None) => Some(holder),
            _ => None,
        }
    }

    fn only_observes(&self, operation: &WithWrapped, outcome: &WrappedOutcome) -> bool {
        matches!(operation, WithWrapped::Look(_)) || *outcome == WrappedOutcome::Gone
    }
}

/// Such a response of a server.
pub struct WrappedResponse {
    tokens: RwLock<Vec<String>>,
    recorder: Recorder<Wrapped>,
}

impl WrappedResponse {
    /// Wraps it.
    pub fn create(server: &dyn Server) -> Self {
        let content = json!({ "content": CONTENT });
        let wrap = Request::post("sys/wrapping/wrap", server.root_token(), content).wrapped();
        let token = wrapping_token(&server.must(&wrap));
        Self {
            tokens: RwLock::new(vec![token]),
            recorder: Recorder::new(Wrapped),
        }
    }

    /// The state so far.
    pub const fn recorder(&self) -> &Recorder<Wrapped> {
        &self.recorder
    }

    /// How often it was given out.
    pub fn unwrapped(&self) -> usize {
        let calls = self.recorder.calls();
        let given = calls.iter().filter(|call| {
            matches!(
                (&call.operation, &call.ending),
                (
                    WithWrapped::Unwrap(_),
                    Ending::Returned(_, WrappedOutcome::Done)
                )
            )
        });
        given.count()
    }

    /// Asks all of its tokens for it, and checks the history.
    ///
    /// # Errors
    ///
    /// When it is not linearizable.
    ///
    /// # Panics
    ///
    /// When it was given out twice, or was lost though every call was answered.
    pub fn settle(&self, server: &dyn Server) -> Result<(), Violation> {
        let count = self.tokens.read().expect("no client panics").len();
        for token in 0..count {
            self.perform(server, WithWrapped::Unwrap(token));
        }
        self.recorder.check()?;
        let lost = |ending: &Ending<_>| *ending == Ending::Unknown;
        let some_lost = self.recorder.calls().iter().any(|call| lost(&call.ending));
        let unwrapped = self.unwrapped();
        assert!(unwrapped == 1 || some_lost && unwrapped == 0, "{unwrapped}");
        Ok(())
    }

    /// Does one of the things that can be done with it.
    pub fn perform(&self, server: &dyn Server, operation: WithWrapped) -> Option<WrappedOutcome> {
        let (WithWrapped::Unwrap(number) | WithWrapped::Look(number) | WithWrapped::Rewrap(number)) =
            operation;
        let token = self.tokens.read().expect("no client panics")[number].clone();
        let named = json!({ "token": token });
        let root = server.root_token();
        let request = match operation {
            WithWrapped::Unwrap(_) => Request::post("sys/wrapping/unwrap", &token, json!({})),
            WithWrapped::Look(_) => Request::post("sys/wrapping/lookup", root, named),
            WithWrapped::Rewrap(_) => Request::post("sys/wrapping/rewrap", root, named),
        };
        let send = || server.send(&request);
        self.recorder
            .call(operation, send, |answer| self.outcome(operation, answer))
    }

    fn outcome(&self, operation: WithWrapped, answer: &Answer) -> WrappedOutcome {
        match (operation, answer.status) {
            (WithWrapped::Unwrap(_), 200) => {
                assert_eq!(answer.body["data"]["content"], CONTENT);
                WrappedOutcome::Done
            }
            (WithWrapped::Look(_), 200) => WrappedOutcome::Done,
            (WithWrapped::Rewrap(_), 200) => {
                let mut tokens = self.tokens.write().expect("no client panics");
                tokens.push(wrapping_token(&answer.body));
                WrappedOutcome::Moved(tokens.len() - 1)
            }
            (_, 400) => WrappedOutcome::Gone,
            _ => panic!("{operation:?}: {answer:?}"),
        }
    }
}

fn wrapping_token(body: &serde_json::Value) -> String {
    let token = body["wrap_info"]["token"].as_str();
    token.expect("a wrapping token").to_owned()
}

impl Object for WrappedResponse {
    fn act(&self, server: &dyn Server, choice: &mut Rng) -> ControlFlow<()> {
        let count = self.tokens.read().expect("no client panics").len();
        // The newest token is the one that may still hold something.
        let token = count - 1 - choice.usize(..count.min(2));
        let operation = match choice.u8(..8) {
            0 => WithWrapped::Unwrap(token),
            1..4 => WithWrapped::Rewrap(token),
            _ => WithWrapped::Look(token),
        };
        after(self.perform(server, operation).as_ref())
    }
}
