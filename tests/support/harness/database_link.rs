//! The network between a server and its database, which can be made slow and be cut.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// More than a statement or an answer of the servers under test has.
const PIECE: usize = 1 << 16;

/// A port on loopback that leads to a database. It is closed when this is dropped.
pub struct DatabaseLink {
    port: u16,
    network: Arc<Network>,
    cuts: watch::Sender<usize>,
    _runtime: tokio::runtime::Runtime,
}

#[derive(Default)]
struct Network {
    /// The longest time that a piece is held back for, in milliseconds.
    delay: AtomicU32,
    delayed: AtomicUsize,
    cut: AtomicUsize,
}

impl DatabaseLink {
    /// A link to the database at this port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// When loopback has no port.
    pub fn start(database: u16) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0)))?;
        let port = listener.local_addr()?.port();
        let network = Arc::<Network>::default();
        let (cuts, seen) = watch::channel(0);
        let accepting = Arc::clone(&network);
        runtime.spawn(async move {
            while let Ok((server, _)) = listener.accept().await {
                let (network, mut cuts) = (Arc::clone(&accepting), seen.clone());
                cuts.mark_unchanged();
                tokio::spawn(async move {
                    tokio::select! {
                        _ = network.pass_on(server, database) => {}
                        _ = cuts.changed() => { network.cut.fetch_add(1, Ordering::Relaxed); }
                    }
                });
            }
        });
        Ok(Self {
            port,
            network,
            cuts,
            _runtime: runtime,
        })
    }

    /// The port of 127.0.0.1 that leads to the database.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Holds every piece of what passes from now on back for up to this long, each direction of each connection in its order.
    ///
    /// # Panics
    ///
    /// When it is longer than 49 days.
    pub fn delay(&self, longest: Duration) {
        let milliseconds = u32::try_from(longest.as_millis()).expect("a short time");
        self.network.delay.store(milliseconds, Ordering::Relaxed);
    }

    /// Cuts all connections. New ones come through.
    pub fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// How many pieces were held back, and how many connections were cut so far.
    pub fn counts(&self) -> (usize, usize) {
        let network = &self.network;
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        (count(&network.delayed), count(&network.cut))
    }
}

impl Network {
    async fn pass_on(&self, server: TcpStream, database: u16) -> io::Result<()> {
        let database = TcpStream::connect(("127.0.0.1", database)).await?;
        server.set_nodelay(true)?;
        database.set_nodelay(true)?;
        let (from_server, to_server) = server.into_split();
        let (from_database, to_database) = database.into_split();
        // When one direction has ended the other one has too.
        tokio::select! {
            ended = self.carry(from_server, to_database) => ended,
            ended = self.carry(from_database, to_server) => ended,
        }
    }

    async fn carry(
        &self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        loop {
            let length = from.read(&mut piece).await?;
            if length == 0 {
                return Ok(());
            }
            let longest = self.delay.load(Ordering::Relaxed);
            if longest > 0 {
                let delay = Duration::from_millis(fastrand::u32(1..=longest).into());
                tokio::time::sleep(delay).await;
                self.delayed.fetch_add(1, Ordering::Relaxed);
            }
            to.write_all(&piece[..length]).await?;
        }
    }
}
