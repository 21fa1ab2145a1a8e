//! The memory of a component, of which each has its own.

/// An allocator made for WebAssembly. It needs no lock, since a component has one thread.
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
