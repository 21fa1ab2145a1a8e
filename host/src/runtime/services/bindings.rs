//! The imports of `gatehouse:host` as the engine generates them from the WIT.

wasmtime::component::bindgen!({
    path: "../wit/host",
    world: "gatehouse:host/services",
    imports: { default: async },
    additional_derives: [PartialEq, Eq, PartialOrd, Ord],
});
