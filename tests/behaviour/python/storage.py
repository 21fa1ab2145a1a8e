"""`gatehouse:storage` in memory: the store of a component, and the cache that its instances share."""

import time


def _now():
    return time.time_ns() // 1_000_000


def _flaw(keys, values=()):
    """The fault of a question, or None."""
    if len(keys) > 1024:
        return {"tag": "invalid", "val": "too many keys"}
    if not all(1 <= len(key) <= 512 and all("!" <= character <= "~" for character in key) for key in keys):
        return {"tag": "invalid", "val": "a malformed key"}
    if any(len(value) > 1 << 20 for value in values):
        return {"tag": "invalid", "val": "a value above the limit"}
    return None


class _Expiring:
    """Entries with versions; what has expired is as if it were not there."""

    def __init__(self):
        self._entries = {}
        # Versions are never used twice, so that a deleted and rewritten entry is another one.
        self._last_version = 0

    def entry(self, key):
        value, version, expires_at = self._entries.get(key, (None, None, None))
        if value is None or (expires_at is not None and expires_at <= _now()):
            return None
        return {"value": value, "version": version}

    def keys(self):
        return sorted(key for key in self._entries if self.entry(key))

    def put(self, key, value, expires_at):
        self._last_version += 1
        self._entries[key] = (value, self._last_version, expires_at)

    def delete(self, key):
        self._entries.pop(key, None)


class KeyValue:
    """`gatehouse:storage/key-value`."""

    def __init__(self):
        self._entries = _Expiring()

    def functions(self):
        interface = "gatehouse:storage/key-value#"
        named = {"get": self.get, "get-changed": self.get_changed, "scan": self.scan, "commit": self.commit}
        return {interface + name: function for name, function in named.items()}

    def get(self, keys):
        if flaw := _flaw(keys):
            return {"err": flaw}
        return {"ok": [self._entries.entry(key) for key in keys]}

    def get_changed(self, keys):
        if flaw := _flaw([held["key"] for held in keys]):
            return {"err": flaw}
        return {"ok": [self._difference(**held) for held in keys]}

    def _difference(self, key, version):
        entry = self._entries.entry(key)
        if entry is None:
            return {"tag": "absent"}
        return {"tag": "unchanged"} if entry["version"] == version else {"tag": "changed", "val": entry}

    def scan(self, prefix, after, limit):
        if not 1 <= limit <= 1000:
            return {"err": {"tag": "invalid", "val": "limit must be 1 to 1000"}}
        found = [key for key in self._entries.keys() if key.startswith(prefix) and (after is None or key > after)]
        items = [{"key": key, "entry": self._entries.entry(key)} for key in found[:limit]]
        return {"ok": {"items": items, "more": len(found) > limit}}

    def commit(self, checks, changes):
        puts = [change["val"] for change in changes if change["tag"] == "put"]
        deletes = [change["val"] for change in changes if change["tag"] == "delete"]
        changed = [put["key"] for put in puts] + deletes
        flaw = _flaw([check["key"] for check in checks]) or _flaw(changed, [put["value"] for put in puts])
        if flaw or len(set(changed)) < len(changed):
            return {"err": {"tag": "failed", "val": flaw or {"tag": "invalid", "val": "a key changed twice"}}}
        for check in checks:
            entry, requirement = self._entries.entry(check["key"]), check["requirement"]
            version = None if entry is None else entry["version"]
            if version != requirement.get("val"):
                return {"err": {"tag": "conflict", "val": check["key"]}}
        for put in puts:
            self._entries.put(put["key"], put["value"], put["expires-at"])
        for key in deletes:
            self._entries.delete(key)
        return {"ok": None}


class Cache:
    """`gatehouse:storage/cache`."""

    def __init__(self):
        self._entries = _Expiring()

    def functions(self):
        return {"gatehouse:storage/cache#get": self._entries.entry, "gatehouse:storage/cache#swap": self.swap}

    def swap(self, key, expected, value, expires_at):
        entry = self._entries.entry(key)
        if (None if entry is None else entry["version"]) != expected:
            return False
        self._entries.put(key, value, expires_at)
        return True
