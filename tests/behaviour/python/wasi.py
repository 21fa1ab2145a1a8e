"""The parts of WASI 0.2 that the components import, without any access to files, and to networks only through `Outgoing`."""

import secrets
import sys
import time


class Pollable:
    RESOURCE = "pollable"

    def __init__(self, due_at=0):
        """Ready from `due_at` on, in nanoseconds of the monotonic clock."""
        self.due_at = due_at

    def block(self):
        time.sleep(max(0, self.due_at - time.monotonic_ns()) / 1e9)


def poll(pollables):
    min(pollables, key=lambda pollable: pollable.due_at).block()
    now = time.monotonic_ns()
    return [index for index, pollable in enumerate(pollables) if pollable.due_at <= now]


class OutputStream:
    RESOURCE = "output-stream"

    def __init__(self, write):
        self._write = write

    def write(self, data):
        self._write(data)
        return {"ok": None}


class InputStream:
    RESOURCE = "input-stream"

    def __init__(self, data):
        self._rest = data

    def read(self, limit):
        if not self._rest:
            return {"err": {"tag": "closed"}}
        now, self._rest = self._rest[:limit], self._rest[limit:]
        return {"ok": now}


def _exit(status):
    raise SystemExit(f"the component has ended itself: {status}")


def functions(environment):
    """The imports of WASI for a component whose environment variables are the pairs of `environment`."""
    done = {"ok": None}
    errors = OutputStream(lambda data: sys.stderr.write(data.decode(errors="replace")))
    return {
        "wasi:cli/environment#get-environment": lambda: list(environment.items()),
        "wasi:cli/exit#exit": _exit,
        "wasi:cli/stdin#get-stdin": lambda: InputStream(b""),
        "wasi:cli/stdout#get-stdout": lambda: errors,
        "wasi:cli/stderr#get-stderr": lambda: errors,
        "wasi:cli/terminal-stdin#get-terminal-stdin": lambda: None,
        "wasi:cli/terminal-stdout#get-terminal-stdout": lambda: None,
        "wasi:cli/terminal-stderr#get-terminal-stderr": lambda: None,
        "wasi:clocks/monotonic-clock#now": time.monotonic_ns,
        "wasi:clocks/monotonic-clock#subscribe-instant": Pollable,
        "wasi:clocks/monotonic-clock#subscribe-duration": lambda length: Pollable(time.monotonic_ns() + length),
        "wasi:clocks/wall-clock#now": lambda: dict(zip(("seconds", "nanoseconds"), divmod(time.time_ns(), 10**9))),
        "wasi:io/poll#[method]pollable.block": Pollable.block,
        "wasi:io/poll#poll": poll,
        "wasi:io/streams#[method]input-stream.read": InputStream.read,
        "wasi:io/streams#[method]input-stream.subscribe": lambda _: Pollable(),
        "wasi:io/streams#[method]output-stream.check-write": lambda _: {"ok": 65536},
        "wasi:io/streams#[method]output-stream.write": OutputStream.write,
        "wasi:io/streams#[method]output-stream.flush": lambda _: done,
        "wasi:io/streams#[method]output-stream.blocking-flush": lambda _: done,
        "wasi:io/streams#[method]output-stream.subscribe": lambda _: Pollable(),
        "wasi:random/insecure-seed#insecure-seed": lambda: (secrets.randbits(64), secrets.randbits(64)),
        "wasi:random/random#get-random-u64": lambda: secrets.randbits(64),
        "wasi:random/random#get-random-bytes": secrets.token_bytes,
    }
