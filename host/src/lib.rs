//! Runs the Gatehouse components under wasmtime, as a server or inside another program.
