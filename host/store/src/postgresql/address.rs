//! Where the database is, and how it is reached.

use std::cmp::Reverse;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustls::ClientConfig;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::{Client, Config};
use zeroize::Zeroizing;

use super::PostgresError;
use super::error::describe;
use super::remedy::{Meaning, meaning};
use super::tls::Tls;

/// How long a connection may take to come about.
pub const CONNECT_TIME: Duration = Duration::from_secs(1);
/// How long one of several hosts may take for it, so that a call that finds a silent one can still go to the next.
const HOST_TIME: Duration = Duration::from_millis(600);

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
    /// One for each host, in the order of the settings.
    hosts: Vec<Config>,
    /// The place of the host that is tried first: the last one that took a connection.
    first: Arc<AtomicUsize>,
    tls: Tls,
}

impl Address {
    /// Reads the settings.
    ///
    /// # Errors
    ///
    /// When the address is malformed, holds a password, or asks for a connection that could be listened to.
    pub fn read(settings: &PostgresSettings) -> Result<Self, PostgresError> {
        let mut config =
            parsed(&settings.url).map_err(|error| PostgresError::Address(describe(&error)))?;
        if config.get_password().is_some() {
            return Err(refused(
                "it holds a password; put that into storage.password_file",
            ));
        }
        if let Some(password) = &settings.password {
            config.password(password.as_bytes());
        }
        Self::from_config(config, &settings.tls)
    }

    /// Reads an address that may hold the password, as Spin takes it.
    ///
    /// # Errors
    ///
    /// As [`Self::read`], but for the password, no part of which is in an error.
    #[cfg(feature = "spin")]
    pub fn read_with_password(url: &str, tls: &Arc<ClientConfig>) -> Result<Self, PostgresError> {
        // The words of the client may repeat a part of what it does not understand.
        let config = parsed(url).map_err(|_| {
            refused(
                "it is not of the form postgresql://USER:PASSWORD@HOST:PORT/DATABASE; in a password / is written as %2F, ? as %3F, @ as %40, \
                 and % as %25",
            )
        })?;
        Self::from_config(config, tls)
    }

    fn from_config(mut config: Config, tls: &Arc<ClientConfig>) -> Result<Self, PostgresError> {
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
        config
            .application_name("gatehouse")
            .target_session_attrs(TargetSessionAttrs::ReadWrite)
            .connect_timeout(CONNECT_TIME)
            .tcp_user_timeout(2 * CONNECT_TIME)
            .keepalives(true)
            .keepalives_idle(Duration::from_secs(5));
        Ok(Self {
            hosts: of_each_host(&config),
            first: Arc::default(),
            tls: Tls(Arc::clone(tls)),
        })
    }

    /// The parameters of the first host; those of the others differ in the host alone.
    pub fn of_first_host(&self) -> Config {
        self.hosts.first().cloned().unwrap_or_default()
    }

    /// How long a request may wait for a new connection.
    pub const fn connect_time(&self) -> Duration {
        match self.has_several_hosts() {
            // A silent host, and the next.
            true => HOST_TIME.saturating_mul(2),
            false => CONNECT_TIME,
        }
    }

    const fn has_several_hosts(&self) -> bool {
        self.hosts.len() > 1
    }

    /// How long a connection may take that has time to try each host.
    pub fn time_for_all_hosts(&self) -> Duration {
        let hosts = u32::try_from(self.hosts.len()).unwrap_or(1);
        CONNECT_TIME.saturating_mul(hosts.saturating_add(1))
    }

    /// Connects to the host that accepts writes, and drives the connection by a task of its own. While no host answers at all this does not
    /// end: the caller bounds the time.
    ///
    /// # Errors
    ///
    /// The one that tells most of those which the hosts gave, where none accepts writes.
    pub async fn connect(&self) -> Result<(Client, JoinHandle<()>), tokio_postgres::Error> {
        let time = match self.has_several_hosts() {
            true => HOST_TIME,
            false => CONNECT_TIME,
        };
        loop {
            let mut refusals = Vec::new();
            let first = self.first.load(Ordering::Relaxed);
            let (before, after) = self.hosts.split_at(first.min(self.hosts.len()));
            for (place, host) in (first..).zip(after).chain((0..).zip(before)) {
                match timeout(time, host.connect(self.tls.clone())).await {
                    Ok(Ok((client, connection))) => {
                        self.first.store(place, Ordering::Relaxed);
                        // Its end shows at the next statement.
                        let driven = tokio::spawn(async move {
                            let _ = connection.await;
                        });
                        return Ok((client, driven));
                    }
                    Ok(Err(error)) => refusals.push((place, error)),
                    // The next connection does not wait for this host first.
                    Err(_) => {
                        let next = place.saturating_add(1) % self.hosts.len().max(1);
                        self.first.store(next, Ordering::Relaxed);
                    }
                }
            }
            // In the order of the settings, so that one outage is told in the same words throughout.
            let most_telling = refusals
                .into_iter()
                .min_by_key(|(place, error)| (Reverse(meaning(error)), *place));
            if let Some((_, refusal)) = most_telling {
                return Err(refusal);
            }
        }
    }

