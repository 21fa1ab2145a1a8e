//! The services of the host, imported.

use zeroize::Zeroizing;

use crate::host::bindings::gatehouse::host::{
    audit as audit_wit, backups as backups_wit, log as log_wit, metrics as metrics_wit,
    rate_limits as rate_limits_wit, seal as seal_wit, shared_store as shared_store_wit,
};
use crate::host::{
    AuditEntry, AuditError, AuditLog, AuditSink, BackupError, Backups, Bucket, Ceremonies,
    Ceremony, CeremonyError, Host, InitializeSealError, KeyStatus, Keys, Level, Log, LogLevel,
    LogLines, Metrics, NodeList, RateLimits, RekeyProgress, RootProgress, RotationPolicy, Seal,
    SealError, SealProgress, SharedStore, UnsealError,
};

/// The host that runs this component.
pub(super) fn imported() -> Host {
    Host {
        seal: Box::new(Imported),
        keys: Some(Box::new(Imported)),
        ceremonies: Some(Box::new(Imported)),
        audit: Box::new(Imported),
        rate_limits: Box::new(Imported),
        metrics: Box::new(Imported),
        log: Box::new(Imported),
        shared_store: Box::new(Imported),
        backups: Box::new(Imported),
    }
}

struct Imported;

impl Seal for Imported {
    fn status(&self) -> Result<Option<SealProgress>, SealError> {
        seal_wit::status()
    }

    fn begin_initialization(
        &self,
        shares: u32,
        threshold: u32,
    ) -> Result<Vec<Zeroizing<Vec<u8>>>, InitializeSealError> {
        let shares = seal_wit::begin_initialization(shares, threshold)?;
        Ok(shares.into_iter().map(Zeroizing::new).collect())
    }

    fn finish_initialization(&self) -> Result<(), SealError> {
        seal_wit::finish_initialization()
    }

    fn abandon_initialization(&self) -> Result<(), SealError> {
        seal_wit::abandon_initialization()
    }

    fn unseal(&self, share: &[u8]) -> Result<SealProgress, UnsealError> {
        seal_wit::unseal(share)
    }

    fn reset_unseal(&self) -> Result<SealProgress, SealError> {
        seal_wit::reset_unseal()
    }

    fn seal(&self) -> Result<(), SealError> {
        seal_wit::seal()
    }

    fn seal_all(&self) -> Result<(), SealError> {
        seal_wit::seal_all()
    }
}

impl Keys for Imported {
    fn current(&self) -> Result<KeyStatus, SealError> {
        seal_wit::current_key()
    }

    fn rotate(&self) -> Result<(), SealError> {
        seal_wit::rotate_key()
    }

    fn policy(&self) -> Result<RotationPolicy, SealError> {
        seal_wit::current_rotation_policy()
    }

    fn set_policy(&self, policy: RotationPolicy) -> Result<(), SealError> {
        seal_wit::set_rotation_policy(policy)
    }
}

impl Ceremonies for Imported {
    fn root_generation(&self) -> Result<Ceremony, CeremonyError> {
        seal_wit::root_generation()
    }

    fn begin_root_generation(
        &self,
        one_time_password: &[u8],
        origin: &str,
    ) -> Result<Ceremony, CeremonyError> {
        seal_wit::begin_root_generation(one_time_password, origin)
    }

    fn cancel_root_generation(&self, origin: &str) -> Result<(), CeremonyError> {
        seal_wit::cancel_root_generation(origin)
    }

    fn give_for_root(&self, share: &[u8], nonce: &str) -> Result<RootProgress, CeremonyError> {
        let progress = seal_wit::give_for_root(share, nonce)?;
        Ok(RootProgress {
            ceremony: progress.ceremony,
            one_time_password: progress.one_time_password.map(Zeroizing::new),
        })
    }

    fn rekey(&self) -> Result<Ceremony, CeremonyError> {
        seal_wit::rekey()
    }

    fn begin_rekey(
        &self,
        shares: u32,
        threshold: u32,
        verification: bool,
        origin: &str,
    ) -> Result<Ceremony, CeremonyError> {
        seal_wit::begin_rekey(shares, threshold, verification, origin)
    }

    fn cancel_rekey(&self, origin: &str) -> Result<(), CeremonyError> {
        seal_wit::cancel_rekey(origin)
    }

    fn give_for_rekey(&self, share: &[u8], nonce: &str) -> Result<RekeyProgress, CeremonyError> {
        let progress = seal_wit::give_for_rekey(share, nonce)?;
        Ok(RekeyProgress {
            ceremony: progress.ceremony,
            new_shares: progress
                .new_shares
                .into_iter()
                .map(Zeroizing::new)
                .collect(),
        })
    }

    fn rekey_verification(&self) -> Result<Ceremony, CeremonyError> {
        seal_wit::rekey_verification()
    }

    fn verify_rekey(&self, share: &[u8], nonce: &str) -> Result<Ceremony, CeremonyError> {
        seal_wit::verify_rekey(share, nonce)
    }

    fn restart_rekey_verification(&self, origin: &str) -> Result<Ceremony, CeremonyError> {
        seal_wit::restart_rekey_verification(origin)
    }
}

impl AuditLog for Imported {
    fn is_on(&self) -> bool {
        audit_wit::is_on()
    }

    fn write(&self, entry: AuditEntry) -> Result<(), AuditError> {
        audit_wit::write(&entry)
    }

    fn sinks(&self) -> Vec<AuditSink> {
        audit_wit::sinks()
    }

    fn hash(&self, sink: &str, text: &str) -> Option<String> {
        audit_wit::hash(sink, text)
    }
}

impl RateLimits for Imported {
    fn take(&self, buckets: &[Bucket]) -> Result<Vec<Level>, u32> {
        rate_limits_wit::take(buckets)
    }
}

impl Metrics for Imported {
    fn count(&self, counter: &str, labels: &[(&str, &str)], by: u64) {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        metrics_wit::count(counter, &labels.iter().map(owned).collect::<Vec<_>>(), by);
    }

    fn set(&self, gauge: &str, value: u64) {
        metrics_wit::set(gauge, value);
    }

    fn exposition(&self) -> String {
        metrics_wit::exposition()
    }
}

impl Log for Imported {
    fn follow(&self, after: Option<u64>, level: LogLevel) -> Option<LogLines> {
        log_wit::follow(after, level)
    }
}

impl SharedStore for Imported {
    fn nodes(&self) -> Option<NodeList> {
        shared_store_wit::nodes()
    }

    fn is_away(&self) -> bool {
        shared_store_wit::is_away()
    }
}

impl Backups for Imported {
    fn begin(&self, installation: Option<&str>) -> Result<String, BackupError> {
        backups_wit::begin(installation)
    }

    fn next(&self, name: &str) -> Result<Option<Vec<u8>>, BackupError> {
        backups_wit::next(name)
    }
}
