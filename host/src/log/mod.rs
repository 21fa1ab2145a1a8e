//! The log of the process: how its lines name requests, and the latest of them.
//!
//! Each line that is written during a request names it. What the program writes does by [`Naming`], and what operators follow by [`layer`].

mod kept;
mod naming;

pub use kept::{Followed, layer};
pub use naming::Naming;
