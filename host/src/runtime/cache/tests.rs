//! The binding, seen by instances of a component.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gatehouse_ports::Clock;
use wasmtime::component::{Component, Instance};
use wasmtime::{Engine, Store};

use super::*;
use crate::runtime::linker::{ensure_imports_are_met, linker};
use crate::runtime::state::no_grants;
use gatehouse_engine::{EngineSettings, engine};

/// Exports `read`, which gives the version under the key `k` or 0 where there is none, and `swap`, which puts a byte there that
/// expires at 2,000 if the version is still the one named (0: absent).
const COMPONENT: &str = r#"
(component
  (import "gatehouse:storage/cache@0.1.0" (instance $cache
    (type $version' u64)
    (export "version" (type $version (eq $version')))
    (type $entry' (record (field "value" (list u8)) (field "version" $version)))
    (export "entry" (type $entry (eq $entry')))
    (export "get" (func (param "key" string) (result (option $entry))))
    (export "swap" (func (param "key" string) (param "expected" (option $version))
      (param "value" (list u8)) (param "expires-at" u64) (result bool)))))
  (core module $memory
    (memory (export "memory") 1)
    (data (i32.const 0) "k")
    (global $next (mut i32) (i32.const 1024))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (global.set $next (i32.add (global.get $next) (local.get 3)))
      (i32.sub (global.get $next) (local.get 3))))
  (core instance $memory (instantiate $memory))
  (core func $get (canon lower (func $cache "get")
    (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
  (core func $swap (canon lower (func $cache "swap") (memory (core memory $memory "memory"))))
  (core module $code
    (import "memory" "memory" (memory 1))
    (import "cache" "get" (func $get (param i32 i32 i32)))
    (import "cache" "swap" (func $swap (param i32 i32 i32 i64 i32 i32 i64) (result i32)))
    (func (export "read") (result i64)
      (call $get (i32.const 0) (i32.const 1) (i32.const 64))
      (if (result i64) (i32.load8_u (i32.const 64))
        (then (i64.load (i32.const 80)))
        (else (i64.const 0))))
    (func (export "swap") (param $expected i64) (result i32)
      (call $swap (i32.const 0) (i32.const 1)
        (i64.ne (local.get $expected) (i64.const 0)) (local.get $expected)
        (i32.const 0) (i32.const 1) (i64.const 2000))))
  (core instance $code (instantiate $code
    (with "memory" (instance $memory))
    (with "cache" (instance (export "get" (func $get)) (export "swap" (func $swap))))))
  (func (export "read") (result u64) (canon lift (core func $code "read")))
  (func (export "swap") (param "expected" u64) (result bool) (canon lift (core func $code "swap"))))
"#;

/// A clock that stands until it is set.
struct Standing(AtomicU64);

impl Clock for Standing {
    fn now_milliseconds(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn sleep(&self, _: Duration) {}
}

struct Guest {
    store: Store<InstanceState>,
    instance: Instance,
}

impl Guest {
    async fn new(engine: &Engine, cache: &SharedCache) -> Self {
        let component = Component::new(engine, wat::parse_str(COMPONENT).unwrap()).unwrap();
        let mut linker = linker(engine).unwrap();
        bind(&mut linker, INTERFACE, cache.clone()).unwrap();
        ensure_imports_are_met(&linker, &component).unwrap();
        let mut store = no_grants().store(engine);
        let instance = linker.instantiate_async(&mut store, &component).await;
        Self {
            instance: instance.unwrap(),
            store,
        }
    }

    async fn read(&mut self) -> u64 {
        let read = self
            .instance
            .get_typed_func::<(), (u64,)>(&mut self.store, "read");
        let (version,) = read.unwrap().call_async(&mut self.store, ()).await.unwrap();
        version
    }

    async fn swap(&mut self, expected: u64) -> bool {
        let swap = self
            .instance
            .get_typed_func::<(u64,), (bool,)>(&mut self.store, "swap");
        let swapped = swap.unwrap().call_async(&mut self.store, (expected,)).await;
        swapped.unwrap().0
    }
}

fn small_engine() -> Engine {
    engine(EngineSettings {
        instances: 4,
        memory_limit: 1 << 20,
    })
    .unwrap()
}

#[tokio::test]
async fn instances_of_one_component_share_and_those_of_another_do_not() {
    let engine = small_engine();
    let clock = Arc::new(Standing(AtomicU64::new(1_000)));
    let shared = SharedCache::new(clock.clone());
    let mut first = Guest::new(&engine, &shared).await;
    let mut second = Guest::new(&engine, &shared).await;
    let mut stranger = Guest::new(&engine, &SharedCache::new(clock)).await;

    assert_eq!(first.read().await, 0);
    assert!(first.swap(0).await);
    let version = second.read().await;
    assert_ne!(version, 0);
    assert!(!second.swap(0).await, "the first instance was first");
    assert!(second.swap(version).await);
    assert!(!first.swap(version).await, "the second instance was first");
    assert_eq!(stranger.read().await, 0);
}

#[tokio::test]
async fn entries_expire_by_the_clock_of_the_host() {
    let engine = small_engine();
    let clock = Arc::new(Standing(AtomicU64::new(1_999)));
    let mut guest = Guest::new(&engine, &SharedCache::new(clock.clone())).await;
    assert!(guest.swap(0).await);
    assert_ne!(guest.read().await, 0);
    clock.0.store(2_000, Ordering::Relaxed);
    assert_eq!(guest.read().await, 0);
    assert!(!guest.swap(1).await);
}