    /// The error that says why no connection came about: that of [`Self::connect`], as one of all hosts where there are several.
    pub fn refusal(&self, error: &tokio_postgres::Error) -> PostgresError {
        let (hosts, text) = (self.hosts.len(), describe(error));
        match (meaning(error), self.has_several_hosts()) {
            (Meaning::Standby, false) => PostgresError::ReadOnly,
            (Meaning::Standby, true) => PostgresError::NoPrimary { hosts },
            (_, false) => PostgresError::Unreachable(text),
            (_, true) => PostgresError::Unreachable(format!(
                "none of the {hosts} hosts in storage.url lets this server in; the error that tells most is: {text}"
            )),
        }
    }
}

fn parsed(url: &str) -> Result<Config, tokio_postgres::Error> {
    // The certificate is verified in any case; the client knows no stronger word than `require`.
    url.replace("sslmode=verify-full", "sslmode=require")
        .parse()
}

fn refused(text: &str) -> PostgresError {
    PostgresError::Address(text.to_owned())
}

/// `config` for each of its hosts alone: the client waits at a host that is silent after it accepted a connection, and goes to no other.
fn of_each_host(config: &Config) -> Vec<Config> {
    let only = |place: usize, host: &Host| {
        let mut only = Config::new();
        match host {
            Host::Tcp(name) => only.host(name),
            Host::Unix(folder) => only.host_path(folder),
        };
        if let Some(address) = config.get_hostaddrs().get(place) {
            only.hostaddr(*address);
        }
        // One port may stand for all hosts.
        if let Some(port) = config.get_ports().get(place).or(config.get_ports().first()) {
            only.port(*port);
        }
        if let Some(user) = config.get_user() {
            only.user(user);
        }
        if let Some(password) = config.get_password() {
            only.password(password);
        }
        if let Some(database) = config.get_dbname() {
            only.dbname(database);
        }
        if let Some(options) = config.get_options() {
            only.options(options);
        }
        if let Some(name) = config.get_application_name() {
            only.application_name(name);
        }
        if let Some(time) = config.get_connect_timeout() {
            only.connect_timeout(*time);
        }
        if let Some(time) = config.get_tcp_user_timeout() {
            only.tcp_user_timeout(*time);
        }
        if let Some(time) = config.get_keepalives_interval() {
            only.keepalives_interval(time);
        }
        if let Some(times) = config.get_keepalives_retries() {
            only.keepalives_retries(times);
        }
        only.ssl_mode(config.get_ssl_mode())
            .ssl_negotiation(config.get_ssl_negotiation())
            .keepalives(config.get_keepalives())
            .keepalives_idle(config.get_keepalives_idle())
            .target_session_attrs(config.get_target_session_attrs())
            .channel_binding(config.get_channel_binding())
            .load_balance_hosts(config.get_load_balance_hosts());
        only
    };
    let hosts = config.get_hosts().iter().enumerate();
    hosts.map(|(place, host)| only(place, host)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_to_one_of_several_hosts_has_every_parameter_of_the_settings() {
        let others = "user=u password=p dbname=d options='-c geqo=off' application_name=n connect_timeout=3 tcp_user_timeout=4 \
                      keepalives=0 keepalives_idle=5 keepalives_interval=6 keepalives_retries=7 target_session_attrs=read-write \
                      channel_binding=require load_balance_hosts=random sslmode=require sslnegotiation=direct";
        let read = |hosts: &str| -> Config { format!("{hosts} {others}").parse().unwrap() };
        let first = "host=one hostaddr=192.0.2.1 port=5433";
        let second = "host=two hostaddr=192.0.2.2 port=5434";
        let both = "host=one,two hostaddr=192.0.2.1,192.0.2.2 port=5433,5434";
        assert_eq!(of_each_host(&read(both)), [read(first), read(second)]);
        let one_port = of_each_host(&read("host=one,two port=5433"));
        let ports: Vec<&[u16]> = one_port.iter().map(Config::get_ports).collect();
        assert_eq!(ports, [[5433], [5433]]);
    }
}
