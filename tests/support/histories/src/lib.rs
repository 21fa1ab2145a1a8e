//! Histories of concurrent clients, and whether they are linearizable (SEC-V5).
//!
//! An [`Object`] of a server (a token with a number of uses, a family of tokens, a wrapped response) is driven by many threads over a
//! [`Server`], be that a socket or a function call. Every call is recorded with the moments around it, and [`check`] looks for an
//! order of all calls in which each has the outcome that the object's [`Model`] gives it.

mod checker;
mod driver;
mod objects;
mod recorder;
mod server;

pub use checker::{Call, Ending, Model, Violation, check};
pub use driver::{Object, all_at_once, drive, drive_while};
pub use objects::counted::{Counted, CountedToken, UseOf, UsesLeft};
pub use objects::family::{Child, Family, FamilyOutcome, Members, TokenFamily, WithFamily};
pub use objects::wrapped::{Holder, WithWrapped, Wrapped, WrappedOutcome, WrappedResponse};
pub use recorder::Recorder;
pub use server::{Answer, Issued, Reply, Request, Server};
