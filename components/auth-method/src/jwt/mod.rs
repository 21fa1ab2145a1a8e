//! Signed tokens as callers send them: compact, RS256, read strictly (contract 4.2; SEC-J1 to J11, J14 to J17).
//!
//! The types say how far a token has come: [`UnverifiedJwt`] has the right form and nothing else, [`VerifiedJwt`] carries a signature by
//! a known key. The rules about claims work on [`Claims`] and are applied to both.
//!
//! [`sign`] makes the tokens that this server itself sends to Google.

mod audience;
mod claims;
mod compact;
mod instance;
mod signing;
mod subject;

pub(crate) use audience::AudienceRule;
pub(crate) use claims::{CLOCK_SKEW, Claims, Issuer};
pub(crate) use compact::{UnverifiedJwt, VerifiedJwt};
pub(crate) use instance::{InstanceClaims, is_project};
pub(crate) use signing::sign;
pub(crate) use subject::Subject;
