//! The Google Cloud auth method of the front for Spin, with the same Google as that of the release server.
//!
//! Left out: `default_credentials`, `failures`, `rotation` and `single_flight`. They bound how soon and how often Google is asked, which
//! the portable flavour on two cores does not keep to at every run.

#[path = "../google/compatibility.rs"]
mod compatibility;
#[path = "../google/federation.rs"]
mod federation;
#[path = "../google/group_aliases.rs"]
mod group_aliases;
#[path = "../google/instance_groups.rs"]
mod instance_groups;
#[path = "../google/instances.rs"]
mod instances;
#[path = "../google/renewals.rs"]
mod renewals;
#[path = "../google/replay.rs"]
mod replay;
#[allow(dead_code, reason = "some of it serves the modules that are left out")]
#[path = "../google/stage.rs"]
mod stage;
#[path = "../google/unknown_keys.rs"]
mod unknown_keys;

/// Who runs the components.
const HOST: gatehouse_tests::Host = gatehouse_tests::Host::Spin4;
