//! A server as an operator runs it: configuration file, key file, store, and a Google beside it.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use gatehouse_fake_google::{FakeGoogle, FakeGoogleOptions, IdentityFormat};
use gatehouse_postgres_server::{PostgresServer, free_port};
use serde_json::{Value, json};

use crate::database_link::DatabaseLink;
use crate::program::Program;
use crate::server::{Answer, ServerProcess, gatehouse_binary};

/// The account that logs in.
pub const WORKLOAD: &str = "workload@demo-project.iam.gserviceaccount.com";
/// The account whose key the method is configured with.
pub const OPERATOR: &str = "gatehouse-root@demo-project.iam.gserviceaccount.com";
/// The role that [`Installation::set_up_login`] makes.
pub const ROLE: &str = "dev";

/// The instance that logs in, whose account is [`WORKLOAD`].
pub const INSTANCE: &str = "workload-1";
/// The gce role that [`Installation::set_up_login`] makes for it.
pub const INSTANCE_ROLE: &str = "vm";

/// Which store a server keeps its records in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// Gone with the process.
    Memory,
    /// A file.
    Durable,
    /// A database of a PostgreSQL server that the installation starts for itself. Several servers can share it.
    Postgres,
}

/// The seal of a store: what holds its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seal {
    KeyFile,
    Shares,
}

/// A server that can be stopped and started again.
pub struct Installation {
    program: Program,
    folder: tempfile::TempDir,
    address: String,
    root_token: String,
    server: Option<ServerProcess>,
    // Dropped after the server that uses it.
    database: Option<PostgresServer>,
    google: FakeGoogle,
    // Dropped last: the Google runs on it.
    _runtime: tokio::runtime::Runtime,
}

impl Installation {
    /// Sets up a folder, starts the server in it and initializes it. `settings` is added to the configuration file.
    ///
    /// # Errors
    ///
    /// When any of that fails.
    pub fn start(storage: Storage, settings: &str) -> Result<Self> {
        Self::start_program(Program::gatehouse(), storage, settings)
    }

    /// The same with another program, which takes the same configuration file.
    ///
    /// # Errors
    ///
    /// When any of that fails.
    pub fn start_program(program: Program, storage: Storage, settings: &str) -> Result<Self> {
        Self::prepare(program, storage, Seal::KeyFile, settings)?.initialized()
    }

    /// The same with a database server that was started for it.
    ///
    /// # Errors
    ///
    /// When any of that fails.
    pub fn start_over(program: Program, database: PostgresServer, settings: &str) -> Result<Self> {
        Self::prepare_over(
            program,
            Some(database),
            Storage::Postgres,
            Seal::KeyFile,
            settings,
        )?
        .initialized()
    }

    fn initialized(mut self) -> Result<Self> {
        self.run()?;
        let token = self.program.first_root_token.as_deref();
        let initialized = self.send("PUT", "/v1/sys/init", token, Some(&json!({})));
        ensure!(
            initialized.status == 200,
            "cannot initialize: {initialized:?}"
        );
        self.root_token = initialized.json()["root_token"]
            .as_str()
            .context("no root token")?
            .to_owned();
        Ok(self)
    }

    /// Sets up a folder in which no server was started yet.
    ///
    /// # Errors
    ///
    /// When that fails.
    pub fn not_started(storage: Storage, settings: &str) -> Result<Self> {
        Self::not_started_program(Program::gatehouse(), storage, settings)
    }

    /// The same for another program, which takes the same configuration file.
    ///
    /// # Errors
    ///
    /// When that fails.
    pub fn not_started_program(program: Program, storage: Storage, settings: &str) -> Result<Self> {
        Self::prepare(program, storage, Seal::KeyFile, settings)
    }

