//! Writes what the manifests for Spin name into the folder that is the first argument: the command of `spin build`.

use std::env;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use gatehouse_components::spin::{Part, bytes};

fn main() -> Result<()> {
    let folder = env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .context("name the folder to write to")?;
    fs::create_dir_all(&folder)?;
    for part in Part::ALL {
        let file = folder.join(format!("{}.wasm", part.name()));
        fs::write(&file, bytes(part)?)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}
