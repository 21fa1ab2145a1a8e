//! A token on its way to its owner.

use zeroize::Zeroizing;

/// The beginning of every service token that the server makes.
pub const SERVICE_TOKEN_PREFIX: &str = "hvs.";
/// The beginning of every batch token, and of no other.
pub const BATCH_TOKEN_PREFIX: &str = "hvb.";

/// The characters that tokens are made of behind their beginning, in the order of their bytes.
pub const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// How many characters a root token has that the server makes: [`SERVICE_TOKEN_PREFIX`], and of [`BASE62`] 8 of the time and 43 random
/// ones. The one-time password that hides such a token has as many.
pub const ROOT_TOKEN_CHARACTERS: usize = 55;

/// A client token. It is wiped from memory when dropped, and can be neither printed nor compared:
///
/// ```compile_fail,E0277
/// fn printed(token: &gatehouse_access_api::ClientToken) -> String {
///     format!("{token:?}")
/// }
/// ```
///
/// ```compile_fail,E0369
/// fn compared(token: &gatehouse_access_api::ClientToken, other: &gatehouse_access_api::ClientToken) -> bool {
///     token == other
/// }
/// ```
pub struct ClientToken(Zeroizing<String>);

impl ClientToken {
    /// Takes over a token's text.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The text, to be written into an answer to its owner and nowhere else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}
