//! A server of the reference, which Gatehouse is compared with and copied from.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::installation::free_address;

/// The longest time that a start may take.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// A dev server of OpenBao or of Vault in a process of its own, ended with it.
pub struct ReferenceProcess {
    process: Child,
    address: String,
    _home: tempfile::TempDir,
}

impl ReferenceProcess {
    /// The token of its operator: long enough to be told from the policy `root`.
    pub const ROOT_TOKEN: &str = "root-token-of-the-reference";

    /// Starts `program`, after `settings` has changed its command, and waits until it answers.
    ///
    /// # Panics
    ///
    /// When it cannot be started: a test that cannot run is a failed test.
    pub fn start(program: &Path, settings: impl FnOnce(&mut Command)) -> Self {
        let address = free_address();
        let home = tempfile::tempdir().expect("a folder can be made");
        let mut command = Command::new(program);
        command
            .args(["server", "-dev", "-dev-no-store-token", "-log-level=error"])
            .arg(format!("-dev-root-token-id={}", Self::ROOT_TOKEN))
            .arg(format!("-dev-listen-address={address}"))
            // No settings, credentials or proxies of the user who runs the tests.
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        settings(&mut command);
        let mut reference = Self {
            process: command.spawn().expect("the reference can be started"),
            address,
            _home: home,
        };
        let deadline = Instant::now() + READY_WITHIN;
        let health = format!("http://{}/v1/sys/health", reference.address);
        while !reqwest::blocking::get(&health).is_ok_and(|answer| answer.status() == 200) {
            assert!(
                Instant::now() < deadline,
                "{program:?} is not ready in time"
            );
            let ended = reference.process.try_wait().expect("its state can be read");
            let address = &reference.address;
            assert_eq!(ended, None, "{program:?} cannot start at {address}");
            std::thread::sleep(Duration::from_millis(50));
        }
        reference
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for ReferenceProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
