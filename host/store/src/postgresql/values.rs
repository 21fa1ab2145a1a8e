//! Values as the database has them.

use gatehouse_ports::Version;

use crate::Namespace;

/// The number under which the database knows a namespace. Never changes.
pub(super) const fn number(namespace: Namespace) -> i16 {
    match namespace {
        Namespace::AuthMethod => 1,
        Namespace::Access => 2,
        Namespace::Orgs => 3,
        Namespace::Host => 4,
        Namespace::Keyring => 5,
    }
}

/// Versions are compared for equality alone, so that the sign does not matter.
pub(super) const fn to_database(version: Version) -> i64 {
    version.cast_signed()
}

pub(super) const fn from_database(version: i64) -> Version {
    version.cast_unsigned()
}
