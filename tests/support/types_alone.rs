//! The imports of a component that ask nothing of a host.

use wasmtime::Engine;
use wasmtime::component::types::ComponentItem;

/// True of an interface that has types and nothing else: the engine, and Spin with it, goes past it. One that is empty has to be provided.
pub fn has_types_alone(engine: &Engine, import: &ComponentItem) -> bool {
    let ComponentItem::ComponentInstance(instance) = import else {
        return false;
    };
    let mut exports = instance.exports(engine).peekable();
    exports.peek().is_some()
        && exports.all(|(_, export)| matches!(export.ty, ComponentItem::Type(_)))
}
