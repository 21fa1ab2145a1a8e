//! The services of the host, imported.

use zeroize::Zeroizing;

use super::bindings::gatehouse::host::{
    audit as audit_wit, log as log_wit, metrics as metrics_wit, rate_limits as rate_limits_wit,
    seal as seal_wit,
};
use crate::host::{
    AuditEntry, AuditFailure, AuditLog, AuditSink, Bucket, Ceremonies, Ceremony, CeremonyError,
    Host, InitializeSealError, KeyStatus, Keys, Level, Log, LogLevel, LogLine, LogLines, Metrics,
    RateLimits, RekeyProgress, RootProgress, RotationPolicy, Seal, SealFailure, SealProgress, Side,
    UnsealError,
};

/// The host that runs this component.
pub(super) fn imported() -> Host {
    Host {
        seal: Box::new(Imported),
        keys: Box::new(Imported),
        ceremonies: Box::new(Imported),
        audit: Box::new(Imported),
        rate_limits: Box::new(Imported),
        metrics: Box::new(Imported),
        log: Box::new(Imported),
    }
}

struct Imported;

same_fields!(seal_wit::Progress => SealProgress { initialized, sealed, shares, threshold, given, nonce });
same_fields!(seal_wit::KeyStatus => KeyStatus { term, installed_at, encryptions });
same_fields!(seal_wit::RotationPolicy => RotationPolicy { enabled, max_operations, interval });
same_fields!(seal_wit::Ceremony => Ceremony { nonce, given, required, shares, threshold, verification, verification_nonce });
same_fields!(audit_wit::Sink => AuditSink { name, kind, description, options });
same_fields!(rate_limits_wit::Level => Level { remaining, full_in });
same_fields!(log_wit::Line => LogLine { time, level, target, text });
same_cases!(log_wit::Level, LogLevel, Error, Warn, Info, Debug, Trace);
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

impl From<seal_wit::CeremonyError> for CeremonyError {
    fn from(from: seal_wit::CeremonyError) -> Self {
        use seal_wit::CeremonyError as Wit;
        match from {
            Wit::Sealed => Self::Sealed,
            Wit::NotInitialized => Self::NotInitialized,
            Wit::UnderWay => Self::UnderWay,
            Wit::NotUnderWay => Self::NotUnderWay,
            Wit::OtherNonce(nonce) => Self::OtherNonce(nonce),
            Wit::GivenBefore => Self::GivenBefore,
            Wit::Malformed => Self::Malformed,
            Wit::WrongShares => Self::WrongShares,
            Wit::InvalidNumbers => Self::InvalidNumbers,
            Wit::OthersOwn => Self::OthersOwn,
            Wit::VerificationDue(nonce) => Self::VerificationDue(nonce),
            Wit::NothingToVerify => Self::NothingToVerify,
            Wit::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl Keys for Imported {
    fn current(&self) -> Result<KeyStatus, SealFailure> {
        Ok(seal_wit::current_key()?.into())
    }

    fn rotate(&self) -> Result<(), SealFailure> {
        Ok(seal_wit::rotate_key()?)
    }

    fn policy(&self) -> Result<RotationPolicy, SealFailure> {
        Ok(seal_wit::current_rotation_policy()?.into())
    }

    fn set_policy(&self, policy: RotationPolicy) -> Result<(), SealFailure> {
        let RotationPolicy {
            enabled,
            max_operations,
            interval,
        } = policy;
        Ok(seal_wit::set_rotation_policy(seal_wit::RotationPolicy {
            enabled,
            max_operations,
            interval,
        })?)
    }
}

impl Ceremonies for Imported {
    fn root_generation(&self) -> Result<Ceremony, CeremonyError> {
        Ok(seal_wit::root_generation()?.into())
    }

    fn begin_root_generation(
        &self,
        one_time_password: &[u8],
        origin: &str,
    ) -> Result<Ceremony, CeremonyError> {
        Ok(seal_wit::begin_root_generation(one_time_password, origin)?.into())
    }

    fn cancel_root_generation(&self, origin: &str) -> Result<(), CeremonyError> {
        Ok(seal_wit::cancel_root_generation(origin)?)
    }

    fn give_for_root(&self, share: &[u8], nonce: &str) -> Result<RootProgress, CeremonyError> {
        let progress = seal_wit::give_for_root(share, nonce)?;
        Ok(RootProgress {
            ceremony: progress.ceremony.into(),
            one_time_password: progress.one_time_password.map(Zeroizing::new),
        })
    }

    fn rekey(&self) -> Result<Ceremony, CeremonyError> {
        Ok(seal_wit::rekey()?.into())
    }

    fn begin_rekey(
        &self,
        shares: u32,
        threshold: u32,
        verification: bool,
        origin: &str,
    ) -> Result<Ceremony, CeremonyError> {
        Ok(seal_wit::begin_rekey(shares, threshold, verification, origin)?.into())
    }

    fn cancel_rekey(&self, origin: &str) -> Result<(), CeremonyError> {
        Ok(seal_wit::cancel_rekey(origin)?)
    }

    fn give_for_rekey(&self, share: &[u8], nonce: &str) -> Result<RekeyProgress, CeremonyError> {
        let progress = seal_wit::give_for_rekey(share, nonce)?;
        Ok(RekeyProgress {
            ceremony: progress.ceremony.into(),
            new_shares: progress
                .new_shares
                .into_iter()
                .map(Zeroizing::new)
                .collect(),
        })
    }

    fn rekey_verification(&self) -> Result<Ceremony, CeremonyError> {
        Ok(seal_wit::rekey_verification()?.into())
    }

    fn verify_rekey(&self, share: &[u8], nonce: &str) -> Result<Ceremony, CeremonyError> {
        Ok(seal_wit::verify_rekey(share, nonce)?.into())
    }

    fn restart_rekey_verification(&self, origin: &str) -> Result<Ceremony, CeremonyError> {
        Ok(seal_wit::restart_rekey_verification(origin)?.into())
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

impl Log for Imported {
    fn follow(&self, after: Option<u64>, level: LogLevel) -> Option<LogLines> {
        let found = log_wit::follow(after, level.into())?;
        Some(LogLines {
            lines: found.lines.into_iter().map(Into::into).collect(),
            position: found.position,
            lost: found.lost,
        })
    }
}
