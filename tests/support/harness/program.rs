//! The programs that tests drive: they take the same configuration file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gatehouse_components::spin::{self, Part};

use crate::server::{gatehouse_binary, spin_host_binary, target_folder};

/// The program that runs the components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Our own server.
    Gatehouse,
    /// The stand-in for Spin 4.1: the front for WASI 0.3.
    Spin4,
    /// The same with its records in a PostgreSQL database.
    SpinPostgres,
    /// The stand-in for Spin 3.6 and SpinKube: the front for WASI 0.2.
    Spin3,
}

impl Host {
    /// The program, built on first use.
    pub fn program(self) -> Program {
        match self {
            Self::Gatehouse => Program::gatehouse(),
            Self::Spin4 | Self::SpinPostgres | Self::Spin3 => self.program_with(self.whole()),
        }
    }

    /// The program that serves `component` in Spin's place.
    ///
    /// # Panics
    ///
    /// For our own server, which carries what it serves.
    pub fn program_with(self, component: &Path) -> Program {
        let front = match self {
            Self::Gatehouse => panic!("our own server takes no component"),
            Self::Spin4 | Self::SpinPostgres => "0.3",
            Self::Spin3 => "0.2",
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
        Program {
            path: spin_host_binary().to_owned(),
            arguments: arguments.map(str::to_owned).to_vec(),
            needs_database: self == Self::SpinPostgres,
        }
    }

    /// The file of all components composed for this version of Spin. A test run starts some hundred servers, and composing takes each of
    /// them longer than all else of a start, so it is done once for each process of tests.
    fn whole(self) -> &'static Path {
        static FILES: [OnceLock<PathBuf>; 3] = [const { OnceLock::new() }; 3];
        let (file, part) = match self {
            Self::Spin3 => (&FILES[0], Part::WholeP2),
            Self::SpinPostgres => (&FILES[2], Part::PostgresWhole),
            _ => (&FILES[1], Part::Whole),
        };
        file.get_or_init(|| {
            let folder = target_folder().join("tmp");
            fs::create_dir_all(&folder).expect("the target folder is writable");
            let mut written = tempfile::NamedTempFile::new_in(&folder).expect("as before");
            let bytes = spin::bytes(part).expect("the components can be built");
            std::io::Write::write_all(&mut written, bytes).expect("there is room for a component");
            // Another process of tests may write the same, and may be reading.
            let path = folder.join(format!("{part:?}.wasm"));
            written.persist(&path).expect("as before");
            path
        })
    }
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
        }
    }

    /// The same with all that it has to say in a file beside the configuration file, named like it with `.log` behind.
    #[must_use]
    pub fn logging(self) -> Self {
        let command = format!(
            "exec env GATEHOUSE_LOG_LEVEL=debug {} >>\"$0.log\" 2>&1",
            self.command_line()
        );
        self.shell(command)
    }

    /// The same, which ends when the program that starts it does and then removes the folder of its configuration file: what is
    /// shared by all tests is dropped by none.
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
        }
    }
}
