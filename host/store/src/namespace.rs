//! The stores that one backend keeps apart.

/// One of the stores within a backend. Each component has its own, and two belong to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Namespace {
    /// Records of the `auth-method` component.
    AuthMethod,
    /// Records of the `access` component.
    Access,
    /// Records of the `orgs` component.
    Orgs,
    /// Records of the host itself.
    Host,
    /// The sealed keyring: written by [`SealedBackend`](crate::SealedBackend), and refused to every caller above it.
    Keyring,
}

impl Namespace {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::AuthMethod,
        Self::Access,
        Self::Orgs,
        Self::Host,
        Self::Keyring,
    ];

    /// The name under which it is stored and to which sealed records are bound. Never changes.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::AuthMethod => "auth-method",
            Self::Access => "access",
            Self::Orgs => "orgs",
            Self::Host => "host",
            Self::Keyring => "keyring",
        }
    }
}
