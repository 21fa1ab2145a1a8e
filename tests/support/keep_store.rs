//! Writes the store of a small installation to a folder, for `tests/faults/earlier_stores.rs` of later releases.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use gatehouse_tests::{Installation, Storage};
use serde_json::json;

fn main() -> Result<()> {
    let to = std::env::args()
        .nth(1)
        .context("usage: keep_store FOLDER")?;
    let to = Path::new(&to);
    ensure!(
        !to.exists(),
        "{} is there already: the store of a release is kept as it is",
        to.display()
    );
    let mut installation = Installation::start(Storage::Durable, "")?;
    installation.set_up_login()?;
    let login = installation.login()?;
    ensure!(login.status == 200, "{login:?}");
    let organization = json!({"data": {
        "type": "organizations",
        "attributes": {"name": "demo-kept", "email": "kept@example.com"},
    }});
    for (path, body) in [
        ("/api/v2/organizations", organization),
        (
            "/v1/identity/group",
            json!({"name": "kept", "policies": "demo"}),
        ),
        (
            "/v1/auth/token/roles/kept",
            json!({"allowed_policies": "demo"}),
        ),
    ] {
        let answer = installation.as_root("POST", path, Some(&body));
        ensure!(answer.status < 300, "{path}: {answer:?}");
    }
    let code = installation.server().terminate()?;
    ensure!(code == Some(0), "the server ended with {code:?}");
    installation.keep(to)
}
