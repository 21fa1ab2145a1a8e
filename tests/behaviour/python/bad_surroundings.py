"""The answers of components to a store that fails or lies, and to nonsense: a typed error, never a trap, and nothing half done.

`bad_surroundings.py AUTH_METHOD_WASM ORGS_WASM`; ends with 0 if all of it holds.
"""

import sys

import outgoing
import wasi
from component import Component, MissingImports
from storage import Cache, KeyValue

MOUNT = {"id": "m1", "accessor": "auth_gcp_1", "path": "gcp/", "default-lease": 3600, "maximum-lease": 86400}
ROLE = {"role-type": "iam", "bound-service-accounts": ["a@p.iam.gserviceaccount.com"]}
INSTALLATION = {"identity": {"principal": {"tag": "installation"}}, "request-id": "", "client-request-id": None}
UNAVAILABLE = {"tag": "unavailable", "val": "the disk is full"}


def given(value):
    return {"tag": "value", "val": value}


class Flawed(KeyValue):
    """A store that does not commit while it is `full`, and gives `garbage` for every value while there is some."""

    full, garbage = False, None

    def commit(self, checks, changes):
        return {"err": {"tag": "failed", "val": UNAVAILABLE}} if self.full else super().commit(checks, changes)

    def get(self, keys):
        result = super().get(keys)
        if self.garbage is not None and "ok" in result:
            result = {"ok": [entry and entry | {"value": self.garbage} for entry in result["ok"]]}
        return result

    def get_changed(self, keys):
        result = self.get([held["key"] for held in keys])
        if "ok" in result:
            told = [{"tag": "absent"} if entry is None else {"tag": "changed", "val": entry} for entry in result["ok"]]
            result = {"ok": told}
        return result

    def contents(self):
        return self.scan("", None, 1000)


def instance(path, store):
    functions = wasi.functions({}) | store.functions() | Cache().functions() | outgoing.functions(lambda _: False)
    return Component(path).instance(functions)


def check(what, holds):
    print(what)
    if not holds:
        sys.exit(f"does not hold: {what}")


def check_auth_method(path):
    store = Flawed()
    component = instance(path, store)

    def call(interface, function, *arguments, mount=MOUNT):
        return component.call(f"gatehouse:auth-method/{interface}@0.1.0", function, mount, *arguments)

    store.full = True
    before = store.contents()
    refused = call("roles", "write", "dev", ROLE, "any")
    check("a role is not written to a full store", refused["err"]["tag"] == "storage" and store.contents() == before)
    check("and the reason is the store's", refused["err"]["val"]["tag"] == "unavailable")

    store.full = False
    check("a role is written once there is room", "ok" in call("roles", "write", "dev", ROLE, "any"))
    for garbage in [b"", b"\xff" * 40, b"{}", b"[" * 10_000, b'{"v":99999}']:
        store.garbage = garbage
        before = store.contents()
        check(f"{garbage[:8]} is no role", call("roles", "read", "dev")["err"]["tag"] == "damaged")
        refused = call("roles", "write", "dev", {"token-policies": ["other"]}, "any")
        check("and is not written over", refused["err"]["tag"] == "storage" and store.contents() == before)
        refused = call("login", "login", {"role": "dev", "jwt": "a.b.c"})
        check("nobody logs in under it", "err" in refused)
    store.garbage = None

    refused = call("roles", "write", "dev", ROLE, "any", mount=MOUNT | {"id": "x" * 1_000_000})
    check("a mount's id that makes no key is refused", refused["err"]["tag"] == "storage")
    for nonsense in ["", "/", "..", "\0", "m1/role"]:
        mount = MOUNT | {"id": nonsense}
        check(f"mount {nonsense!r} is another mount", call("roles", "read", "dev", mount=mount) == {"ok": None})
    for nonsense in ["", "/", "..", "\0", "\u202e" * 200, "x" * 1_000_000]:
        check(f"{nonsense[:4]!r} is no name of a role", "err" in call("roles", "write", nonsense, ROLE, "any"))
        check(f"{nonsense[:4]!r} is no token", "err" in call("login", "login", {"role": "dev", "jwt": nonsense}))
        check(f"{nonsense[:4]!r} is no key file", nonsense == "" or "err" in call("config", "write", {"credentials": nonsense}))


def check_orgs(path):
    store = Flawed()
    component = instance(path, store)

    def create(name):
        absent = [field for field in CHANGES if field not in ("name", "email")]
        changes = {field: {"tag": "absent"} for field in absent} | {"name": given(name), "email": given("it@acme.example")}
        return component.call("gatehouse:orgs/organizations@0.1.0", "create", changes, None, INSTALLATION)

    store.full = True
    before = store.contents()
    refused = create("acme")
    check("an organization is not made in a full store", refused["err"]["tag"] == "failed" and store.contents() == before)
    store.full = False
    for nonsense in ["", "/", "..", "\0", "\u202e" * 200, "x" * 1_000_000]:
        check(f"{nonsense[:4]!r} is no name of an organization", create(nonsense)["err"]["tag"] == "invalid")
    check("an organization is made once there is room", "ok" in create("acme"))
    store.garbage = b"\xff" * 40
    found = component.call("gatehouse:orgs/organizations@0.1.0", "read", "acme")
    check("garbage is no organization", found["err"]["tag"] == "damaged")


CHANGES = """name email session-timeout session-remember collaborator-auth-policy cost-estimation-enabled
send-passing-statuses-for-untriggered-speculative-plans aggregated-commit-status-enabled speculative-plan-management-enabled
owners-team-saml-role-id assessments-enforced allow-force-delete-workspaces default-execution-mode default-agent-pool-id
default-agent-pool stacks-enabled stacks-default-execution-mode stacks-default-agent-pool user-tokens-enabled max-ttl-enabled
enforce-hyok registry-monorepo-support-enabled recoverable-items-enabled""".split()


def told_without_storage(path):
    """The error for a component that is given everything but its stores."""
    try:
        Component(path).instance(wasi.functions({}) | outgoing.functions(lambda _: False))
    except MissingImports as missing:
        return str(missing)
    sys.exit("a component has started without its store")


def check_missing_imports(auth_method, orgs):
    check("what is missing is told by name", "gatehouse:storage/key-value#commit" in told_without_storage(orgs))
    _, *lines = told_without_storage(auth_method).splitlines()
    told = [(line.split("#")[0], line.split(": ")[-1]) for line in lines]
    expected = [
        ("  gatehouse:storage/cache", "give it a cache, such as storage.Cache"),
        ("  gatehouse:storage/key-value", "give it a store, such as storage.KeyValue"),
    ]
    check("each missing import is told on a line of its own, with what would provide it", sorted(told) == expected)
    of_others = str(MissingImports({"gatehouse:access/tokens": ["look-up"], "acme:paper/press": ["print"]}))
    check("so is which component exports it", "#look-up: the component access exports it; compose the two\n" in of_others)
    check("or that one must be found", of_others.endswith("#print: compose the component with one that exports it"))


def main(auth_method, orgs):
    check_auth_method(auth_method)
    check_orgs(orgs)
    check_missing_imports(auth_method, orgs)


if __name__ == "__main__":
    main(*sys.argv[1:])
