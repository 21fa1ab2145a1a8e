//! Each component alone under wasmtime with doubles for its imports, and all of them composed.

mod composed;
mod isolation;
mod surroundings;
