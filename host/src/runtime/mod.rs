//! Components under wasmtime.

pub(crate) mod addresses;
pub mod background;
pub mod cache;
mod carried;
pub mod code_cache;
mod component_log;
pub mod exchange;
mod front;
pub(crate) mod instances;
pub mod linker;
pub mod pool;
pub mod served;
pub mod services;
pub mod state;
pub mod storage;
