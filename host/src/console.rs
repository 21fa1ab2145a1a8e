//! The environment variables of the console: the key of its sessions, and when they end.

use aws_lc_rs::rand;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::settings::ConsoleSettings;

/// Bytes of the key that seals sessions.
const KEY_BYTES: usize = 32;

/// There is no randomness for the console's key.
#[derive(Debug, thiserror::Error)]
#[error("the system gave no random bytes for the key of the console")]
pub struct ConsoleKeyError;

/// The environment variables by which components learn how the console is set up. One of them is a secret.
///
/// The key is made anew by each process and kept nowhere: all instances of a server share it, and a cookie is of no use to any other
/// server, nor after this one has stopped.
///
/// # Errors
///
/// When the system has no randomness.
pub fn environment(settings: &ConsoleSettings) -> Result<[(String, String); 2], ConsoleKeyError> {
    let mut key = zeroize::Zeroizing::new([0; KEY_BYTES]);
    rand::fill(key.as_mut_slice()).map_err(|_| ConsoleKeyError)?;
    Ok([
        (
            "GATEHOUSE_CONSOLE_KEY".to_owned(),
            URL_SAFE_NO_PAD.encode(key.as_slice()),
        ),
        (
            "GATEHOUSE_CONSOLE_IDLE_SECONDS".to_owned(),
            settings.idle_timeout.as_secs().to_string(),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn h17_every_server_has_a_key_of_its_own() {
        let settings = ConsoleSettings {
            enabled: true,
            idle_timeout: Duration::from_secs(60),
        };
        let [one, idle] = environment(&settings).unwrap();
        let [other, _] = environment(&settings).unwrap();
        assert_ne!(one.1, other.1);
        assert_eq!(URL_SAFE_NO_PAD.decode(one.1).unwrap().len(), KEY_BYTES);
        assert_eq!(idle.1, "60");
    }
}
