//! The memory of a component, of which each has its own.

/// Takes half of the time of the standard library's allocator. It needs no lock: a component has one thread.
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
