//! SIGHUP: a running server reads again what it can, and says what waits for a restart.

use std::sync::Arc;

use gatehouse::audit::Sinks;
use gatehouse::listener::{ACCESS_LOG, Certificate};
use gatehouse::settings::{EffectiveSetting, Settings};
use gatehouse::traces::TRACES;
use tokio::signal::unix::Signal;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Registry;
use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::reload::Handle;

use super::access_file::AccessFile;
use super::configuration::Source;

/// The setting that is put in force again without a restart.
const LEVEL: &str = "log.level";

/// The settings whose files are read only at a start. The keys of audit sinks are read only then, too.
const READ_AT_START: [&str; 7] = [
    "bootstrap.file",
    "google.application_credentials",
    "google.ca_file",
    "seal.key_file",
    "storage.ca_file",
    "storage.password_file",
    "telemetry.ca_file",
];

/// The parts of a server that go on with new files and settings.
pub(super) struct Reloaded {
    /// Where the settings are read again.
    pub(super) source: Source,
    /// The settings in force.
    pub(super) in_force: Vec<EffectiveSetting>,
    pub(super) level: Level,
    pub(super) certificate: Option<Arc<Certificate>>,
    pub(super) audit: Option<Arc<Sinks>>,
    pub(super) access: Option<AccessFile>,
}

/// The level of the log, which can be changed.
pub(super) struct Level(pub(super) Handle<Targets, Registry>);

/// The filter for the lines that a level of the settings shows. It hides the access log, which is a log of its own, and the spans of traces.
pub(super) fn level_filter(level: &str) -> Result<Targets, ParseError> {
    let filter: Targets = level.parse()?;
    Ok(filter
        .with_target(ACCESS_LOG, LevelFilter::OFF)
        .with_target(TRACES, LevelFilter::OFF))
}

impl Level {
    fn set(&self, level: &str) -> anyhow::Result<()> {
        Ok(self.0.reload(level_filter(level)?)?)
    }

    /// True if the log shows the lines of this module about a change. Clients that follow the log by `sys/monitor` have levels of their own.
    fn shows_changes(&self) -> bool {
        let shows = |level: &Targets| level.would_enable(module_path!(), &tracing::Level::INFO);
        self.0.with_current(shows).unwrap_or(false)
    }
}

impl Reloaded {
    /// Reloads at every signal.
    pub(super) fn follow(mut self, mut hangup: Signal) {
        tokio::spawn(async move {
            while hangup.recv().await.is_some() {
                self.reload();
            }
        });
    }

    /// Switches to the files that are there now: programs that rotate a log or renew a certificate send the signal when they are done.
    /// Mistakes in the settings leave everything in force that was.
    fn reload(&mut self) {
        if let Some(audit) = &self.audit {
            audit.reopen();
            tracing::info!("SIGHUP: the audit logs are opened again");
        }
        if let Some(access) = &self.access {
            match access.reopen() {
                Ok(()) => tracing::info!("SIGHUP: the access log is opened again"),
                Err(error) => tracing::error!("SIGHUP: the access log stays where it is: {error}"),
            }
        }
        if let Some(certificate) = &self.certificate {
            match certificate.reload() {
                Ok(()) => tracing::info!("SIGHUP: the TLS certificate was read again"),
                Err(error) => {
                    tracing::error!("SIGHUP: the old TLS certificate stays in use: {error}");
                }
            }
        }
        tracing::info!(
            "SIGHUP: not read again before a restart: {}the operating system's certificate authorities",
            files_of_start(&self.in_force)
        );
        match self.source.load() {
            Ok(fresh) => self.apply(&fresh),
            Err(error) => {
                tracing::error!("SIGHUP: the settings stay as they are: {error}");
            }
        }
    }

    fn apply(&mut self, fresh: &Settings) {
        let changes = changes(&self.in_force, fresh.effective());
        if changes.is_empty() {
            return tracing::info!("SIGHUP: no setting has changed");
        }
        for change in changes {
            if change.name == LEVEL {
                // Logged under the former level if that shows it, else under the new one.
                let is_shown = self.level.shows_changes();
                if is_shown {
                    tracing::info!("SIGHUP: {change}");
                }
                match self.level.set(&fresh.log.level) {
                    Ok(()) if is_shown => {}
                    Ok(()) => tracing::info!("SIGHUP: {change}"),
                    Err(error) => tracing::error!("SIGHUP: {LEVEL} stays as it is: {error}"),
                }
            } else {
                tracing::warn!("SIGHUP: {change}; that needs a restart");
            }
        }
        let level = fresh.effective().iter().find(|it| it.name == LEVEL);
        self.in_force.retain(|it| it.name != LEVEL);
        self.in_force.extend(level.cloned());
    }
}

