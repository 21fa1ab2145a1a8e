//! The organizations API of the running server: what the tests and the requests of its clients demand of it (contract 6 and 8).

/// Makes of each function a test in each of the editions that are named, against the server that all of them share.
macro_rules! scenarios {
    ($($editions:ident: $($scenario:ident),+ $(,)?;)+) => {
        $($(scenarios!(@ $editions $scenario);)+)+
    };
    (@ both $scenario:ident) => {
        mod $scenario {
            scenarios!(# hosted Hosted $scenario);
            scenarios!(# self_hosted SelfHosted $scenario);
        }
    };
    (@ hosted $scenario:ident) => {
        mod $scenario {
            scenarios!(# hosted Hosted $scenario);
        }
    };
    (@ self_hosted $scenario:ident) => {
        mod $scenario {
            scenarios!(# self_hosted SelfHosted $scenario);
        }
    };
    (# $test:ident $edition:ident $scenario:ident) => {
        #[test]
        fn $test() {
            let server = $crate::server::Server::of($crate::server::Edition::$edition);
            super::$scenario(&server.administrator());
        }
    };
}

mod breakage;
mod concurrency;
mod conventions;
mod documents;
mod first_users;
mod fixtures;
mod go_tfe;
mod limits;
mod recorded;
mod replay;
mod route_table;
mod server;
mod session;
