//! Where the database is, and how it is reached.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use zeroize::Zeroizing;

use super::PostgresError;
use super::tls::Tls;

/// How long a connection may take to come about.
pub const CONNECT_TIME: Duration = Duration::from_secs(1);

/// Where the database is, and how many connections there may be to it.
#[derive(Clone)]
pub struct PostgresSettings {
    /// `postgresql://USER@HOST:PORT/DATABASE`, with several hosts separated by commas, of which the primary is used; or the same as
    /// `key=value` pairs. Without a password.
    pub url: String,
    /// The password of the user, where the server asks for one.
    pub password: Option<Zeroizing<String>>,
    /// How the certificate of the server is verified.
    pub tls: Arc<ClientConfig>,
    /// Most connections at one time, beside the one that holds the installation.
    pub connections: usize,
}

/// The settings, understood.
#[derive(Clone)]
pub struct Address {
    pub config: Config,
    pub tls: Tls,
}

impl Address {
    /// Reads the settings.
    ///
    /// # Errors
    ///
    /// When the address is malformed, holds a password, or asks for a connection that could be listened to.
    pub fn read(settings: &PostgresSettings) -> Result<Self, PostgresError> {
        let refused = |text: &str| PostgresError::Address(text.to_owned());
        // The certificate is verified in any case; the client knows no stronger word than `require`.
        let url = settings
            .url
            .replace("sslmode=verify-full", "sslmode=require");
        let mut config: Config = url
            .parse()
            .map_err(|error| PostgresError::Address(super::error::describe(&error)))?;
        if config.get_password().is_some() {
            return Err(refused(
                "it holds a password; put that into storage.password_file",
            ));
        }
        if config.get_hosts().is_empty() {
            return Err(refused(
                "it names no host; postgresql://USER@HOST:PORT/DATABASE does",
            ));
        }
        if config.get_dbname().is_none() || config.get_user().is_none() {
            return Err(refused(
                "it names no user or no database; postgresql://USER@HOST:PORT/DATABASE does",
            ));
        }
        if !is_on_this_machine(&config) {
            if config.get_ssl_mode() == SslMode::Disable {
                return Err(PostgresError::Unencrypted);
            }
            config.ssl_mode(SslMode::Require);
        } else if config.get_ssl_mode() == SslMode::Prefer {
            config.ssl_mode(SslMode::Disable);
        }
        if let Some(password) = &settings.password {
            config.password(password.as_bytes());
        }
        config
            .application_name("gatehouse")
            .target_session_attrs(TargetSessionAttrs::ReadWrite)
            .connect_timeout(CONNECT_TIME)
            .tcp_user_timeout(2 * CONNECT_TIME)
            .keepalives(true)
            .keepalives_idle(Duration::from_secs(5));
        Ok(Self {
            config,
            tls: Tls(Arc::clone(&settings.tls)),
        })
    }
}

fn is_on_this_machine(config: &Config) -> bool {
    let is_here = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost"
                || name
                    .parse()
                    .is_ok_and(|address: IpAddr| address.is_loopback())
        }
    };
    config.get_hosts().iter().all(is_here) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}
