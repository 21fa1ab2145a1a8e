"""Running a component of Gatehouse under wasmtime, with every import a Python function."""

from wasmtime import Engine, Store
from wasmtime import component as wit

from values import Handles, kind_of_resource, lift, lower


class MissingImports(Exception):
    """The component imports what nobody has given it."""


class Component:
    """A compiled component, of which any number of instances can be made."""

    def __init__(self, path):
        self._engine = Engine()
        self._component = wit.Component.from_file(self._engine, path)

    def instance(self, functions):
        """An instance to which `functions` are what it imports: a dict from `package:name/interface#function` to callables.

        They take and return plain values (see values.py); a result is `{"ok": ...}` or `{"err": ...}`.
        """
        return Instance(self._engine, self._component, functions)


class Instance:
    """A running component. One call at a time."""

    def __init__(self, engine, component, functions):
        self._handles = Handles()
        self._store = Store(engine)
        linker = wit.Linker(engine)
        missing = []
        with linker.root() as root:
            for interface, imported in component.type.imports(engine).items():
                with root.add_instance(interface) as instance:
                    for name, item in imported.ty.exports(engine).items():
                        kind = item.ty
                        if isinstance(kind, wit.FuncType):
                            full_name = f"{interface.split('@')[0]}#{name}"
                            if full_name in functions:
                                instance.add_func(name, self._adapted(kind, functions[full_name]))
                            else:
                                missing.append(full_name)
                        elif isinstance(kind, wit.ResourceType):
                            resource = wit.ResourceType.host(kind_of_resource(name))
                            instance.add_resource(name, resource, lambda _, number: self._handles.forget(number))
        if missing:
            raise MissingImports(", ".join(missing))
        self._instance = linker.instantiate(self._store, component)

    def call(self, interface, function, *arguments):
        """Calls an export, such as `gatehouse:auth-method/login@0.1.0`, `login`, and gives its result."""
        found = self._instance.get_export_index(self._store, interface)
        found = found and self._instance.get_export_index(self._store, function, found)
        if not found:
            raise LookupError(f"the component does not export {interface}#{function}")
        exported = self._instance.get_func(self._store, found)
        kind = exported.type(self._store)
        lowered = [lower(wanted, given, self._handles) for (_, wanted), given in zip(kind.params, arguments, strict=True)]
        result = exported(self._store, *lowered)
        return None if kind.result is None else lift(kind.result, result, self._store, self._handles)

    def _adapted(self, kind, function):
        parameters, result = [parameter for _, parameter in kind.params], kind.result

        def called(store, *arguments):
            lifted = [lift(wanted, given, store, self._handles) for wanted, given in zip(parameters, arguments)]
            answer = function(*lifted)
            return None if result is None else lower(result, answer, self._handles)

        return called
