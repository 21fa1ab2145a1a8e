//! The programs that tests drive: they take the same configuration file.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use gatehouse_components::spin::{self, Part};
use gatehouse_gateway::RootTokenHash;

use crate::clients::faketime;
use crate::server::{gatehouse_binary, spin_host_binary, target_folder, workspace};

/// The variable of Spin that holds the hash of the first root token.
const ROOT_TOKEN_HASH: &str = "root_token_hash";

/// Names a real `spin` program, which then takes the place of its stand-in.
const REAL_SPIN: &str = "GATEHOUSE_SPIN";

/// The real `spin` program of `GATEHOUSE_SPIN`.
pub fn real_spin() -> Option<OsString> {
    std::env::var_os(REAL_SPIN)
}

/// The program that runs the components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Our own server.
    Gatehouse,
    /// The stand-in for Spin 4.1: the front for WASI 0.3.
    Spin4,
    /// The same with its records in a PostgreSQL database.
    SpinPostgres,
    /// The same with its records in key-value stores.
    SpinKeyValue,
    /// The stand-in for Spin 3.6 and SpinKube: the front for WASI 0.2.
    Spin3,
    /// The same with its records in a PostgreSQL database.
    Spin3Postgres,
}

impl Host {
    /// The program, built on first use.
    pub fn program(self) -> Program {
        match self {
            Self::Gatehouse => Program::gatehouse(),
            Self::Spin4
            | Self::SpinPostgres
            | Self::SpinKeyValue
            | Self::Spin3
            | Self::Spin3Postgres => match real_spin() {
                Some(spin) => self.real_spin(&spin),
                None => self.program_with(self.whole()),
            },
        }
    }

    /// The manifest for this version of Spin.
    fn manifest(self) -> PathBuf {
        let name = match self {
            Self::Gatehouse => panic!("our own server needs no manifest"),
            Self::Spin4 => "spin.toml",
            Self::SpinPostgres => "spin-postgres.toml",
            Self::SpinKeyValue => "spin-key-value.toml",
            Self::Spin3 => "spin-3.toml",
            Self::Spin3Postgres => "spin-3-postgres.toml",
        };
        workspace().join(name)
    }

    /// True if the records are in a PostgreSQL database, whichever store the server is given.
    fn needs_database(self) -> bool {
        matches!(self, Self::SpinPostgres | Self::Spin3Postgres)
    }

    /// A real Spin with the manifest, and with the components that it names.
    fn real_spin(self, spin: &OsStr) -> Program {
        let manifest = self.manifest();
        let text = fs::read_to_string(&manifest).expect("the manifest is there");
        let parts = target_folder().join("tmp/spin-parts");
        fs::create_dir_all(&parts).expect("the target folder is writable");
        for part in Part::ALL {
            let name = format!("{}.wasm", part.name());
            if text.contains(&format!("/{name}\"")) {
                write_part(part, &parts.join(name));
            }
        }
        let path = |path: &Path| {
            path.to_str()
                .expect("folders of tests are UTF-8")
                .to_owned()
        };
        let spin = spin.to_str().expect("the name of a program is UTF-8");
        let arguments = [
            "spin".to_owned(),
            "--program".to_owned(),
            spin.to_owned(),
            "--manifest".to_owned(),
            path(&manifest),
            "--parts".to_owned(),
            path(&parts),
            "--config".to_owned(),
        ];
        let program = Program {
            path: spin_host_binary().to_owned(),
            arguments: arguments.to_vec(),
            needs_database: self.needs_database(),
            has_children: true,
            first_root_token: None,
        };
        program.for_first_root_token()
    }

    /// The program that serves `component` in Spin's place.
    ///
    /// # Panics
    ///
    /// For our own server, which carries what it serves.
    pub fn program_with(self, component: &Path) -> Program {
        let front = match self {
            Self::Gatehouse => panic!("our own server takes no component"),
            Self::Spin4 | Self::SpinPostgres | Self::SpinKeyValue => "0.3",
            Self::Spin3 | Self::Spin3Postgres => "0.2",
        };
        let component = component.to_str().expect("folders of tests are UTF-8");
        let arguments = [
            "server",
            "--front",
            front,
            "--component",
            component,
            "--config",
        ];
        let program = Program {
            path: spin_host_binary().to_owned(),
            arguments: arguments.map(str::to_owned).to_vec(),
            needs_database: self.needs_database(),
            has_children: false,
            first_root_token: None,
        };
        program.for_first_root_token()
    }

    /// The file of all components composed for this version of Spin. A test run starts some hundred servers, and composition takes
    /// longer than the rest of a start, so it is done once for each process of tests.
    fn whole(self) -> &'static Path {
        static FILES: [OnceLock<PathBuf>; 5] = [const { OnceLock::new() }; 5];
        let (file, part) = match self {
            Self::Spin3 => (&FILES[0], Part::WholeP2),
            Self::SpinPostgres => (&FILES[2], Part::PostgresWhole),
            Self::SpinKeyValue => (&FILES[3], Part::KeyValueWhole),
            Self::Spin3Postgres => (&FILES[4], Part::PostgresWholeP2),
            _ => (&FILES[1], Part::Whole),
        };
        file.get_or_init(|| {
            let path = target_folder().join(format!("tmp/{part:?}.wasm"));
            write_part(part, &path);
            path
        })
    }
}

