//! The component: conversions between the WIT and the logic, and one service for the life of the instance.

mod config;
mod identity_tokens;
mod login;
mod roles;
mod settings;
mod types;

use gatehouse_ports::{OsRandom, SystemClock};
use gatehouse_storage::wasm::{ImportedCache, ImportedStore};

use crate::AuthMethodService;
use crate::wasi_http::WasiHttp;

#[allow(missing_docs, unsafe_code, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        path: [
            "../../wit/deps/io",
            "../../wit/deps/clocks",
            "../../wit/deps/random",
            "../../wit/deps/filesystem",
            "../../wit/deps/sockets",
            "../../wit/deps/cli",
            "../../wit/deps/http",
            "../../wit/storage",
            "../../wit/auth-method",
        ],
        world: "gatehouse:auth-method/auth-method",
        with: {
            "gatehouse:storage/key-value@0.1.0": gatehouse_storage::wasm::bindings::gatehouse::storage::key_value,
            "gatehouse:storage/cache@0.1.0": gatehouse_storage::wasm::cache_bindings::gatehouse::storage::cache,
            "wasi:io/error@0.2.12": wasip2::io::error,
            "wasi:io/poll@0.2.12": wasip2::io::poll,
            "wasi:io/streams@0.2.12": wasip2::io::streams,
            "wasi:clocks/monotonic-clock@0.2.12": wasip2::clocks::monotonic_clock,
            "wasi:http/types@0.2.12": wasip2::http::types,
            "wasi:http/outgoing-handler@0.2.12": wasip2::http::outgoing_handler,
        },
        generate_all,
    });
}

type Service = AuthMethodService<ImportedStore, ImportedCache, WasiHttp, SystemClock, OsRandom>;

thread_local! {
    /// Lives as long as the instance, so that what Google said is remembered between requests.
    static SERVICE: Service = AuthMethodService::new(
        ImportedStore,
        ImportedCache,
        WasiHttp,
        SystemClock,
        OsRandom,
        settings::from_environment(),
    );
}

struct Component;

#[allow(
    unsafe_code,
    reason = "what the generated code needs to be called from outside"
)]
mod exports {
    use super::{Component, bindings};

    bindings::export!(Component with_types_in bindings);
}
