//! The services of the host, imported.

use zeroize::Zeroizing;

use super::bindings::gatehouse::host::{
    audit as audit_wit, metrics as metrics_wit, rate_limits as rate_limits_wit, seal as seal_wit,
};
use crate::host::{
    AuditEntry, AuditFailure, AuditLog, AuditSink, Bucket, Host, InitializeSealError, Level,
    Metrics, RateLimits, Seal, SealFailure, SealProgress, Side, UnsealError,
};

/// The host that runs this component.
pub(super) fn imported() -> Host {
    Host {
        seal: Box::new(Imported),
        audit: Box::new(Imported),
        rate_limits: Box::new(Imported),
        metrics: Box::new(Imported),
    }
}

struct Imported;

same_fields!(seal_wit::Progress => SealProgress { initialized, sealed, shares, threshold, given, nonce });
same_fields!(audit_wit::Sink => AuditSink { name, kind, description, options });
same_fields!(rate_limits_wit::Level => Level { remaining, full_in });
same_cases!(audit_wit::Side, Side, Request, Response);

impl From<seal_wit::Failure> for SealFailure {
    fn from(from: seal_wit::Failure) -> Self {
        match from {
            seal_wit::Failure::Unavailable(why) => Self::Unavailable(why),
            seal_wit::Failure::Automatic => Self::Automatic,
        }
    }
}

impl From<seal_wit::InitializeError> for InitializeSealError {
    fn from(from: seal_wit::InitializeError) -> Self {
        match from {
            seal_wit::InitializeError::AlreadyInitialized => Self::AlreadyInitialized,
            seal_wit::InitializeError::InvalidNumbers => Self::InvalidNumbers,
            seal_wit::InitializeError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<seal_wit::UnsealError> for UnsealError {
    fn from(from: seal_wit::UnsealError) -> Self {
        match from {
            seal_wit::UnsealError::NotInitialized => Self::NotInitialized,
            seal_wit::UnsealError::Malformed => Self::Malformed,
            seal_wit::UnsealError::WrongShares => Self::WrongShares,
            seal_wit::UnsealError::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<audit_wit::Failure> for AuditFailure {
    fn from(from: audit_wit::Failure) -> Self {
        match from {
            audit_wit::Failure::NoSink => Self::NoSink,
            audit_wit::Failure::Invalid => Self::Invalid,
        }
    }
}

impl Seal for Imported {
    fn status(&self) -> Result<Option<SealProgress>, SealFailure> {
        Ok(seal_wit::status()?.map(Into::into))
    }

    fn begin_initialization(
        &self,
        shares: u32,
        threshold: u32,
    ) -> Result<Vec<Zeroizing<Vec<u8>>>, InitializeSealError> {
        let shares = seal_wit::begin_initialization(shares, threshold)?;
        Ok(shares.into_iter().map(Zeroizing::new).collect())
    }

    fn finish_initialization(&self) -> Result<(), SealFailure> {
        Ok(seal_wit::finish_initialization()?)
    }

    fn abandon_initialization(&self) -> Result<(), SealFailure> {
        Ok(seal_wit::abandon_initialization()?)
    }

    fn unseal(&self, share: &[u8]) -> Result<SealProgress, UnsealError> {
        Ok(seal_wit::unseal(share)?.into())
    }

    fn reset_unseal(&self) -> Result<SealProgress, SealFailure> {
        Ok(seal_wit::reset_unseal()?.into())
    }

    fn seal(&self) -> Result<(), SealFailure> {
        Ok(seal_wit::seal()?)
    }
}

impl AuditLog for Imported {
    fn is_on(&self) -> bool {
        audit_wit::is_on()
    }

    fn write(&self, entry: AuditEntry) -> Result<(), AuditFailure> {
        let entry = audit_wit::Entry {
            side: entry.side.into(),
            document: entry.document,
            clear: entry.clear,
        };
        Ok(audit_wit::write(&entry)?)
    }

    fn sinks(&self) -> Vec<AuditSink> {
        audit_wit::sinks().into_iter().map(Into::into).collect()
    }

    fn hash(&self, sink: &str, text: &str) -> Option<String> {
        audit_wit::hash(sink, text)
    }
}

impl RateLimits for Imported {
    fn take(&self, buckets: &[Bucket]) -> Result<Vec<Level>, u32> {
        let bucket = |bucket: &Bucket| rate_limits_wit::Bucket {
            key: bucket.key.clone(),
            events: bucket.events,
            period: bucket.period,
            burst: bucket.burst,
        };
        let levels = rate_limits_wit::take(&buckets.iter().map(bucket).collect::<Vec<_>>())?;
        Ok(levels.into_iter().map(Into::into).collect())
    }
}

impl Metrics for Imported {
    fn count(&self, counter: &str, labels: &[(&str, &str)], by: u64) {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        metrics_wit::count(counter, &labels.iter().map(owned).collect::<Vec<_>>(), by);
    }

    fn exposition(&self) -> String {
        metrics_wit::exposition()
    }
}
