//! The state of one instance on the host's side.

use std::sync::Arc;
use std::time::Duration;

use gatehouse_store::SharedClock;
use wasmtime::component::ResourceTable;
use wasmtime::{Engine, ResourceLimiter, Store, UpdateDeadline};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView};

use super::component_log::ComponentLog;
use super::services::audit_log::OpenExchange;
use crate::clock::WallClock;
use gatehouse_engine::EPOCH_PERIOD;

/// Handles (requests, streams, pollables) that one instance may hold at one time (SEC-W1).
const MAXIMUM_HANDLES: usize = 4096;
/// Bytes of header fields in one resource, as kept in memory (SEC-W5).
const FIELD_SIZE_LIMIT: usize = 64 * 1024;
/// Bytes that one call for random bytes may ask for (SEC-W5).
const RANDOM_LIMIT: u64 = 64 * 1024;

/// Makes the hooks through which an instance sends requests; every instance gets hooks of its own.
pub type OutboundFactory = Arc<dyn Fn() -> Box<dyn WasiHttpHooks> + Send + Sync>;

/// The grants of an instance, and its bounds.
///
/// Beside this it has clocks and random bytes, and its standard error becomes lines of the host's log. It has no files, no sockets
/// and no arguments (SEC-W6).
#[derive(Clone)]
pub struct Grants {
    /// The environment variables that it sees. Among them are secrets.
    pub environment: Vec<(String, String)>,
    /// How it sends requests.
    pub outbound: OutboundFactory,
    /// The time of day that it is told.
    pub clock: SharedClock,
    /// Bytes that all linear memories of an instance may grow to together.
    pub memory_limit: usize,
    /// How long guest code may compute for one request; waiting for the store or for an answer does not count.
    pub cpu_time: Duration,
}

impl Grants {
    /// A store for one instance with these grants.
    #[must_use]
    pub fn store(&self, engine: &Engine) -> Store<InstanceState> {
        let mut store = Store::new(engine, InstanceState::new(self));
        store.limiter(|state| &mut state.limits);
        // Bytes that one call may hand over, as kept by the host (SEC-W5). A guest cannot give more than its memory holds, except by lists
        // whose elements lie in one place.
        store.set_hostcall_fuel(self.memory_limit);
        let period = EPOCH_PERIOD.as_millis().max(1);
        let limit = u32::try_from(self.cpu_time.as_millis() / period).unwrap_or(u32::MAX);
        // The epoch also passes while the guest waits, but this is called only when it is found running: at most once per epoch.
        store.epoch_deadline_callback(move |mut store| {
            let used = &mut store.data_mut().used_epochs;
            *used = used.saturating_add(1);
            Ok(if *used > limit {
                UpdateDeadline::Interrupt
            } else {
                UpdateDeadline::Yield(1)
            })
        });
        store.set_epoch_deadline(1);
        store
    }
}

/// The host's side of an instance: its grants and its limits.
pub struct InstanceState {
    wasi: WasiCtx,
    http: WasiHttpCtx,
    table: ResourceTable,
    outbound: Box<dyn WasiHttpHooks>,
    limits: MemoryLimit,
    used_epochs: u32,
    is_retired: bool,
    /// The audit record of a request that it has not answered yet.
    pub(super) open_exchange: OpenExchange,
}

impl InstanceState {
    fn new(grants: &Grants) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAXIMUM_HANDLES);
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(FIELD_SIZE_LIMIT);
        Self {
            wasi: WasiCtx::builder()
                .envs(&grants.environment)
                .stderr(ComponentLog::default())
                .wall_clock(WallClock(Arc::clone(&grants.clock)))
                .allow_tcp(false)
                .allow_udp(false)
                .max_random_size(RANDOM_LIMIT)
                .build(),
            http,
            table,
            outbound: (grants.outbound)(),
            limits: MemoryLimit {
                limit: grants.memory_limit,
                taken: 0,
            },
            used_epochs: 0,
            is_retired: false,
            open_exchange: OpenExchange::default(),
        }
    }

    /// Begins to count the time of a new request.
    pub(super) fn begin_request(&mut self) {
        self.used_epochs = 0;
    }

    /// Ends the audit record of a request with its answer.
    pub(super) fn end_request(&mut self) {
        self.open_exchange.forget();
    }

    /// Keeps the instance from serving another request: its memory has held data that must not remain there.
    pub(super) fn retire(&mut self) {
        self.is_retired = true;
    }

    /// True if the instance may serve another request: it has given back every handle that it got, and was not retired.
    pub(super) fn holds_nothing(&self) -> bool {
        !self.is_retired && self.table.is_empty()
    }
}

/// The bound on the linear memories of an instance together (SEC-W1). A composed instance has one for each component; a limit for each
/// alone would let it have several times what the operator allows.
struct MemoryLimit {
    limit: usize,
    taken: usize,
}

/// The instance would take more memory than it may.
#[derive(Debug, thiserror::Error)]
#[error("the instance needs more than {0} bytes of memory")]
struct MemoryLimitError(usize);

impl ResourceLimiter for MemoryLimit {
    // A guest that is refused memory traps, rather than continue after an allocation that failed.
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let taken = self.taken.saturating_sub(current).saturating_add(desired);
        if taken > self.limit || maximum.is_some_and(|maximum| desired > maximum) {
            return Err(MemoryLimitError(self.limit).into());
        }
        self.taken = taken;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(maximum.is_none_or(|maximum| desired <= maximum))
    }
}

impl WasiView for InstanceState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl WasiHttpView for InstanceState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView {
            hooks: self.outbound.as_mut(),
            table: &mut self.table,
            ctx: &mut self.http,
        }
    }
}

/// Grants for tests of small components, which call no host.
#[cfg(test)]
pub(super) fn no_grants() -> Grants {
    use crate::outbound::{Outbound, OutboundHooks};
    use crate::settings::Settings;
    let settings =
        Settings::from_text("storage.type = \"memory\"", Vec::new(), Vec::new()).unwrap();
    let outbound = Arc::new(Outbound::new(&settings.google, &settings.limits).unwrap());
    Grants {
        environment: Vec::new(),
        outbound: Arc::new(move || Box::new(OutboundHooks::new(Arc::clone(&outbound)))),
        clock: Arc::new(gatehouse_ports::SystemClock),
        memory_limit: 1 << 20,
        cpu_time: Duration::from_secs(60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w1_the_memories_of_an_instance_share_one_limit() {
        const PAGE: usize = 64 * 1024;
        let mut memory = MemoryLimit {
            limit: 10 * PAGE,
            taken: 0,
        };
        let mut grows = |from, to| memory.memory_growing(from * PAGE, to * PAGE, None).is_ok();
        // Two memories begin, and each grows.
        assert!(grows(0, 4));
        assert!(grows(0, 3));
        assert!(grows(4, 7));
        assert!(!grows(3, 4), "eleven pages");
        assert!(!grows(0, 1), "a third memory");
        assert!(memory.memory_growing(0, 0, Some(0)).is_ok());
        assert!(memory.memory_growing(0, PAGE, Some(0)).is_err());
    }
}
