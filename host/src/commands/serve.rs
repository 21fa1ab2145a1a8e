//! `gatehouse server`.

use anyhow::Result;
use clap::Args;
use gatehouse::seal::witness::Witness;
use gatehouse::server::Server;
use gatehouse::settings::{Origin, Settings};

use super::bootstrap::Bootstrap;
use super::components::compile_apart;
use super::configuration::{Source, check_files, describe};
use super::process::{
    allow_open_files, forbid_core_dumps, hangup_signal, start_log, stop_signal, unless_stopped,
};
use super::reload::Reloaded;
use super::service_manager::ServiceManager;

/// The sections that decide which callers can reach what. They are logged whole; of the others, only settings that an operator changed.
const SECURITY_SECTIONS: [&str; 6] = [
    "audit.",
    "listener.",
    "storage.",
    "seal.",
    "google.",
    "compatibility.",
];

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Starts with a store that is an older copy than seal.witness has seen. Tokens that were revoked since may be valid again
    #[arg(long)]
    accept_rollback: bool,
}

pub(super) async fn run(arguments: Arguments) -> Result<()> {
    let settings = arguments.source.load()?;
    let log = start_log(&settings)?;
    let stop = stop_signal();
    forbid_core_dumps();
    check_files(&settings)?;
    allow_open_files(settings.limits.connections)?;
    log_security_settings(&settings);
    if arguments.accept_rollback
        && let Some(witness) = &settings.seal.witness
    {
        tracing::warn!(
            "whatever copy of the store is found is taken for the newest: --accept-rollback"
        );
        Witness::new(witness.clone()).forget()?;
    }

    let mut for_start = settings.clone();
    let bootstrap = Bootstrap::prepare(&mut for_start)?;
    let hangup = hangup_signal()?;
    let manager = ServiceManager::from_environment();
    let start = async move {
        compile_apart(for_start.components.cache_directory.as_deref()).await;
        let server = Server::start(&for_start).await?;
        if let Some(bootstrap) = bootstrap {
            bootstrap.run(&server).await?;
        }
        Ok(server)
    };
    let source = arguments.source;
    let (level, access) = (log.level, log.access.as_ref());
    let on_start = |server: &Server| {
        if let Some(access) = access {
            server.watch_access_log(access.lost_lines());
        }
        let reloaded = Reloaded {
            source,
            in_force: settings.effective().to_vec(),
            level,
            certificate: server.certificate(),
            audit: server.audit(),
            access: access.and_then(|log| log.file.clone()),
        };
        reloaded.follow(hangup);
    };
    serve(start, &settings, &manager, on_start, stop).await?;
    tracing::info!("stopped");
    Ok(())
}

/// Serves with the server that `start` makes until `stop` is ready, and tells `manager` when clients can connect and when the server stops.
/// `started` is called once the server has started, before clients can connect.
async fn serve(
    start: impl Future<Output = Result<Server>> + Send + 'static,
    settings: &Settings,
    manager: &ServiceManager,
    started: impl FnOnce(&Server) + Send,
    stop: impl Future<Output = ()> + Send,
) -> Result<()> {
    let mut stop = std::pin::pin!(stop);
    let Some(server) = unless_stopped(start, stop.as_mut()).await? else {
        return Ok(());
    };
    let scheme = if settings.listener.tls_files().is_some() {
        "https"
    } else {
        "http"
    };
    tracing::info!("serving at {scheme}://{}", server.local_address());
    started(&server);
    // A client that connects from here on waits for the listener at most.
    manager.ready(scheme, server.local_address());
    let stop = async {
        stop.await;
        manager.stopping();
    };
    server.serve(stop).await;
    Ok(())
}

/// Logs the settings in force that concern security or were changed (SEC-O5).
fn log_security_settings(settings: &Settings) {
    for setting in settings.effective() {
        let concerns_security = SECURITY_SECTIONS
            .iter()
            .any(|section| setting.name.starts_with(section));
        if concerns_security || setting.origin != Origin::Default {
            tracing::info!("{}", describe(setting));
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpStream, UnixDatagram};
    use tokio::sync::oneshot;

    use super::*;

    /// The next message to the manager.
    async fn told(socket: &UnixDatagram) -> String {
        let mut buffer = [0; 256];
        let length = socket.recv(&mut buffer).await.unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_service_manager_learns_when_clients_are_heard_and_when_requests_are_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        let manager = ServiceManager::at(&path).unwrap();
        let text = "[listener]\naddress = \"127.0.0.1:0\"\n[storage]\ntype = \"memory\"\n";
        let settings = Settings::from_text(text, Vec::new(), Vec::new()).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            let stop = async { drop(stopped.await) };
            let start = {
                let settings = settings.clone();
                async move { Server::start(&settings).await }
            };
            serve(start, &settings, &manager, |_| {}, stop).await
        });

        let ready = told(&socket).await;
        let address = ready.strip_prefix("READY=1\nSTATUS=serving at http://");
        let mut client = TcpStream::connect(address.unwrap().trim()).await.unwrap();
        let request = b"GET /api/v2/ping HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        client.write_all(request).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 204 "), "{answer}");

        stop.send(()).unwrap();
        assert!(told(&socket).await.starts_with("STOPPING=1\n"));
        served.await.unwrap().unwrap();
    }
}
