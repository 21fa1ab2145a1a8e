"""Runs the checks of tests/behaviour on components under wasmtime: `run_checks.py SUITE`, where SUITE is the file that the README there
describes. Prints one line of JSON for each check."""

import json
import sys

import outgoing
import wasi
from component import Component
from storage import Cache, KeyValue


class Unexpected(Exception):
    """An answer that is not the one that was expected."""


class World:
    """Instances over stores that begin empty."""

    def __init__(self, suite, compiled):
        self._suite, self._compiled = suite, compiled
        self._stores = {name: (KeyValue(), Cache()) for name in compiled}
        self._instances = {}
        self.kept = {}

    def new_instances(self):
        self._instances = {}

    def _instance(self, name):
        if name not in self._instances:
            store, cache = self._stores[name]
            functions = wasi.functions(self._suite["environment"][name]) | store.functions() | cache.functions()
            functions |= outgoing.functions(lambda origin: origin.startswith("http://127.0.0.1:"))
            self._instances[name] = self._compiled[name].instance(functions)
        return self._instances[name]

    def do(self, step):
        if step["do"] == "new-instance":
            return self.new_instances()
        operation = self._suite["operations"][step["do"]]
        name = operation["component"]
        defaults, given = self._suite["defaults"][name], self.filled(step.get("with", {}))
        arguments = [laid_over(defaults.get(parameter), given.get(parameter)) for parameter in operation["parameters"]]
        interface = f"gatehouse:{name}/{operation['interface']}@0.1.0"
        result = self._instance(name).call(interface, operation["function"], *arguments)
        if "ok" in result and "part" in operation:
            result = {"ok": result["ok"][operation["part"]]}
        outcome = "ok" if "ok" in step else "err"
        if outcome not in result:
            raise Unexpected(f"{step['do']}: {result}")
        compare(result[outcome], self.filled(step[outcome]), step["do"])
        for text in self.filled(step.get("never", [])):
            if text in repr(result):
                raise Unexpected(f"{step['do']}: the answer holds what it must not")
        for key, field in step.get("keep", {}).items():
            self.kept[key] = result["ok"][field]

    def filled(self, value):
        """`value` with what its texts with `$` stand for."""
        if isinstance(value, dict):
            return {key: self.filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if isinstance(value, str) and value.startswith("$"):
            found = self._suite["values"] | {"kept": self.kept}
            for part in value[1:].split("."):
                found = found[part]
            return found
        return value


def laid_over(default, given):
    if isinstance(default, dict) and isinstance(given, dict):
        return default | given
    return default if given is None else given


def compare(found, expected, where):
    if isinstance(expected, dict) and "$has" in expected:
        for item in expected["$has"]:
            if not any(fits(candidate, item) for candidate in found):
                raise Unexpected(f"{where}: {item!r} is not in {found!r}")
    elif isinstance(expected, dict) and isinstance(found, dict):
        for key, item in expected.items():
            if key not in found:
                raise Unexpected(f"{where}.{key}: missing in {found!r}")
            compare(found[key], item, f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, item in enumerate(expected):
            compare(found[index], item, f"{where}[{index}]")
    elif found != expected:
        raise Unexpected(f"{where}: expected {expected!r}, not {found!r}")


def fits(found, expected):
    try:
        compare(found, expected, "")
    except Unexpected:
        return False
    return True


def why_failed(suite, compiled, check):
    world = World(suite, compiled)
    for number, step in enumerate(check["steps"], 1):
        try:
            world.do(step)
        except Exception as error:  # Whatever goes wrong, a trap too, is this check's failure and no other's.
            return f"step {number}: {type(error).__name__}: {error}"
    return None


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        suite = json.load(file)
    compiled = {name: Component(path) for name, path in suite["components"].items()}
    for check in suite["checks"]:
        why = why_failed(suite, compiled, check)
        line = {"id": check["id"], "passed": why is None}
        print(json.dumps(line if why is None else line | {"why": why}), flush=True)


if __name__ == "__main__":
    main()
