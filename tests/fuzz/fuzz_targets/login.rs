//! From the bytes of a token to the verdict of a login.
//!
//! Properties (SEC-J2, J21, V1): nothing panics, and whatever logs in is a token that a second verifier, another library on another
//! implementation of RSA, accepts too, with claims that fit the role.
//!
//! An input is a choice among tokens that were properly signed at the start, and edits to it: cut, replaced, joined with parts of
//! another. So the fuzzer begins where a signature is still right and works from there, which random bytes would never reach. Inputs of
//! another form are taken as a token, byte for byte.

#![no_main]

mod google;
mod oracle;
mod tokens;

use std::sync::OnceLock;

use gatehouse_auth_method::{Login, LoginRequest};
use libfuzzer_sys::fuzz_target;

use google::World;

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(World::new)
}

fuzz_target!(|input: &[u8]| {
    let world = world();
    let (role, token) = world.tokens.token_in(input);
    let request = LoginRequest {
        role: role.to_owned(),
        jwt: token.clone(),
        source_address: None,
    };
    let outcome = world.service.login(&world.mount, &request);
    let fits = oracle::accepts(world, role, &token);
    match outcome {
        Ok(identity) => {
            assert!(fits, "let in what the second verifier refuses: {token}");
            assert_eq!(identity.role, role);
        }
        Err(error) => {
            // An explanation agrees with the login, and does not panic either.
            if input.first() == Some(&0) {
                let reports = world.service.explain(&world.mount, &request);
                assert!(
                    reports
                        .iter()
                        .any(|report| report.verdict != gatehouse_auth_method::Verdict::Passed),
                    "refused with {error:?}, and explained as if nothing were wrong"
                );
            }
        }
    }
});
