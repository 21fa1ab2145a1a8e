//! The engine that Spin 4.1 makes, with the limits that it has by default.

use std::time::Duration;

use anyhow::{Context, Result};
use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

/// How often the epoch advances, which interrupts nothing: Spin gives an instance no end.
const EPOCH_PERIOD: Duration = Duration::from_millis(10);

/// Instances that there is room for at one time, and memories in all of them together.
const INSTANCES: u32 = 1_000;

const MEBIBYTE: usize = 1 << 20;

/// An engine for components that Spin can run, and for no others: what wasmtime leaves off by default stays off.
///
/// # Errors
///
/// When the machine cannot reserve the address space, or a thread cannot be started.
pub fn engine() -> Result<Engine> {
    let mut configuration = Config::new();
    configuration
        .epoch_interruption(true)
        .wasm_component_model_async(true)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool()));
    let engine = Engine::new(&configuration)?;
    let weak = engine.weak();
    std::thread::Builder::new()
        .name("epoch".to_owned())
        .spawn(move || {
            while let Some(engine) = weak.upgrade() {
                engine.increment_epoch();
                drop(engine);
                std::thread::sleep(EPOCH_PERIOD);
            }
        })
        .context("cannot start the epoch thread")?;
    Ok(engine)
}

fn pool() -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(INSTANCES)
        .total_memories(INSTANCES)
        .total_tables(2 * INSTANCES)
        .total_stacks(INSTANCES)
        .total_core_instances(4 * INSTANCES)
        .table_elements(100_000)
        .max_component_instance_size(10 * MEBIBYTE)
        .max_core_instance_size(10 * MEBIBYTE)
        .max_core_instances_per_component(200)
        .max_tables_per_component(64)
        .max_memories_per_component(32)
        .max_tables_per_module(2)
        .max_memories_per_module(2)
        .max_memory_size(4 << 30)
        .linear_memory_keep_resident(2 * MEBIBYTE)
        .table_keep_resident(MEBIBYTE / 2);
    pool
}
