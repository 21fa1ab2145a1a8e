//! The components that hosts other than Spin can load.

use anyhow::Result;

use crate::compose::compose;
use crate::unit::Unit;

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

    const fn auth_method(self) -> Unit {
        match self {
            Self::Portable => Unit::AuthMethod,
            Self::Wide => Unit::AuthMethodWide,
        }
    }
}

/// A component that can be loaded.
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
    /// All of them and the console joined: exports `gatehouse:gateway/exchange`, `gatehouse:console/pages` and, for other hosts,
    /// `wasi:http/incoming-handler`; imports one store for each capability and a cache for those that use one.
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

    /// The component's bytes, as a `.wasm` file holds them, from the bytes that `units` answers.
    ///
    /// # Errors
    ///
    /// When `units` fails or the units do not fit one another.
    pub fn bytes(
        self,
        flavour: Flavour,
        units: impl Fn(Unit) -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        match self {
            Self::AuthMethod => units(flavour.auth_method()),
            Self::Access => units(Unit::Access),
            Self::Orgs => units(Unit::Orgs),
            Self::Gateway => units(Unit::Gateway),
            Self::Composed => compose(
                &units(Unit::Gateway)?,
                &[
                    ("auth-method", units(flavour.auth_method())?),
                    ("access", units(Unit::Access)?),
                    ("orgs", units(Unit::Orgs)?),
                ],
                &units(Unit::Console)?,
            ),
        }
    }
}
