//! The output of the compiler: crates in the forms that are loaded or joined.

/// A crate, compiled in one form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// The Google Cloud auth method for every engine.
    AuthMethod,
    /// The same for engines with 128-bit multiplication and SIMD, where an RSA check costs a fifth.
    ///
    /// Everything else is compiled once for both flavours, because LLVM 22 takes the wrong half of some 128-bit products. That was seen
    /// in checked products of signed numbers, which the tests of the bundle keep out of this unit, and where decimal fractions are
    /// written out.
    AuthMethodWide,
    /// Tokens, policies, identity and mounts.
    Access,
    /// Organizations.
    Orgs,
    /// The HTTP front.
    Gateway,
    /// The pages for people.
    Console,
    /// The front for Spin 4.1 and later (WASI 0.3).
    Front,
    /// The front for Spin 3 and `SpinKube` (WASI 0.2).
    FrontP2,
    /// Keeps the records of `access` in the key-value store of that label.
    AdapterAccess,
    /// Keeps the records of `auth-method` in the key-value store of that label.
    AdapterAuthMethod,
    /// Keeps the records of `orgs` in the key-value store of that label.
    AdapterOrgs,
    /// Keeps the records of `access` in the SQLite database of that label.
    SqliteAccess,
    /// Keeps the records of `auth-method` in the SQLite database of that label.
    SqliteAuthMethod,
    /// Keeps the records of `orgs` in the SQLite database of that label.
    SqliteOrgs,
    /// Keeps the records of `access` in a PostgreSQL database.
    PostgresAccess,
    /// Keeps the records of `auth-method` in a PostgreSQL database.
    PostgresAuthMethod,
    /// Keeps the records of `orgs` in a PostgreSQL database.
    PostgresOrgs,
}

/// The target folder that most units share, and whose copy the others begin with.
pub(crate) const PORTABLE: &str = "portable";

/// The instructions to the compiler for a unit.
pub(crate) struct Recipe {
    pub package: &'static str,
    pub features: &'static str,
    /// Beside the compiler's defaults.
    pub flags: &'static [&'static str],
    /// The target folder below the shared one. Cargo gives all forms of a crate that becomes a component the same file name, so two
    /// forms in one folder replace each other, and both are compiled again every time.
    pub folder: &'static str,
}

impl Unit {
    /// Every unit.
    pub const ALL: [Self; 17] = [
        Self::AuthMethod,
        Self::AuthMethodWide,
        Self::Access,
        Self::Orgs,
        Self::Gateway,
        Self::Console,
        Self::Front,
        Self::FrontP2,
        Self::AdapterAccess,
        Self::AdapterAuthMethod,
        Self::AdapterOrgs,
        Self::SqliteAccess,
        Self::SqliteAuthMethod,
        Self::SqliteOrgs,
        Self::PostgresAccess,
        Self::PostgresAuthMethod,
        Self::PostgresOrgs,
    ];

    /// The units that the server is joined from, in the portable flavour.
    pub const OF_SERVER: [Self; 5] = [
        Self::AuthMethod,
        Self::Access,
        Self::Orgs,
        Self::Gateway,
        Self::Console,
    ];

    /// The stem of the unit's file name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AuthMethod => "auth-method",
            Self::AuthMethodWide => "auth-method-wide",
            Self::Access => "access",
            Self::Orgs => "orgs",
            Self::Gateway => "gateway",
            Self::Console => "console",
            Self::Front => "spin-trigger",
            Self::FrontP2 => "spin-trigger-0.2",
            Self::AdapterAccess => "storage-adapter-access",
            Self::AdapterAuthMethod => "storage-adapter-auth-method",
            Self::AdapterOrgs => "storage-adapter-orgs",
            Self::SqliteAccess => "sqlite-adapter-access",
            Self::SqliteAuthMethod => "sqlite-adapter-auth-method",
            Self::SqliteOrgs => "sqlite-adapter-orgs",
            Self::PostgresAccess => "postgres-adapter-access",
            Self::PostgresAuthMethod => "postgres-adapter-auth-method",
            Self::PostgresOrgs => "postgres-adapter-orgs",
        }
    }

    /// The crate that the unit is compiled from.
    #[must_use]
    pub const fn package(self) -> &'static str {
        self.recipe().package
    }

    /// The unit of the same crate in the shared folder, where that is another one: it has nearly all dependencies in common with this one, with
    /// the same features.
    pub(crate) fn relative(self) -> Option<Self> {
        let own = self.recipe();
        let is_relative = |unit: &Self| {
            let recipe = unit.recipe();
            recipe.package == own.package && recipe.folder == PORTABLE
        };
        let relative = Self::ALL.into_iter().find(is_relative);
        relative.filter(|relative| *relative != self)
    }

    pub(crate) const fn recipe(self) -> Recipe {
        let (package, features, folder) = match self {
            Self::AuthMethod => ("gatehouse-auth-method", "component", PORTABLE),
            Self::AuthMethodWide => ("gatehouse-auth-method", "component,wide-arithmetic", "wide"),
            Self::Access => ("gatehouse-access", "component", PORTABLE),
            Self::Orgs => ("gatehouse-orgs", "component", PORTABLE),
            Self::Gateway => ("gatehouse-gateway", "component", PORTABLE),
            Self::Console => ("gatehouse-console", "component", PORTABLE),
            Self::Front => ("gatehouse-spin-trigger", "wasi-0-3", PORTABLE),
            Self::FrontP2 => ("gatehouse-spin-trigger", "wasi-0-2", self.name()),
            Self::AdapterAccess => (
                "gatehouse-storage-adapter",
                "component,label-access",
                self.name(),
            ),
            Self::AdapterAuthMethod => (
                "gatehouse-storage-adapter",
                "component,label-auth-method",
                self.name(),
            ),
            Self::AdapterOrgs => (
                "gatehouse-storage-adapter",
                "component,label-orgs",
                PORTABLE,
            ),
            Self::SqliteAccess => (
                "gatehouse-storage-adapter",
                "component,over-sqlite,label-access",
                self.name(),
            ),
            Self::SqliteAuthMethod => (
                "gatehouse-storage-adapter",
                "component,over-sqlite,label-auth-method",
                self.name(),
            ),
            Self::SqliteOrgs => (
                "gatehouse-storage-adapter",
                "component,over-sqlite,label-orgs",
                self.name(),
            ),
            Self::PostgresAccess => (
                "gatehouse-storage-adapter",
                "component,over-postgres,label-access",
                self.name(),
            ),
            Self::PostgresAuthMethod => (
                "gatehouse-storage-adapter",
                "component,over-postgres,label-auth-method",
                self.name(),
            ),
            Self::PostgresOrgs => (
                "gatehouse-storage-adapter",
                "component,over-postgres,label-orgs",
                self.name(),
            ),
        };
        Recipe {
            package,
            features,
            flags: match self {
                Self::AuthMethodWide => &["-Ctarget-feature=+simd128,+wide-arithmetic"],
                _ => &[],
            },
            folder,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_with_a_folder_of_its_own_has_a_relative_in_the_shared_one() {
        for unit in Unit::ALL {
            let relative = unit.relative();
            let is_apart = unit.recipe().folder != PORTABLE;
            assert_eq!(relative.is_some(), is_apart, "{unit:?}");
            if let Some(relative) = relative {
                assert_eq!(relative.recipe().folder, PORTABLE);
                assert_eq!(relative.package(), unit.package());
            }
        }
    }
}
