//! The settings of an operator: a TOML file, above it environment variables named `GATEHOUSE_SECTION_KEY`, above
//! those the flags of the command.
//!
//! Reading never stops at the first mistake: [`SettingsError`] names every one of them with its cure.

mod audit;
mod compatibility;
mod google;
mod kind;
mod lines;
mod reference;
mod sections;
mod source;
mod validation;
mod value;
mod whole;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::Path;

pub use audit::{AuditSinkSettings, AuditSinkType};
pub use compatibility::{CompatibilitySettings, CompatibilitySwitch};
pub use gatehouse_orgs::Edition;
pub use google::{DEFAULT_UNIVERSE_DOMAIN, GoogleSettings};
pub use kind::SettingKind;
pub use reference::SettingsReference;
pub use sections::{
    AccessLog, BootstrapSettings, ComponentsSettings, ConsoleSettings, LimitsSettings,
    ListenerSettings, LogFormat, LogSettings, NodeSettings, OrganizationsSettings, SealSettings,
    SealType, StorageSettings, StorageType, TelemetrySettings, VersionSettings,
};
pub use source::{EffectiveSetting, Origin, SettingError};
pub use whole::{Settings, SettingsError};

use lines::Lines;
use source::Sources;

impl Settings {
    /// Reads `file` and lays environment variables and flags over it. Flags are named by section and key, such as
    /// `listener.address`.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or any setting is unknown, malformed, or breaks a rule.
    pub fn load(
        file: &Path,
        environment: impl IntoIterator<Item = (String, String)>,
        flags: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingsError> {
        let text = std::fs::read_to_string(file).map_err(|error| SettingsError {
            problems: vec![SettingError::new(
                file.display().to_string(),
                format!("cannot be read: {error}"),
            )],
        })?;
        Self::from_text(&text, environment, flags)
    }

    /// As [`Settings::load`], from the text of a configuration file.
    ///
    /// # Errors
    ///
    /// As [`Settings::load`].
    pub fn from_text(
        text: &str,
        environment: impl IntoIterator<Item = (String, String)>,
        flags: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingsError> {
        let file = text
            .parse()
            .map_err(|error: toml::de::Error| SettingsError {
                problems: vec![SettingError::new(
                    "configuration file",
                    format!("not valid TOML: {}", error.to_string().trim_end()),
                )],
            })?;

        let mut sources = Sources::new(file, Lines::parse(text), environment, flags);
        let mut settings = Self::read(&mut sources);
        let findings = sources.finish();
        settings.effective = findings.effective;

        let mut problems = findings.problems;
        // A value that could not be read has been named already; its absence is not a second mistake.
        let unreadable: HashSet<String> = problems
            .iter()
            .map(|problem| problem.subject.clone())
            .collect();
        problems.extend(
            validation::broken_rules(&settings)
                .into_iter()
                .filter(|problem| !unreadable.contains(&problem.subject))
                .map(|problem| {
                    let line = settings.line_of(&problem.subject);
                    problem.at(line)
                }),
        );
        if problems.is_empty() {
            Ok(settings)
        } else {
            Err(SettingsError { problems })
        }
    }

    /// Asks `sources` for every setting.
    fn read(sources: &mut Sources) -> Self {
        Self {
            listener: ListenerSettings::read(&mut sources.section("listener")),
            storage: StorageSettings::read(&mut sources.section("storage")),
            node: NodeSettings::read(&mut sources.section("node")),
            seal: SealSettings::read(&mut sources.section("seal")),
            bootstrap: BootstrapSettings::read(&mut sources.section("bootstrap")),
            google: GoogleSettings::read(&mut sources.section("google")),
            compatibility: CompatibilitySettings::read(&mut sources.section("compatibility")),
            organizations: OrganizationsSettings::read(&mut sources.section("organizations")),
            version: VersionSettings::read(&mut sources.section("version")),
            components: ComponentsSettings::read(&mut sources.section("components")),
            console: ConsoleSettings::read(&mut sources.section("console")),
            limits: LimitsSettings::read(&mut sources.section("limits")),
            log: LogSettings::read(&mut sources.section("log")),
            telemetry: TelemetrySettings::read(&mut sources.section("telemetry")),
            audit: AuditSinkSettings::read_all(sources),
            effective: Vec::new(),
        }
    }

    /// The line of the configuration file, counted from 1, that the setting called `name` was taken from. `None` where it was taken from
    /// elsewhere.
    #[must_use]
    pub fn line_of(&self, name: &str) -> Option<usize> {
        let setting = self.effective.iter().find(|it| it.name == name);
        setting?.line
    }

    /// The settings in force, in the order of the sections, with their origin. None of them is a secret (SEC-O5).
    #[must_use]
    pub fn effective(&self) -> &[EffectiveSetting] {
        &self.effective
    }

    /// Scheme, host and port at which clients reach this server at `local_address`; `None` where the settings do not tell.
    #[must_use]
    pub fn own_address(&self, local_address: SocketAddr) -> Option<String> {
        match &self.node.address {
            Some(url) => Some(url.origin().ascii_serialization()),
            None => self.listener.advertised(local_address),
        }
    }

    /// The environment variables that the components of a server at `local_address` are given; they see nothing else of the
    /// settings. None of them is a secret.
    #[must_use]
    pub fn environment_for_components(&self, local_address: SocketAddr) -> Vec<(String, String)> {
        let (google, limits) = (&self.google, &self.limits);
        let always = [
            (
                Edition::VARIABLE,
                self.organizations.edition.as_str().to_owned(),
            ),
            (
                "GATEHOUSE_STRICT_MEDIA_TYPE",
                self.organizations.strict_media_type.to_string(),
            ),
            (
                "GATEHOUSE_API_RATE_LIMITING",
                limits.api_rate_limiting.to_string(),
            ),
            (
                "GATEHOUSE_LIVE_TOKENS_PER_MOUNT",
                quota(limits.live_tokens_per_mount),
            ),
            (
                "GATEHOUSE_LIVE_TOKENS_PER_ROLE",
                quota(limits.live_tokens_per_role),
            ),
            (
                "GATEHOUSE_ENTITIES_PER_TOKEN_ROLE",
                quota(limits.entities_per_token_role),
            ),
            (
                "GATEHOUSE_VERSION_COMPATIBILITY",
                self.version.compatibility.clone(),
            ),
            (
                "GATEHOUSE_STORE_TYPE",
                self.storage.kind.name_for_clients().to_owned(),
            ),
            (
                "GATEHOUSE_GOOGLE_UNIVERSE_DOMAIN",
                google.universe_domain.clone(),
            ),
            ("GATEHOUSE_GOOGLE_ALLOWED_HOSTS", allowed_hosts(google)),
            (
                "GATEHOUSE_GOOGLE_ALLOW_HTTP_LOOPBACK",
                google.allow_http_loopback.to_string(),
            ),
            ("GATEHOUSE_GOOGLE_USER_AGENT", google.user_agent.clone()),
        ];
        let where_set = [
            (
                "GATEHOUSE_GOOGLE_TOKEN_URL",
                google.token_url.as_ref().map(ToString::to_string),
            ),
            (
                "GATEHOUSE_GOOGLE_STS_URL",
                google.sts_url.as_ref().map(ToString::to_string),
            ),
            (
                "GATEHOUSE_GOOGLE_IAM_CREDENTIALS_URL",
                google.iam_credentials_url.as_ref().map(ToString::to_string),
            ),
            (
                "GATEHOUSE_GOOGLE_METADATA_HOST",
                google.metadata_host.clone(),
            ),
            (
                "GATEHOUSE_ADVERTISED_ADDRESS",
                self.listener.advertised(local_address),
            ),
            ("GATEHOUSE_COMPATIBILITY", self.compatibility.names()),
            (
                "GATEHOUSE_BOOTSTRAP_ROOT_TOKEN_HASH",
                self.bootstrap
                    .root_token_hash
                    .as_ref()
                    .map(ToString::to_string),
            ),
            (
                "GATEHOUSE_LOGIN_RATE_PER_SOURCE",
                rate(limits.login_rate_per_source, limits.login_burst_per_source),
            ),
            (
                "GATEHOUSE_LOGIN_RATE_PER_MOUNT",
                rate(limits.login_rate_per_mount, limits.login_burst_per_mount),
            ),
        ];
        let where_set = where_set
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        always
            .into_iter()
            .chain(where_set)
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

/// A rate as components read it.
fn rate(per_second: Option<usize>, burst: usize) -> Option<String> {
    Some(format!("{}/{burst}", per_second?))
}

/// A quota as components read it: 0 means no limit.
fn quota(most: Option<usize>) -> String {
    let most = most.map_or(0, |most| u32::try_from(most).unwrap_or(u32::MAX));
    most.to_string()
}

/// The hosts that components may call beside Google's, as this host enforces them: with scheme and port where they are not the usual.
fn allowed_hosts(google: &GoogleSettings) -> String {
    let hosts = google.hosts_of_operator();
    let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    hosts.join(",")
}

#[cfg(test)]
mod tests;
