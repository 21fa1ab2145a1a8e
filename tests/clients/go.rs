//! The clients in Go: go-tfe's own tests, and the modules that Vault has for Go. Left out where Go is missing: see `build.rs`.

use crate::HOST;
use crate::script::{HOSTED, SELF_HOSTED, assert_content};

#[test]
#[cfg_attr(
    not(with_go),
    ignore = "Go 1.25 or newer is missing (https://go.dev/dl)"
)]
fn go_tfe_passes_its_own_tests_hosted() {
    assert_content(HOST, "go/gotfe", HOSTED);
}

#[test]
#[cfg_attr(
    not(with_go),
    ignore = "Go 1.25 or newer is missing (https://go.dev/dl)"
)]
fn go_tfe_passes_its_own_tests_self_hosted() {
    assert_content(HOST, "go/gotfe", SELF_HOSTED);
}

#[test]
#[cfg_attr(
    not(with_go),
    ignore = "Go 1.25 or newer is missing (https://go.dev/dl)"
)]
fn the_go_clients_of_vault_log_in_and_manage_mounts_roles_policies_and_tokens() {
    assert_content(HOST, "go/vault", HOSTED);
}
