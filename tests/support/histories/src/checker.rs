//! The search of Wing and Gong, with Lowe's memory: no configuration (the calls that have taken effect, and the state after them) is
//! looked at twice.

use std::collections::HashSet;
use std::fmt::{self, Debug, Display, Formatter};
use std::hash::Hash;
use std::time::Duration;

/// The behaviour of one object when its clients come one after the other.
pub trait Model {
    /// The state that the object remembers.
    type State: Clone + Eq + Hash + Debug;
    /// The operations that clients ask of it.
    type Operation: Debug + PartialEq;
    /// The outcomes that they are told.
    type Outcome: Debug;

    /// Before the first operation.
    fn initial(&self) -> Self::State;

    /// The state after `operation` had `outcome` in `state`; `None` when it could not have had it. Where no client learned the outcome
    /// and none is given: the state after the operation took effect.
    fn step(
        &self,
        state: &Self::State,
        operation: &Self::Operation,
        outcome: Option<&Self::Outcome>,
    ) -> Option<Self::State>;

    /// True if `operation` with `outcome` changes no state in which it is possible. Of two orders that differ only in the place of
    /// such a call, one will do.
    fn only_observes(&self, operation: &Self::Operation, outcome: &Self::Outcome) -> bool;
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending<O> {
    /// With this outcome, at this time after the history began.
    Returned(Duration, O),
    /// Its outcome was lost: it takes effect at any later time, or never.
    Unknown,
}

/// An operation in a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<P, O> {
    /// When it began, after the history did.
    pub invoked: Duration,
    /// The operation that was asked.
    pub operation: P,
    /// Its outcome.
    pub ending: Ending<O>,
}

impl<P, O> Call<P, O> {
    const fn returned(&self) -> Option<Duration> {
        match self.ending {
            Ending::Returned(time, _) => Some(time),
            Ending::Unknown => None,
        }
    }

    const fn ending_is_lost(&self) -> bool {
        matches!(self.ending, Ending::Unknown)
    }

    const fn outcome(&self) -> Option<&O> {
        match &self.ending {
            Ending::Returned(_, outcome) => Some(outcome),
            Ending::Unknown => None,
        }
    }
}

/// A history that no order of its calls explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The number of calls that the best order explains.
    pub explained: usize,
    /// The state after them.
    pub state: String,
    /// The calls of which one would have to come next, in the order in which they began.
    pub stuck: Vec<String>,
}

impl Display for Violation {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            explained,
            state,
            stuck,
        } = self;
        write!(
            formatter,
            "not linearizable: after {explained} calls the state is {state}, and none of these can be next:"
        )?;
        stuck
            .iter()
            .try_for_each(|call| write!(formatter, "\n  {call}"))
    }
}

impl std::error::Error for Violation {}

/// Looks for an order of the calls of `history` that `model` allows and that keeps every call between its beginning and its end.
///
/// The search is exact. At worst it takes time exponential in the number of overlapping calls that change something, not in the length
/// of the history. Calls of one operation whose outcomes were lost stand for each other, so they do not count.
///
/// # Errors
///
/// When there is none.
pub fn check<M: Model>(
    model: &M,
    mut history: Vec<Call<M::Operation, M::Outcome>>,
) -> Result<(), Violation> {
    history.sort_by_key(|call| call.invoked);
    let start = Configuration {
        effective: vec![false; history.len()],
        state: model.initial(),
    };
    let mut seen = HashSet::from([start.clone()]);
    let mut open = vec![start];
    let mut best: Option<(usize, Violation)> = None;
    while let Some(configuration) = open.pop() {
        let Some(candidates) = configuration.candidates(&history) else {
            return Ok(());
        };
        let explained = configuration.explained();
        if best.as_ref().is_none_or(|(most, _)| explained > *most) {
            let stuck = candidates.iter().map(|&at| format!("{:?}", history[at]));
            let violation = Violation {
                explained,
                state: format!("{:?}", configuration.state),
                stuck: stuck.collect(),
            };
            best = Some((explained, violation));
        }
        let next = |at: usize| {
            let call = &history[at];
            let state = model.step(&configuration.state, &call.operation, call.outcome())?;
            let mut effective = configuration.effective.clone();
            effective[at] = true;
            Some(Configuration { effective, state })
        };
        let observes = |at: usize| {
            let call = &history[at];
            let outcome = call.outcome();
            outcome.is_some_and(|outcome| model.only_observes(&call.operation, outcome))
        };
        let observers = candidates.iter().filter(|&&at| observes(at));
        // An operation that is possible now and changes nothing is as well done now as later.
        if let Some(observed) = observers.filter_map(|&at| next(at)).next() {
            open.push(observed);
            continue;
        }
        // The last one pushed is the first one tried: the call that began first.
        for configuration in candidates.iter().rev().filter_map(|&at| next(at)) {
            if seen.insert(configuration.clone()) {
                open.push(configuration);
            }
        }
    }
    let (_, violation) = best.expect("a history without calls is linearizable");
    Err(violation)
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Configuration<S> {
    /// True for each call that has taken effect, in the order in which they began.
    effective: Vec<bool>,
    state: S,
}

impl<S> Configuration<S> {
    fn explained(&self) -> usize {
        self.effective
            .iter()
            .filter(|&&effective| effective)
            .count()
    }

    /// The calls that may take effect next: those that began before any of the others ended. Of calls of one operation whose outcomes were
    /// lost, only the first. `None` when only calls remain that may never take effect.
    fn candidates<P: PartialEq, O>(&self, history: &[Call<P, O>]) -> Option<Vec<usize>> {
        let waiting = || (0..history.len()).filter(|&at| !self.effective[at]);
        let first_end = waiting().filter_map(|at| history[at].returned()).min()?;
        // Two equal times do not tell which call was first.
        let began = waiting().take_while(|&at| history[at].invoked <= first_end);
        let mut candidates: Vec<usize> = Vec::new();
        for at in began {
            let call = &history[at];
            // The two can change places: the first has begun too, and neither has an end.
            let stands_for_it = |&first: &usize| {
                let first = &history[first];
                first.ending_is_lost() && first.operation == call.operation
            };
            if !(call.ending_is_lost() && candidates.iter().any(stands_for_it)) {
                candidates.push(at);
            }
        }
        Some(candidates)
    }
}
