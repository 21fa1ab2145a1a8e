//! What can go wrong when the fake is started or changed.

use std::io;

/// Why the fake could not be started or changed as asked.
#[derive(Debug, thiserror::Error)]
pub enum FakeGoogleError {
    /// No listener could be opened on loopback.
    #[error("failed to listen on 127.0.0.1")]
    Listen(#[source] io::Error),
    /// The crypto library made no RSA key.
    #[error("failed to generate an RSA key")]
    KeyGeneration,
    /// The certificate for a key could not be made.
    #[error("failed to certify a key")]
    Certificate(#[from] rcgen::Error),
    /// The crypto library refused to sign.
    #[error("failed to sign with key {key_id}")]
    Signing {
        /// Identifier of the key.
        key_id: String,
    },
    /// No account has this email or unique ID.
    #[error("no service account `{account}`; add it with FakeGoogle::add_account")]
    UnknownAccount {
        /// The email or unique ID that was asked for.
        account: String,
    },
    /// An account with this email or unique ID exists already.
    #[error("service account `{email}` exists already")]
    DuplicateAccount {
        /// Email of the account to be added.
        email: String,
    },
    /// The account has no signing key left.
    #[error("`{owner}` has no key; rotate its keys first")]
    NoKey {
        /// Email of the account, or `Google`.
        owner: String,
    },
    /// No instance has this name.
    #[error("no instance `{instance}`")]
    UnknownInstance {
        /// The instance name that was asked for.
        instance: String,
    },
}
