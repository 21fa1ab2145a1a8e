//! The decisions of the operator, by the variables of the application.

use std::time::Duration;

use gatehouse_gateway::{Edition, Initializer, RootTokenHash, Settings};

use crate::origin::Origin;

/// How long an instance says of a server that was active that it is. Probers ask once a second or less; each read is a call of the host that
/// blocks the instance.
const HEALTH_REUSE: Duration = Duration::from_secs(1);

/// The settings of a front under Spin, as its operator decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontSettings {
    /// Those of the gateway.
    pub gateway: Settings,
    /// Where clients find this server; `None` where every request says it.
    pub advertised: Option<Origin>,
    /// True where the console answers below `/ui/`.
    pub has_console: bool,
}

/// Why there are no settings. The server answers nothing then: what it would do instead is not what an operator decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The host does not give the variables.
    #[error("Spin does not give the variable {variable:?}: {why}")]
    Unreadable {
        /// The variable that was asked for.
        variable: &'static str,
        /// The reason that the host gives.
        why: String,
    },
    /// The setting is an environment variable.
    #[error("the variable {variable:?} must be empty: set the environment variable {to:?} instead")]
    Moved {
        /// The variable.
        variable: &'static str,
        /// The environment variable that takes its place.
        to: &'static str,
    },
    /// A variable has a value that means nothing.
    #[error("the variable {variable:?} must be {expected}")]
    Invalid {
        /// The variable.
        variable: &'static str,
        /// The values that it may have.
        expected: &'static str,
    },
}

impl FrontSettings {
    /// The settings that `variable` gives, which answers `None` for one that is not there, in the edition that the environment names. An
    /// empty one counts as missing: Spin has no variable without a value.
    ///
    /// # Errors
    ///
    /// When a variable cannot be read or means nothing.
    pub fn new(
        variable: impl Fn(&str) -> Result<Option<String>, String>,
        edition: Option<String>,
    ) -> Result<Self, SettingsError> {
        let read = |name: &'static str| match variable(name) {
            Ok(value) => Ok(value.filter(|value| !value.is_empty())),
            Err(why) => Err(SettingsError::Unreadable {
                variable: name,
                why,
            }),
        };
        let invalid = |variable, expected| SettingsError::Invalid { variable, expected };
        if read("edition")?.is_some() {
            return Err(SettingsError::Moved {
                variable: "edition",
                to: Edition::VARIABLE,
            });
        }
        let edition = match edition.filter(|text| !text.is_empty()) {
            None => Edition::SelfHosted,
            Some(text) => Edition::from_text(&text)
                .ok_or_else(|| invalid(Edition::VARIABLE, "self-hosted or hosted"))?,
        };
        let mut gateway = Settings {
            edition,
            health_reuse: Some(HEALTH_REUSE),
            ..Settings::default()
        };
        if let Some(version) = read("version_compatibility")? {
            gateway.compatibility_version = version;
        }
        let flag = |name: &'static str| match read(name)?.as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(invalid(name, "true or false")),
        };
        gateway.strict_media_type = flag("strict_media_type")?;
        let has_console = flag("console")?;
        // Otherwise the first client that reaches Spin could take the server.
        gateway.initializer = match read("root_token_hash")? {
            None => Initializer::NoCaller,
            Some(hash) => {
                let hash = RootTokenHash::from_text(&hash).ok_or_else(|| {
                    invalid(
                        "root_token_hash",
                        "a hash as `gatehouse operator root-token` prints it",
                    )
                })?;
                Initializer::HolderOf(hash)
            }
        };
        let advertised = match read("advertised_address")? {
            None => None,
            Some(address) => Some(Origin::from_text(&address).ok_or_else(|| {
                invalid(
                    "advertised_address",
                    "an address such as https://gatehouse.example.com, without a path",
                )
            })?),
        };
        Ok(Self {
            gateway,
            advertised,
            has_console,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<FrontSettings, SettingsError> {
        let value = |name: &str| {
            let found = variables.iter().find(|(given, _)| *given == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        FrontSettings::new(|name| Ok(value(name)), value(Edition::VARIABLE))
    }

    #[test]
    fn missing_and_empty_variables_leave_the_defaults() {
        let defaults = FrontSettings {
            gateway: Settings {
                health_reuse: Some(HEALTH_REUSE),
                initializer: Initializer::NoCaller,
                ..Settings::default()
            },
            advertised: None,
            has_console: false,
        };
        assert_eq!(settings(&[]), Ok(defaults.clone()));
        let empty = [
            ("edition", ""),
            (Edition::VARIABLE, ""),
            ("version_compatibility", ""),
            ("advertised_address", ""),
            ("strict_media_type", ""),
            ("root_token_hash", ""),
            ("console", ""),
        ];
        assert_eq!(settings(&empty), Ok(defaults));
    }

    #[test]
    fn every_variable_is_read() {
        let read = settings(&[
            (Edition::VARIABLE, "hosted"),
            ("version_compatibility", "1.20.3"),
            ("advertised_address", "https://gatehouse.example.com"),
            ("strict_media_type", "true"),
            ("console", "true"),
            (
                "root_token_hash",
                &RootTokenHash::from_token("token").to_string(),
            ),
        ]);
        let read = read.unwrap();
        assert_eq!(read.gateway.edition, Edition::Hosted);
        assert_eq!(read.gateway.compatibility_version, "1.20.3");
        assert!(read.gateway.strict_media_type);
        assert!(read.has_console);
        assert_eq!(
            read.gateway.initializer,
            Initializer::HolderOf(RootTokenHash::from_token("token"))
        );
        assert_eq!(
            read.advertised,
            Origin::from_text("https://gatehouse.example.com")
        );
    }

    #[test]
    fn a_value_that_means_nothing_is_refused_without_being_repeated() {
        for variable in [
            "edition",
            Edition::VARIABLE,
            "advertised_address",
            "strict_media_type",
            "root_token_hash",
            "console",
        ] {
            let refused = settings(&[(variable, "s3cret")]).unwrap_err().to_string();
            assert!(refused.contains(variable), "{refused}");
            assert!(!refused.contains("s3cret"), "{refused}");
        }
    }

    #[test]
    fn variables_that_spin_does_not_give_are_named() {
        let refused = FrontSettings::new(|_| Err("not permitted".to_owned()), None);
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.contains("edition") && refused.contains("not permitted"),
            "{refused}"
        );
    }
}