/// Writes a component to this path. Another process of tests may write the same, and may be reading.
fn write_part(part: Part, path: &Path) {
    let folder = path.parent().expect("the path is one of a file");
    fs::create_dir_all(folder).expect("the target folder is writable");
    let mut written = tempfile::NamedTempFile::new_in(folder).expect("as before");
    let bytes = spin::bytes(part).expect("the components can be built");
    std::io::Write::write_all(&mut written, bytes).expect("there is room for a component");
    written.persist(path).expect("as before");
}

/// The ending of the file beside a configuration file that says by how much a clock is ahead.
const CLOCK: &str = "clock";

/// Sets the clock of the server with this configuration file, which is one [with a clock of its own](Program::with_settable_clock): so
/// many seconds ahead of the system's, within a second.
///
/// # Errors
///
/// When the folder cannot be written.
pub fn set_clock(configuration: &Path, seconds_ahead: i32) -> std::io::Result<()> {
    let file = PathBuf::from(format!("{}.{CLOCK}", configuration.display()));
    let written = PathBuf::from(format!("{}.new", file.display()));
    fs::write(&written, format!("{seconds_ahead:+}\n"))?;
    // The server never reads half of it.
    fs::rename(written, file)
}

/// A command: a program, and its arguments before the path of the configuration file.
#[derive(Debug, Clone)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// The arguments before the path of the configuration file.
    pub arguments: Vec<String>,
    /// True if it keeps its records in a PostgreSQL database, whichever store it is given.
    pub needs_database: bool,
    /// True if it starts processes that continue without it, so that all of them have to be ended.
    pub has_children: bool,
    /// The token that initializes a server which the program has not served before. `None` where any request does.
    pub first_root_token: Option<String>,
}

impl Program {
    /// Our own server.
    pub fn gatehouse() -> Self {
        Self::gatehouse_at(gatehouse_binary().to_owned())
    }

    /// A build of our own server that is there already.
    pub fn gatehouse_at(path: PathBuf) -> Self {
        Self {
            path,
            arguments: vec!["server".to_owned(), "--config".to_owned()],
            needs_database: false,
            has_children: false,
            first_root_token: None,
        }
    }

    /// The same under Spin with this value of a variable.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        let variable = format!("{name}={value}");
        let beginning = format!("{name}=");
        match self
            .arguments
            .iter_mut()
            .find(|it| it.starts_with(&beginning))
        {
            Some(given) => *given = variable,
            None => {
                self.arguments
                    .splice(1..1, ["--variable".to_owned(), variable]);
            }
        }
        self
    }

    /// The same with a first root token of its own: under Spin only the holder of the token can initialize the server.
    fn for_first_root_token(mut self) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        // In the form of tokens that servers make.
        let token = format!("hvs.{number:051}");
        self = self.with_variable(
            ROOT_TOKEN_HASH,
            &RootTokenHash::from_token(&token).to_string(),
        );
        self.first_root_token = Some(token);
        self
    }

    /// The same with its complete log in a file beside the configuration file, named like it with `.log` appended.
    #[must_use]
    pub fn logging(self) -> Self {
        self.logging_at("debug")
    }

    /// The same with a log that has no more than this level.
    #[must_use]
    pub fn logging_at(self, level: &str) -> Self {
        let command = format!(
            "exec env GATEHOUSE_LOG_LEVEL={level} {} >>\"$0.log\" 2>&1",
            self.command_line()
        );
        self.shell(command)
    }

    /// The same with a clock of its own, which is ahead of the system's, or behind it, by what [`set_clock`] says for its configuration file.
    ///
    /// # Panics
    ///
    /// When the library for that cannot be installed.
    #[must_use]
    pub fn with_settable_clock(self) -> Self {
        // The monotonic clock is not faked, as on a machine whose time is set; nor are the times of files.
        let command = format!(
            "echo +0 >\"$0.{CLOCK}\"; exec env LD_PRELOAD='{}' FAKETIME_TIMESTAMP_FILE=\"$0.{CLOCK}\" FAKETIME_CACHE_DURATION=1 \
             FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_DISABLE_SHM=1 NO_FAKE_STAT=1 {}",
            faketime().display(),
            self.command_line()
        );
        self.shell(command)
    }

    /// The same, which ends when the program that starts it does and then removes the folder of its configuration file: a server
    /// that all tests share is dropped by none of them.
    #[must_use]
    pub fn ended_with_the_tests(self) -> Self {
        let command = format!(
            "{} & tail --pid=$PPID -f /dev/null; kill $!; rm -r \"$(dirname \"$0\")\"",
            self.command_line()
        );
        self.shell(command)
    }

    fn command_line(&self) -> String {
        let arguments = self.arguments.join(" ");
        format!("'{}' {arguments} \"$0\"", self.path.display())
    }

    fn shell(&self, command: String) -> Self {
        Self {
            path: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), command],
            needs_database: self.needs_database,
            has_children: self.has_children,
            first_root_token: self.first_root_token.clone(),
        }
    }
}