    /// Copies the durable store of a server that does not run, its key and the operator's token to the new folder `to`, from which
    /// [`Self::over_kept_store`] starts servers.
    ///
    /// # Errors
    ///
    /// When the folder is there already, or a file cannot be copied.
    pub fn keep(&self, to: &Path) -> Result<()> {
        ensure!(!to.exists(), "{} is there already", to.display());
        let data = to.join("data");
        fs::create_dir_all(&data)?;
        for entry in fs::read_dir(self.folder().join("data"))? {
            let entry = entry?;
            fs::copy(entry.path(), data.join(entry.file_name()))?;
        }
        fs::copy(self.folder().join("seal.key"), to.join("seal.key"))?;
        fs::write(to.join("root-token"), &self.root_token)?;
        Ok(())
    }

    /// Starts the server over a copy of `store`: a folder that [`Self::keep`] has written.
    ///
    /// # Errors
    ///
    /// When the folder is not one or the server does not start.
    pub fn over_kept_store(store: &Path) -> Result<Self> {
        let mut installation =
            Self::prepare(Program::gatehouse(), Storage::Durable, Seal::KeyFile, "")?;
        let data = installation.folder().join("data");
        fs::create_dir_all(&data)?;
        for entry in fs::read_dir(store.join("data"))? {
            let entry = entry?;
            let copy = data.join(entry.file_name());
            fs::copy(entry.path(), &copy)?;
            // Version control keeps no modes but the executable bit, and the server refuses a store that others may read.
            fs::set_permissions(&copy, Permissions::from_mode(0o600))?;
        }
        // The file that is there is readable for its owner alone; writing keeps that.
        let key = fs::read(store.join("seal.key"))?;
        fs::write(installation.folder().join("seal.key"), key)?;
        installation.root_token = fs::read_to_string(store.join("root-token"))?;
        installation.run()?;
        Ok(installation)
    }

    /// Sets up a folder and starts the server in it with a durable store whose key is to be in shares. It is not initialized, and has
    /// no root token. `settings` is added to the configuration file.
    ///
    /// # Errors
    ///
    /// When any of that fails.
    pub fn with_shares(settings: &str) -> Result<Self> {
        let program = Program::gatehouse();
        let mut installation = Self::prepare(program, Storage::Durable, Seal::Shares, settings)?;
        installation.run()?;
        Ok(installation)
    }

    fn prepare(program: Program, storage: Storage, seal: Seal, settings: &str) -> Result<Self> {
        let storage = match program.needs_database {
            true => Storage::Postgres,
            false => storage,
        };
        let database = (storage == Storage::Postgres).then(|| PostgresServer::start_blocking(&[]));
        Self::prepare_over(program, database, storage, seal, settings)
    }

