//! PostgreSQL servers for tests and benchmarks: the system's, those in the folder that `GATEHOUSE_POSTGRES` names, or the pinned ones of npm.

mod disk;
mod ports;
mod programs;
mod small_disk;
mod standby;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
pub use tokio_postgres::Client;
use tokio_postgres::NoTls;

use disk::Disk;
pub use ports::free_port;

/// The user and group that run the server where root runs the tests, because the server refuses to run as root.
const UNPRIVILEGED: u32 = 65534;

/// Ends the server when the process that holds its standard input is gone, however it ends, and removes its folder. Standard error leads to
/// that process too: a word of the shell's own would end it before the folder is removed.
const RUN: &str = r#""$1" -D "$0/data" & read -r _; exec 2>/dev/null
pid=$(head -n 1 "$0/data/postmaster.pid") && kill -QUIT "$pid" && wait && while kill -0 "$pid"; do sleep 0.1; done
rm -rf "$0""#;

/// How long a busy machine may take to start or end a server, in milliseconds.
const PATIENCE: u64 = 300_000;
/// Between two looks, in milliseconds.
const PAUSE: u64 = 50;

/// A running server. It ends with the program, however that ends.
pub struct PostgresServer {
    port: u16,
    programs: PathBuf,
    folder: TempDir,
    databases: AtomicU32,
    disk: Option<Disk>,
    supervisor: Child,
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        // It needs the folder until the server has ended.
        let _ = self.supervisor.wait();
    }
}

impl PostgresServer {
    /// Starts a server on loopback with settings such as `fsync=off`, and waits until it answers.
    pub async fn start(settings: &[&str]) -> Self {
        Self::start_with_files(settings, &[]).await
    }

    /// The same, with files of these names and texts beside its data, which only the server can read.
    pub async fn start_with_files(settings: &[&str], files: &[(&str, &str)]) -> Self {
        let server = Self::launch(settings, files, None);
        server.await_ready().await;
        server
    }

    /// [`start`](Self::start) for callers without a runtime.
    #[must_use]
    pub fn start_blocking(settings: &[&str]) -> Self {
        blocking(Self::start(settings))
    }

    fn launch(settings: &[&str], files: &[(&str, &str)], disk: Option<fn(&Path) -> Disk>) -> Self {
        let programs = programs::folder();
        let folder = folder();
        let data = folder.path().join("data");
        fs::create_dir(&data).expect("a folder can be made in it");
        give_to_server(&data);
        let made = command(&programs.join("initdb"))
            .args([
                "--no-sync",
                "--auth=trust",
                "--username=owner",
                "--encoding=UTF8",
                "--pgdata",
            ])
            .arg(&data)
            .output()
            .expect("initdb can be run");
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        for (name, text) in files {
            let file = data.join(name);
            fs::write(&file, text).expect("a file can be written");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("it is ours");
            give_to_server(&file);
        }
        let disk = disk.map(|make| make(folder.path()));
        Self::run(programs, folder, disk, settings)
    }

    /// Starts a server in a folder that has its data.
    fn run(programs: PathBuf, folder: TempDir, disk: Option<Disk>, settings: &[&str]) -> Self {
        let port = free_port();
        configure(&folder.path().join("data"), port, settings);
        let mut command = command(Path::new("sh"));
        command
            .args(["-c", RUN])
            .arg(folder.path())
            .arg(programs.join("postgres"))
            .envs(disk.iter().flat_map(Disk::environment))
            // A signal to the tests' group must not end it: then no process would remove the folder.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut supervisor = command.spawn().expect("a shell can be started");
        follow_log(&mut supervisor);
        Self {
            port,
            programs,
            folder,
            databases: AtomicU32::new(0),
            disk,
            supervisor,
        }
    }

