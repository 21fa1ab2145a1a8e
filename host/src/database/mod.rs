//! The PostgreSQL database that the settings name, where the program was built with a client for it.

#[cfg(feature = "postgresql")]
mod connected;
#[cfg(not(feature = "postgresql"))]
mod left_out;

#[cfg(feature = "postgresql")]
pub use connected::{check, migrate, open_alone, open_shared};
#[cfg(not(feature = "postgresql"))]
pub use left_out::{check, migrate, open_alone, open_shared};

/// True if the program was built with a client for PostgreSQL.
pub const IS_BUILT_IN: bool = cfg!(feature = "postgresql");
