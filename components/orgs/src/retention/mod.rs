//! Retention: how long the data of an organization is kept (contract 4.5).
//!
//! An organization has a policy of its own, which is a part of its record, or else the installation's applies. Policies describe:
//! there are no runs and states here that could be deleted.

mod store;

pub(crate) use self::store::{DEFAULT_KEY, original};
