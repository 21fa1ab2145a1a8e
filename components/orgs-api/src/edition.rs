//! The editions of the organizations API.

/// Which of two products the server behaves as: a setting of the whole installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edition {
    /// The service that many customers share: plans, subscriptions.
    Hosted,
    /// The product that one customer runs: everything included, a site administrator.
    SelfHosted,
}

impl Edition {
    /// The environment variable from which components read the edition.
    pub const VARIABLE: &'static str = "GATEHOUSE_EDITION";

    /// Both editions.
    pub const ALL: [Self; 2] = [Self::Hosted, Self::SelfHosted];

    /// The name of the edition in settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hosted => "hosted",
            Self::SelfHosted => "self-hosted",
        }
    }

    /// The edition of this name.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

    /// The edition that a component's variables say: [`Self::SelfHosted`] where they say nothing, or nothing that is an edition.
    #[must_use]
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let text = variable(Self::VARIABLE).unwrap_or_default();
        Self::from_text(&text).unwrap_or(Self::SelfHosted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_is_missing_empty_or_unknown_means_self_hosted() {
        for text in [None, Some(""), Some("Hosted"), Some("self-hosted")] {
            let edition = Edition::from_variables(|_| text.map(str::to_owned));
            assert_eq!(edition, Edition::SelfHosted, "{text:?}");
        }
        let hosted = |name: &str| (name == Edition::VARIABLE).then(|| "hosted".to_owned());
        assert_eq!(Edition::from_variables(hosted), Edition::Hosted);
    }
}
