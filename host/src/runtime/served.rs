//! The component that the server runs, and its compiled code.

use std::path::{Path, PathBuf};

use anyhow::Result;
use gatehouse_components::{Part, SERVED};
use wasmtime::Engine;
use wasmtime::component::Component;

use super::code_cache::{CodeCache, folder_of_user};
use super::engine::{EngineSettings, engine_configuration};

/// The composition of all components for `engine`, with the code that `folder` keeps of it; `None` stands for the folder of the user.
///
/// # Errors
///
/// When the folder is not private or the component cannot run on this engine.
pub fn load(engine: &Engine, folder: Option<&Path>) -> Result<Component> {
    cache(folder)?.load_made(engine, &gatehouse_components::carried(), || {
        gatehouse_components::bytes(Part::Composed, SERVED)
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
    load(&compiling_engine()?, folder).map(drop)
}

/// Tells whether `folder` has a file of compiled code for the component, which may still be damaged.
///
/// # Errors
///
/// When the folder is not private.
pub fn is_compiled(folder: Option<&Path>) -> Result<bool> {
    Ok(cache(folder)?.has(&compiling_engine()?, &gatehouse_components::carried()))
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
