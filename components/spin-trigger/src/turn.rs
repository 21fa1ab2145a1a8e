//! One request at a time.

use spin_sdk::wit_bindgen::{backpressure_dec, backpressure_inc};

/// While one exists, the host begins no other request in this instance; it has or makes others for those.
///
/// The capabilities are called synchronously, so a request that waits for its store or for Google stops everything in its instance. A second
/// request would only wait there, and its own time run out.
pub struct Turn(());

impl Turn {
    /// Takes the turn. To be done before anything is awaited: until then nothing else runs in the instance.
    pub fn take() -> Self {
        backpressure_inc();
        Self(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        backpressure_dec();
    }
}
