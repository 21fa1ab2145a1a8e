//! The built WebAssembly components, alone and composed, in both flavours.
//!
//! The bytes are part of whatever links this crate: a released `gatehouse` needs no files beside it. Building this crate builds the
//! components (see `build/main.rs`).

macro_rules! wasm {
    ($flavour:literal, $name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $flavour, "/", $name, ".wasm"))
    };
}

pub mod spin;

/// How a component was compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// Runs on every engine for components.
    Portable,
    /// Uses 128-bit multiplication and SIMD, which the engine must have switched on, in the auth method; the rest is the portable one.
    Wide,
}

impl Flavour {
    /// Every flavour.
    pub const ALL: [Self; 2] = [Self::Portable, Self::Wide];

    /// The name of the flavour, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Wide => "wide",
        }
    }
}

/// What can be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The Google Cloud auth method alone.
    AuthMethod,
    /// Tokens, policies, identity and mounts alone.
    Access,
    /// Organizations alone.
    Orgs,
    /// The HTTP front alone; it imports the three capabilities.
    Gateway,
    /// All of them joined: exports `gatehouse:gateway/exchange` and, for other hosts, `wasi:http/incoming-handler`; imports one store
    /// for each capability and a cache for those that use one.
    Composed,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 5] = [
        Self::AuthMethod,
        Self::Access,
        Self::Orgs,
        Self::Gateway,
        Self::Composed,
    ];

    /// The stem of the part's file name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AuthMethod => "auth-method",
            Self::Access => "access",
            Self::Orgs => "orgs",
            Self::Gateway => "gateway",
            Self::Composed => "gatehouse",
        }
    }
}

/// The component's bytes, as a `.wasm` file would hold them.
#[must_use]
pub const fn bytes(part: Part, flavour: Flavour) -> &'static [u8] {
    match (flavour, part) {
        (Flavour::Portable, Part::AuthMethod) => wasm!("portable", "auth-method"),
        (Flavour::Portable, Part::Access) => wasm!("portable", "access"),
        (Flavour::Portable, Part::Orgs) => wasm!("portable", "orgs"),
        (Flavour::Portable, Part::Gateway) => wasm!("portable", "gateway"),
        (Flavour::Portable, Part::Composed) => wasm!("portable", "gatehouse"),
        (Flavour::Wide, Part::AuthMethod) => wasm!("wide", "auth-method"),
        (Flavour::Wide, Part::Access) => wasm!("wide", "access"),
        (Flavour::Wide, Part::Orgs) => wasm!("wide", "orgs"),
        (Flavour::Wide, Part::Gateway) => wasm!("wide", "gateway"),
        (Flavour::Wide, Part::Composed) => wasm!("wide", "gatehouse"),
    }
}
