//! The tables: making them, bringing them up to date, and refusing those of others.

use tokio_postgres::Client;

use super::error::PostgresError;
use super::session::refused;
use super::statements::{
    CREATE_SCHEMA, DESCRIBE_SCHEMA, KNOWN_SCHEMA, LOCK_SCHEMA, MIGRATIONS, NOTE_SCHEMA, SHOW_SCHEMA,
};

/// The result of a migration: the versions of the tables, where 0 stands for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// Before.
    pub from: i64,
    /// Now.
    pub to: i64,
}

/// Makes sure that the tables are there and of this version.
///
/// # Errors
///
/// When they are not; the error says what to do.
pub async fn check(client: &Client) -> Result<(), PostgresError> {
    match version(client).await? {
        None => Err(PostgresError::NoSchema),
        Some(found) if found < KNOWN_SCHEMA => Err(PostgresError::OlderSchema { found }),
        Some(_) => Ok(()),
    }
}

/// Makes the tables or brings them up to date: all of it, or nothing. Of several callers at once one does it.
///
/// # Errors
///
/// When the tables are newer or another program's, or a right is missing.
pub async fn migrate(client: &Client) -> Result<Migrated, PostgresError> {
    let run = async |text: &str| {
        client
            .batch_execute(text)
            .await
            .map_err(|error| refused(&error))
    };
    // The transaction must see the changes that others made before it got the lock.
    run("begin isolation level read committed").await?;
    let outcome = async {
        run(LOCK_SCHEMA).await?;
        let from = version(client).await?.unwrap_or(0);
        if from == 0 && !has_schema(client).await? {
            run(CREATE_SCHEMA).await?;
        }
        let done = usize::try_from(from).unwrap_or(usize::MAX);
        for statements in MIGRATIONS.into_iter().skip(done) {
            for statement in statements {
                run(statement).await?;
            }
        }
        if from < KNOWN_SCHEMA {
            let noted = client.execute(NOTE_SCHEMA, &[&KNOWN_SCHEMA]).await;
            noted.map_err(|error| refused(&error))?;
        }
        Ok(Migrated {
            from,
            to: KNOWN_SCHEMA,
        })
    };
    let outcome = outcome.await;
    run(if outcome.is_ok() {
        "commit"
    } else {
        "rollback"
    })
    .await?;
    outcome
}

async fn has_schema(client: &Client) -> Result<bool, PostgresError> {
    let found = "select to_regnamespace('gatehouse') is not null";
    let row = client.query_one(found, &[]).await;
    row.and_then(|row| row.try_get(0))
        .map_err(|error| refused(&error))
}

/// The version of the tables; `None` where there are none.
async fn version(client: &Client) -> Result<Option<i64>, PostgresError> {
    let row = client.query_one(DESCRIBE_SCHEMA, &[]).await;
    let row = row.map_err(|error| refused(&error))?;
    let column = |error: tokio_postgres::Error| refused(&error);
    let tables: i64 = row.try_get(0).map_err(column)?;
    let has_store: bool = row.try_get(1).map_err(column)?;
    if tables == 0 {
        return Ok(None);
    }
    if !has_store {
        return Err(PostgresError::ForeignSchema);
    }
    let found = client.query_opt(SHOW_SCHEMA, &[]).await;
    let found = found.map_err(|error| match refused(&error) {
        // It has no such columns.
        PostgresError::Refused(_) if error.code().is_some() => PostgresError::ForeignSchema,
        other => other,
    })?;
    let found: i64 = match found {
        Some(row) => row.try_get(0).map_err(|_| PostgresError::ForeignSchema)?,
        None => return Err(PostgresError::ForeignSchema),
    };
    if found > KNOWN_SCHEMA {
        return Err(PostgresError::NewerSchema { found });
    }
    Ok(Some(found))
}
