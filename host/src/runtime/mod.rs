//! Components under wasmtime.

pub mod code_cache;
pub mod engine;
pub mod linker;
pub mod pool;
pub mod state;
pub mod storage;
