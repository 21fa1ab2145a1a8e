//! All functions of the package in one trait.

use crate::{Config, IdentityTokens, Login, Roles};

/// The whole capability: implemented by the rules, and by the component that imports them.
pub trait AuthMethod: Config + Roles + Login + IdentityTokens {}

impl<T: Config + Roles + Login + IdentityTokens> AuthMethod for T {}
