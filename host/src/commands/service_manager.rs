//! Notifications to the service manager that has started this process (`sd_notify(3)`): ready, stopping, and the watchdog's.
//!
//! The crate `sd-notify` (0.5.0) cannot reach an abstract socket, which managers of containers hand over, and reads the environment at each
//! call, which a test cannot set. A reload is not announced as `RELOADING=1`, which only units of type `notify-reload` need.

use std::ffi::{OsStr, OsString};
use std::io;
use std::net::SocketAddr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixDatagram};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

/// The process that started this one and wants to know how it is, if there is one.
#[derive(Debug, Default)]
pub(super) struct ServiceManager {
    socket: Option<UnixDatagram>,
    /// After how long without a word the process is taken for stuck.
    patience: Option<Duration>,
}

impl ServiceManager {
    /// The one that the environment names. One that cannot be reached is logged and told nothing.
    pub(super) fn from_environment() -> Self {
        Self::new(|name| std::env::var_os(name), std::process::id())
    }

    fn new(variable: impl Fn(&str) -> Option<OsString>, process: u32) -> Self {
        let Some(address) = variable("NOTIFY_SOCKET").filter(|address| !address.is_empty()) else {
            return Self::default();
        };
        let number = |name| variable(name).and_then(|text| text.to_str()?.parse::<u64>().ok());
        // A variable that was inherited from a watched process is not about this one.
        let is_watched = number("WATCHDOG_PID").is_none_or(|watched| watched == u64::from(process));
        let patience =
            number("WATCHDOG_USEC").filter(|microseconds| *microseconds > 0 && is_watched);
        match connect(&address) {
            Ok(socket) => Self {
                socket: Some(socket),
                patience: patience.map(Duration::from_micros),
            },
            Err(error) => {
                tracing::warn!(
                    "the service manager at {} cannot be notified: {error}",
                    address.display()
                );
                Self::default()
            }
        }
    }

    /// One whose socket is at `path`, and which does not watch.
    #[cfg(test)]
    pub(super) fn at(path: &std::path::Path) -> io::Result<Self> {
        let socket = Some(connect(path.as_os_str())?);
        Ok(Self {
            socket,
            patience: None,
        })
    }

    /// Says that clients are served at `address`, and from now on, at twice the rate that is asked for, that the process lives.
    pub(super) fn ready(&self, scheme: &str, address: SocketAddr) {
        self.tell(&format!(
            "READY=1\nSTATUS=serving at {scheme}://{address}\n"
        ));
        let socket = self.socket.as_ref().map(UnixDatagram::try_clone);
        if let (Some(Ok(socket)), Some(patience)) = (socket, self.patience) {
            tokio::spawn(repeat(socket, patience / 2));
        }
    }

    /// Says that requests in progress are finished and no others accepted.
    pub(super) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=finishing requests\n");
    }

    fn tell(&self, message: &str) {
        if let Some(socket) = &self.socket
            && let Err(error) = socket.send(message.as_bytes())
        {
            tracing::warn!("the service manager could not be notified of {message:?}: {error}");
        }
    }
}

/// Says again and again that the process lives, for as long as the runtime gets round to it.
async fn repeat(socket: UnixDatagram, period: Duration) {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = socket.send(b"WATCHDOG=1\n") {
            tracing::warn!(
                "the service manager could not be notified that the process lives: {error}"
            );
        }
    }
}

