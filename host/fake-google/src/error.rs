//! Failures of starting or changing the fake.

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
    /// No instance has this name, number or path.
    #[error("no instance `{instance}`; add it with FakeGoogle::add_instance")]
    UnknownInstance {
        /// The name, number or path that was asked for.
        instance: String,
    },
    /// The zone has an instance of this name already.
    #[error("instance `{path}` exists already; replace it with FakeGoogle::replace_instance")]
    DuplicateInstance {
        /// Path of the instance to be added.
        path: String,
    },
    /// No instance group has this path.
    #[error("no instance group `{path}`; add it with FakeGoogle::add_instance_group")]
    UnknownInstanceGroup {
        /// The path that was asked for.
        path: String,
    },
    /// The zone or region has an instance group of this name already.
    #[error("instance group `{path}` exists already")]
    DuplicateInstanceGroup {
        /// Path of the group to be added.
        path: String,
    },
    /// The instance is in another project, zone or region than the group.
    #[error("instance `{instance}` lies outside the group `{group}`")]
    MemberOutsideGroup {
        /// Path of the group.
        group: String,
        /// Path of the instance.
        instance: String,
    },
    /// No provider of a workload identity pool has this resource name.
    #[error("no provider `{audience}`; add it with FakeGoogle::add_workload_identity_provider")]
    UnknownProvider {
        /// The resource name that was asked for.
        audience: String,
    },
    /// The crypto library gave no random bytes.
    #[error("failed to make a random token")]
    NoRandomness,
}
