//! Objects that clients use at one time: the model of each, and the calls that use it.

use std::ops::ControlFlow;

pub mod counted;
pub mod family;
pub mod wrapped;

/// Continues after an outcome, and breaks off without one.
const fn after<T>(outcome: Option<&T>) -> ControlFlow<()> {
    match outcome {
        Some(_) => ControlFlow::Continue(()),
        None => ControlFlow::Break(()),
    }
}