/// The settings in force whose files are not read again, each with the comma before the next part of a sentence.
fn files_of_start(in_force: &[EffectiveSetting]) -> String {
    let is_kept = |name: &str| {
        READ_AT_START.contains(&name) || name.starts_with("audit.") && name.ends_with(".key_file")
    };
    let names_one = |setting: &&EffectiveSetting| {
        let value = setting.value.as_deref();
        is_kept(&setting.name) && value.is_some_and(|value| value.trim_matches('"') != "none")
    };
    let settings = in_force.iter().filter(names_one);
    settings
        .map(|setting| format!("{}, ", setting.name))
        .collect()
}

/// A setting that has another value than before.
#[derive(Debug, PartialEq, Eq)]
struct Change<'a> {
    name: &'a str,
    before: Option<&'a str>,
    now: Option<&'a str>,
}

impl std::fmt::Display for Change<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |value: Option<&'_ str>| value.unwrap_or("nothing").to_owned();
        let (before, now) = (shown(self.before), shown(self.now));
        write!(formatter, "{} changed from {before} to {now}", self.name)
    }
}

/// The differences between two readings of the settings. An audit sink may come or go with all its settings.
fn changes<'a>(before: &'a [EffectiveSetting], now: &'a [EffectiveSetting]) -> Vec<Change<'a>> {
    let value = |settings: &'a [EffectiveSetting], name: &str| {
        let found = settings.iter().find(|setting| setting.name == name);
        found.and_then(|setting| setting.value.as_deref())
    };
    let gone = before.iter().filter(|old| {
        let has_name = |new: &EffectiveSetting| new.name == old.name;
        !now.iter().any(has_name)
    });
    now.iter()
        .chain(gone)
        .map(|setting| Change {
            name: &setting.name,
            before: value(before, &setting.name),
            now: value(now, &setting.name),
        })
        .filter(|change| change.before != change.now)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        let text = format!("storage.type = \"memory\"\n{text}");
        Settings::from_text(&text, Vec::new(), Vec::new()).unwrap()
    }

    #[test]
    fn each_setting_that_changed_is_named_with_both_values_and_no_other() {
        let before = settings("[log]\nlevel = \"info\"\n[audit.a]\ntype = \"stdout\"\n");
        let now = settings(
            "[log]\nlevel = \"debug\"\n[limits]\nqueue = 7\n[audit.b]\ntype = \"stdout\"\n",
        );
        let told: Vec<String> = changes(before.effective(), now.effective())
            .iter()
            .map(ToString::to_string)
            .collect();
        for change in [
            "log.level changed from \"info\" to \"debug\"",
            "limits.queue changed from 1024 to 7",
            "audit.a.type changed from \"stdout\" to nothing",
            "audit.b.type changed from nothing to \"stdout\"",
        ] {
            assert!(told.iter().any(|told| told == change), "{change}: {told:?}");
        }
        assert!(!told.iter().any(|told| told.starts_with("listener.")));
        assert!(changes(now.effective(), now.effective()).is_empty());
    }

    #[test]
    fn the_files_that_a_reload_does_not_read_are_named_where_settings_name_them() {
        let told = |text| files_of_start(settings(text).effective());
        let none = "[google]\napplication_credentials = \"none\"\n";
        assert_eq!(told(none), "");
        let some = "[google]\napplication_credentials = \"/key.json\"\nca_file = \"/ca.pem\"\n\
                    [audit.a]\npath = \"/audit.log\"\nkey_file = \"/audit.key\"\n";
        let told = told(some);
        let mut told: Vec<&str> = told.split_terminator(", ").collect();
        told.sort_unstable();
        assert_eq!(
            told,
            [
                "audit.a.key_file",
                "google.application_credentials",
                "google.ca_file"
            ]
        );
    }

    #[test]
    fn every_file_that_is_read_at_a_start_alone_is_one_of_the_settings() {
        let known = gatehouse::settings::SettingsReference::new().page();
        for name in READ_AT_START {
            let (section, key) = name.split_once('.').unwrap();
            let (_, of_section) = known.split_once(&format!("[{section}]")).unwrap();
            assert!(of_section.contains(&format!("\n  {key}\n")), "{name}");
        }
    }

    #[test]
    fn the_level_of_the_log_is_changed_and_a_wrong_one_is_not_taken() {
        let (layer, handle) = tracing_subscriber::reload::Layer::new(Targets::new());
        let level = Level(handle);
        level.set("warn").unwrap();
        assert!(!level.shows_changes());
        level.set("warn,gatehouse=debug").unwrap();
        assert!(level.shows_changes());
        let level_now = || layer_text(&level);
        assert!(level_now().contains("gatehouse"), "{}", level_now());
        assert!(level.set("gatehouse=loud").is_err());
        assert!(level_now().contains("gatehouse"));
        drop(layer);
    }

    fn layer_text(level: &Level) -> String {
        level.0.with_current(ToString::to_string).unwrap()
    }
}
