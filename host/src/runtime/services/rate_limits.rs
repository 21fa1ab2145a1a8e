//! The import `gatehouse:host/rate-limits`: rate limits, counted over all instances.

use std::sync::Arc;

use wasmtime::component::Linker;

use super::buckets::{Bucket, Buckets};
use crate::runtime::state::InstanceState;

const INTERFACE: &str = "gatehouse:host/rate-limits@0.1.0";

pub(super) fn bind(
    linker: &mut Linker<InstanceState>,
    buckets: &Arc<Buckets>,
) -> wasmtime::Result<()> {
    let bound = Arc::clone(buckets);
    linker
        .instance(INTERFACE)?
        .func_wrap("take", move |_, (buckets,): (Vec<Bucket>,)| {
            Ok((bound.take(&buckets),))
        })
}
