//! The program without a client for PostgreSQL. Settings that ask for one are refused before anything here is called.

use std::sync::Arc;

use anyhow::{Result, bail};
use gatehouse_store::{Backend, Roster, SharedClock};

use crate::settings::Settings;

const MISSING: &str = "this program was built without its feature `postgresql`";

/// Says that there is no client.
///
/// # Errors
///
/// Always.
pub async fn open_shared(
    _: &Settings,
    _: &SharedClock,
) -> Result<(Arc<dyn Backend>, Arc<dyn Roster>)> {
    bail!(MISSING)
}

/// Says that there is no client.
///
/// # Errors
///
/// Always.
pub async fn open_alone(_: &Settings, _: &SharedClock) -> Result<Arc<dyn Backend>> {
    bail!(MISSING)
}

/// Says that there is no client.
///
/// # Errors
///
/// Always.
pub async fn check(_: &Settings) -> Result<Option<&'static str>> {
    bail!(MISSING)
}

/// Says that there is no client.
///
/// # Errors
///
/// Always.
pub async fn migrate(_: &Settings) -> Result<String> {
    bail!(MISSING)
}
