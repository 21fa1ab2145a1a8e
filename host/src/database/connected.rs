//! The store on a PostgreSQL server.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use gatehouse_store::{
    Backend, PostgresBackend, PostgresError, PostgresSettings, Roster, Server, SharedClock,
};
use zeroize::Zeroizing;

use crate::outbound::client_configuration;
use crate::settings::{Settings, StorageType};

/// The advice about a server that keeps acknowledged commits on one machine.
const NO_STANDBY: &str = "storage.url: the database has no synchronous standby (synchronous_standby_names is empty), so what it \
                          acknowledged is lost with its disk";

/// Opens the store for one of several servers, and makes or migrates its tables where the settings allow that. Answers the list of the servers
/// as well.
///
/// # Errors
///
/// When the database cannot be used, or a command for stopped servers uses it.
pub async fn open_shared(
    settings: &Settings,
    clock: &SharedClock,
) -> Result<(Arc<dyn Backend>, Arc<dyn Roster>)> {
    let address = migrated(settings).await?;
    let backend = PostgresBackend::open_shared(&address, Arc::clone(clock)).await?;
    if let Some(warning) = warning(backend.server()) {
        tracing::warn!("{warning}");
    }
    let roster = Arc::new(backend.roster());
    Ok((Arc::new(backend), roster))
}

/// Opens the store for a command that needs it alone, and makes or migrates its tables where the settings allow that.
///
/// # Errors
///
/// When the database cannot be used, or a server uses it.
pub async fn open_alone(settings: &Settings, clock: &SharedClock) -> Result<Arc<dyn Backend>> {
    let address = migrated(settings).await?;
    let backend = PostgresBackend::open_alone(&address, Arc::clone(clock)).await?;
    Ok(Arc::new(backend))
}

/// Makes or migrates the tables where the settings allow that, and answers where they are.
async fn migrated(settings: &Settings) -> Result<PostgresSettings> {
    let address = address(settings)?;
    if settings.storage.migrate {
        let migrated = PostgresBackend::migrate(&address).await?;
        if migrated.from != migrated.to {
            tracing::info!(
                "the tables in the database are of version {} now",
                migrated.to
            );
        }
    }
    Ok(address)
}

/// Opens the store for a caller that only reads, whatever servers use it.
///
/// # Errors
///
/// When the database cannot be used.
pub async fn open_to_read(settings: &Settings, clock: &SharedClock) -> Result<Arc<dyn Backend>> {
    let backend = PostgresBackend::open(&address(settings)?, Arc::clone(clock)).await?;
    Ok(Arc::new(backend))
}

/// Tries the database, and changes nothing in it. Answers what is to be said to the operator.
///
/// # Errors
///
/// When a server could not start with it, but for a command that has it alone.
pub async fn check(settings: &Settings) -> Result<Option<&'static str>> {
    let clock: SharedClock = Arc::new(gatehouse_ports::SystemClock);
    match PostgresBackend::open(&address(settings)?, clock).await {
        Ok(backend) => Ok(warning(backend.server())),
        Err(PostgresError::NoSchema | PostgresError::OlderSchema { .. })
            if settings.storage.migrate =>
        {
            Ok(None)
        }
        Err(error) => Err(error).context("storage.url"),
    }
}

/// Makes the tables or brings them up to date, and says what was done.
///
/// # Errors
///
/// When the database cannot be used, or its tables are newer or another program's. Nothing has changed then.
pub async fn migrate(settings: &Settings) -> Result<String> {
    if settings.storage.kind != StorageType::Postgresql {
        bail!(
            "storage.type is not \"postgresql\": other stores are brought up to date when they are opened"
        );
    }
    let migrated = PostgresBackend::migrate(&address(settings)?).await?;
    Ok(match (migrated.from, migrated.to) {
        (0, to) => format!("The tables were made, of version {to}."),
        (from, to) if from == to => format!("The tables are of version {to} already."),
        (from, to) => format!("The tables were of version {from} and are of version {to} now."),
    })
}

fn warning(server: Server) -> Option<&'static str> {
    (!server.has_synchronous_standby).then_some(NO_STANDBY)
}

fn address(settings: &Settings) -> Result<PostgresSettings> {
    let storage = &settings.storage;
    let tls = client_configuration("storage.ca_file", storage.ca_file.as_deref())?;
    let password = match &storage.password_file {
        None => None,
        Some(file) => {
            let text = std::fs::read_to_string(file).map(Zeroizing::new);
            let text = text.with_context(|| {
                format!("storage.password_file: {} cannot be read", file.display())
            })?;
            Some(Zeroizing::new(
                text.trim_end_matches(['\r', '\n']).to_owned(),
            ))
        }
    };
    Ok(PostgresSettings {
        url: storage.url.clone().context("storage.url is not set")?,
        password,
        tls: Arc::new(tls),
        connections: storage.connections,
    })
}
