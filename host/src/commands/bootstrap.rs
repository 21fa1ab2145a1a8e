//! The first start from a file: what `bootstrap.file` describes is applied before clients are served.
//!
//! The server initializes itself with a root token that is derived from its root key, applies the file with it through its own API, and
//! revokes it. So a start that was interrupted is continued by the next one: as long as that token is valid, the file was not applied to
//! its end.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use gatehouse::server::Server;
use gatehouse::settings::Settings;
use gatehouse_access::{BASE62, ROOT_TOKEN_CHARACTERS, RootTokenHash, SERVICE_TOKEN_PREFIX};
use gatehouse_ports::OsRandom;
use gatehouse_ports::rules::jittered;
use gatehouse_store::{RootKey, read_key_file};
use zeroize::Zeroizing;

use super::installation::{self, Description, Options, Reconciler, Report, Summary};

/// Separates the token from all other values that are derived from the root key. The number of the block follows it.
const LABEL: &[u8] = b"gatehouse bootstrap token 1";

/// Most passes of one start, whatever they find.
const MOST_PASSES: usize = 8;
/// The longest pause between two passes.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A first start that is due, as far as the settings tell.
pub(super) struct Bootstrap {
    description: Description,
    token: Zeroizing<String>,
}

impl Bootstrap {
    /// Reads the file that the settings name, `None` where they name none, and lets no other caller initialize the server.
    ///
    /// # Errors
    ///
    /// When the file, one that it names, or the key file cannot be used.
    pub(super) fn prepare(settings: &mut Settings) -> Result<Option<Self>> {
        let Some(file) = &settings.bootstrap.file else {
            return Ok(None);
        };
        let description = read(file)?;
        let key_file = settings.seal.key_file.as_deref();
        let key_file = key_file.context("bootstrap.file needs seal.key_file")?;
        let token = token_of(&read_key_file(key_file)?);
        settings.bootstrap.root_token_hash = Some(RootTokenHash::from_token(&token));
        Ok(Some(Self { description, token }))
    }

    /// Initializes the server if it is new, and brings about what is described unless that has been done before.
    ///
    /// # Errors
    ///
    /// When the server refuses something. The next start continues from there.
    pub(super) async fn run(self, server: &Server) -> Result<()> {
        let api = installation::Server::here(server.handler(), &self.token)?;
        api.initialize().await?;
        if !api.is_admitted().await? {
            tracing::info!(
                "bootstrap.file has no effect: the server is initialized, by an earlier start with it or without it"
            );
            return Ok(());
        }
        let mut attempts = Attempts::default();
        loop {
            let pass = self.pass(&api).await;
            let failures = match pass {
                Ok((summary, failures)) if failures.is_empty() => {
                    return finish(&api, summary).await;
                }
                Ok((_, failures)) => Ok(failures),
                Err(error) => Err(error),
            };
            // Of several servers that start at once, the first one to finish ends the token of all.
            if !api.is_admitted().await? {
                tracing::info!("bootstrap.file was applied by another server");
                return Ok(());
            }
            attempts.note(failures?)?;
            // The pause gives the other server time to finish.
            tokio::time::sleep(jittered(LONGEST_PAUSE, &OsRandom)).await;
        }
    }

    /// Compares the server with all that is described, and gives a line for each object that could not be applied.
    async fn pass(&self, api: &installation::Server) -> Result<(Summary, Vec<String>)> {
        let mut lines = Vec::new();
        let mut report = Report::to(&mut lines);
        let mut reconciler = Reconciler::connect(api, Options::default(), &mut report).await?;
        reconciler.apply(&self.description).await?;
        let summary = report.summary();
        let lines = String::from_utf8_lossy(&lines);
        let failures = lines.lines().filter(|line| line.starts_with('!'));
        Ok((summary, failures.map(str::to_owned).collect()))
    }
}

async fn finish(api: &installation::Server, summary: Summary) -> Result<()> {
    api.end_token().await?;
    let objects = [summary.added, summary.changed, summary.unchanged];
    tracing::info!(
        objects = objects.iter().sum::<usize>(),
        "bootstrap.file is applied, and the root token that did it has ended"
    );
    Ok(())
}

/// Passes that left something undone.
///
/// A server that starts at the same time as others may be refused an object that another one has made since it looked. The next pass finds
/// that object, so only a pass with the same failures as the one before is final.
#[derive(Default)]
struct Attempts {
    number: usize,
    failures: Vec<String>,
}

impl Attempts {
    /// Takes the failures of one more pass.
    ///
    /// # Errors
    ///
    /// When the pass before failed in the same way, or there were [`MOST_PASSES`].
    fn note(&mut self, failures: Vec<String>) -> Result<()> {
        self.number = self.number.saturating_add(1);
        if failures == self.failures || self.number == MOST_PASSES {
            bail!(
                "bootstrap.file: not everything could be applied; correct the file and start again:\n  {}",
                failures.join("\n  ")
            );
        }
        self.failures = failures;
        Ok(())
    }
}

/// Reads the description in a file of the settings.
///
/// # Errors
///
/// When it, or a file that it names, is not usable.
pub(super) fn read(file: &Path) -> Result<Description> {
    Description::read(file).context("bootstrap.file")
}

/// The root token of a first start: 51 letters and digits that only a holder of the root key can derive.
fn token_of(root_key: &RootKey) -> Zeroizing<String> {
    let mut token = Zeroizing::new(String::with_capacity(ROOT_TOKEN_CHARACTERS));
    token.push_str(SERVICE_TOKEN_PREFIX);
    for block in 0_u8..2 {
        let bytes = root_key.derived(&[LABEL, &[block]].concat());
        let missing = ROOT_TOKEN_CHARACTERS - token.len();
        for byte in bytes.iter().take(missing) {
            let place = usize::from(*byte) % BASE62.len();
            token.extend(BASE62.get(place).copied().map(char::from));
        }
    }
    token
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn only_a_pass_that_fails_as_the_one_before_is_the_fault_of_the_file() {
        let mut attempts = Attempts::default();
        let path_in_use = ["! auth method gcp/", "! role a"];
        attempts.note(failures(&path_in_use)).unwrap();
        attempts.note(failures(&["! role a"])).unwrap();
        let refused = attempts.note(failures(&["! role a"])).unwrap_err();
        let refused = refused.to_string();
        assert!(refused.ends_with("start again:\n  ! role a"), "{refused}");
    }

    #[test]
    fn passes_that_never_fail_in_the_same_way_are_bounded() {
        let mut attempts = Attempts::default();
        let mut pass = |number: usize| attempts.note(vec![format!("! role {number}")]);
        for number in 1..MOST_PASSES {
            pass(number).unwrap();
        }
        assert!(pass(MOST_PASSES).is_err());
    }

    #[test]
    fn a8_the_token_of_a_first_start_follows_from_the_root_key_and_has_the_form_of_a_generated_one()
    {
        let key = RootKey::generate(&OsRandom).unwrap();
        let token = token_of(&key);
        assert_eq!(token, token_of(&key.duplicate()));
        assert!(RootTokenHash::from_token(&token).is_of(&token));
        assert!(!token.contains(&*key.to_text()));
        let other = RootKey::generate(&OsRandom).unwrap();
        assert_ne!(token, token_of(&other));
    }

    #[test]
    fn a8_a_first_start_of_an_earlier_release_is_continued_with_the_same_token() {
        let key = RootKey::from_text("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").unwrap();
        let token = token_of(&key);
        assert_eq!(
            *token,
            "hvs.DsfAU7eRjop5xWgquGaIuatpwqMnAQX4ekt2sUhIe81tVxNr510"
        );
    }
}
