//! The bounds of a connection and its requests.

use std::time::Duration;

use super::framing::HeadLimits;
use crate::settings::{LimitsSettings, ListenerSettings};

/// The limits of a listener, taken from the settings once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) head: HeadLimits,
    pub(super) header_timeout: Duration,
    pub(super) body_bytes: usize,
    pub(super) body_timeout: Duration,
    pub(super) request_timeout: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) tls_handshake_timeout: Duration,
    pub(super) drain_timeout: Duration,
    pub(super) connections: usize,
    pub(super) connections_per_address: usize,
    pub(super) http2_streams: u32,
    pub(super) http2_resets: usize,
    pub(super) http2_resets_per_second: usize,
}

impl Limits {
    pub(super) fn new(listener: &ListenerSettings, limits: &LimitsSettings) -> Self {
        Self {
            head: HeadLimits {
                bytes: limits.header_bytes,
                fields: limits.header_fields,
                target_bytes: limits.target_bytes,
            },
            header_timeout: limits.header_timeout,
            body_bytes: listener.body_limit,
            body_timeout: limits.body_timeout,
            request_timeout: limits.request_timeout,
            idle_timeout: limits.idle_timeout,
            tls_handshake_timeout: limits.tls_handshake_timeout,
            drain_timeout: limits.drain_timeout,
            connections: limits.connections,
            connections_per_address: limits.connections_per_address,
            http2_streams: u32::try_from(limits.http2_streams).unwrap_or(u32::MAX),
            http2_resets: limits.http2_resets,
            http2_resets_per_second: limits.http2_resets_per_second,
        }
    }
}
