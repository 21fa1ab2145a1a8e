//! The built WebAssembly components, alone and composed.
