//! `[compatibility]`: differences from the reference that an existing deployment may need to take back
//! (contract 11).

use super::source::Section;

/// One switch that is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompatibilitySwitch {
    /// Its key in the section.
    pub key: &'static str,
    /// The loss by it, in words that follow a colon.
    pub gives_up: &'static str,
}

impl CompatibilitySwitch {
    /// How components know it.
    fn name(self) -> String {
        self.key.replace('_', "-")
    }
}

/// Every switch there is.
const SWITCHES: [CompatibilitySwitch; 5] = [
    // D1
    CompatibilitySwitch {
        key: "ignore_allow_gce_inference",
        gives_up: "roles with allow_gce_inference = false accept Google-signed tokens anyway",
    },
    // D2
    CompatibilitySwitch {
        key: "bound_google_signed_lifetime",
        gives_up: "tokens of the metadata server, which live for an hour, are refused by iam roles whose max_jwt_exp is shorter",
    },
    // D4
    CompatibilitySwitch {
        key: "accept_missing_audience",
        gives_up: "a token that names no audience is accepted, whatever it was made for",
    },
    // D5
    CompatibilitySwitch {
        key: "accept_audience_without_boundary",
        gives_up: "an audience that only ends like a role's is accepted, such as notvault/<role>",
    },
    // D6
    CompatibilitySwitch {
        key: "ignore_issuer_and_beginning",
        gives_up: "a token is accepted whatever issuer it names, and before it is valid",
    },
];

/// The switches that are on. All are off by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompatibilitySettings {
    /// In the order of the register of differences.
    pub switched_on: Vec<CompatibilitySwitch>,
}

impl CompatibilitySettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self {
            switched_on: SWITCHES
                .into_iter()
                .filter(|switch| section.value(switch.key, false))
                .collect(),
        }
    }

    /// The names of the switches that are on, between commas; `None` where there are none.
    pub(super) fn names(&self) -> Option<String> {
        let names: Vec<String> = self
            .switched_on
            .iter()
            .map(|switch| switch.name())
            .collect();
        (!names.is_empty()).then(|| names.join(","))
    }
}
