//! A connection to the server of the tests that can be cut.

use std::sync::{Arc, Mutex};

use gatehouse_postgres_server::url;
use gatehouse_store::{PostgresBackend, SharedClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::postgres_databases::{Database, settings, shared_server};

/// The fault of the connection of the next statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is cut once so many bytes have gone to the server.
    CutAfter(usize),
    /// It is cut at once, and the next one once so many bytes have gone to the server.
    CutAndAfter(usize),
    /// It is cut when the server answers.
    CutAnswer,
    /// The server's answers do not come through.
    Silence,
}

/// Stands between a backend and the server, and has each fault once.
pub struct Proxy {
    port: u16,
    fault: Arc<Mutex<Option<Fault>>>,
    /// Bytes that have gone to the server.
    sent: Arc<Mutex<usize>>,
    _listening: JoinSet<()>,
}

impl Proxy {
    pub async fn start() -> Self {
        let to = shared_server().await.port();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let fault: Arc<Mutex<Option<Fault>>> = Arc::default();
        let sent: Arc<Mutex<usize>> = Arc::default();
        let mut listening = JoinSet::new();
        let (faults, counted) = (fault.clone(), sent.clone());
        listening.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
                connections.spawn(forward(client, server, faults.clone(), counted.clone()));
            }
        });
        Self {
            port,
            fault,
            sent,
            _listening: listening,
        }
    }

    /// A backend with one connection.
    pub async fn backend(&self, database: &Database, clock: SharedClock) -> PostgresBackend {
        let mut settings = settings(&url(self.port, &database.name));
        settings.connections = 1;
        PostgresBackend::open(&settings, clock).await.unwrap()
    }

    pub fn arm(&self, fault: Fault) {
        *self.fault.lock().unwrap() = Some(fault);
    }

    pub fn disarm(&self) {
        self.fault.lock().unwrap().take();
    }

    pub fn is_armed(&self) -> bool {
        self.fault.lock().unwrap().is_some()
    }

    pub fn sent(&self) -> usize {
        *self.sent.lock().unwrap()
    }
}

/// Forwards in both directions until a fault ends it.
async fn forward(
    mut client: TcpStream,
    mut server: TcpStream,
    fault: Arc<Mutex<Option<Fault>>>,
    sent: Arc<Mutex<usize>>,
) {
    let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut is_silent = false;
    loop {
        tokio::select! {
            biased;
            read = client.read(&mut up) => {
                let Ok(read @ 1..) = read else { return };
                let mut bytes = &up[..read];
                let mut cut = false;
                match &mut *fault.lock().unwrap() {
                    Some(Fault::CutAfter(left)) => {
                        cut = *left <= bytes.len();
                        bytes = &bytes[..bytes.len().min(*left)];
                        *left -= bytes.len();
                    }
                    fault @ Some(Fault::CutAndAfter(_)) => {
                        let Some(Fault::CutAndAfter(left)) = fault.take() else { return };
                        *fault = Some(Fault::CutAfter(left));
                        return;
                    }
                    _ => {}
                }
                *sent.lock().unwrap() += bytes.len();
                let passed = server.write_all(bytes).await;
                if cut {
                    fault.lock().unwrap().take();
                    return;
                }
                if passed.is_err() { return }
            }
            read = server.read(&mut down) => {
                let Ok(read @ 1..) = read else { return };
                let now = *fault.lock().unwrap();
                match now {
                    Some(Fault::CutAnswer) => {
                        fault.lock().unwrap().take();
                        return;
                    }
                    Some(Fault::Silence) => {
                        fault.lock().unwrap().take();
                        is_silent = true;
                    }
                    _ => {}
                }
                if !is_silent && client.write_all(&down[..read]).await.is_err() { return }
            }
        }
    }
}
