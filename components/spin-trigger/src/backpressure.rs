//! Backpressure: an instance serves one request at a time.

use spin_sdk::wit_bindgen::{backpressure_dec, backpressure_inc};

/// While a guard exists, the host begins no other request in this instance and uses other instances for those.
///
/// The capabilities are called synchronously, so a request that waits for its store or for Google blocks its whole instance. A second
/// request would wait there until its own deadline passes.
pub struct ExclusiveGuard(());

impl ExclusiveGuard {
    /// Stops the host from beginning further requests here. Must be called before the first await: until then nothing else runs in the
    /// instance.
    pub fn take() -> Self {
        backpressure_inc();
        Self(())
    }
}

impl Drop for ExclusiveGuard {
    fn drop(&mut self) {
        backpressure_dec();
    }
}