/// The socket at a path, or after `@` at an abstract name.
fn connect(address: &OsStr) -> io::Result<UnixDatagram> {
    let address = match address.as_bytes() {
        [b'/', ..] => UnixAddress::from_pathname(address)?,
        [b'@', name @ ..] => UnixAddress::from_abstract_name(name)?,
        _ => {
            let reason = "NOTIFY_SOCKET is neither a path nor an abstract name";
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use tempfile::TempDir;

    use super::*;

    const PROCESS: u32 = 4711;
    const ADDRESS: &str = "127.0.0.1:8200";

    /// A manager's end of a socket at a path, and what it would put into the environment.
    fn listening() -> (TempDir, UnixDatagram, OsString) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_nonblocking(true).unwrap();
        (folder, socket, path.into_os_string())
    }

    fn told(socket: &UnixDatagram) -> Vec<String> {
        let mut messages = Vec::new();
        let mut buffer = [0; 256];
        while let Ok(length) = socket.recv(&mut buffer) {
            messages.push(String::from_utf8(buffer[..length].to_vec()).unwrap());
        }
        messages
    }

    fn manager(variables: &[(&str, &OsStr)]) -> ServiceManager {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        ServiceManager::new(variable, PROCESS)
    }

    fn tell_all(manager: &ServiceManager) {
        manager.ready("http", ADDRESS.parse().unwrap());
        manager.stopping();
    }

    #[test]
    fn sockets_at_paths_and_abstract_names_are_reached() {
        let (_folder, at_path, path) = listening();
        let name = format!("gatehouse-test-{}", std::process::id());
        let address = UnixAddress::from_abstract_name(&name).unwrap();
        let abstract_socket = UnixDatagram::bind_addr(&address).unwrap();
        abstract_socket.set_nonblocking(true).unwrap();
        let abstract_name = OsString::from(format!("@{name}"));
        for (socket, address) in [(at_path, path), (abstract_socket, abstract_name)] {
            tell_all(&manager(&[("NOTIFY_SOCKET", &address)]));
            assert_eq!(
                told(&socket),
                [
                    "READY=1\nSTATUS=serving at http://127.0.0.1:8200\n",
                    "STOPPING=1\nSTATUS=finishing requests\n"
                ]
            );
        }
    }

    #[test]
    fn where_there_is_no_manager_or_it_is_gone_nothing_is_told_and_nothing_fails() {
        tell_all(&manager(&[]));
        tell_all(&manager(&[("NOTIFY_SOCKET", OsStr::new(""))]));
        for unreachable in ["/nowhere/notify", "@no such name", "vsock:2:1234", "notify"] {
            tell_all(&manager(&[("NOTIFY_SOCKET", OsStr::new(unreachable))]));
        }
        let (folder, socket, path) = listening();
        let manager = manager(&[("NOTIFY_SOCKET", &path)]);
        drop((folder, socket));
        tell_all(&manager);
    }

    #[tokio::test(start_paused = true)]
    async fn a_manager_that_watches_is_told_twice_in_its_time_that_the_process_lives() {
        let (_folder, socket, path) = listening();
        let own = OsString::from(PROCESS.to_string());
        let manager = manager(&[
            ("NOTIFY_SOCKET", &path),
            ("WATCHDOG_USEC", OsStr::new("30000000")),
            ("WATCHDOG_PID", &own),
        ]);
        tokio::time::sleep(Duration::from_secs(100)).await;
        assert!(told(&socket).is_empty(), "told before it is ready");
        manager.ready("http", ADDRESS.parse().unwrap());
        tokio::time::sleep(Duration::from_secs(61)).await;
        let messages = told(&socket);
        assert!(messages[0].starts_with("READY=1\n"), "{messages:?}");
        assert_eq!(messages[1..], ["WATCHDOG=1\n"; 5]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_that_is_not_watched_does_not_say_that_it_lives() {
        for (time, watched) in [("30000000", "1"), ("0", ""), ("soon", ""), ("", "")] {
            let (_folder, socket, path) = listening();
            let manager = manager(&[
                ("NOTIFY_SOCKET", &path),
                ("WATCHDOG_USEC", OsStr::new(time)),
                ("WATCHDOG_PID", OsStr::new(watched)),
            ]);
            manager.ready("http", ADDRESS.parse().unwrap());
            tokio::time::sleep(Duration::from_secs(100)).await;
            assert_eq!(told(&socket).len(), 1, "{time} {watched}");
        }
    }
}
