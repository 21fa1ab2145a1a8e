//! The bounds of an embedded auth method.

use std::time::Duration;

/// The bounds of the calls of an embedded auth method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many calls run at one time; more wait for them, as long as it takes. 0 counts as 1. 16 by default.
    pub instances: u32,
    /// How many calls an instance answers before it is replaced; 1 gives every call a fresh one. 10,000 by default.
    pub instance_reuse: usize,
    /// Bytes of memory that an instance may have. 64 MiB by default.
    pub memory: usize,
    /// How long a call may compute. A second by default.
    pub cpu_time: Duration,
    /// How long a call may take from the moment that it may run. It is given up when it waits for a request then; a store is waited for as
    /// long as it takes. 90 seconds by default, since the rotation of a key takes a minute.
    pub wall_time: Duration,
    /// The [timeout](gatehouse_ports::HttpRequest::timeout) of requests. 10 seconds by default.
    pub http_timeout: Duration,
    /// The [largest answer](gatehouse_ports::HttpRequest::maximum_response_bytes) to a request. 8 MiB by default.
    pub http_answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            instances: 16,
            instance_reuse: 10_000,
            memory: 64 << 20,
            cpu_time: Duration::from_secs(1),
            wall_time: Duration::from_secs(90),
            http_timeout: Duration::from_secs(10),
            http_answer_bytes: 8 << 20,
        }
    }
}