    fn prepare_over(
        program: Program,
        database: Option<PostgresServer>,
        storage: Storage,
        seal: Seal,
        settings: &str,
    ) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let google = runtime.block_on(FakeGoogle::start(FakeGoogleOptions::default()))?;
        let folder = tempfile::tempdir()?;
        let address = free_address();
        let seal = match seal {
            Seal::KeyFile => {
                let key_file = folder.path().join("seal.key");
                make_key_file(&key_file)?;
                format!("key_file = {:?}", key_file.display().to_string())
            }
            Seal::Shares => "type = \"shamir\"".to_owned(),
        };
        let storage = match storage {
            Storage::Postgres => format!(
                "type = \"postgresql\"\nmigrate = true\nurl = {:?}",
                database
                    .as_ref()
                    .map(PostgresServer::create_database_blocking)
                    .context("no database server")?
            ),
            Storage::Memory => "type = \"memory\"".to_owned(),
            Storage::Durable => format!(
                "type = \"redb\"\npath = {:?}",
                folder.path().join("data").display().to_string()
            ),
        };
        let (limits, settings) = without_rates(settings);
        let configuration = format!(
            "{limits}[listener]\naddress = {address:?}\n\n[storage]\n{storage}\n\n[seal]\n{seal}\n\n\
             [google]\ntoken_url = {:?}\nallow_http_loopback = true\napplication_credentials = \"none\"\n\n{settings}\n",
            google.token_url(),
        );
        fs::write(folder.path().join("gatehouse.toml"), configuration)?;
        Ok(Self {
            program,
            folder,
            address,
            root_token: String::new(),
            server: None,
            database,
            google,
            _runtime: runtime,
        })
    }

    /// Starts the server, after it was ended.
    ///
    /// # Errors
    ///
    /// When it does not start.
    pub fn run(&mut self) -> Result<()> {
        let server = self.started(&self.configuration(), &self.address)?;
        self.server = Some(server);
        Ok(())
    }

    /// Starts a server, again where it has ended because its database took too long, as a supervisor does.
    fn started(&self, configuration: &Path, address: &str) -> Result<ServerProcess> {
        let start = || ServerProcess::start(&self.program, configuration, address, self.output()?);
        let mut started = start();
        for _ in 0..4 {
            if started.is_ok() || self.database.is_none() {
                break;
            }
            started = start();
        }
        started
    }

    /// Starts one more server on the same database, with the same key, Google and settings.
    ///
    /// # Errors
    ///
    /// When it does not start, which it cannot where the store is none that servers share.
    pub fn another_server(&self) -> Result<ServerProcess> {
        self.start_another(&fs::read_to_string(self.configuration())?)
    }

    /// The same over a link to the database.
    ///
    /// # Errors
    ///
    /// As before.
    pub fn another_server_over(&self, link: &DatabaseLink) -> Result<ServerProcess> {
        let configuration = fs::read_to_string(self.configuration())?;
        let [direct, over_link] = [self.database().port(), link.port()]
            .map(|port| gatehouse_postgres_server::url(port, ""));
        ensure!(configuration.contains(&direct), "no address of a database");
        self.start_another(&configuration.replace(&direct, &over_link))
    }

    fn start_another(&self, configuration: &str) -> Result<ServerProcess> {
        let address = free_address();
        let configuration = configuration.replace(&self.address, &address);
        let port = address.rsplit(':').next().unwrap_or_default();
        let file = self.folder().join(format!("server-{port}.toml"));
        fs::write(&file, configuration)?;
        self.started(&file, &address)
    }

    /// The file that the servers write their output to.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub fn output(&self) -> Result<File> {
        let path = self.folder().join("output");
        Ok(File::options().append(true).create(true).open(path)?)
    }

    /// The lines that the servers have written to their output so far.
    ///
    /// # Errors
    ///
    /// When none was started.
    pub fn output_lines(&self) -> Result<Vec<String>> {
        let text = fs::read_to_string(self.folder().join("output"))?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// The database server of [`Storage::Postgres`].
    ///
    /// # Panics
    ///
    /// When the store is another.
    pub fn database(&self) -> &PostgresServer {
        self.database.as_ref().expect("the store is a database")
    }

    /// The configuration file.
    pub fn configuration(&self) -> PathBuf {
        self.folder.path().join("gatehouse.toml")
    }

    /// The server's folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The operator's token.
    pub fn root_token(&self) -> &str {
        &self.root_token
    }

    /// The Google beside the server.
    pub const fn google(&self) -> &FakeGoogle {
        &self.google
    }

    /// The running server.
    ///
    /// # Panics
    ///
    /// When it was ended.
    pub fn server(&mut self) -> &mut ServerProcess {
        self.server.as_mut().expect("the server runs")
    }

    /// Sends a request to the running server.
    ///
    /// # Panics
    ///
    /// When it was ended.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> Answer {
        let server = self.server.as_ref().expect("the server runs");
        server.send(method, path, token, body)
    }

    /// Sends a request as the operator.
    pub fn as_root(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        self.send(method, path, Some(&self.root_token), body)
    }

    /// Enables the method at `gcp/` with the operator's credentials, a policy for organizations named `demo...`, and a role each for
    /// the workload and for its instance.
    ///
    /// # Errors
    ///
    /// When the server refuses any of it.
    pub fn set_up_login(&self) -> Result<()> {
        let google = self.google.base_url();
        let credentials = self.google.credentials_json(OPERATOR)?;
        let steps = [
            ("sys/auth/gcp", json!({"type": "gcp"})),
            (
                "auth/gcp/config",
                json!({
                    "credentials": credentials,
                    "custom_endpoint": {"api": google, "iam": google, "compute": google, "crm": google},
                }),
            ),
            (
                "sys/policies/acl/demo",
                json!({"policy": "path \"organizations/demo*\" { capabilities = [\"create\", \"read\", \"update\", \"delete\"] }"}),
            ),
            (
                &format!("auth/gcp/role/{ROLE}"),
                json!({"type": "iam", "bound_service_accounts": WORKLOAD, "token_policies": "demo"}),
            ),
            (
                &format!("auth/gcp/role/{INSTANCE_ROLE}"),
                json!({"type": "gce", "bound_regions": "europe-west1", "token_policies": "demo"}),
            ),
        ];
        for (path, body) in steps {
            let answer = self.as_root("POST", &format!("/v1/{path}"), Some(&body));
            ensure!(answer.status < 300, "{path}: {answer:?}");
        }
        Ok(())
    }

    /// A JWT that the workload signed for [`ROLE`].
    ///
    /// # Errors
    ///
    /// When the account is gone.
    pub fn login_jwt(&self) -> Result<String> {
        Ok(self.google.sign_login_jwt(WORKLOAD, ROLE)?)
    }

    /// The identity token that the instance's metadata server gives it for [`INSTANCE_ROLE`].
    ///
    /// # Errors
    ///
    /// When the instance is gone.
    pub fn instance_jwt(&self) -> Result<String> {
        let audience = format!("http://vault/{INSTANCE_ROLE}");
        let format = IdentityFormat::Full;
        Ok(self.google.identity_token(INSTANCE, &audience, format)?)
    }

    /// Logs the workload in.
    ///
    /// # Errors
    ///
    /// When the account is gone.
    pub fn login(&self) -> Result<Answer> {
        let body = json!({"role": ROLE, "jwt": self.login_jwt()?});
        Ok(self.send("POST", "/v1/auth/gcp/login", None, Some(&body)))
    }
}

