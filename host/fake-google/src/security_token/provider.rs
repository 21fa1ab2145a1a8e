//! Providers of workload identity pools: the issuers whose tokens Google takes.

use serde_json::Value;

/// A provider of a workload identity pool, for the tokens of one issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadIdentityProvider {
    /// Number of the project that the pool belongs to.
    pub project_number: u64,
    /// Name of the pool.
    pub pool: String,
    /// Name of the provider within the pool.
    pub provider: String,
    /// The `iss` of its tokens, a URL.
    pub issuer: String,
    /// Where the issuer's keys come from.
    pub keys: IssuerKeys,
    /// Audiences of which a token has to name one; empty for the provider's own resource name, with or without `https:`.
    pub allowed_audiences: Vec<String>,
    /// The only `sub` that its condition admits; none admits all.
    pub condition_subject: Option<String>,
}

/// Where the keys of an issuer come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IssuerKeys {
    /// A JWK set that the operator uploaded.
    Uploaded(Value),
    /// The issuer's discovery document, fetched on every exchange: changes there count at once.
    Discovered,
    /// The same, with every request sent to this origin (`http://127.0.0.1:8200`) in the place of the one that its URL
    /// names: for issuers whose public address exists only in the test.
    DiscoveredAt(String),
}

impl WorkloadIdentityProvider {
    /// A provider that discovers the issuer's keys, and has neither audiences of its own nor a condition.
    #[must_use]
    pub fn new(project_number: u64, pool: &str, provider: &str, issuer: &str) -> Self {
        Self {
            project_number,
            pool: pool.to_owned(),
            provider: provider.to_owned(),
            issuer: issuer.to_owned(),
            keys: IssuerKeys::Discovered,
            allowed_audiences: Vec::new(),
            condition_subject: None,
        }
    }

    /// The full resource name, which exchanges name as their audience: `//iam.googleapis.com/projects/N/locations/...`.
    #[must_use]
    pub fn audience(&self) -> String {
        format!(
            "//iam.googleapis.com/projects/{}/locations/global/workloadIdentityPools/{}/providers/{}",
            self.project_number, self.pool, self.provider
        )
    }

    /// True if a token for this audience is meant for the provider.
    pub(super) fn admits_audience(&self, audience: &str) -> bool {
        if self.allowed_audiences.is_empty() {
            audience.strip_prefix("https:").unwrap_or(audience) == self.audience()
        } else {
            self.allowed_audiences
                .iter()
                .any(|allowed| allowed == audience)
        }
    }

    /// True if the condition admits this subject.
    pub(super) fn admits_subject(&self, subject: &str) -> bool {
        self.condition_subject
            .as_deref()
            .is_none_or(|wanted| wanted == subject)
    }
}
