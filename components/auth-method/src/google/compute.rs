//! Instances as Google knows them now (contract 4.6, 8.3; SEC-G9).

use std::collections::BTreeMap;

use gatehouse_ports::{Clock, Http, Random};

use super::authorized::ApiError;
use super::exchange::CallError;
use super::{Api, Google};

/// Where an instance is found. Each part is of the shape that Google gives such names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InstanceName<'a> {
    pub(crate) project: &'a str,
    pub(crate) zone: &'a str,
    pub(crate) name: &'a str,
}

/// An instance, by Google's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    /// A decimal number.
    pub(crate) id: String,
    pub(crate) status: String,
    /// Seconds since 1970.
    pub(crate) created: u64,
    /// The zone's name, as the answer has it.
    pub(crate) zone: String,
    /// The path of its own link, below the version of the API: `projects/p/zones/z/instances/n`.
    pub(crate) link: String,
    pub(crate) labels: BTreeMap<String, String>,
    /// E-mail addresses of the attached service accounts.
    pub(crate) service_accounts: Vec<String>,
}

impl<H: Http, C: Clock, R: Random> Google<'_, H, C, R> {
    /// The instance of this name. Never from memory.
    pub(crate) fn instance(&self, name: InstanceName<'_>) -> Result<Instance, ApiError> {
        let _ = (name, self.now());
        Err(CallError::Unusable(Api::Compute).into())
    }
}
