//! The audit trail: what was done with organizations, and by whom (contract 4.15).
//!
//! A record stands in the same commit as what it tells of, so that there is one exactly where something was done. The hosted
//! edition shows the records of an organization to the organization; in the self-hosted one they go to the operator's log, as
//! those of the installation do in both.

mod record;
mod store;

use crate::{Operation, Resource};
pub(crate) use record::INSTALLATION;

/// Says what is done with a resource.
pub(crate) trait AuditedOperations: Sized {
    /// Says that an operation is done with the one that has this id.
    fn done(self, operation: Operation, id: &str) -> AuditedOperation<'_>;

    /// Says that the one with this id was made.
    fn created(self, id: &str) -> AuditedOperation<'_> {
        self.done(Operation::Create, id)
    }

    /// Says that the one with this id was changed.
    fn updated(self, id: &str) -> AuditedOperation<'_> {
        self.done(Operation::Update, id)
    }

    /// Says that the one with this id was removed.
    fn destroyed(self, id: &str) -> AuditedOperation<'_> {
        self.done(Operation::Destroy, id)
    }

    /// Says that the one with this id was shown.
    fn shown(self, id: &str) -> AuditedOperation<'_> {
        self.done(Operation::Show, id)
    }
}

impl AuditedOperations for Resource {
    fn done(self, operation: Operation, id: &str) -> AuditedOperation<'_> {
        AuditedOperation {
            resource: self,
            operation,
            id,
        }
    }
}

/// Something that is done, in the words of [`AuditedOperations::created`] and its like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AuditedOperation<'a> {
    pub resource: Resource,
    pub operation: Operation,
    pub id: &'a str,
}

#[cfg(test)]
mod tests;
