//! The exports of the auth method as the engine generates them from the WIT.

wasmtime::component::bindgen!({
    inline: "
        package gatehouse:embedding;
        world embedded {
            export gatehouse:auth-method/types@0.1.0;
            export gatehouse:auth-method/config@0.1.0;
            export gatehouse:auth-method/roles@0.1.0;
            export gatehouse:auth-method/login@0.1.0;
            export gatehouse:auth-method/identity-tokens@0.1.0;
        }
    ",
    path: [
        "../wit/deps/io",
        "../wit/deps/clocks",
        "../wit/deps/random",
        "../wit/deps/filesystem",
        "../wit/deps/sockets",
        "../wit/deps/cli",
        "../wit/deps/http",
        "../wit/network",
        "../wit/storage",
        "../wit/auth-method",
    ],
    world: "gatehouse:embedding/embedded",
    with: { "gatehouse:network/addresses": crate::runtime::addresses::wit },
    exports: { default: async },
});
