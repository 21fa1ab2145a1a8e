//! Watching and disturbing.

use crate::cache_headers::CacheHeaders;
use crate::endpoint::Endpoint;
use crate::fault::Fault;
use crate::google::FakeGoogle;
use crate::journal::RecordedRequest;

/// Watching and disturbing.
impl FakeGoogle {
    /// Requests of this kind since the start or the last [`FakeGoogle::forget_requests`], failed ones included.
    #[must_use]
    pub fn calls(&self, endpoint: Endpoint) -> u64 {
        self.state.lock().journal.calls(endpoint)
    }

    /// The latest requests (4,096 at most), oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state.lock().journal.requests()
    }

    /// Starts counting and recording from nought.
    pub fn forget_requests(&self) {
        self.state.lock().journal.clear();
    }

    /// Fails every request of this kind until [`FakeGoogle::clear_faults`].
    pub fn set_fault(&self, endpoint: Endpoint, fault: Fault) {
        self.state.lock().faults.set(endpoint, fault);
    }

    /// Fails the next requests of this kind, one fault each; then a standing fault, or none, is in force again.
    pub fn queue_faults(&self, endpoint: Endpoint, faults: impl IntoIterator<Item = Fault>) {
        self.state.lock().faults.queue(endpoint, faults);
    }

    /// Heals this kind of request.
    pub fn clear_faults(&self, endpoint: Endpoint) {
        self.state.lock().faults.clear(endpoint);
    }

    /// Changes the caching headers of a key document; the other endpoints never send any.
    pub fn set_cache_headers(&self, endpoint: Endpoint, headers: CacheHeaders) {
        self.state.lock().cache_headers.insert(endpoint, headers);
    }
}
