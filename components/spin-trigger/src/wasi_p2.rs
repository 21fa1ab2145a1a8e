//! The handler of WASI 0.2. Spin makes an instance for each request, so no body waits for another request, and each request holds an
//! instance.

use gatehouse_gateway::transport;
use wasip2::http::types::{IncomingRequest, ResponseOutparam};

use crate::front;

#[allow(missing_docs, unsafe_code, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        path: [
            "../../wit/deps/config",
            "../../wit/deps/io",
            "../../wit/deps/clocks",
            "../../wit/deps/random",
            "../../wit/deps/filesystem",
            "../../wit/deps/sockets",
            "../../wit/deps/cli",
            "../../wit/deps/http",
            "../../wit/spin-trigger",
        ],
        world: "gatehouse:spin-trigger/called-by-wasi-p2",
        with: {
            "wasi:io/error@0.2.12": wasip2::io::error,
            "wasi:io/poll@0.2.12": wasip2::io::poll,
            "wasi:io/streams@0.2.12": wasip2::io::streams,
            "wasi:clocks/monotonic-clock@0.2.12": wasip2::clocks::monotonic_clock,
            "wasi:http/types@0.2.12": wasip2::http::types,
        },
        generate_all,
    });

    use super::Component;
    export!(Component);
}

struct Component;

impl bindings::exports::wasi::http::incoming_handler::Guest for Component {
    fn handle(request: IncomingRequest, answer: ResponseOutparam) {
        let (response, resumption) = match transport::read(request) {
            Ok(received) => front::answer(received),
            Err(refusal) => (refusal, None),
        };
        match resumption {
            Some(resumption) => transport::write(response, answer, |it| resumption.part(it)),
            None => transport::write_whole(response, answer),
        }
        front::run_background_now_and_then();
    }
}
