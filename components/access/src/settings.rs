//! Settings of the operator for tokens and identities.

use std::num::NonZeroU32;

/// Settings of an [`crate::AccessService`]. `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Service tokens of logins that may live at once at one mount (SEC-T12). Default 1,000,000.
    pub live_tokens_per_mount: Option<NonZeroU32>,
    /// Service tokens of logins that may live at once under one role of a mount. Default no limit.
    pub live_tokens_per_role: Option<NonZeroU32>,
    /// Entities that tokens of one token-store role may bring about by the aliases they name. Default 10,000.
    pub entities_per_token_role: Option<NonZeroU32>,
}

impl Settings {
    /// The values that hold where none are set.
    pub const DEFAULT: Self = Self {
        live_tokens_per_mount: NonZeroU32::new(1_000_000),
        live_tokens_per_role: None,
        entities_per_token_role: NonZeroU32::new(10_000),
    };

    /// The settings that `variable` knows by name; one that is missing, empty or no number is at its default, and 0 means no limit.
    #[must_use]
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let limit = |name: &str, default| {
            let number = variable(name).and_then(|text| text.parse().ok());
            number.map_or(default, NonZeroU32::new)
        };
        let default = Self::DEFAULT;
        Self {
            live_tokens_per_mount: limit(
                "GATEHOUSE_LIVE_TOKENS_PER_MOUNT",
                default.live_tokens_per_mount,
            ),
            live_tokens_per_role: limit(
                "GATEHOUSE_LIVE_TOKENS_PER_ROLE",
                default.live_tokens_per_role,
            ),
            entities_per_token_role: limit(
                "GATEHOUSE_ENTITIES_PER_TOKEN_ROLE",
                default.entities_per_token_role,
            ),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t12_zero_means_no_limit_and_what_is_no_number_the_default() {
        let settings = Settings::from_variables(|name| match name {
            "GATEHOUSE_LIVE_TOKENS_PER_MOUNT" => Some("0".to_owned()),
            "GATEHOUSE_LIVE_TOKENS_PER_ROLE" => Some("7".to_owned()),
            _ => Some("many".to_owned()),
        });
        let expected = Settings {
            live_tokens_per_mount: None,
            live_tokens_per_role: NonZeroU32::new(7),
            ..Settings::DEFAULT
        };
        assert_eq!(settings, expected);
        assert_eq!(Settings::from_variables(|_| None), Settings::default());
    }
}
