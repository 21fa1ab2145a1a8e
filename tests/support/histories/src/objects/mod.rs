//! Objects that clients use at one time: how each must behave, and how it is used.

use std::ops::ControlFlow;

pub mod counted;
pub mod family;
pub mod wrapped;

/// Goes on after an outcome, and not without one.
const fn after<T>(outcome: Option<&T>) -> ControlFlow<()> {
    match outcome {
        Some(_) => ControlFlow::Continue(()),
        None => ControlFlow::Break(()),
    }
}
