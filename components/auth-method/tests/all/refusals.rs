//! Tokens of the account that differ in one thing, and what they are refused with.

use gatehouse_auth_method::{JwtError, LoginError};
use serde_json::Value;

use crate::keys::{self, Token};
use crate::stage::Stage;

pub fn by_account(token: &Token) -> String {
    token.signed_by(keys::of_account())
}

/// The refusal of a token without the right form, for which Google is not asked.
pub fn malformed(flaw: JwtError) -> (LoginError, usize) {
    (LoginError::MalformedJwt(flaw), 0)
}

/// The refusal of a token for another role than `dev`.
pub fn audience() -> LoginError {
    LoginError::AudienceNotForRole("dev".to_owned())
}

/// The refusal of `claim` as `value`, and after how many calls.
pub fn with_claim(name: &str, value: impl Into<Value>) -> (LoginError, usize) {
    Stage::ready().refuse(&by_account(&Token::of_account().claim(name, value)))
}
