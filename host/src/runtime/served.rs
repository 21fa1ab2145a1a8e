//! The component that the server runs, and its compiled code.

use std::path::{Path, PathBuf};

use anyhow::Result;
use gatehouse_components::{CARRIED_DIGEST, Part, SERVED};
use gatehouse_engine::{EngineSettings, engine_configuration};
use wasmtime::Engine;
use wasmtime::component::Component;

use super::carried;
use super::code_cache::{CodeCache, folder_of_user};

/// The composition of all components for `engine`: of the code that the program carries, else of what `folder` keeps, else compiled here and
/// kept there. Carried code is kept there too, unpacked, where that can be. `None` stands for the folder of the user.
///
/// # Errors
///
/// When the folder is needed and not private, or the component cannot run on this engine.
pub fn load(engine: &Engine, folder: Option<&Path>) -> Result<Component> {
    if carried::ensure_fits(engine).is_err() {
        return load_kept(engine, folder);
    }
    let mapped = cache(folder)
        .and_then(|cache| cache.load_packed(engine, carried::SERVED_DIGEST, carried::code));
    mapped.or_else(|error| {
        tracing::info!(%error, "the code that the program carries is not kept unpacked, so it takes more memory");
        carried::component(engine)
    })
}

/// Compiles the component into `folder` where that has not been done.
///
/// The compiler takes memory that an allocator keeps for the rest of the process: a process that does nothing else should call this.
///
/// # Errors
///
/// When the folder is not private or cannot be written.
pub fn compile(folder: Option<&Path>) -> Result<()> {
    load_kept(&compiling_engine()?, folder).map(drop)
}

/// Why the server would have to compile: the program carries no code that this processor can run, and `folder` has none. The file there may
/// still be damaged.
///
/// # Errors
///
/// When the folder is not private.
pub fn why_compile(folder: Option<&Path>) -> Result<Option<anyhow::Error>> {
    let engine = compiling_engine()?;
    let Err(misfit) = carried::ensure_fits(&engine) else {
        return Ok(None);
    };
    let kept = cache(folder)?.has(&engine, CARRIED_DIGEST);
    Ok((!kept).then_some(misfit))
}

fn load_kept(engine: &Engine, folder: Option<&Path>) -> Result<Component> {
    cache(folder)?.load_made(engine, CARRIED_DIGEST, || {
        gatehouse_components::bytes(Part::Composed, SERVED)
    })
}

fn cache(folder: Option<&Path>) -> Result<CodeCache> {
    CodeCache::open(folder.map_or_else(folder_of_user, PathBuf::from))
}

/// An engine under which nothing runs: how many instances there are and how much memory each has does not go into code.
fn compiling_engine() -> Result<Engine> {
    let settings = EngineSettings {
        instances: 1,
        ..EngineSettings::default()
    };
    Ok(Engine::new(&engine_configuration(settings))?)
}
