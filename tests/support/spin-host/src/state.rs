//! The state of one instance on the host's side.

use wasmtime::component::ResourceTable;
use wasmtime::{Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use crate::outbound::Outbound;
use crate::platform::{Platform, PlatformView};

/// The state that every instance is given.
#[derive(Clone)]
pub struct Grants {
    /// The environment variables of the component.
    pub environment: Vec<(String, String)>,
    /// Stores and variables.
    pub platform: Platform,
    /// The way to other hosts.
    pub outbound: Outbound,
}

impl Grants {
    /// A store for one instance, without an end to its computing time.
    pub fn store(&self, engine: &Engine) -> Store<InstanceState> {
        let state = InstanceState {
            wasi: WasiCtx::builder()
                .envs(&self.environment)
                .inherit_stdout()
                .inherit_stderr()
                .build(),
            http: WasiHttpCtx::new(),
            table: ResourceTable::new(),
            outbound: self.outbound.clone(),
            platform: self.platform.clone(),
        };
        let mut store = Store::new(engine, state);
        store.set_epoch_deadline(u64::MAX / 2);
        store
    }
}

/// The host's side of an instance.
pub struct InstanceState {
    wasi: WasiCtx,
    http: WasiHttpCtx,
    table: ResourceTable,
    outbound: Outbound,
    platform: Platform,
}

impl InstanceState {
    /// Stores and variables as this instance uses them.
    pub fn platform(&mut self) -> PlatformView<'_> {
        PlatformView {
            platform: &self.platform,
            table: &mut self.table,
        }
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
            hooks: &mut self.outbound,
            table: &mut self.table,
            ctx: &mut self.http,
        }
    }
}
