//! The bytes of each unit: carried, or compiled when they are asked for.

use std::io::Read;

use anyhow::Result;
use flate2::read::ZlibDecoder;
use gatehouse_assembly::Unit;

macro_rules! carried {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".zz"))
    };
}

/// The bytes of `unit`.
///
/// # Errors
///
/// When it is not carried and cannot be compiled.
pub(crate) fn bytes(unit: Unit) -> Result<Vec<u8>> {
    let carried = carried(unit);
    if carried.is_empty() {
        return compiled(unit);
    }
    let mut bytes = Vec::new();
    ZlibDecoder::new(carried).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The digest of the carried units.
pub(crate) const CARRIED_DIGEST: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/carried.sha256"));

/// Has the unit compiled: such a build is used where its sources are.
#[cfg(not(carries_every_unit))]
fn compiled(unit: Unit) -> Result<Vec<u8>> {
    use gatehouse_assembly::{Quality, Workshop};
    let (sources, made_in) = (env!("GATEHOUSE_SOURCES"), env!("GATEHOUSE_MADE_IN"));
    Workshop::new(sources, made_in, Quality::Draft).make(unit)
}

#[cfg(carries_every_unit)]
fn compiled(unit: Unit) -> Result<Vec<u8>> {
    anyhow::bail!("{} is not part of this program", unit.name())
}

const fn carried(unit: Unit) -> &'static [u8] {
    match unit {
        Unit::AuthMethod => carried!("auth-method"),
        Unit::AuthMethodWide => carried!("auth-method-wide"),
        Unit::Access => carried!("access"),
        Unit::Orgs => carried!("orgs"),
        Unit::Gateway => carried!("gateway"),
        Unit::Console => carried!("console"),
        Unit::Front => carried!("spin-trigger"),
        Unit::FrontP2 => carried!("spin-trigger-0.2"),
        Unit::AdapterAccess => carried!("storage-adapter-access"),
        Unit::AdapterAuthMethod => carried!("storage-adapter-auth-method"),
        Unit::AdapterOrgs => carried!("storage-adapter-orgs"),
        Unit::SqliteAccess => carried!("sqlite-adapter-access"),
        Unit::SqliteAuthMethod => carried!("sqlite-adapter-auth-method"),
        Unit::SqliteOrgs => carried!("sqlite-adapter-orgs"),
        Unit::PostgresAccess => carried!("postgres-adapter-access"),
        Unit::PostgresAuthMethod => carried!("postgres-adapter-auth-method"),
        Unit::PostgresOrgs => carried!("postgres-adapter-orgs"),
    }
}
