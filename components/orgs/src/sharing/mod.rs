//! The organizations that share their modules and providers, and the organizations that they share with (contract 4.4).
//!
//! A producer names its consumers, or shares with every organization of the installation. Both ends are known by their external
//! ids, so that sharing continues after a rename; an end that is gone does not count from that moment on.

mod consumers;
mod producers;
mod store;

pub(crate) use self::consumers::Existence;
pub(crate) use self::store::{
    ConsumersRecord, EVERYTHING_SHARED, consumers_key, end_of_consumers, end_producer, index,
    shared_by, with_all,
};
