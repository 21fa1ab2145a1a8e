//! The engine: one set of settings for compiling, ahead or at the start, and for serving.

use std::time::Duration;

use anyhow::{Context, Result};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
};

/// How often running guest code is interrupted to look at the time it has used.
pub const EPOCH_PERIOD: Duration = Duration::from_millis(10);

/// Core instances in one composed component: five parts, each with the adapters that the linker adds.
const CORE_INSTANCES_PER_COMPONENT: u32 = 64;
/// Memories in one composed component, with room to spare.
const MEMORIES_PER_COMPONENT: u32 = 16;
/// Tables in one composed component, with room to spare.
const TABLES_PER_COMPONENT: u32 = 32;
/// Memory that a slot keeps between two instances, so that the next one finds its pages mapped.
const KEPT_MEMORY_BYTES: usize = 2 * 1024 * 1024;
/// The same for the stack that guest code runs on.
const KEPT_STACK_BYTES: usize = 128 * 1024;

/// The capacity that an engine is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineSettings {
    /// How many instances may exist at one time.
    pub instances: u32,
    /// Bytes that one linear memory may grow to.
    pub memory_limit: usize,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            instances: 256,
            memory_limit: 64 * 1024 * 1024,
        }
    }
}

/// The settings of every engine in this program: code compiled under them is the only code that an engine of this program loads.
///
/// The wide flavour's instructions are always on; a portable component does not notice.
#[must_use]
pub fn engine_configuration(settings: EngineSettings) -> Config {
    let mut configuration = Config::new();
    configuration
        .cranelift_opt_level(OptLevel::Speed)
        .wasm_wide_arithmetic(true)
        .wasm_component_model_implements(true)
        .epoch_interruption(true)
        // Components never run two calls concurrently, and support for it slows every crossing. Without this line a program that is built
        // with `component-model-async` would refuse code that was compiled ahead without it.
        .concurrency_support(false)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool(settings)));
    #[cfg(feature = "profiling")]
    configuration.profiler(wasmtime::ProfilingStrategy::PerfMap);
    configuration
}

fn pool(settings: EngineSettings) -> PoolingAllocationConfig {
    let instances = settings.instances;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances.saturating_mul(CORE_INSTANCES_PER_COMPONENT))
        .total_memories(instances.saturating_mul(MEMORIES_PER_COMPONENT))
        .total_tables(instances.saturating_mul(TABLES_PER_COMPONENT))
        .total_stacks(instances)
        .max_core_instances_per_component(CORE_INSTANCES_PER_COMPONENT)
        .max_memories_per_component(MEMORIES_PER_COMPONENT)
        .max_tables_per_component(TABLES_PER_COMPONENT)
        .max_component_instance_size(4 * 1024 * 1024)
        .max_memory_size(settings.memory_limit)
        .max_unused_warm_slots(instances);
    // Keeping pages without asking the kernel which of them were touched means clearing them all: slower than giving them back.
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        pool.pagemap_scan(Enabled::Yes)
            .linear_memory_keep_resident(KEPT_MEMORY_BYTES)
            .table_keep_resident(KEPT_STACK_BYTES)
            .async_stack_keep_resident(KEPT_STACK_BYTES);
    }
    pool
}

/// The processor that code is compiled for ahead: what machines of the last ten years have (x86-64-v3). 64-bit Arm needs nothing named.
#[cfg(target_arch = "x86_64")]
const PROCESSOR: &[&str] = &[
    "has_sse3",
    "has_ssse3",
    "has_sse41",
    "has_sse42",
    "has_popcnt",
    "has_avx",
    "has_avx2",
    "has_fma",
    "has_bmi1",
    "has_bmi2",
    "has_lzcnt",
];
#[cfg(not(target_arch = "x86_64"))]
const PROCESSOR: &[&str] = &[];

/// The smallest component: magic, version, layer. An engine that takes the code of it takes that of any other.
pub const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

/// Compiles the component in `wasm` for machines of `target`, a target triple, as the engines of this crate load it.
///
/// # Errors
///
/// When the bytes are no component, or the compiler knows only other targets.
pub fn compile_ahead(wasm: &[u8], target: &str) -> Result<Vec<u8>> {
    let mut configuration = engine_configuration(EngineSettings::default());
    configuration.target(target)?;
    for feature in PROCESSOR {
        // SAFETY: these add instructions and take no check away, and an engine refuses code for a processor that has more than its own.
        #[allow(unsafe_code)]
        unsafe {
            configuration.cranelift_flag_enable(feature);
        }
    }
    Ok(Engine::new(&configuration)?.precompile_component(wasm)?)
}

/// An engine with a clock of its own: a thread that advances its epoch until the engine is gone.
///
/// # Errors
///
/// When the machine cannot reserve the address space, or a thread cannot be started.
pub fn engine(settings: EngineSettings) -> Result<Engine> {
    let engine = Engine::new(&engine_configuration(settings))
        .map_err(anyhow::Error::from)
        .with_context(|| {
            format!(
                "cannot make room for {} instances of {} bytes each",
                settings.instances, settings.memory_limit
            )
        })?;
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
