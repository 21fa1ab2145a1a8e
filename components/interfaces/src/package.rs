//! The packages of `wit/` by name, for the crate and for its build script.

/// A package of interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Package {
    /// `gatehouse:network`: addresses, which other packages take from it.
    Network,
    /// `gatehouse:storage`: what capabilities keep their records in.
    Storage,
    /// `gatehouse:auth-method`: the Google Cloud auth method.
    AuthMethod,
    /// `gatehouse:access`: tokens, policies, identity and mounts.
    Access,
    /// `gatehouse:orgs`: organizations.
    Orgs,
    /// `gatehouse:host`: what the front asks of the program that runs it.
    Host,
    /// `gatehouse:gateway`: the HTTP front.
    Gateway,
    /// `gatehouse:console`: pages for people.
    Console,
    /// `gatehouse:storage-adapter`: the storage interfaces over `wasi:keyvalue` or `spin:sqlite`.
    StorageAdapter,
    /// `gatehouse:spin-trigger`: the HTTP front under Spin.
    SpinTrigger,
}

impl Package {
    /// Every package, those before that others are made of.
    pub const ALL: [Self; 10] = [
        Self::Network,
        Self::Storage,
        Self::AuthMethod,
        Self::Access,
        Self::Orgs,
        Self::Host,
        Self::Gateway,
        Self::Console,
        Self::StorageAdapter,
        Self::SpinTrigger,
    ];

    /// The package's name without its namespace, which is also the name of its folder in `wit/`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Storage => "storage",
            Self::AuthMethod => "auth-method",
            Self::Access => "access",
            Self::Orgs => "orgs",
            Self::Host => "host",
            Self::Gateway => "gateway",
            Self::Console => "console",
            Self::StorageAdapter => "storage-adapter",
            Self::SpinTrigger => "spin-trigger",
        }
    }
}
