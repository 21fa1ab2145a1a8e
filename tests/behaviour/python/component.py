"""Running a component of Gatehouse under wasmtime, with every import a Python function."""

from wasmtime import Engine, Store
from wasmtime import component as wit

from values import Handles, kind_of_resource, lift, lower

# Beginnings of interface names with what provides the interface; the first that fits counts.
_REMEDIES = {
    "gatehouse:storage/key-value": "give it a store, such as storage.KeyValue",
    "gatehouse:storage/cache": "give it a cache, such as storage.Cache",
    "gatehouse:access/": "the component access exports it; compose the two",
    "gatehouse:auth-method/": "the component auth-method exports it; compose the two",
    "gatehouse:gateway/": "the component gateway exports it; compose the two",
    "gatehouse:orgs/": "the component orgs exports it; compose the two",
    "gatehouse:host/": "the program gatehouse provides it, which runs the whole server",
    "wasi:config/": "the component of the portable flavour does without it",
    "wasi:keyvalue/": "the component of the portable flavour does without it",
    "wasi:http/": "outgoing.functions gives what auth-method of the portable flavour imports of it",
    "wasi:": "wasi.functions gives what auth-method and orgs of the portable flavour import of it",
    "": "compose the component with one that exports it",
}


def _remedy(interface):
    return next(remedy for beginning, remedy in _REMEDIES.items() if interface.startswith(beginning))


class MissingImports(Exception):
    """The component imports what it has not been given."""

    def __init__(self, missing):
        """`missing` has names of functions by their interface."""
        lines = [f"{interface}#{', #'.join(sorted(names))}: {_remedy(interface)}" for interface, names in missing.items()]
        super().__init__("\n  ".join(["the component imports what this program does not provide:", *lines]))


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
        missing = {}
        with linker.root() as root:
            for versioned, imported in component.type.imports(engine).items():
                interface = versioned.split("@")[0]
                with root.add_instance(versioned) as instance:
                    for name, item in imported.ty.exports(engine).items():
                        kind = item.ty
                        if isinstance(kind, wit.FuncType):
                            full_name = f"{interface}#{name}"
                            if full_name in functions:
                                instance.add_func(name, self._adapted(kind, functions[full_name]))
                            else:
                                missing.setdefault(interface, []).append(name)
                        elif isinstance(kind, wit.ResourceType):
                            resource = wit.ResourceType.host(kind_of_resource(name))
                            instance.add_resource(name, resource, lambda _, number: self._handles.forget(number))
        if missing:
            raise MissingImports(missing)
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
