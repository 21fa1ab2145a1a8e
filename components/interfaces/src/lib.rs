//! The WIT packages of `wit/` in their binary form, which tools for components and registries take.
//!
//! Each can be turned into text again, with its documentation. It holds what its package defines; of other packages only as much as it
//! uses of them.

mod package;

pub use package::Package;

macro_rules! wasm {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".wasm"))
    };
}

macro_rules! list {
    ($name:literal) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $name, ".txt"))
    };
}

/// The package's bytes, as a `.wasm` file would hold them.
#[must_use]
pub const fn bytes(package: Package) -> &'static [u8] {
    match package {
        Package::Network => wasm!("network"),
        Package::Storage => wasm!("storage"),
        Package::AuthMethod => wasm!("auth-method"),
        Package::Access => wasm!("access"),
        Package::Orgs => wasm!("orgs"),
        Package::Host => wasm!("host"),
        Package::Gateway => wasm!("gateway"),
        Package::Console => wasm!("console"),
        Package::StorageAdapter => wasm!("storage-adapter"),
        Package::SpinTrigger => wasm!("spin-trigger"),
    }
}

/// The identifiers of the interfaces and then of the worlds that the package defines, such as `gatehouse:storage/cache@0.1.0`.
pub fn defined(package: Package) -> impl Iterator<Item = &'static str> {
    let list = match package {
        Package::Network => list!("network"),
        Package::Storage => list!("storage"),
        Package::AuthMethod => list!("auth-method"),
        Package::Access => list!("access"),
        Package::Orgs => list!("orgs"),
        Package::Host => list!("host"),
        Package::Gateway => list!("gateway"),
        Package::Console => list!("console"),
        Package::StorageAdapter => list!("storage-adapter"),
        Package::SpinTrigger => list!("spin-trigger"),
    };
    list.lines()
}
