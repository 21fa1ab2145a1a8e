//! A scenario is a test in one edition or in both.

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
            let server = $crate::server::Server::shared($crate::server::Edition::$edition);
            super::$scenario(&server.administrator());
        }
    };
}