fn make_key_file(key_file: &Path) -> Result<()> {
    let made = Command::new(gatehouse_binary())
        .args(["operator", "seal-key"])
        .arg(key_file)
        .output()?;
    ensure!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    Ok(())
}

/// A loopback address that no program listens at.
pub fn free_address() -> String {
    format!("127.0.0.1:{}", free_port())
}

/// Tests log in and call the organizations API from one address as often as they can; only those that ask for a limit have one. The
/// computing time of a request is measured by the clock, so it is raised for components that are hardly optimized on a busy machine.
/// Returns what comes before the other sections, and the settings.
fn without_rates(settings: &str) -> (String, String) {
    const NO_LOGIN_RATES: &str =
        "login_rate_per_source = \"none\"\nlogin_rate_per_mount = \"none\"\n";
    const NO_API_RATE: &str = "api_rate_limiting = false\n";
    const COMPUTING_TIME: &str = "instance_cpu_time = \"20s\"\n";
    let unless_named = |name: &str, limits| if settings.contains(name) { "" } else { limits };
    let limits = format!(
        "[limits]\n{}{}{}",
        unless_named("login_rate_per_", NO_LOGIN_RATES),
        unless_named("api_rate_limiting", NO_API_RATE),
        unless_named("instance_cpu_time", COMPUTING_TIME)
    );
    if settings.contains("[limits]\n") {
        let settings = settings.replacen("[limits]\n", &limits, 1);
        (String::new(), settings)
    } else {
        (limits, settings.to_owned())
    }
}