    async fn await_ready(&self) {
        for _ in 0..PATIENCE / PAUSE {
            if connect(&self.url("postgres")).await.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(PAUSE)).await;
        }
        panic!("the PostgreSQL server of the tests does not start");
    }

    /// The port on 127.0.0.1.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The address of a database of this server.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        url(self.port, database)
    }

    /// Makes an empty database and returns its name.
    pub async fn create_database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let client = connect(&self.url("postgres"))
            .await
            .expect("the server answers");
        let create = format!("create database {name}");
        client
            .batch_execute(&create)
            .await
            .expect("the owner may make databases");
        name
    }

    /// Makes an empty database and returns its address, for callers without a runtime.
    #[must_use]
    pub fn create_database_blocking(&self) -> String {
        self.url(&blocking(self.create_database()))
    }

    /// The server's first process, the parent of all others.
    #[must_use]
    pub fn process(&self) -> Pid {
        let file = self.folder.path().join("data/postmaster.pid");
        let text = fs::read_to_string(file).expect("the server runs");
        let pid = text
            .lines()
            .next()
            .and_then(|line| line.trim().parse().ok());
        pid.and_then(Pid::from_raw)
            .expect("the file begins with a process number")
    }

    /// All processes of the server, the first one first.
    ///
    /// # Panics
    ///
    /// When the server does not run.
    #[must_use]
    pub fn processes(&self) -> Vec<Pid> {
        let first = self.process();
        let number = first.as_raw_nonzero();
        let children = fs::read_to_string(format!("/proc/{number}/task/{number}/children"));
        let children = children.expect("the server runs");
        let children = children.split_ascii_whitespace();
        let children = children.filter_map(|child| Pid::from_raw(child.parse().ok()?));
        std::iter::once(first).chain(children).collect()
    }

    /// Lets no file of the server grow beyond so many bytes from now on, as a disk that is full does; `None` ends that.
    ///
    /// # Panics
    ///
    /// When the server does not run.
    pub fn limit_files(&self, bytes: Option<u64>) {
        let soft = bytes.map_or_else(|| "unlimited".to_owned(), |bytes| bytes.to_string());
        for process in self.processes() {
            // By the user that runs the server: root may lack the right to do it for another one.
            let limited = command(Path::new("prlimit"))
                .arg(format!("--pid={}", process.as_raw_nonzero()))
                .arg(format!("--fsize={soft}:"))
                .output()
                .expect("prlimit can be run");
            let has_ended = !Path::new(&format!("/proc/{}", process.as_raw_nonzero())).exists();
            let error = String::from_utf8_lossy(&limited.stderr);
            assert!(limited.status.success() || has_ended, "{error}");
        }
    }

    /// Sends the server's first process a signal: `Signal::QUIT` ends the server at once, as a crash would.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.process(), signal).expect("the server runs");
    }

    /// Ends all of the server's processes as a power cut would, with nothing written any more. It can be started again.
    ///
    /// # Panics
    ///
    /// When the server does not run, or does not end.
    pub fn kill(&self) {
        // It makes no processes that are not listed.
        self.signal(Signal::STOP);
        let processes = self.processes();
        for process in &processes {
            // One of its children may have ended since.
            let _ = kill_process(*process, Signal::KILL);
        }
        for _ in 0..PATIENCE / PAUSE {
            if processes.iter().all(|process| has_ended(*process)) {
                // The first process has this number until its parent asks for its end, so the file would seem to name one that runs.
                let file = self.folder.path().join("data/postmaster.pid");
                return fs::remove_file(file).expect("the file is ours");
            }
            std::thread::sleep(Duration::from_millis(PAUSE));
        }
        panic!("the PostgreSQL server of the tests does not end");
    }

    /// Stops the server, which cuts its connections off, and waits until it has ended.
    pub fn stop(&self) {
        self.control(&["-m", "fast", "-w", "-t", "300", "stop"]);
    }

    /// Starts the stopped server on the same port, and waits until it answers.
    pub fn start_again(&self) {
        self.control(&["-l", "/dev/null", "-w", "-t", "300", "start"]);
    }

    /// True until the server has ended, by itself or otherwise.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.folder.path().join("data/postmaster.pid").exists()
    }

    fn control(&self, arguments: &[&str]) {
        let done = command(&self.programs.join("pg_ctl"))
            .envs(self.disk.iter().flat_map(Disk::environment))
            .arg("-D")
            .arg(self.folder.path().join("data"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("pg_ctl can be run");
        assert!(done.success(), "pg_ctl {arguments:?}: {done}");
    }
}

/// The address of a database of the server at this port of 127.0.0.1.
#[must_use]
pub fn url(port: u16, database: &str) -> String {
    format!("postgresql://owner@127.0.0.1:{port}/{database}")
}

/// Connects to a database past the product.
///
/// # Errors
///
/// When the server does not answer or refuses.
pub async fn connect(url: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Names the folder that servers have their folders in; that of temporary files where it is not set.
const DATA_VARIABLE: &str = "GATEHOUSE_POSTGRES_DATA";

/// An empty folder of the server.
fn folder() -> TempDir {
    let parent = std::env::var_os(DATA_VARIABLE).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::Builder::new()
        .prefix("gatehouse-postgres-")
        .permissions(fs::Permissions::from_mode(0o755))
        .tempdir_in(parent)
        .expect("a folder can be made");
    give_to_server(folder.path());
    folder
}

/// Does `work` and waits for it, for callers without a runtime.
///
/// # Panics
///
/// When no runtime can be built, or in one.
pub fn blocking<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime can be built").block_on(work)
}

/// The settings are in the server's own file, so that it has them again when it is started again.
fn configure(data: &Path, port: u16, settings: &[&str]) {
    let file = data.join("postgresql.conf");
    let mut text = fs::read_to_string(&file).expect("initdb has written it");
    let port = format!("port={port}");
    let ours = [
        "listen_addresses=127.0.0.1",
        &port,
        "unix_socket_directories=",
        "max_connections=200",
        "shared_buffers=32MB",
    ];
    for setting in ours.iter().chain(settings) {
        let (name, value) = setting.split_once('=').expect("a setting is NAME=VALUE");
        text.push_str(&format!("{name} = '{}'\n", value.replace('\'', "''")));
    }
    fs::write(&file, text).expect("it can be written");
}

/// A command that runs as the server does.
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/").env("LC_ALL", "C");
    if is_root() {
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    }
    command
}

fn give_to_server(path: &Path) {
    if is_root() {
        chown(path, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).expect("root may give files away");
    }
}

/// Reads the log, so that the server does not stand still; `GATEHOUSE_POSTGRES_LOG` has it shown.
fn follow_log(supervisor: &mut Child) {
    let log = supervisor.stderr.take().expect("it is piped");
    std::thread::spawn(move || {
        let show = std::env::var_os("GATEHOUSE_POSTGRES_LOG").is_some();
        for line in BufReader::new(log).lines().map_while(Result::ok) {
            if show {
                eprintln!("postgres: {line}");
            }
        }
    });
}

/// True if a process is gone, or has ended and only its parent does not know yet.
fn has_ended(process: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    // The name, in brackets, may hold anything.
    let state = |status: String| Some(status.rsplit_once(") ")?.1.starts_with('Z'));
    status.map_or(true, |status| state(status).unwrap_or(true))
}

/// Tells whether root runs the tests.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}
