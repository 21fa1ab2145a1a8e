//! All settings together, and everything that is wrong with them.

use std::fmt;

use super::audit::AuditSinkSettings;
use super::compatibility::CompatibilitySettings;
use super::google::GoogleSettings;
use super::sections::{
    BootstrapSettings, ComponentsSettings, ConsoleSettings, LimitsSettings, ListenerSettings,
    LogSettings, NodeSettings, OrganizationsSettings, SealSettings, StorageSettings,
    TelemetrySettings, VersionSettings,
};
use super::source::{EffectiveSetting, SettingError};

/// All settings, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where clients are served.
    pub listener: ListenerSettings,
    /// Where records are kept.
    pub storage: StorageSettings,
    /// This server among those that share its store.
    pub node: NodeSettings,
    /// The seal, which unlocks the stored records.
    pub seal: SealSettings,
    /// The first start.
    pub bootstrap: BootstrapSettings,
    /// The operator's overrides for calls to Google.
    pub google: GoogleSettings,
    /// The differences from the reference that are undone.
    pub compatibility: CompatibilitySettings,
    /// How the organizations API presents itself.
    pub organizations: OrganizationsSettings,
    /// The information about the version that clients are given.
    pub version: VersionSettings,
    /// How the components are prepared.
    pub components: ComponentsSettings,
    /// The pages for people.
    pub console: ConsoleSettings,
    /// The limits of requests, connections and the server.
    pub limits: LimitsSettings,
    /// The log that is written to standard error.
    pub log: LogSettings,
    /// The traces that are exported.
    pub telemetry: TelemetrySettings,
    /// Where requests and answers are recorded; empty for nowhere.
    pub audit: Vec<AuditSinkSettings>,
    pub(super) effective: Vec<EffectiveSetting>,
}

/// Everything that is wrong with the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// At least one.
    pub problems: Vec<SettingError>,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.len() {
            1 => formatter.write_str("the settings have a problem:")?,
            count => write!(formatter, "the settings have {count} problems:")?,
        }
        for problem in &self.problems {
            formatter.write_str("\n  ")?;
            if let Some(line) = problem.line {
                write!(formatter, "line {line}: ")?;
            }
            write!(formatter, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SettingsError {}
