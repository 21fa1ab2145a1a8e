//! Plans: what they include and allow, as which feature sets they are offered, and which one an organization has taken (contract
//! 2.4, 4.1, 4.2).
//!
//! Every organization has one subscription for its whole life. It is free until a site administrator sets other terms, and again
//! once those have ended. In the self-hosted edition everything is included, whatever the terms.

mod ends;
mod entitlements;
mod feature_sets;
mod permissions;
mod record;
mod subscription;

pub(crate) use entitlements::entitlements_of;
pub(crate) use permissions::{describe, greater, permissions};
pub(crate) use record::{SUBSCRIPTION_PREFIX, SubscriptionRecord};
