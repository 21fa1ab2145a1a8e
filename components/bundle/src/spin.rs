//! What Spin loads, and what it is made of. Everything is in the portable flavour: Spin's engine has no 128-bit multiplication.
//!
//! Building this crate also leaves these as files in `components/spin` of the target folder, where the manifests name them.

/// What can be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The front for Spin 4.1 and later: exports the HTTP handler of WASI 0.3 and imports the capabilities.
    Front,
    /// The front for Spin 3 and SpinKube: the same with the handler of WASI 0.2.
    FrontP2,
    /// Keeps the records of `access` in the key-value store of that label.
    AdapterAccess,
    /// Keeps the records of `auth-method` in the key-value store of that label.
    AdapterAuthMethod,
    /// Keeps the records of `orgs` in the key-value store of that label.
    AdapterOrgs,
    /// Tokens, policies, identity and mounts, joined with the adapter.
    Access,
    /// The Google Cloud auth method, joined with its adapter.
    AuthMethod,
    /// Organizations, joined with their adapter.
    Orgs,
    /// What Spin makes of [`Self::Front`] and the three at every start, for hosts of WASI 0.3 that compose nothing.
    ///
    /// It takes the last `spin-client-addr` and `spin-full-url` of a request for the word of its host: one that does not append these
    /// headers as Spin does must remove them, or clients say where they come from.
    Whole,
    /// The same with [`Self::FrontP2`], for hosts of WASI 0.2: Spin 3 and SpinKube. It believes the same headers.
    WholeP2,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 10] = [
        Self::Front,
        Self::FrontP2,
        Self::AdapterAccess,
        Self::AdapterAuthMethod,
        Self::AdapterOrgs,
        Self::Access,
        Self::AuthMethod,
        Self::Orgs,
        Self::Whole,
        Self::WholeP2,
    ];

    /// The stem of the part's file name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Front => "spin-trigger",
            Self::FrontP2 => "spin-trigger-0.2",
            Self::AdapterAccess => "storage-adapter-access",
            Self::AdapterAuthMethod => "storage-adapter-auth-method",
            Self::AdapterOrgs => "storage-adapter-orgs",
            Self::Access => "access",
            Self::AuthMethod => "auth-method",
            Self::Orgs => "orgs",
            Self::Whole => "gatehouse",
            Self::WholeP2 => "gatehouse-0.2",
        }
    }
}

/// The component's bytes, as a `.wasm` file would hold them.
#[must_use]
pub const fn bytes(part: Part) -> &'static [u8] {
    match part {
        Part::Front => wasm!("spin", "spin-trigger"),
        Part::FrontP2 => wasm!("spin", "spin-trigger-0.2"),
        Part::AdapterAccess => wasm!("spin", "storage-adapter-access"),
        Part::AdapterAuthMethod => wasm!("spin", "storage-adapter-auth-method"),
        Part::AdapterOrgs => wasm!("spin", "storage-adapter-orgs"),
        Part::Access => wasm!("spin", "access"),
        Part::AuthMethod => wasm!("spin", "auth-method"),
        Part::Orgs => wasm!("spin", "orgs"),
        Part::Whole => wasm!("spin", "gatehouse"),
        Part::WholeP2 => wasm!("spin", "gatehouse-0.2"),
    }
}
